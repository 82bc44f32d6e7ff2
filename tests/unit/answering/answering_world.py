"""The other ports of answering in memory, and one call that wires them."""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from time import perf_counter
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from tests.unit.answering.corpus import SPACE, WORKSPACE, Corpus

from agentic_rag.adapters.deterministic.hashed_embedding import embed_texts
from agentic_rag.answering.ask import AnswerPorts, AnswerQuestion
from agentic_rag.answering.build import ChatUse, answer_question
from agentic_rag.answering.options import AnswerDefaults
from agentic_rag.answering.outside import Outside
from agentic_rag.answering.ports import UnitReader
from agentic_rag.answering.question import AnswerOptions, Question, Turn
from agentic_rag.answering.run import Run
from agentic_rag.answering.runs.record import RunRecorder
from agentic_rag.answering.tools.http_fetch import HttpFetch
from agentic_rag.kernel.errors import AgenticRagError, IdempotencyConflict
from agentic_rag.kernel.pagination import Page, PageRequest
from agentic_rag.language.symbols import ReadDefinitions
from agentic_rag.models.embedding.space import EmbeddingSpace
from agentic_rag.models.providers.embedder_registry import only
from agentic_rag.retrieval.retrieve import Retrieve
from agentic_rag.tenancy.principals import DEFAULT_ORG_ID, Principal, Role, WorkspaceRef

PRINCIPAL = Principal(DEFAULT_ORG_ID, "ada", Role.MEMBER)


class Clock:
    """A clock that people set and durations read from the system."""

    today = datetime(2026, 3, 1, 12, tzinfo=UTC)

    def now(self) -> datetime:
        return self.today

    def monotonic(self) -> float:
        return perf_counter()


class Ids:
    """Counts."""

    def __init__(self) -> None:
        self._next = itertools.count(1)

    def new(self) -> UUID:
        return UUID(int=next(self._next))

    def trace_id(self) -> str:
        return "0" * 32

    def jitter(self) -> float:
        return 0.5


class Span:
    trace_id = "f" * 32

    def set(self, name: str, value: str | int | float | bool) -> None:
        pass

    def discard(self) -> None:
        pass


@dataclass
class Telemetry:
    """Keeps what it is told."""

    counts: dict[tuple[str, tuple[tuple[str, str], ...]], float] = field(default_factory=dict)
    observed: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    spans: list[str] = field(default_factory=list)
    events: list[str] = field(default_factory=list)
    told: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    bound: dict[str, str] = field(default_factory=dict)

    @contextmanager
    def span(self, name: str, attributes: Any = None, carrier: Any = None) -> Iterator[Span]:
        self.spans.append(name)
        yield Span()

    def carrier(self) -> Mapping[str, str]:
        return {}

    def count(self, metric: str, amount: float = 1.0, **labels: str) -> None:
        key = (metric, tuple(sorted(labels.items())))
        self.counts[key] = self.counts.get(key, 0.0) + amount

    def observe(self, metric: str, value: float, **labels: str) -> None:
        self.observed.append((metric, labels))

    def gauge(self, metric: str, value: float, **labels: str) -> None:
        pass

    def clear(self, metric: str) -> None:
        pass

    def event(self, name: str, **fields: Any) -> None:
        self.events.append(name)
        self.told.append((name, {**self.bound, **fields}))

    @contextmanager
    def bind(self, **ids: str) -> Iterator[None]:
        before, self.bound = self.bound, {**self.bound, **ids}
        try:
            yield
        finally:
            self.bound = before

    def exposition(self) -> tuple[bytes, str]:
        return b"", "text/plain"

    def shutdown(self) -> None:
        pass


@dataclass
class Cache:
    """A dictionary that can be down."""

    values: dict[str, bytes] = field(default_factory=dict)
    available: bool = True
    gets: int = 0
    after_put: Callable[[], None] | None = None

    async def get(self, workspace: WorkspaceRef, key: str) -> bytes | None:
        self.gets += 1
        return self.values.get(key) if self.available else None

    async def put(self, workspace: WorkspaceRef, key: str, value: bytes, ttl_seconds: int) -> None:
        self.values[key] = value
        if self.after_put is not None:
            self.after_put()

    async def forget(self, workspace: WorkspaceRef) -> int:
        gone = len(self.values)
        self.values.clear()
        return gone

    async def aclose(self) -> None:
        pass


@dataclass
class Runs:
    """A list of runs; `fails` raises instead of storing."""

    stored: list[Run] = field(default_factory=list)
    durable: int = 0
    batches: list[int] = field(default_factory=list)
    fails: AgenticRagError | None = None

    async def record(self, runs: Sequence[Run], *, durable: bool = False) -> None:
        if self.fails is not None:
            raise self.fails
        for run in runs:
            if run.idempotency_key is not None:
                before = await self.by_idempotency_key(run.workspace, run.idempotency_key)
                if before is not None and before.input_hash != run.input_hash:
                    raise IdempotencyConflict("The key was used before.")
        self.durable += durable
        self.batches.append(len(runs))
        self.stored.extend(runs)

    async def get(self, workspace: WorkspaceRef, run_id: UUID, subject: str | None = None) -> Run | None:
        return next((run for run in self.stored if run.run_id == run_id), None)

    async def by_idempotency_key(self, workspace: WorkspaceRef, key: str) -> Run | None:
        return next((run for run in self.stored if run.idempotency_key == key), None)

    async def page(self, workspace: WorkspaceRef, request: PageRequest) -> Page[Run]:
        raise AssertionError("answering lists no runs")


@dataclass
class Embedder:
    """The deterministic embedding; `fails` raises instead, `space` may be another."""

    space: EmbeddingSpace = SPACE
    batch_size: int = 64
    fails: AgenticRagError | None = None
    calls: list[list[str]] = field(default_factory=list)
    opened: Corpus | None = None

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.calls.append(list(texts))
        assert self.opened is None or self.opened.opened == 0, "a snapshot was open while the query was embedded"
        if self.fails is not None:
            raise self.fails
        return embed_texts(texts)

    async def aclose(self) -> None:
        pass


class World:
    """Everything that answering needs, ready to ask."""

    def __init__(
        self,
        corpus: Corpus,
        defaults: AnswerDefaults | None = None,
        space: EmbeddingSpace = SPACE,
        chat: Callable[[Telemetry], ChatUse] | None = None,
        http_fetch: HttpFetch | None = None,
        reader: UnitReader | None = None,
        outside: Outside | None = None,
        telemetry: Any = None,
        retrieve: Retrieve | None = None,
        definitions: ReadDefinitions | None = None,
        is_dry: bool = False,
        clock: Clock | None = None,
    ) -> None:
        self.corpus = corpus
        self.telemetry = telemetry or Telemetry()
        self.cache = Cache()
        self.runs = Runs()
        self.embedder = Embedder(space, opened=corpus)
        database: Any = corpus
        self.recorder = RunRecorder(database, self.runs, self.cache, self.telemetry)
        embedders = only(self.embedder)
        ports = AnswerPorts(database, self.cache, self.runs, embedders, self.telemetry, clock or Clock(), Ids(), reader)
        use = None if chat is None else chat(self.telemetry)
        self.answer: AnswerQuestion = answer_question(
            ports,
            self.recorder,
            defaults or AnswerDefaults(),
            chat=use,
            tools=() if http_fetch is None else (http_fetch,),
            outside=outside,
            retrieve=retrieve,
            definitions=definitions,
            is_dry=is_dry,
        )

    async def ask(
        self,
        text: str,
        *,
        options: AnswerOptions | None = None,
        history: tuple[Turn, ...] = (),
        key: str | None = None,
        as_of: int | None = None,
        workspace: WorkspaceRef = WORKSPACE,
        after: UUID | None = None,
    ) -> Run:
        question = Question(workspace, text, history, as_of, options or AnswerOptions(), key, after)
        return await self.answer.ask(PRINCIPAL, question)
