"""A question as a caller sends it: its text, the conversation before it, its options."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from agentic_rag.documents.document import CitedPassage, DocumentFilter
from agentic_rag.retrieval.fusion_options import FusionMethod, FusionWeights
from agentic_rag.tenancy.principals import WorkspaceRef

MAX_QUESTION_CHARACTERS = 4000
"""Longer questions are refused with QUESTION_TOO_LONG before any work."""


MAX_HISTORY_TURNS = 10


MAX_TURN_CHARACTERS = 4 * MAX_QUESTION_CHARACTERS
"""Question and answer of one turn together."""


MAX_TURN_CITED = 50
"""Passages that one turn may name as cited."""


class CacheMode(enum.Enum):
    """DEFAULT reads and writes, REFRESH only writes, BYPASS does neither."""

    DEFAULT = "DEFAULT"
    REFRESH = "REFRESH"
    BYPASS = "BYPASS"


@dataclass(frozen=True, slots=True)
class Turn:
    """An earlier question, its answer, and the passages that the answer cited."""

    question: str
    answer: str
    cited: tuple[CitedPassage, ...] = ()


@dataclass(frozen=True, slots=True)
class AnswerOptions:
    """Options of a caller. None: the workspace's or the process's default."""

    top_k: int | None = None
    min_score: float | None = None
    max_context_tokens: int | None = None
    use_hyde: bool | None = None
    use_tools: bool | None = None
    filter: DocumentFilter = field(default_factory=DocumentFilter)
    cache: CacheMode = CacheMode.DEFAULT
    timeout_ms: int | None = None
    fusion: FusionMethod | None = None
    weights: FusionWeights | None = None
    per_document: int | None = None
    """At most so many passages of one document; 0: no cap."""
    diversity: float | None = None
    """As `retrieval.selection.SelectionRules`."""
    min_similarity: float | None = None
    """As `RagConfig.similarity_threshold`; 0: none."""
    allow_web: bool | None = None
    """As `gate.policy.WebPolicy.request`."""


@dataclass(frozen=True, slots=True)
class Question:
    """A request to answer, already validated."""

    workspace: WorkspaceRef
    text: str
    history: tuple[Turn, ...] = ()
    as_of: int | None = None
    """A corpus version to read at, or None for the newest."""
    options: AnswerOptions = field(default_factory=AnswerOptions)
    idempotency_key: str | None = None
    after: UUID | None = None
    """A stored run that this question follows: the last turn of the conversation."""
    as_of_time: datetime | None = None
    """An instant whose newest corpus version is read, in the place of `as_of`; one without a zone is of UTC."""
    thread: UUID | None = None
    """A thread of the caller's: its newest turns are the conversation, and the run becomes its next one."""
    begins_thread: bool = False
    """The run begins a thread."""
    turns: tuple[UUID, ...] | None = None
    """The runs that `history` was read from, where a run is asked again."""
