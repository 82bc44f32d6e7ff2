"""Merges the results of all searches of a run into its evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from agentic_rag.answering.extraction.candidate_units import Subquery
from agentic_rag.answering.extraction.multi_hop import find_path
from agentic_rag.answering.extraction.subquery import build_subquery
from agentic_rag.answering.query.standalone import weigh_follow_up
from agentic_rag.answering.run_state import RunState, SearchedPart, StageResult
from agentic_rag.answering.understood_question import UnderstoodQuestion
from agentic_rag.documents.document import Chunk
from agentic_rag.language.token_estimate import estimate_tokens
from agentic_rag.retrieval.candidates import Candidate, CandidateTrace, Passage
from agentic_rag.retrieval.retrieve import RetrievalResult, trace_of
from agentic_rag.retrieval.selection import CONTEXT_BUDGET

PART_WEIGHT = 0.6
"""Share of its score that a passage keeps when the undivided question did not find it, unless it is a part's first."""


@dataclass(frozen=True, slots=True)
class PartSearch:
    """A sub-question as it was searched for, and the result."""

    search: str
    query: Subquery
    result: RetrievalResult


class _Merged:
    """Passages and traces by their chunk; `ranks` orders the passages."""

    def __init__(self) -> None:
        self.passages: dict[int, Passage] = {}
        self.ranks: dict[int, float] = {}
        self.traces: dict[str, CandidateTrace] = {}

    def add(self, chunk: Chunk, candidate: Candidate, parts: tuple[int, ...], rank: float) -> None:
        """Add a passage; one that is known gains the parts, the better candidate and the better rank."""
        known = self.passages.get(chunk.ordinal)
        if known is not None:
            candidate = candidate if candidate.score > known.candidate.score else known.candidate
            parts = (*known.parts, *parts)
        self.passages[chunk.ordinal] = Passage(chunk, candidate, parts)
        self.ranks[chunk.ordinal] = max(self.ranks.get(chunk.ordinal, 0.0), rank)

    def add_cited_before(self, chunk: Chunk, candidate: Candidate, parts: tuple[int, ...]) -> None:
        """Add a passage that an earlier answer cited, with the scores of this run's search where it has any."""
        if chunk.ordinal in self.passages:
            return
        trace = self.traces.get(chunk.chunk_id.hex) or trace_of(chunk, candidate)
        self.traces[chunk.chunk_id.hex] = replace(trace, dropped_because=None)
        self.add(chunk, Candidate(chunk.ordinal, trace.score, trace.arms), parts, trace.score)


def collect(
    state: RunState,
    searches: Sequence[PartSearch],
    whole: RetrievalResult | None,
    cited_before: Sequence[tuple[Chunk, Candidate]],
) -> StageResult:
    """The state with the passages of all searches, each once, within the context budget.

    They stand in the order of the undivided question. A passage that only a part found counts `PART_WEIGHT`, but the
    first passage of each part counts in full.
    """
    merged = _merge(searches, whole)
    for chunk, candidate in cited_before:
        merged.add_cited_before(chunk, candidate, tuple(range(len(searches))))
    ranks = merged.ranks
    passages = sorted(merged.passages.values(), key=lambda one: (-ranks[one.chunk.ordinal], one.chunk.ordinal))
    order = {one.chunk.chunk_id.hex: place for place, one in enumerate(passages)}
    fitting, cut = _fit_budget(passages, state.options.max_context_tokens)
    candidates = tuple(
        replace(trace, dropped_because=CONTEXT_BUDGET) if trace.chunk_id.hex in cut else trace
        for trace in sorted(merged.traces.values(), key=lambda trace: order.get(trace.chunk_id.hex, len(order)))
    )
    undivided = whole if whole is not None else searches[0].result if len(searches) == 1 else None
    retrieved = replace(
        state.retrieved,
        parts=tuple(SearchedPart(one.query, one.result.confidence) for one in searches),
        whole=None if undivided is None else _whole_part(state.question, searches, undivided),
        path=() if undivided is None else find_path(undivided.chunks),
        passages=fitting,
        candidates=candidates,
    )
    missed = dict.fromkeys(name for one in searches for name in one.result.degraded)
    collected = replace(
        state,
        question=replace(state.question, searches=tuple(one.search for one in searches)),
        retrieved=retrieved,
        degraded=(*state.degraded, *missed),
    )
    return StageResult(collected, outcome="degraded: " + ", ".join(name.value for name in missed) if missed else "ok")


def _merge(searches: Sequence[PartSearch], whole: RetrievalResult | None) -> _Merged:
    merged = _Merged()
    for chunk, candidate in whole.chunks if whole is not None else ():
        merged.add(chunk, candidate, (), candidate.score)
    for place, one in enumerate(searches):
        for rank, (chunk, candidate) in enumerate(one.result.chunks):
            weight = PART_WEIGHT if whole is not None and rank else 1.0
            merged.add(chunk, candidate, (place,), weight * candidate.score)
    for result in (*([whole] if whole is not None else []), *(one.result for one in searches)):
        for trace in result.traces:
            known = merged.traces.get(trace.chunk_id.hex)
            # What one search hands on was not left out, whatever another did with it.
            if known is None or (known.dropped_because is not None and trace.dropped_because is None):
                merged.traces[trace.chunk_id.hex] = trace
    return merged


def _whole_part(
    question: UnderstoodQuestion, searches: Sequence[PartSearch], undivided: RetrievalResult
) -> SearchedPart:
    """The undivided question: its only part where that is the whole of it."""
    only = searches[0].query if len(searches) == 1 else None
    kind = question.answer_type
    if only is None or (only.text, only.answer_type, only.earlier_names) != (question.text, kind, ()):
        texts = [chunk.text for chunk, _ in undivided.chunks]
        only = weigh_follow_up(build_subquery(question.text, kind, undivided.rarity, (), texts))
    return SearchedPart(only, undivided.confidence)


def _fit_budget(passages: Sequence[Passage], tokens: int) -> tuple[tuple[Passage, ...], frozenset[str]]:
    """The first passages that fit into `tokens` (always at least one), and the chunk ids of the others."""
    if sum(len(passage.chunk.text) for passage in passages) <= tokens:
        return tuple(passages), frozenset()
    fitting: list[Passage] = []
    left = tokens
    for passage in passages:
        left -= estimate_tokens(passage.chunk.text)
        if left < 0 and fitting:
            break
        fitting.append(passage)
    return tuple(fitting), frozenset(passage.chunk.chunk_id.hex for passage in passages[len(fitting) :])
