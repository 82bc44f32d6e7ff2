"""What answering passes along: a question with everything its answer depends on, and what the stages made of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING
from uuid import UUID

from agentic_rag.answering.answer import Answer
from agentic_rag.answering.live.events import RunFeed
from agentic_rag.answering.run import StageRecord
from agentic_rag.answering.runs.cache_key import AnswerContext
from agentic_rag.answering.understood_question import UnderstoodQuestion
from agentic_rag.models.embedding.space import EmbeddingSpace
from agentic_rag.tenancy.access import ReadScope
from agentic_rag.tenancy.principals import Principal, WorkspaceRef

if TYPE_CHECKING:
    from agentic_rag.answering.stages.stall_watch import StallWatch


@dataclass(frozen=True, slots=True)
class EarlierRuns:
    """The stored runs before a question in its conversation."""

    follows: UUID | None = None
    """The last one."""
    turns: tuple[UUID, ...] | None = ()
    """As `Run.turns`."""


@dataclass(frozen=True, slots=True)
class AskRequest:
    """A question with everything its answer depends on."""

    run_id: UUID
    question: UnderstoodQuestion
    principal: Principal
    input_hash: bytes | None
    """The hash of the request as it came; None without an idempotency key."""
    began: float
    trace_id: str
    context: AnswerContext
    key: str
    newest_version: int
    """The newest corpus version when the question came."""
    space: EmbeddingSpace
    """The space that the workspace answered in then."""
    stalls: StallWatch = field(compare=False, repr=False)
    earlier: EarlierRuns = EarlierRuns()
    feed: RunFeed = field(default_factory=RunFeed, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class PipelineResult:
    """An answer, and the corpus it was read from."""

    workspace: WorkspaceRef
    answer: Answer
    stages: tuple[StageRecord, ...]
    corpus_version: int
    graph_version: int
    space: EmbeddingSpace
    access: ReadScope | None = None
    """What the caller might read then; None when nothing was read."""
    evidence_truncated: bool = False
    """Time ran out before all evidence was read: with more time the answer may be another."""


def context_read(context: AnswerContext, result: PipelineResult) -> AnswerContext:
    """The context of what was read in the end: a publish or a switch may have come between."""
    return replace(
        context,
        access=result.access or context.access,
        corpus_version=result.corpus_version,
        graph_version=result.graph_version,
        space=result.space.name,
        models=(result.space.model, *context.models[1:]),
    )
