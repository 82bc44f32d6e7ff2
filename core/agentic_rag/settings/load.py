"""Reads the environment into `Settings`, and shows the settings in force. Nothing else reads the environment."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, get_type_hints
from urllib.parse import quote

from agentic_rag.kernel.errors import Misconfigured
from agentic_rag.kernel.telemetry import TelemetryExport
from agentic_rag.models.embedding.local_models import is_installed
from agentic_rag.models.embedding.space import MODEL_PROVIDER
from agentic_rag.settings.addresses import MASK, hide_passwords, require_ports
from agentic_rag.settings.answering import AnsweringConfig
from agentic_rag.settings.client import ClientConfig
from agentic_rag.settings.ingestion import IngestionConfig
from agentic_rag.settings.jobs import JobsConfig
from agentic_rag.settings.models import ModelsConfig
from agentic_rag.settings.operations import OperationsConfig
from agentic_rag.settings.otel import ENDPOINT, READ, RESOURCE, SERVICE_NAME, is_otel, read_export
from agentic_rag.settings.removed import REMOVED, upgrade_warnings
from agentic_rag.settings.retrieval import RetrievalConfig
from agentic_rag.settings.secret_files import read_secret_files, without_files_of
from agentic_rag.settings.server import PRODUCTION, ServerConfig
from agentic_rag.settings.stores import StoresConfig
from agentic_rag.settings.tenancy import TenancyConfig
from agentic_rag.settings.variable import UNSET_PATH, Variable, variables_of
from agentic_rag.settings.workspaces import WorkspacesConfig
from agentic_rag.web.proxies import DIRECT, PROXY_NAMES, Proxies, read_proxies

OWNED_PREFIXES = ("AGENTIC_RAG_", "HYBRID_")
"""An unknown variable with one of these prefixes is a mistake worth stopping for."""

_NEAR = 0.88
"""Similarity of names (difflib): RAG_EMBEDER and REDIS_URI are near ours, TEST_DATABASE_URL is not."""
_TEST_PREFIX = "AGENTIC_RAG_TEST_"
_OWN_OTEL = (ENDPOINT, RESOURCE, SERVICE_NAME)
"""Settings, and what `_with_service_name` makes part of one."""
_NO_GROUPS = frozenset({"tenant", "proxies", "otel", "warnings", "stated"})
"""Fields of `Settings`."""
_CLOSED = {
    "AGENTIC_RAG_INTROSPECTION": "off",
    "AGENTIC_RAG_RATE_LIMITS": "asks=600,writes=600,reads=6000",
}
"""Defaults of AGENTIC_RAG_PROFILE=production."""


class SettingsInvalid(Misconfigured):
    """Some variables are wrong; `problems` has one line for each, all found at once."""

    code = "SETTINGS_INVALID"

    def __init__(self, problems: tuple[str, ...]) -> None:
        super().__init__("The configuration is not valid:\n" + "\n".join(f"  - {line}" for line in problems))
        self.problems = problems


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The effective configuration of a process, a group a room."""

    answering: AnsweringConfig = AnsweringConfig()
    retrieval: RetrievalConfig = RetrievalConfig()
    models: ModelsConfig = ModelsConfig()
    stores: StoresConfig = StoresConfig()
    ingestion: IngestionConfig = IngestionConfig()
    jobs: JobsConfig = JobsConfig()
    server: ServerConfig = ServerConfig()
    tenancy: TenancyConfig = TenancyConfig()
    workspaces: WorkspacesConfig = WorkspacesConfig()
    operations: OperationsConfig = OperationsConfig()
    client: ClientConfig = ClientConfig()
    tenant: str = ""
    """Organisation that a command without a server acts in (`rag --tenant`); empty means the embedded one."""
    proxies: Proxies = DIRECT
    """Of HTTP_PROXY, HTTPS_PROXY and NO_PROXY, as other programs read them: what every client that leaves the process
    asks.
    """
    otel: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    """Further variables of OpenTelemetry, by name: where telemetry goes is said by its specification."""
    warnings: tuple[str, ...] = ()
    """A line for each removed setting, each name near one of ours, and each variable of OpenTelemetry without effect,
    that was found.
    """
    stated: frozenset[str] = frozenset()
    """The names of the variables that have a value of their own; all others have their default."""

    def change(self, **changes: Mapping[str, Any]) -> Settings:
        """These settings with other values: `change(server={"port": 8080}, answering={"enabled": True})`."""
        return replace(self, **{group: replace(getattr(self, group), **values) for group, values in changes.items()})

    def prefer_local_model(self) -> Settings:
        """With the local model as embedder where it is installed: for a home with a database of its own, while
        RAG_EMBEDDER says nothing.
        """
        if self.stores.database_url or {"RAG_EMBEDDER", "AGENTIC_RAG_MODEL_DIR"} & self.stated:
            return self
        local = self.change(models={"embedder": MODEL_PROVIDER})
        runs = all(find_spec(name) is not None for name in ("onnxruntime", "tokenizers"))
        return local if runs and is_installed(local.model_directory) else self

    @property
    def telemetry_export(self) -> TelemetryExport:
        """What leaves the process over OTLP."""
        return self.read_telemetry_export()[0]

    def read_telemetry_export(self) -> tuple[TelemetryExport, tuple[str, ...]]:
        """The same, and a line for each variable of OpenTelemetry that has no effect."""
        own = {ENDPOINT: self.operations.otlp_endpoint, RESOURCE: self.operations.resource}
        return read_export({**self.otel, **own}, self.proxies)

    @property
    def model_directory(self) -> Path:
        """The directory of the local model."""
        own = self.models.model_dir
        return own if own != UNSET_PATH else self.stores.models / self.models.local_model.name


@cache
def variables() -> tuple[Variable, ...]:
    """Every setting, in the order of the documentation."""
    return tuple(variable for name, kind in _groups().items() for variable in variables_of(name, kind))


@cache
def _groups() -> Mapping[str, type]:
    hints = get_type_hints(Settings)
    return {group.name: hints[group.name] for group in fields(Settings) if group.name not in _NO_GROUPS}


def read_dotenv(path: Path) -> dict[str, str]:
    """`KEY=VALUE` lines of a file; comments, blank lines, `export ` and quotes are understood. A missing file is
    empty, and so is one in a directory that this user may not enter. Errors: `OSError` where it cannot be read.
    """
    try:
        if not path.is_file():
            return {}
    except PermissionError:
        return {}
    values: dict[str, str] = {}
    for raw in path.read_text(encoding="utf-8").splitlines():
        line = raw.strip().removeprefix("export ")
        if not line or line.startswith("#") or "=" not in line:
            continue
        key, value = line.split("=", 1)
        value = value.strip()
        if len(value) >= 2 and value[0] == value[-1] and value[0] in "'\"":
            value = value[1:-1]
        values[key.strip()] = value
    return values


def _from_file(path: Path) -> tuple[dict[str, str], list[str]]:
    """The file's variables, and the problem where it cannot be read."""
    try:
        return read_dotenv(path), []
    except (OSError, UnicodeDecodeError) as problem:
        reason = problem.strerror if isinstance(problem, OSError) else "no UTF-8"
        return {}, [f"{path}: cannot be read ({reason})"]


def load_settings(
    environ: Mapping[str, str] | None = None, dotenv: Path | None = None, overrides: Mapping[str, str] | None = None
) -> Settings:
    """Read and validate everything. Order of precedence: overrides, environment, `.env` file, defaults.

    Errors: `SettingsInvalid` with every problem found.
    """
    merged, unread_file = _from_file(dotenv if dotenv is not None else Path(".env"))
    merged.update(os.environ if environ is None else environ)
    merged = without_files_of(merged, overrides or {}) | dict(overrides or {})
    if merged.get("AGENTIC_RAG_PROFILE", "").strip() == PRODUCTION:
        merged |= {name: value for name, value in _CLOSED.items() if not merged.get(name)}
    merged = _with_service_name(merged)
    known = variables()
    merged, problems = read_secret_files(merged, known)
    problems += [*unread_file, *_unknown(merged, [variable.name for variable in known])]
    values: dict[str, dict[str, Any]] = {name: {} for name in _groups()}
    for variable in known:
        raw = merged.get(variable.name)
        if not raw:
            continue
        try:
            if variable.env.is_url:
                require_ports(raw)
            values[variable.group][variable.field] = variable.read(raw)
        except ValueError as problem:
            said = hide_passwords(str(problem), (raw,)) if variable.env.is_url else str(problem)
            problems.append(f"{variable.name}={variable.show(raw)!r}: {said}")
    groups = {name: kind(**values[name]) for name, kind in _groups().items()}
    near = _near_misses(merged, [variable.name for variable in known])
    otel = {name: value for name, value in merged.items() if is_otel(name) and name not in _OWN_OTEL}
    stated = frozenset(variable.name for variable in known if merged.get(variable.name))
    proxies, unusable = read_proxies(merged)
    problems += unusable
    settings = Settings(**groups, proxies=proxies, otel=otel, stated=stated)
    _, unread = settings.read_telemetry_export()
    settings = replace(settings, warnings=(*upgrade_warnings(merged), *near, *unread))
    problems += _contradictions(settings)
    if problems:
        raise SettingsInvalid(tuple(problems))
    return settings


def child_environment(overrides: Mapping[str, str]) -> dict[str, str]:
    """The environment for a process that this one starts: our own, with `overrides`."""
    return {**without_files_of(os.environ, overrides), **overrides}


def mask_secrets(settings: Settings) -> dict[str, str]:
    """Every variable with its effective value, secrets hidden and passwords cut out of URLs."""
    effective = {one.name: one.show(getattr(getattr(settings, one.group), one.field)) for one in variables()}
    effective["AGENTIC_RAG_HOME"] = str(settings.stores.state_home)
    return effective


def hide_secrets(settings: Settings, text: str) -> str:
    """What another program said, without the secrets and passwords that these settings hold."""
    values = [(one.env, str(getattr(getattr(settings, one.group), one.field))) for one in variables()]
    for secret in filter(None, (value for env, value in values if env.is_secret)):
        text = text.replace(secret, MASK)
    urls = [value for env, value in values if env.is_url]
    return hide_passwords(text, (*urls, settings.proxies.http, settings.proxies.https))


def _unknown(merged: Mapping[str, str], known: list[str]) -> list[str]:
    problems: list[str] = []
    for name in sorted(merged):
        if not name.startswith(OWNED_PREFIXES) or name.startswith(_TEST_PREFIX) or name in known or name in REMOVED:
            continue
        close = difflib.get_close_matches(name, known, n=1)
        hint = f"; did you mean {close[0]}?" if close else "; docs/configuration.md lists every setting"
        problems.append(f"{name}: unknown setting{hint}")
    return problems


def _near_misses(merged: Mapping[str, str], known: list[str]) -> list[str]:
    """Variables that are not ours by their prefix, and almost one of ours by their name."""
    warnings: list[str] = []
    for name in sorted(merged.keys() - {*known, *REMOVED, *READ, *PROXY_NAMES}):
        close = difflib.get_close_matches(name, known, n=1, cutoff=_NEAR)
        if merged[name] and close and not name.startswith(OWNED_PREFIXES):
            warnings.append(f"{name} is no setting and is ignored; did you mean {close[0]}?")
    return warnings


def _with_service_name(merged: Mapping[str, str]) -> dict[str, str]:
    """OTEL_SERVICE_NAME as the last of the attributes, which goes before the others of its name."""
    name = merged.get(SERVICE_NAME, "").strip()
    if not name:
        return dict(merged)
    given = merged.get(RESOURCE, "").strip()
    attributes = ",".join(filter(None, (given, f"service.name={quote(name)}")))
    return {**merged, RESOURCE: attributes}


def _contradictions(settings: Settings) -> list[str]:
    server = settings.server
    return [
        *settings.tenancy.problems(is_production=server.is_production, is_local=server.is_local),
        *settings.retrieval.problems(),
        *settings.models.problems(),
        *settings.answering.problems(),
        *server.problems(),
    ]
