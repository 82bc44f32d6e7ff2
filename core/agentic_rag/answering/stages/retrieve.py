"""Retrieve: the passages of every sub-question; a later one is completed with the findings of earlier ones."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from agentic_rag.answering.evidence.answerability import extract_features, score_support
from agentic_rag.answering.evidence.cited_before import find_cited_before
from agentic_rag.answering.evidence.expand_context import expand_passages, neighbour_positions
from agentic_rag.answering.evidence.finder import EvidenceFinder, FoundEvidence
from agentic_rag.answering.evidence.intermediate_answers import find_intermediate_answers
from agentic_rag.answering.evidence.outvoted import find_outvoted
from agentic_rag.answering.extraction.extractive import draft_part
from agentic_rag.answering.extraction.multi_hop import find_path
from agentic_rag.answering.extraction.subquery import build_subquery
from agentic_rag.answering.lazy_snapshot import LazySnapshot
from agentic_rag.answering.plan import SubQuestion
from agentic_rag.answering.query.planner import detect_answer_type
from agentic_rag.answering.query.rewrite import fill_placeholder, has_placeholder
from agentic_rag.answering.query.standalone import weigh_follow_up
from agentic_rag.answering.run_state import Retrieved, RunState, StageResult
from agentic_rag.answering.search_query import build_query
from agentic_rag.answering.stages.collect import PartSearch, collect
from agentic_rag.answering.stages.embed import embed_searches
from agentic_rag.answering.stages.leave_out import keep_believed
from agentic_rag.answering.state_machine import StageEvent
from agentic_rag.kernel.clock import Clock
from agentic_rag.kernel.database import CorpusSnapshot
from agentic_rag.kernel.errors import SnapshotOutdated
from agentic_rag.models.embedding.ports import EmbedderSource
from agentic_rag.retrieval.candidates import Passage, SearchScope
from agentic_rag.retrieval.query import RetrievalQuery
from agentic_rag.retrieval.retrieve import Retrieve, scope_of, trace_of

READ_SHARE = 0.85
"""Share of the time left that one search or optional read may take: a little less than the stage's own, so that earlier
results are kept."""

SENTENCES_FOR_FINDINGS = 2

_Read = TypeVar("_Read")


@dataclass(frozen=True, slots=True)
class RetrieveStage:
    """Searches part by part in dependency order inside the run's snapshot."""

    retrieve: Retrieve
    embedders: EmbedderSource
    clock: Clock
    finders: Sequence[EvidenceFinder]

    async def run(self, state: RunState, reads: LazySnapshot) -> StageResult:
        """Attach passages, candidates and the parts with their weighted terms."""
        try:
            return await self._retrieve(state, reads, may_defer=True)
        except SnapshotOutdated:
            await reads.release()
            return await self._retrieve(state, reads, may_defer=False)

    async def _retrieve(self, state: RunState, reads: LazySnapshot, *, may_defer: bool) -> StageResult:
        state, snapshot = await self._in_space(state, reads, may_defer=may_defer)
        question = state.question
        scope = await scope_of(snapshot, state.options.search.filter, snapshot.access.access_ids)
        searches: list[PartSearch] = []
        optional = _OptionalReads(lambda: self._seconds(state))
        for place, part in enumerate(question.sub_questions):
            findings = _find_earlier_answers(state, part, searches)
            if has_placeholder(part) and not findings:
                break
            text = fill_placeholder(part, findings) if part.depends_on else part.text
            search = text if part.depends_on else question.searches[place]
            vector = question.vectors[place] if question.vectors else None
            try:
                async with asyncio.timeout(self._seconds(state)):
                    query = _query(state, search, vector, scope, title_query=question.text)
                    found = await self.retrieve.run(snapshot, query)
            except TimeoutError:
                if not searches:
                    return StageResult(state, StageEvent.OUT_OF_TIME, "BUDGET")
                optional.is_truncated = True
                break
            kind = question.answer_type if len(question.sub_questions) == 1 else detect_answer_type(text)
            texts = [chunk.text for chunk, _ in found.chunks]
            subquery = build_subquery(text, kind, found.rarity, findings if has_placeholder(part) else (), texts)
            searches.append(PartSearch(search, weigh_follow_up(subquery), found))
        read = Retrieved(snapshot.version, snapshot.graph.version, snapshot.access)
        read = replace(read, subquestions_skipped=optional.is_truncated)
        whole = cited = None
        if len(question.sub_questions) > 1:
            query = _query(state, question.text, question.whole_vector, scope)
            whole = await optional.read(lambda: self.retrieve.run(snapshot, query))
        if any(turn.cited for turn in question.asked.history):
            vector = question.vectors[0] if len(question.vectors) == 1 else None
            again = _query(
                state, question.text, vector if question.whole_vector is None else question.whole_vector, scope
            )
            cited = await optional.read(lambda: find_cited_before(snapshot, question.asked.history, again))
        result = collect(replace(state, retrieved=read), searches, whole, cited or ())
        retrieved = await self._complete(result.state, snapshot, scope, optional)
        if optional.is_truncated:
            # A statement that is cut off leaves its transaction unusable.
            await reads.release()
        return replace(result, state=replace(result.state, retrieved=retrieved))

    async def _complete(
        self, state: RunState, snapshot: CorpusSnapshot, scope: SearchScope, optional: _OptionalReads
    ) -> Retrieved:
        """The evidence with what the finders add and with the neighbours of the first passages."""
        retrieved = state.retrieved
        for finder in self.finders:
            find = partial(finder.find, snapshot, state.question.text, retrieved.passages, scope)
            evidence = await optional.read(find)
            if evidence is not None:
                retrieved = _add_evidence(retrieved, evidence)
                if evidence.is_exact:
                    break
        positions = neighbour_positions(retrieved.passages)
        neighbours = await optional.read(lambda: snapshot.documents.chunks_at(positions, snapshot.access.access_ids))
        expanded = expand_passages(retrieved.passages, neighbours or (), state.options.max_context_tokens)
        return replace(retrieved, passages=expanded, evidence_truncated=optional.is_truncated)

    def _seconds(self, state: RunState) -> float:
        return state.deadline.remaining(self.clock.monotonic()) * READ_SHARE

    async def _in_space(
        self, state: RunState, reads: LazySnapshot, *, may_defer: bool
    ) -> tuple[RunState, CorpusSnapshot]:
        """The question embedded in the space that the run's snapshot reads, and that snapshot. It was already, unless
        the workspace was switched between the embedding and the opening; no snapshot is held while a model is asked.
        """
        while True:
            snapshot = await reads.snapshot(may_defer=may_defer)
            if snapshot.space is None or snapshot.space.space == state.space:
                return state, snapshot
            state = replace(state, space=snapshot.space.space)
            if state.question.vectors:
                await reads.release()
                state = (await embed_searches(self.embedders, state)).state


class _OptionalReads:
    """Reads that an answer can do without. After the first that takes too long, no further one is started."""

    def __init__(self, seconds: Callable[[], float]) -> None:
        self._seconds = seconds
        self.is_truncated = False

    async def read(self, start: Callable[[], Awaitable[_Read]]) -> _Read | None:
        """The result; None when time ran out."""
        if self.is_truncated:
            return None
        try:
            async with asyncio.timeout(self._seconds()):
                return await start()
        except TimeoutError:
            self.is_truncated = True
            return None


def _find_earlier_answers(state: RunState, part: SubQuestion, searches: Sequence[PartSearch]) -> tuple[str, ...]:
    """Names that answer the parts this one waits for, and that their questions did not name."""
    names: dict[str, None] = {}
    for place in part.depends_on:
        searched = searches[place]
        passages = [Passage(chunk, candidate, (place,)) for chunk, candidate in searched.result.chunks]
        outvoted = find_outvoted(searched.query, passages)
        passages = keep_believed(passages, outvoted)
        draft = draft_part(searched.query, place, passages, SENTENCES_FOR_FINDINGS, outvoted.spans)
        path = find_path(searched.result.chunks)
        features = extract_features(searched.query, draft, passages, path, searched.result.confidence)
        if not score_support(features, state.options.support_threshold).enough:
            continue
        best = [passages[unit.passage].chunk.text[unit.start : unit.end] for unit in draft.units]
        workspace_id = state.question.asked.workspace.workspace_id
        names.update(dict.fromkeys(find_intermediate_answers(workspace_id, searched.search, best)))
    return tuple(names)


def _query(
    state: RunState, text: str, vector: NDArray[np.float32] | None, scope: SearchScope, title_query: str = ""
) -> RetrievalQuery:
    workspace_id = state.question.asked.workspace.workspace_id
    query = build_query(workspace_id, state.options.search, text, vector, scope, state.space, title_query)
    return replace(query, with_beside=True)


def _add_evidence(retrieved: Retrieved, evidence: FoundEvidence) -> Retrieved:
    added = {one.chunk.chunk_id: one for one in evidence.passages[len(retrieved.passages) :]}
    known = frozenset(one.chunk_id for one in retrieved.candidates)
    candidates = (
        *(replace(one, dropped_because=None) if one.chunk_id in added else one for one in retrieved.candidates),
        *(trace_of(one.chunk, one.candidate) for one in added.values() if one.chunk.chunk_id not in known),
    )
    quotes = (*retrieved.figures, *evidence.quotes)
    return replace(
        retrieved, passages=evidence.passages, figures=quotes, is_exact=evidence.is_exact, candidates=candidates
    )
