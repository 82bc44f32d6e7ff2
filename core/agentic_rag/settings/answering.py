"""Settings of answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from msgspec import Meta

from agentic_rag.answering.evidence.threshold import DEFAULT_THRESHOLD
from agentic_rag.answering.gate.weights import KNOWN, LEARNED_VERSION, WeightsTrial
from agentic_rag.settings.variable import Env
from agentic_rag.web.engine_address import EngineAddress, parse_engine
from agentic_rag.web.url_policy import parse_host_list


def parse_gate_mode(text: str) -> tuple[str, WeightsTrial | None]:
    """The values of `on,gate-heuristic-3=0.2`. Errors: ValueError."""
    mode, has_trial, trial = (part.strip() for part in text.partition(","))
    if mode not in ("off", "shadow", "on"):
        raise ValueError("expected one of off, shadow, on")
    if not has_trial:
        return mode, None
    version, _, share = trial.partition("=")
    if version.strip() not in KNOWN and LEARNED_VERSION.fullmatch(version.strip()) is None:
        raise ValueError(f"expected a version of the weights: {', '.join(KNOWN)}, or one that `rag gate learn` wrote")
    try:
        tried = WeightsTrial(version.strip(), float(share))
    except ValueError as error:
        raise ValueError(f"expected a share of the workspaces, as {version}=0.2") from error
    if not 0 <= tried.share <= 1:
        raise ValueError(f"expected a share of the workspaces, 0 to 1, as {version}=0.2")
    return mode, tried


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweringConfig:
    """Whether and how questions are answered."""

    enabled: Annotated[bool, Env("AGENTIC_RAG_ENABLED")] = False
    """Answer questions at all; off means FEATURE_DISABLED. `rag up` sets it."""
    top_k: Annotated[int, Env("AGENTIC_RAG_TOPK"), Meta(ge=1, le=50)] = 8
    """Passages handed to synthesis."""
    use_hyde: Annotated[bool, Env("AGENTIC_RAG_USE_HYDE")] = False
    """Embed a hypothetical answer beside the question (HyDE), written by the chat model in a worker."""
    use_tools: Annotated[bool, Env("AGENTIC_RAG_USE_TOOLS")] = True
    """Let the plan call `calc` and `lookup`."""
    enable_http_fetch: Annotated[bool, Env("AGENTIC_RAG_ENABLE_HTTP_FETCH")] = False
    """Let the plan call `http_fetch` for pages that the question itself names, on AGENTIC_RAG_HTTP_FETCH_HOSTS."""
    http_fetch_hosts: Annotated[str, Env("AGENTIC_RAG_HTTP_FETCH_HOSTS", check=parse_host_list)] = ""
    """Hosts that `http_fetch` may ask, separated by commas: `docs.example.org`, `*.example.org` for all subdomains, `*`
    for every public host.
    """
    link_hosts: Annotated[str, Env("AGENTIC_RAG_LINK_HOSTS", check=parse_host_list)] = ""
    """Hosts whose https links stay live in answers, besides those of cited sources; the same form."""
    min_support: Annotated[float, Env("AGENTIC_RAG_MIN_SUPPORT"), Meta(ge=0, le=1)] = DEFAULT_THRESHOLD
    """Support below which an answer becomes an abstention (0 never abstains), where `rag eval calibrate` set none."""
    timeout_ms: Annotated[int, Env("AGENTIC_RAG_TIMEOUT_MS"), Meta(ge=0, le=600_000)] = 0
    """Time budget of one answer, in ms; 0 means 10,000, and 60,000 where a chat model answers."""
    gate_mode: Annotated[str, Env("AGENTIC_RAG_GATE_MODE", check=parse_gate_mode)] = "on"
    """Whether a run is judged after its answer: `off` judges none; `shadow` judges and stores what it would do, and
    does no more than reading the documents; `on` follows the decision. With `on,gate-heuristic-3=0.2` the weights
    of that version judge the runs of a fifth of the workspaces; learned ones of your own lie in `gate/` of
    AGENTIC_RAG_HOME.
    """
    search: Annotated[str, Env("AGENTIC_RAG_SEARCH", is_url=True, check=parse_engine)] = field(default="", repr=False)
    """The search engine that runs may ask where organisation and workspace allow the web: `searxng://HOST:PORT`
    (`searxng+https://` with TLS), `brave://KEY@`, `serpapi://KEY@HOST` or `file:PATH`. Options: `?key_file=PATH`,
    `hosts=`, `without=` (hosts whose pages may, or never, be read), `usd=` (price of a search). Empty: none.
    """
    cache_ttl_seconds: Annotated[int, Env("AGENTIC_RAG_REDIS_TTL_SECONDS"), Meta(ge=0)] = 900
    """How long an answer is cached; 0 switches the cache off."""

    @property
    def gate(self) -> tuple[str, WeightsTrial | None]:
        """AGENTIC_RAG_GATE_MODE: the mode, and the trial of other weights."""
        return parse_gate_mode(self.gate_mode)

    @property
    def budget_ms(self) -> tuple[int, int]:
        """The time budget of an answer by rules and of one with a chat model."""
        return (self.timeout_ms, self.timeout_ms) if self.timeout_ms else (10_000, 60_000)

    @property
    def engine(self) -> EngineAddress | None:
        """The search engine; None without one."""
        return parse_engine(self.search)

    def problems(self) -> list[str]:
        """Settings that contradict each other, a line each."""
        problems: list[str] = []
        if 0 < self.timeout_ms < 50:
            problems.append("AGENTIC_RAG_TIMEOUT_MS is 0 or at least 50")
        if self.enable_http_fetch and not self.http_fetch_hosts.strip():
            problems.append("AGENTIC_RAG_ENABLE_HTTP_FETCH needs AGENTIC_RAG_HTTP_FETCH_HOSTS: the hosts it may ask")
        return problems
