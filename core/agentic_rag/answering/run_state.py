"""The immutable state of a run, passed from stage to stage: one value for each step of the work."""

from __future__ import annotations

from dataclasses import dataclass, replace

from agentic_rag.answering.answer import (
    Abstention,
    AbstentionReason,
    Citation,
    FetchedText,
    Outcome,
    SelfCheckReport,
    StageUsage,
    Support,
)
from agentic_rag.answering.extraction.candidate_units import CandidateUnit, Subquery
from agentic_rag.answering.extraction.extractive import DraftSentence, ExcludedSpans
from agentic_rag.answering.gate_decision import GateDecision
from agentic_rag.answering.messages import RunMessage
from agentic_rag.answering.options import EffectiveOptions
from agentic_rag.answering.outside import OutsideReport
from agentic_rag.answering.plan import ToolCall
from agentic_rag.answering.state_machine import StageEvent
from agentic_rag.answering.understood_question import UnderstoodQuestion
from agentic_rag.answering.verification.check import RefusedSentence
from agentic_rag.kernel.clock import Deadline
from agentic_rag.kernel.dependency import Dependency
from agentic_rag.models.chat.request import ChatSpend
from agentic_rag.models.embedding.space import EmbeddingSpace
from agentic_rag.retrieval.candidates import CandidateTrace, Passage
from agentic_rag.retrieval.confidence import NO_CONFIDENCE, RankingConfidence
from agentic_rag.tenancy.access import ReadIdentity, ReadScope


@dataclass(frozen=True, slots=True)
class SearchedPart:
    """A sub-question with its weighted terms, and how clearly its best passage leads."""

    query: Subquery
    confidence: RankingConfidence = NO_CONFIDENCE


@dataclass(frozen=True, slots=True)
class Retrieved:
    """The evidence: what the searches and the tools found."""

    corpus_version: int | None = None
    """The version that was read; None when nothing was."""
    graph_version: int | None = None
    access: ReadScope | None = None
    """What the caller might read then."""
    parts: tuple[SearchedPart, ...] = ()
    """The sub-questions that were searched, in the order of the plan."""
    whole: SearchedPart | None = None
    """The undivided question; None when it was not searched."""
    path: tuple[int, ...] = ()
    """Ordinals of passages that lead to one another, where the undivided question found such a path."""
    passages: tuple[Passage, ...] = ()
    figures: tuple[CandidateUnit, ...] = ()
    """Quotes that state the figures asked for, best first."""
    is_exact: bool = False
    """They are the cells that the question names: the answer, or its readings where they are several."""
    candidates: tuple[CandidateTrace, ...] = ()
    subquestions_skipped: bool = False
    """Time ran out before every sub-question was searched."""
    evidence_truncated: bool = False
    """Time ran out before all evidence was read: with more time the answer may be another."""
    tool_calls: tuple[ToolCall, ...] = ()
    fetched: tuple[FetchedText, ...] = ()
    """Web pages that the question names, as they were read."""
    opening: Passage | None = None
    """The first passage of the document that a look-up found."""
    introduction: tuple[Passage, ...] = ()
    """The first passages of the only document, where a question is about it as a whole."""


@dataclass(frozen=True, slots=True)
class Shortfall:
    """Why a run cannot answer, or cannot answer all of the question."""

    reason: AbstentionReason
    explanation: RunMessage
    outcome: Outcome | None = None
    """What the run is where the sentences are of use all the same; None: no answer, unless parts are missing."""

    @property
    def is_failure(self) -> bool:
        """Whether something that answers was away."""
        return self.reason is AbstentionReason.DEPENDENCY


@dataclass(frozen=True, slots=True)
class Draft:
    """The sentences of an answer before they are checked."""

    sentences: tuple[DraftSentence, ...] = ()
    author: str | None = None
    """The chat model that wrote them; None for rules."""
    is_conflicting: bool = False
    """Two sources disagree, and both are quoted."""
    support: Support | None = None
    """How far the passages support an answer; None when nothing was drafted from passages."""
    certainty: Support | None = None
    """How far the sentences are the answer; None where that is not weighed."""
    missing: tuple[str, ...] = ()
    """Sub-questions without support."""
    shortfall: Shortfall | None = None

    @property
    def is_abstention(self) -> bool:
        """The sentences are the nearest evidence, not an answer."""
        told = self.shortfall
        return told is not None and told.outcome is None and not self.missing

    @property
    def is_underspecified(self) -> bool:
        """The sentences are the readings of the question."""
        return self.shortfall is not None and self.shortfall.outcome is Outcome.UNDERSPECIFIED


@dataclass(frozen=True, slots=True)
class Checked:
    """What the self-checks of a run found."""

    excluded: ExcludedSpans = frozenset()
    """Where refused sentences begin, so that no repair quotes them again."""
    refusals: tuple[RefusedSentence, ...] = ()
    repairs: int = 0
    report: SelfCheckReport | None = None


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run ended."""

    text: str
    outcome: Outcome
    citations: tuple[Citation, ...] = ()
    abstention: Abstention | None = None


@dataclass(frozen=True, slots=True)
class LookedOutside:
    """A run that looked outside, and how it stood before."""

    report: OutsideReport
    decision: GateDecision
    """The decision to look."""
    before: RunState


@dataclass(frozen=True, slots=True)
class RunState:
    """Everything a stage may read. Each stage replaces the value it makes and leaves the others."""

    question: UnderstoodQuestion
    readers: ReadIdentity
    """The identities in whose name documents are read."""
    corpus_version: int
    """The version that the run was asked at."""
    options: EffectiveOptions
    deadline: Deadline
    space: EmbeddingSpace
    """The space of the question's vectors. A switch before the snapshot opens replaces it and the vectors."""
    retrieved: Retrieved = Retrieved()
    draft: Draft = Draft()
    checked: Checked = Checked()
    ending: Ending | None = None
    degraded: tuple[Dependency, ...] = ()
    spent: ChatSpend | None = None
    usage: tuple[StageUsage, ...] = ()
    """What was spent, by stage."""

    def with_usage(self, stage: str, before: ChatSpend | None) -> RunState:
        """This state of the end of a stage, with what the stage spent."""
        if self.spent is None or self.spent == before:
            return self
        return replace(self, usage=(*self.usage, StageUsage(stage, self.spent.since(before))))

    outside: LookedOutside | None = None
    """None until the run looks outside, which it does once."""

    @property
    def settled(self) -> RunState:
        """The state to answer from: where looking outside led to no answer, or to none in time, what the documents gave
        before.
        """
        looked = self.outside
        if looked is None or looked.before.ending is None:
            return self
        before, ending = looked.before, self.ending
        is_worse = ending is None or (
            ending.outcome is Outcome.ABSTAINED
            and before.ending is not None
            and before.ending.outcome is not Outcome.ABSTAINED
        )
        kept = before if is_worse else self
        return replace(kept, question=replace(kept.question, gate=looked.decision), outside=looked, spent=self.spent)


@dataclass(frozen=True, slots=True)
class StageResult:
    """The next state, the event for the transition table, and `ok`, `skipped: why` or `degraded: what`."""

    state: RunState
    event: StageEvent = StageEvent.CONTINUE
    outcome: str = "ok"
