"""One policy for proxies: what an operator names is asked through those of the settings, what a user names never is,
and no client takes a proxy from the environment.
"""

from __future__ import annotations

import ast
import io
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import httpcore2
import pytest
from tests.guards import OutboundAddressRefused
from tests.loopback_http import serving_http

from agentic_rag.adapters.jwt.http import KeySetClient
from agentic_rag.adapters.onnx import model_files
from agentic_rag.adapters.openai.tenants import TenantClients
from agentic_rag.adapters.sources.connectors import connectors
from agentic_rag.adapters.telemetry.facade import ProcessTelemetry, TelemetryOptions
from agentic_rag.adapters.web.engine_client import EngineClient
from agentic_rag.adapters.web.fetcher import GuardedFetcher
from agentic_rag.bootstrap.programs import open_bucket_folder, open_chat_model
from agentic_rag.ingestion.sources.source import NewSource, SourceKind
from agentic_rag.kernel.error_redaction import redact
from agentic_rag.kernel.errors import AgenticRagError
from agentic_rag.kernel.secret import Secret
from agentic_rag.models.chat.ports import ChatModel
from agentic_rag.models.chat.request import ChatRequest, ReplySchema
from agentic_rag.models.embedding.local_models import LOCAL_MODELS
from agentic_rag.models.providers.ports import Credentials
from agentic_rag.models.providers.provider_keys import Provider
from agentic_rag.settings import Settings, SettingsInvalid, load_settings
from agentic_rag.web.engine_address import parse_engine
from agentic_rag.web.fetch_policy import FetchPolicy
from agentic_rag.web.proxies import Proxies
from agentic_rag.web.url_policy import HostList
from agentic_rag_cli.commands.operations.doctor import check_embedder

pytestmark = pytest.mark.network

ROOT = Path(__file__).parents[3]
NO_FILE = Path("/nonexistent")
NAMES = ("HTTP_PROXY", "HTTPS_PROXY")
ELSEWHERE = "service.example"
QUESTION = ChatRequest("Answer.", "Who?", ReplySchema("reply", {"type": "object"}))
_OWN = {"trust_env", "transport"}
TOLD = {
    **{f"httpx2.{name}": _OWN for name in ("Client", "AsyncClient", "get", "post", "stream", "request")},
    "openai.AsyncOpenAI": {"http_client"},
    "openai.DefaultAsyncHttpxClient": _OWN,
    "S3Store": {"client_options"},
}
"""What makes a client, and the arguments of which one keeps it from the environment's proxies."""
SERVED = ("GET", "POST", "PUT", "HEAD", "CONNECT", "DELETE")


@contextmanager
def recording() -> Iterator[tuple[str, list[str]]]:
    """The address of a server that refuses everything, and what it was asked."""
    asked: list[str] = []

    def refuse(handler: BaseHTTPRequestHandler) -> None:
        asked.append(f"{handler.command} {handler.path}")
        handler.send_response(403)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    quiet: dict[str, Any] = {f"do_{verb}": refuse for verb in SERVED}
    handler = type("Refusing", (BaseHTTPRequestHandler,), {**quiet, "log_message": lambda *_: None})
    with serving_http(handler) as url:
        yield url, asked


async def ask_chat_model(settings: Settings, address: str) -> None:
    await _complete(open_chat_model(settings.change(models={"openai_base_url": f"{address}/v1"})))


async def ask_tenants_provider(settings: Settings, address: str) -> None:
    clients = TenantClients({}, seconds=5.0, temperature=None, proxies=settings.proxies)
    credentials = Credentials(Provider.COMPATIBLE, Secret("key"), f"{address}/v1")
    try:
        await clients.chat(credentials, "model").complete(QUESTION)
    finally:
        await clients.aclose()


async def ask_doctor(settings: Settings, address: str) -> None:
    await check_embedder(settings.change(models={"embedder": "openai", "openai_base_url": f"{address}/v1"}))


async def ask_issuer(settings: Settings, address: str) -> None:
    url = f"{address}/keys"
    client = KeySetClient(url, timeout_seconds=5.0, proxy=settings.proxies.of(url))
    try:
        await client.fetch()
    finally:
        await client.aclose()


async def ask_bucket(settings: Settings, address: str) -> None:
    place = f"s3://key:secret@bucket/folder?endpoint={address}"
    await open_bucket_folder(place, settings.proxies).read("a/b")


async def ask_bucket_of_a_source(settings: Settings, address: str) -> None:
    stated = NewSource("s", SourceKind.S3, "bucket", options={"endpoint": address}, is_internal=True)
    async with connectors(settings.proxies)[SourceKind.S3](stated, None) as source:
        await source.changes(frozenset(), None)


async def ask_engine(settings: Settings, address: str) -> None:
    engine = parse_engine(f"searxng://{address.removeprefix('http://')}")
    assert engine is not None
    await EngineClient(engine, proxies=settings.proxies).ask("/search", {"q": "x"}, {})


async def ask_collector(protocol: str, settings: Settings, address: str) -> None:
    own = {"OTEL_EXPORTER_OTLP_ENDPOINT": address, "OTEL_EXPORTER_OTLP_PROTOCOL": protocol}
    named = {"HTTP_PROXY": settings.proxies.http, "HTTPS_PROXY": settings.proxies.https}
    exported = load_settings({**own, **named}, dotenv=NO_FILE).telemetry_export
    it = ProcessTelemetry(TelemetryOptions("rag", "7", export=exported), io.StringIO())
    with it.span("rag.run"):
        pass
    it.shutdown()


async def _complete(model: ChatModel) -> None:
    try:
        await model.complete(QUESTION)
    finally:
        await model.aclose()


Ask = Callable[[Settings, str], Awaitable[None]]
OF_OPERATORS: dict[str, Ask] = {
    "chat model": ask_chat_model,
    "provider of a tenant": ask_tenants_provider,
    "doctor": ask_doctor,
    "key set": ask_issuer,
    "bucket": ask_bucket,
    "bucket of a source": ask_bucket_of_a_source,
    "search engine": ask_engine,
    "collector over HTTP": partial(ask_collector, "http/protobuf"),
    "collector over gRPC": partial(ask_collector, "grpc"),
}
# An exporter over gRPC waits a second for a server that does not speak HTTP/2.
NAMES_OF_OPERATORS = [pytest.param(one, marks=[pytest.mark.slow] * one.endswith("gRPC")) for one in OF_OPERATORS]


def settings_with(proxy: str) -> Settings:
    given = {"OPENAI_API_KEY": "key", "AGENTIC_RAG_CHAT_MODEL": "model"}
    return load_settings({**given, **dict.fromkeys(NAMES, proxy)}, dotenv=NO_FILE)


async def asked_by(ask: Awaitable[None]) -> None:
    """What is refused ends as each client says it."""
    with suppress(AgenticRagError, OSError, OutboundAddressRefused):
        await ask


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What reaches the proxy that the environment names, and no setting."""
    with recording() as (url, asked):
        for name in (*NAMES, "ALL_PROXY", "GRPC_PROXY"):
            monkeypatch.setenv(name, url)
            monkeypatch.setenv(name.lower(), url)
        for name in ("NO_PROXY", "no_proxy"):
            monkeypatch.delenv(name, raising=False)
        yield asked


@pytest.mark.parametrize("name", NAMES_OF_OPERATORS)
async def test_what_an_operator_names_is_asked_through_the_proxy_of_the_settings(
    name: str, environment: list[str]
) -> None:
    with recording() as (proxy, asked):
        await asked_by(OF_OPERATORS[name](settings_with(proxy), f"http://{ELSEWHERE}:8080"))

    assert asked
    assert all(f"{ELSEWHERE}:8080" in one for one in asked)
    assert environment == []


@pytest.mark.parametrize("name", NAMES_OF_OPERATORS)
async def test_this_machine_is_asked_directly(name: str, environment: list[str]) -> None:
    with recording() as (address, direct), recording() as (proxy, asked):
        await asked_by(OF_OPERATORS[name](settings_with(proxy), address))
        await asked_by(OF_OPERATORS[name](settings_with(""), address))

    assert asked == environment == []
    # A collector over gRPC speaks HTTP/2, which this server does not.
    assert name.endswith("gRPC") or len(direct) >= 2
    assert not any(ELSEWHERE in one or "://" in one for one in direct)


async def test_the_model_hub_is_asked_through_the_proxy(environment: list[str], tmp_path: Path) -> None:
    model = next(one for one in LOCAL_MODELS.values() if one.hub)
    with recording() as (proxy, asked):
        for proxies in (Proxies(https=proxy), Proxies()):
            with suppress(AgenticRagError, OutboundAddressRefused):
                model_files.obtain(model, model_files.ModelSource.HUB, tmp_path, proxies=proxies)

    assert asked == ["CONNECT huggingface.co:443"]
    assert environment == []


async def test_what_a_user_names_is_asked_through_no_proxy(environment: list[str]) -> None:
    dialled: list[str] = []

    async def dial(address: str, port: int, seconds: float) -> httpcore2.AsyncNetworkStream:
        dialled.append(address)
        raise httpcore2.ConnectError

    with recording() as (proxy, asked), recording() as (address, direct):
        stated = NewSource("s", SourceKind.GIT, f"{address}/repository.git", is_internal=True)
        async with connectors(Proxies(proxy, proxy))[SourceKind.GIT](stated, None) as source:
            with pytest.raises(AgenticRagError):
                await source.changes(frozenset(), None)
        with pytest.raises(AgenticRagError):
            await GuardedFetcher(FetchPolicy(HostList(("*",))), dial=dial).fetch("http://8.8.8.8/")

    assert (len(direct), dialled) == (1, ["8.8.8.8"])
    assert asked == environment == []


@pytest.mark.parametrize(
    ("url", "through"),
    [
        ("http://service.example/a", "http://plain:1"),
        ("https://service.example:9443/a", "http://tls:2"),
        ("https://user:word@service.example/a", "http://tls:2"),
        ("https://intern.example/a", None),
        ("https://below.intern.example/a", None),
        ("https://notintern.example/a", "http://tls:2"),
        ("https://10.1.2.3/a", None),
        ("http://127.0.0.1:11434/v1", None),
        ("http://[::1]/v1", None),
        ("http://localhost/v1", None),
        ("bolt://service.example", None),
    ],
)
def test_a_proxy_is_chosen_by_scheme_and_host(url: str, through: str | None) -> None:
    assert Proxies("http://plain:1", "http://tls:2", "intern.example, 10.1.2.3").of(url) == through


@pytest.mark.parametrize(
    ("excluded", "url", "is_direct"),
    [
        ("10.0.0.0/8,fd00::1", "https://10.1.2.3/a", True),
        ("10.0.0.0/8,fd00::1", "https://10.1.2.3:9443/a", True),
        ("10.0.0.0/8,fd00::1", "https://11.1.2.3/a", False),
        ("10.0.0.0/8,fd00::1", "https://[fd00::1]:9443/a", True),
        ("10.0.0.0/8,fd00::1", "https://[fd00:0::1]/a", True),
        ("10.0.0.0/8,fd00::1", "https://[fd00::2]/a", False),
        ("fd00::/8", "https://[fd00::2]/a", True),
        ("[fd00::1]:443", "https://[fd00::1]/a", True),
        ("192.168.1.7/16", "https://192.168.9.9/a", True),
        ("no network/33, 10.0.0.0/99, [fd00, ,::1:", "https://10.1.2.3/a", False),
        ("10.0.0.0/8", "https://10.example/a", False),
    ],
)
def test_addresses_and_networks_are_asked_directly(excluded: str, url: str, is_direct: bool) -> None:
    assert (Proxies("http://plain:1", "http://tls:2", excluded).of(url) is None) == is_direct


def test_no_host_is_asked_through_a_proxy_where_all_are_excluded() -> None:
    assert Proxies("http://plain:1", "http://tls:2", "*").of("https://service.example") is None


def test_proxies_come_from_the_settings_in_either_case() -> None:
    given = {"HTTP_PROXY": "http://capital:1", "http_proxy": "lower:2", "no_proxy": "intern.example"}

    proxies = load_settings(given, dotenv=NO_FILE).proxies

    assert (proxies.http, proxies.https, proxies.excluded) == ("http://lower:2", "", "intern.example")


@pytest.mark.parametrize("text", ["socks5://proxy:1080", "http://", "http://proxy:port", "http://:9"])
def test_what_is_no_proxy_is_said_without_its_password(text: str) -> None:
    given = text.replace("://", "://user:hunter2@", 1)

    with pytest.raises(SettingsInvalid) as refused:
        load_settings({"HTTPS_PROXY": given}, dotenv=NO_FILE)

    told = str(refused.value)
    assert "HTTPS_PROXY" in told
    assert "SOCKS" in told
    assert "hunter2" not in told
    assert redact(told) == told


@pytest.mark.slow
@pytest.mark.parametrize("package", ["core", "server", "worker", "cli", "clients"])
def test_no_client_is_made_that_reads_the_environment(package: str) -> None:
    calls = [(path, call) for path in (ROOT / package).rglob("*.py") for call in calls_of(path)]
    unsafe = [
        f"{path}:{call.lineno}"
        for path, call in calls
        if (told := told_of(call)) in TOLD and not TOLD[told] & {one.arg for one in call.keywords}
    ]

    assert unsafe == []


def test_a_client_that_reads_the_environment_is_noticed() -> None:
    (call,) = (one for one in ast.walk(ast.parse("httpx2.get(url, timeout=1)")) if isinstance(one, ast.Call))

    assert not TOLD[told_of(call)] & {one.arg for one in call.keywords}


def calls_of(path: Path) -> list[ast.Call]:
    source = path.read_text("utf-8")
    if not any(name.partition(".")[0] in source for name in TOLD):
        return []
    return [one for one in ast.walk(ast.parse(source)) if isinstance(one, ast.Call)]


def told_of(call: ast.Call) -> str:
    """The name that is called, as `httpx2.get`."""
    return ast.unparse(call.func)
