"""The immutable state that is passed from stage to stage of a run."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agentic_rag.answering.answer import (
    Abstention,
    AbstentionReason,
    Citation,
    FetchedText,
    Outcome,
    SelfCheckReport,
    Support,
)
from agentic_rag.answering.extraction.candidate_units import CandidateUnit, Subquery
from agentic_rag.answering.extraction.extractive import DraftSentence, ExcludedSpans
from agentic_rag.answering.gate_decision import GateDecision
from agentic_rag.answering.options import EffectiveOptions
from agentic_rag.answering.plan import Plan, ToolCall
from agentic_rag.answering.question import Question
from agentic_rag.answering.state_machine import StageEvent
from agentic_rag.answering.verification.check import RefusedSentence
from agentic_rag.kernel.deadline import Deadline
from agentic_rag.kernel.dependency import Dependency
from agentic_rag.models.embedding.space import EmbeddingSpace
from agentic_rag.retrieval.candidates import CandidateTrace
from agentic_rag.retrieval.confidence import RankingConfidence
from agentic_rag.retrieval.passage import Passage
from agentic_rag.tenancy.access import ReadIdentity, ReadScope


@dataclass(frozen=True, slots=True)
class Shortfall:
    """Why a run cannot answer, or cannot answer all of the question."""

    reason: AbstentionReason
    explanation: str


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run ended."""

    text: str
    outcome: Outcome
    citations: tuple[Citation, ...] = ()
    abstention: Abstention | None = None


@dataclass(frozen=True, slots=True)
class RunState:
    """What is known so far. Fields are empty until the stage that fills them ran."""

    question: Question
    text: str
    """The question, folded."""
    readers: ReadIdentity
    """In whose name is read."""
    corpus_version: int
    options: EffectiveOptions
    deadline: Deadline
    space: EmbeddingSpace
    """The space of `vectors`: the one that was active when the run began, or the one that was read."""
    standalone: str = ""
    gate: GateDecision | None = None
    plan: Plan | None = None
    searches: tuple[str, ...] = ()
    """What is searched for, one text per part."""
    vectors: tuple[NDArray[np.float32], ...] = ()
    """The vector of each part's search (the whole question's where the part waits for another); empty without one."""
    whole_vector: NDArray[np.float32] | None = None
    """The vector of a divided question as a whole; None without an embedder."""
    read_version: int | None = None
    """The corpus version that was read; None when nothing was."""
    graph_version: int | None = None
    access: ReadScope | None = None
    """What who asks might read then."""
    parts: tuple[Subquery, ...] = ()
    standings: tuple[RankingConfidence, ...] = ()
    """How the best passage of each part's search stands out."""
    whole: Subquery | None = None
    """The undivided question."""
    standing: RankingConfidence | None = None
    """The same of its search."""
    trail: tuple[int, ...] = ()
    """The ordinals of passages that lead to one another, when the whole question found such."""
    passages: tuple[Passage, ...] = ()
    figures: tuple[CandidateUnit, ...] = ()
    """What states the figures that the question asks for, best first."""
    candidates: tuple[CandidateTrace, ...] = ()
    cut_short: bool = False
    """Some part was not searched because time ran out."""
    hurried: bool = False
    """Something that might have made the answer better was left out because time ran out."""
    tool_calls: tuple[ToolCall, ...] = ()
    fetched: tuple[FetchedText, ...] = ()
    """Pages from the web that the question named and that were read."""
    found: Passage | None = None
    """The opening passage that a lookup found."""
    hyde_text: str | None = None
    """A hypothetical passage, embedded beside the question."""
    draft: tuple[DraftSentence, ...] = ()
    author: str | None = None
    """The model that wrote the draft; None for rules."""
    conflicting: bool = False
    support: Support | None = None
    """How far the passages support an answer to the question; None when nothing was drafted from passages."""
    missing: tuple[str, ...] = ()
    """Parts of the question without support."""
    shortfall: Shortfall | None = None
    excluded: ExcludedSpans = frozenset()
    refusals: tuple[RefusedSentence, ...] = ()
    repairs: int = 0
    report: SelfCheckReport | None = None
    degraded: tuple[Dependency, ...] = ()
    ending: Ending | None = None


@dataclass(frozen=True, slots=True)
class StageResult:
    """What a stage made of the state, what that means, and `ok`, `skipped: why` or `degraded: what`."""

    state: RunState
    event: StageEvent = StageEvent.CONTINUE
    outcome: str = "ok"
