"""One execution of the state machine, as it is stored."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from agentic_rag.answering.answer import Answer
from agentic_rag.answering.runs.answer_codec import encode, pack
from agentic_rag.tenancy.principals import WorkspaceRef


@dataclass(frozen=True, slots=True)
class StageRecord:
    """One stage of a run: when it began and how long it took, in seconds, and how it ended (`ok`, `ok: model` when a
    chat model did it, `skipped: why`, `degraded: what`, or an error code).
    """

    stage: str
    started: float
    seconds: float
    outcome: str


class CacheOutcome(enum.Enum):
    """The role of the cache in a run."""

    HIT = "hit"
    MISS = "miss"
    JOINED = "joined"
    BYPASS = "bypass"


@dataclass(frozen=True, slots=True)
class RunVersions:
    """The versions of everything an answer depends on."""

    corpus_version: int
    graph_version: int
    space: str | None
    weights_version: str
    pipeline_version: str
    models: tuple[str, ...] = ()


class EncodedAnswer:
    """An answer with its packed form, which is made at most once: that takes a tenth of the time of a cached answer."""

    __slots__ = ("_packed", "answer")

    def __init__(self, answer: Answer, packed: bytes | None = None) -> None:
        """`packed`: what the answer was stored with."""
        self.answer = answer
        self._packed = packed

    @property
    def is_packed(self) -> bool:
        """Whether the packed form is there."""
        return self._packed is not None

    def pack(self) -> bytes:
        """As stored runs have it."""
        return self._packed or self.forms()[1]

    def forms(self) -> tuple[bytes, bytes]:
        """The answer encoded, and packed."""
        encoded = encode(self.answer)
        self._packed = self._packed or pack(encoded)
        return encoded, self._packed


@dataclass(frozen=True, slots=True)
class Run:
    """One execution of the state machine, as stored."""

    workspace: WorkspaceRef
    run_id: UUID
    trace_id: str
    question: str
    subject: str
    """Who asked."""
    created_at: datetime
    seconds: float
    cache: CacheOutcome
    versions: RunVersions
    answer: Answer
    stages: tuple[StageRecord, ...]
    idempotency_key: str | None = None
    input_hash: bytes | None = None
    thread: UUID | None = None
    """The thread that it was asked in; that of the run itself begins with it."""
    turns: tuple[UUID, ...] | None = None
    """The runs that were its conversation, oldest first. None: its turns were sent by the caller or had lost words by
    then, so that no runs are them; or it was stored before this was kept.
    """
    encoded: EncodedAnswer | None = field(default=None, compare=False, repr=False)
    """Of an answer that is cached. Good for that very answer: a redacted one is another."""

    def encoded_answer(self) -> EncodedAnswer:
        """The answer with its packed form, where that is known."""
        encoded = self.encoded
        return encoded if encoded is not None and encoded.answer is self.answer else EncodedAnswer(self.answer)
