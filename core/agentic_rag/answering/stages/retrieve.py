"""Retrieve: the passages for every part, later parts completed with what earlier ones found."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from agentic_rag.answering.evidence.answerability import extract_features, score_support
from agentic_rag.answering.evidence.cited_before import find_cited_before
from agentic_rag.answering.evidence.expand_context import expand_passages, neighbour_positions
from agentic_rag.answering.evidence.intermediate_answers import find_intermediate_answers
from agentic_rag.answering.extraction.candidate_units import Subquery
from agentic_rag.answering.extraction.extractive import draft_part
from agentic_rag.answering.extraction.multi_hop import find_path
from agentic_rag.answering.extraction.subquery import build_subquery
from agentic_rag.answering.figures.search import figure_evidence
from agentic_rag.answering.lazy_snapshot import LazySnapshot
from agentic_rag.answering.plan import AnswerType, SubQuestion
from agentic_rag.answering.query.planner import detect_answer_type
from agentic_rag.answering.query.rewrite import fill_placeholder, has_placeholder
from agentic_rag.answering.run_state import RunState, StageResult
from agentic_rag.answering.stages.embed import embed_searches
from agentic_rag.answering.state_machine import Stage, StageEvent
from agentic_rag.documents.document import Chunk
from agentic_rag.kernel.clock import Clock
from agentic_rag.kernel.database import CorpusSnapshot
from agentic_rag.language.token_estimate import estimate_tokens
from agentic_rag.models.embedding.ports import EmbedderSource
from agentic_rag.models.embedding.similarity_threshold import min_cosine
from agentic_rag.retrieval.candidates import Candidate, CandidateTrace, SearchScope
from agentic_rag.retrieval.fusion import dense_trust_of
from agentic_rag.retrieval.passage import Passage
from agentic_rag.retrieval.retrieve import QueryVector, RetrievalQuery, RetrievalResult, Retrieve, scope_of, trace_of
from agentic_rag.retrieval.selection import CONTEXT_BUDGET

PART_SHARE = 0.85
"""Share of the time left that the search of one part may take: a little less than the stage's own, so that what earlier
parts found is kept."""

PART_WEIGHT = 0.6
"""Of the score of a passage that the whole question did not find, unless it is a part's first."""

SENTENCES_FOR_FINDINGS = 2

_Read = TypeVar("_Read")


@dataclass(frozen=True, slots=True)
class _SearchResult:
    text: str
    query: Subquery
    result: RetrievalResult


class RetrieveStage:
    """Searches part by part in dependency order inside the run's snapshot."""

    stage = Stage.RETRIEVE

    def __init__(self, retrieve: Retrieve, embedders: EmbedderSource, clock: Clock) -> None:
        self._retrieve = retrieve
        self._embedders = embedders
        self._clock = clock

    async def run(self, state: RunState, reads: LazySnapshot) -> StageResult:
        """Attach passages, candidates and the parts with their weighted terms."""
        snapshot = await reads.snapshot()
        state = await self._in_space(state, snapshot)
        scope = await scope_of(snapshot, state.options.filter, snapshot.access.access_ids)
        parts = state.plan.sub_questions if state.plan else (SubQuestion(state.standalone),)
        done: list[_SearchResult] = []
        cut_short = False
        for place, part in enumerate(parts):
            try:
                findings = self._findings(state, part, done)
                if not findings and has_placeholder(part):
                    break
                asked = fill_placeholder(part, findings) if part.depends_on else part.text
                text = asked if part.depends_on else state.searches[place]
                async with asyncio.timeout(state.deadline.remaining(self._clock.monotonic()) * PART_SHARE):
                    vector = state.vectors[place] if state.vectors else None
                    query = self._query(state, text, vector, scope, about=state.standalone)
                    found = await self._retrieve.run(snapshot, query)
            except TimeoutError:
                if not done:
                    return StageResult(state, StageEvent.OUT_OF_TIME, "BUDGET")
                cut_short = True
                break
            kind = _part_type(state, asked, len(parts))
            query_part = build_subquery(asked, kind, found.rarity, findings if has_placeholder(part) else ())
            done.append(_SearchResult(text, query_part, found))
        hurried = cut_short
        whole: RetrievalResult | None = None
        if len(parts) > 1 and not hurried:
            whole = await self._in_time(state, self._whole(state, snapshot, scope))
            hurried = whole is None
        kept: list[tuple[Chunk, Candidate]] = []
        if not hurried and any(turn.cited for turn in state.question.history):
            found_again = await self._in_time(state, self._find_cited_before(state, snapshot, scope))
            kept, hurried = found_again or [], found_again is None
        read = replace(
            state,
            read_version=snapshot.version,
            graph_version=snapshot.graph.version,
            access=snapshot.access,
            cut_short=cut_short,
        )
        collected = _collect_passages(read, done, whole, kept)
        beside: list[Chunk] | None = []
        if not hurried:
            collected, hurried = await self._with_figures(collected, snapshot, scope)
        if not hurried:
            positions = neighbour_positions(collected.state.passages)
            beside = await self._in_time(state, snapshot.documents.chunks_at(positions, snapshot.access.access_ids))
            hurried = beside is None
        if hurried:
            # Statements that are cut off leave their transaction unusable.
            await reads.release()
        passages = expand_passages(collected.state.passages, beside or (), state.options.max_context_tokens)
        return replace(collected, state=replace(collected.state, passages=passages, hurried=hurried))

    async def _with_figures(
        self, found: StageResult, snapshot: CorpusSnapshot, scope: SearchScope
    ) -> tuple[StageResult, bool]:
        """With what states the figures asked for, and whether there was no time to look for it."""
        state = found.state
        try:
            async with asyncio.timeout(state.deadline.remaining(self._clock.monotonic()) * PART_SHARE):
                read = await figure_evidence(snapshot, state.standalone, state.passages, scope)
        except TimeoutError:
            return found, True
        if read is None:
            return found, False
        added = tuple(trace_of(passage.chunk, passage.candidate) for passage in read.passages[len(state.passages) :])
        known = frozenset(one.chunk_id for one in state.candidates)
        candidates = (*state.candidates, *(one for one in added if one.chunk_id not in known))
        figured = replace(state, passages=read.passages, figures=read.figures, candidates=candidates)
        return replace(found, state=figured), False

    async def _in_time(self, state: RunState, reading: Awaitable[_Read]) -> _Read | None:
        """What a read finds that answers can do without; None when it takes most of the time left."""
        try:
            async with asyncio.timeout(state.deadline.remaining(self._clock.monotonic()) * PART_SHARE):
                return await reading
        except TimeoutError:
            return None

    async def _in_space(self, state: RunState, snapshot: CorpusSnapshot) -> RunState:
        """The question embedded in the space that this snapshot reads. It was already, unless the workspace was
        switched between the embedding and the opening of the snapshot; from then on nothing can change it.
        """
        if snapshot.space is None or snapshot.space.space == state.space:
            return state
        switched = replace(state, space=snapshot.space.space)
        if not state.vectors:
            return switched
        return (await embed_searches(self._embedders, switched)).state

    def _findings(self, state: RunState, part: SubQuestion, done: Sequence[_SearchResult]) -> tuple[str, ...]:
        """Names in the best sentences for the parts this one waits for that their questions did not name."""
        names: dict[str, None] = {}
        for place in part.depends_on:
            searched = done[place]
            passages = [Passage(chunk, candidate, (place,)) for chunk, candidate in searched.result.chunks]
            draft = draft_part(searched.query, place, passages, SENTENCES_FOR_FINDINGS)
            trail = find_path(searched.result.chunks)
            signs = extract_features(searched.query, draft, passages, trail, searched.result.confidence)
            if not score_support(signs, state.options.support_threshold).enough:
                continue
            best = [passages[unit.passage].chunk.text[unit.start : unit.end] for unit in draft.units]
            workspace_id = state.question.workspace.workspace_id
            names.update(dict.fromkeys(find_intermediate_answers(workspace_id, searched.text, best)))
        return tuple(names)

    async def _whole(self, state: RunState, snapshot: CorpusSnapshot, scope: SearchScope) -> RetrievalResult:
        """What the undivided question finds: passages that lead to one another stand together there."""
        return await self._retrieve.run(snapshot, self._query(state, state.standalone, state.whole_vector, scope))

    async def _find_cited_before(
        self, state: RunState, snapshot: CorpusSnapshot, scope: SearchScope
    ) -> list[tuple[Chunk, Candidate]]:
        """What earlier answers cited and still matters."""
        vector = state.whole_vector
        if vector is None and len(state.vectors) == 1:
            vector = state.vectors[0]
        return await find_cited_before(
            snapshot, state.question.history, self._query(state, state.standalone, vector, scope)
        )

    def _query(
        self, state: RunState, text: str, vector: NDArray[np.float32] | None, scope: SearchScope, about: str = ""
    ) -> RetrievalQuery:
        options = state.options
        return RetrievalQuery(
            workspace_id=state.question.workspace.workspace_id,
            text=text,
            vector=None if vector is None else QueryVector(state.space, vector),
            scope=scope,
            top_k=options.top_k,
            fusion=options.fusion,
            weights=options.weights,
            dense_trust=dense_trust_of(state.space),
            min_score=options.min_score,
            per_document=options.per_document,
            diversity=options.diversity,
            title_query=about,
            min_cosine=min_cosine(options.similarity_threshold, state.space),
        )


def _kind(state: RunState) -> AnswerType:
    return state.plan.answer_type if state.plan is not None else detect_answer_type(state.standalone)


def _part_type(state: RunState, text: str, parts: int) -> AnswerType:
    if parts == 1 and state.plan is not None:
        return state.plan.answer_type
    return detect_answer_type(text)


def _collect_passages(
    state: RunState,
    done: Sequence[_SearchResult],
    whole: RetrievalResult | None,
    kept_before: Sequence[tuple[Chunk, Candidate]],
) -> StageResult:
    """Passages of the whole question and of all parts, and those cited before, each once, within the context budget.

    They stand in the order of the whole question; what only a part found counts `PART_WEIGHT`, but each part's first
    passage counts in full.
    """
    merged: dict[int, Passage] = {}
    ranks: dict[int, float] = {}
    traces: dict[str, CandidateTrace] = {}
    for chunk, candidate in whole.chunks if whole is not None else ():
        merged[chunk.ordinal] = Passage(chunk, candidate, ())
        ranks[chunk.ordinal] = candidate.score
    for place, one in enumerate(done):
        for rank, (chunk, candidate) in enumerate(one.result.chunks):
            known = merged.get(chunk.ordinal)
            if known is None:
                merged[chunk.ordinal] = Passage(chunk, candidate, (place,))
            else:
                better = candidate if candidate.score > known.candidate.score else known.candidate
                merged[chunk.ordinal] = Passage(chunk, better, (*known.parts, place))
            weight = PART_WEIGHT if whole is not None and rank else 1.0
            ranks[chunk.ordinal] = max(ranks.get(chunk.ordinal, 0.0), weight * candidate.score)
    for found in (*([whole] if whole is not None else []), *(one.result for one in done)):
        for trace in found.traces:
            traces.setdefault(trace.chunk_id.hex, trace)
    for chunk, candidate in kept_before:
        if chunk.ordinal in merged:
            continue
        trace = traces.get(chunk.chunk_id.hex) or CandidateTrace(
            chunk.chunk_id, chunk.document_id, chunk.document_title, candidate.score, candidate.arms, None
        )
        traces[chunk.chunk_id.hex] = replace(trace, dropped_because=None)
        scored = Candidate(chunk.ordinal, trace.score, trace.arms)
        merged[chunk.ordinal] = Passage(chunk, scored, tuple(range(len(done))))
        ranks[chunk.ordinal] = trace.score
    passages = sorted(merged.values(), key=lambda one: (-ranks[one.chunk.ordinal], one.chunk.ordinal))
    order = {one.chunk.chunk_id.hex: place for place, one in enumerate(passages)}
    kept, too_much = _within_budget(passages, state.options.max_context_tokens)
    candidates = tuple(
        replace(trace, dropped_because=CONTEXT_BUDGET) if trace.chunk_id.hex in too_much else trace
        for trace in sorted(traces.values(), key=lambda trace: order.get(trace.chunk_id.hex, len(order)))
    )
    missed = dict.fromkeys(name for one in done for name in one.result.degraded)
    undivided = whole if whole is not None else done[0].result if len(done) == 1 else None
    collected = replace(
        state,
        whole=None if undivided is None else _whole_part(state, done, undivided),
        standing=None if undivided is None else undivided.confidence,
        trail=() if undivided is None else find_path(undivided.chunks),
        searches=tuple(one.text for one in done),
        parts=tuple(one.query for one in done),
        standings=tuple(one.result.confidence for one in done),
        passages=kept,
        candidates=candidates,
        degraded=(*state.degraded, *missed),
    )
    outcome = "degraded: " + ", ".join(name.value for name in missed) if missed else "ok"
    return StageResult(collected, outcome=outcome)


def _whole_part(state: RunState, done: Sequence[_SearchResult], undivided: RetrievalResult) -> Subquery:
    """The undivided question as synthesis needs it: its only part where that is the whole of it."""
    only = done[0].query if len(done) == 1 else None
    kind = _kind(state)
    if only is not None and (only.text, only.answer_type, only.earlier_names) == (state.standalone, kind, ()):
        return only
    return build_subquery(state.standalone, kind, undivided.rarity)


def _within_budget(passages: Sequence[Passage], tokens: int) -> tuple[tuple[Passage, ...], frozenset[str]]:
    """The first passages that fit into `tokens` (always at least one), and the chunk ids of the others."""
    if sum(len(passage.chunk.text) for passage in passages) <= tokens:
        return tuple(passages), frozenset()
    kept: list[Passage] = []
    left = tokens
    for passage in passages:
        left -= estimate_tokens(passage.chunk.text)
        if left < 0 and kept:
            break
        kept.append(passage)
    return tuple(kept), frozenset(passage.chunk.chunk_id.hex for passage in passages[len(kept) :])
