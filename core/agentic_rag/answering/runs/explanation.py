"""Explains why a run used these passages and not others: from its record and, for a passage outside the record, from
the ranking of its searches.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from agentic_rag.answering.answer import Answer
from agentic_rag.retrieval.candidates import ArmHit, CandidateTrace, Retriever
from agentic_rag.retrieval.selection import (
    CONTEXT_BUDGET,
    DIVERSITY,
    MIN_SCORE,
    NEAR_DUPLICATE,
    OUTVOTED,
    PER_DOCUMENT,
    SIMILARITY,
    TOP_K,
)

MAX_WHY_NOT_PASSAGES = 10
"""Passages in one request."""

MAX_RANK_DEPTH = 1000
"""Ranks of an arm in which a passage is searched for."""


class CandidateFate(enum.Enum):
    """The fate of a candidate."""

    CITED = "cited"
    NEAREST = "nearest"
    """Shown with an abstention."""
    UNUSED = "unused"
    """Passed to synthesis, which quoted nothing of it."""
    TOP_K = TOP_K
    PER_DOCUMENT = PER_DOCUMENT
    NEAR_DUPLICATE = NEAR_DUPLICATE
    DIVERSITY = DIVERSITY
    MIN_SCORE = MIN_SCORE
    SIMILARITY = SIMILARITY
    CONTEXT_BUDGET = CONTEXT_BUDGET
    OUTVOTED = OUTVOTED
    """A page of the web that at least two independent sources contradict."""
    DROPPED = "dropped"
    """For another reason."""


@dataclass(frozen=True, slots=True)
class CandidateExplanation:
    """A candidate at its rank (from 1) in the run, its fate and the reason; `markers` of its citations."""

    rank: int
    trace: CandidateTrace
    fate: CandidateFate
    markers: tuple[int, ...]
    reason: str


class ArmState(enum.Enum):
    """The state of a passage in one arm."""

    PROPOSED = "proposed"
    """Among the hits that the arm gave to fusion."""
    BEYOND = "beyond"
    """Further down; the rank is None below `MAX_RANK_DEPTH`."""
    NOTHING_SHARED = "nothing_shared"
    """Lexical: it contains no term of the search."""
    NOT_REACHED = "not_reached"
    """Graph: no path leads to it. Dense: it has no vector."""
    NOT_ASKED = "not_asked"
    """The arm had no weight, or was not available."""


@dataclass(frozen=True, slots=True)
class ArmPlacement:
    """The rank and score of a passage in one arm; None where it has none."""

    retriever: Retriever
    state: ArmState
    rank: int | None
    raw: float | None
    normalised: float | None
    weight: float


@dataclass(frozen=True, slots=True)
class ArmRanking:
    """An arm's ranking of one search: the hits it gave to fusion, and its first `MAX_RANK_DEPTH`."""

    retriever: Retriever
    weight: float
    is_asked: bool
    fused_hits: Sequence[ArmHit]
    deep_hits: Sequence[ArmHit] = ()


@dataclass(frozen=True, slots=True)
class SearchPlacement:
    """The place of a passage in one search: fused rank and score (None: not fused) and its place in each arm. `cutoff`
    is the number of passages passed on, `cutoff_score` the score of the last of them.
    """

    search: str
    rank: int | None
    score: float | None
    candidates: int
    cutoff: int
    cutoff_score: float
    arms: tuple[ArmPlacement, ...]
    reranked: int | None = None
    """Its rank by the reranker of the run; None without one."""

    @property
    def is_within_cutoff(self) -> bool:
        """True when its last rank is within the cutoff."""
        last = self.rank if self.reranked is None else self.reranked
        return last is not None and last <= self.cutoff


class WhyNotVerdict(enum.Enum):
    """Why a passage was not handed on."""

    CANDIDATE = "candidate"
    """It is a candidate; the record of the run says all."""
    OUTRANKED = "outranked"
    """It was fused, below the cutoff."""
    RERANKED = "reranked"
    """Fusion ranked it above the cutoff, the reranker below."""
    HYDE = "hyde"
    """The question alone ranks it above the cutoff, the question with the hypothetical passage below."""
    NOT_PROPOSED = "not_proposed"
    """No arm gave it to fusion."""
    NO_SHARED_TERM = "no_shared_term"
    """No arm gave it to fusion, and it contains no term of any search."""
    WITHIN_REACH = "within_reach"
    """The same searches find it when they are repeated."""
    FILTERED = "filtered"
    """The filter of the request leaves its document out."""
    NOT_VISIBLE = "not_visible"
    """It was not part of the corpus at the run's version."""
    NOT_FOUND = "not_found"
    """There is no such passage in the run's workspace."""
    LATE = "late"
    """The searches could not be repeated within the deadline."""
    NOT_SEARCHED = "not_searched"
    """The run searched for nothing."""


@dataclass(frozen=True, slots=True)
class WhyNot:
    """The verdict on one passage in words, with its placements. `title` is empty for an unknown passage; `candidate` is
    set for a candidate.
    """

    chunk_id: UUID
    title: str
    verdict: WhyNotVerdict
    explanation: str
    candidate: CandidateExplanation | None = None
    searches: tuple[SearchPlacement, ...] = ()


def explain_candidates(answer: Answer) -> tuple[CandidateExplanation, ...]:
    """The fate of every candidate, in the order of the run."""
    markers: dict[UUID, list[int]] = {}
    for citation in answer.citations:
        markers.setdefault(citation.chunk_id, []).append(citation.marker)
    nearest = frozenset(one.chunk_id for one in answer.abstention.nearest) if answer.abstention else frozenset[UUID]()
    return tuple(
        _explain_candidate(
            rank, trace, tuple(markers.get(trace.chunk_id, ())), trace.chunk_id in nearest, bool(answer.text)
        )
        for rank, trace in enumerate(answer.debug.candidates, start=1)
    )


def _explain_candidate(
    rank: int, trace: CandidateTrace, markers: tuple[int, ...], is_nearest: bool, is_answered: bool
) -> CandidateExplanation:
    if markers:
        cited = ", ".join(f"[{marker}]" for marker in markers)
        return CandidateExplanation(rank, trace, CandidateFate.CITED, markers, f"Cited as {cited}.")
    if is_nearest:
        reason = "Shown as one of the nearest passages: it does not answer the question well enough."
        return CandidateExplanation(rank, trace, CandidateFate.NEAREST, (), reason)
    if trace.dropped_because is None:
        reason = (
            "Handed to synthesis; the answer needed nothing of it."
            if is_answered
            else "Handed to synthesis; nothing in it supports an answer."
        )
        return CandidateExplanation(rank, trace, CandidateFate.UNUSED, (), reason)
    fate = _FATES.get(trace.dropped_because, CandidateFate.DROPPED)
    return CandidateExplanation(rank, trace, fate, (), _REASONS.get(fate, f"Dropped: {trace.dropped_because}."))


_FATES = {fate.value: fate for fate in CandidateFate}

_REASONS = {
    CandidateFate.TOP_K: "Ranked below the last passage that is handed to synthesis.",
    CandidateFate.PER_DOCUMENT: "Its document had as many better passages as one document may have.",
    CandidateFate.NEAR_DUPLICATE: "Nearly the same as a better passage, and diversity was asked for.",
    CandidateFate.DIVERSITY: "Too much like better passages, and diversity was asked for.",
    CandidateFate.MIN_SCORE: "Its score is below the least score of the request.",
    CandidateFate.SIMILARITY: "It is less similar to the question than the workspace's similarityThreshold asks.",
    CandidateFate.CONTEXT_BUDGET: "The passages before it filled the context that synthesis may read.",
    CandidateFate.OUTVOTED: "A page of the web; at least two independent sources say otherwise, and agree.",
}


def place_in_arm(ordinal: int, ranking: ArmRanking) -> ArmPlacement:
    """The place of a passage in an arm."""
    if not ranking.is_asked:
        return ArmPlacement(ranking.retriever, ArmState.NOT_ASKED, None, None, None, ranking.weight)
    for state, hits in ((ArmState.PROPOSED, ranking.fused_hits), (ArmState.BEYOND, ranking.deep_hits)):
        for rank, hit in enumerate(hits, start=1):
            if hit.ordinal == ordinal:
                return ArmPlacement(ranking.retriever, state, rank, hit.raw, hit.score, ranking.weight)
    if len(ranking.deep_hits) >= MAX_RANK_DEPTH:
        state = ArmState.BEYOND
    else:
        state = ArmState.NOTHING_SHARED if ranking.retriever is Retriever.LEXICAL else ArmState.NOT_REACHED
    return ArmPlacement(ranking.retriever, state, None, None, None, ranking.weight)


def decide_why_not(placements: Sequence[SearchPlacement]) -> WhyNotVerdict:
    """The verdict on a passage that the run's searches could see, by the search that ranks it best."""
    if any(one.is_within_cutoff for one in placements):
        return WhyNotVerdict.WITHIN_REACH
    if any(one.rank is not None and one.rank <= one.cutoff for one in placements):
        return WhyNotVerdict.RERANKED
    if any(one.rank is not None for one in placements):
        return WhyNotVerdict.OUTRANKED
    lexical = [arm for one in placements for arm in one.arms if arm.retriever is Retriever.LEXICAL]
    if lexical and all(arm.state is ArmState.NOTHING_SHARED for arm in lexical):
        return WhyNotVerdict.NO_SHARED_TERM
    return WhyNotVerdict.NOT_PROPOSED


_RANKED = frozenset({WhyNotVerdict.WITHIN_REACH, WhyNotVerdict.OUTRANKED, WhyNotVerdict.RERANKED, WhyNotVerdict.HYDE})


def format_why_not(verdict: WhyNotVerdict, placements: Sequence[SearchPlacement]) -> str:
    """A verdict of `decide_why_not` in words, with the figures of the search that ranks the passage best."""
    ranked = [one for one in placements if one.rank is not None]
    if verdict in _RANKED and ranked:
        best = min(ranked, key=lambda one: (one.rank or 0) / max(1, one.cutoff))
        place = f"Rank {best.rank} of {best.candidates} with a score of {best.score:.3f}"
        if best.reranked is not None:
            place += f", {best.reranked} by the reranker"
        if verdict is WhyNotVerdict.OUTRANKED:
            return f"{place}; the last of the {best.cutoff} that are handed on has {best.cutoff_score:.3f}."
        if verdict is WhyNotVerdict.RERANKED:
            return f"{place}, which hands on {best.cutoff}: the reranker put others before it."
        if verdict is WhyNotVerdict.HYDE:
            return (
                f"{place} by the question alone, of which {best.cutoff} are handed on. The run searched with the "
                "passage that HyDE wrote as well, and that brought others before it."
            )
        return (
            f"{place} when the search is run again: the run itself lacked time, an arm or a model that it has now, or "
            "another part of the question took the place."
        )
    if verdict is WhyNotVerdict.NO_SHARED_TERM:
        return "It holds no term of the question, and no other arm put it among what it proposes."
    return "No arm put it among what it proposes."
