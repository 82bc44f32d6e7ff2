"""Explains a stored run: the fate of every candidate, and why a passage is not a candidate."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from agentic_rag.answering.answer import SearchSettings
from agentic_rag.answering.options import AnswerDefaults, effective
from agentic_rag.answering.question import AnswerOptions
from agentic_rag.answering.run import Run
from agentic_rag.answering.runs.explanation import (
    MAX_RANK_DEPTH,
    MAX_WHY_NOT_PASSAGES,
    ArmRanking,
    CandidateExplanation,
    CandidateFate,
    SearchPlacement,
    WhyNot,
    WhyNotVerdict,
    decide_why_not,
    explain_candidates,
    format_why_not,
    place_in_arm,
)
from agentic_rag.answering.runs.read import ReadRuns
from agentic_rag.answering.search_query import build_query
from agentic_rag.answering.stages.embed import embed_with_passage
from agentic_rag.documents.document import ChunkVersion, DocumentFilter, nearest_version
from agentic_rag.kernel.database import CorpusSnapshot, Database
from agentic_rag.kernel.dependency import Dependency
from agentic_rag.kernel.errors import InvalidInput, NotFound
from agentic_rag.kernel.text import fold_text
from agentic_rag.models.embedding.ports import EmbedderSource
from agentic_rag.models.embedding.space import RegisteredSpace
from agentic_rag.retrieval.arms.table import EXPANDING_ARMS, SEED_ARMS, arm_weights
from agentic_rag.retrieval.candidates import ArmHit, Candidate, Retriever, SearchScope
from agentic_rag.retrieval.query import RetrievalQuery
from agentic_rag.retrieval.retrieve import Retrieve, scope_of
from agentic_rag.tenancy.access import ReadIdentity, read_identity
from agentic_rag.tenancy.principals import Principal, WorkspaceRef

DEADLINE_SECONDS = 30.0
"""Bootstrap passes the time-out of answers."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """A run with the explanation of each candidate and of the passages asked about."""

    run: Run
    searches: tuple[str, ...]
    candidates: tuple[CandidateExplanation, ...]
    why_not: tuple[WhyNot, ...]


@dataclass(frozen=True, slots=True)
class _Rerun:
    """The result of a search repeated at the run's version."""

    text: str
    candidates: Sequence[Candidate]
    cutoff: int
    rankings: tuple[ArmRanking, ...]
    reranked: Sequence[int] | None = None
    """The ordinals as the run's reranker orders them; None without one."""


@dataclass(frozen=True, slots=True)
class _Vectors:
    """Vectors by search text. `used` are those of the run; `alone` those of the question without the hypothetical
    passage, where there was one.
    """

    used: Mapping[str, NDArray[np.float32]]
    alone: Mapping[str, NDArray[np.float32]] | None = None


@dataclass(frozen=True, slots=True)
class ExplainRun:
    """The use case behind `rag explain` and `explainRun`. `seconds` bounds the repeated searches."""

    database: Database
    runs: ReadRuns
    embedders: EmbedderSource
    retrieve: Retrieve
    seconds: float = DEADLINE_SECONDS

    async def run(
        self, principal: Principal, workspace: WorkspaceRef, run_id: UUID, why_not: Sequence[UUID] = ()
    ) -> Explanation:
        """Explain a run to a caller who may see it; `why_not` are chunk ids, at most `MAX_WHY_NOT_PASSAGES`.

        Searches are repeated only for chunks that were not handed on for their rank, whether they are shown as
        candidates or not: at the corpus version and in the space of the run, among the documents the caller may read
        now. A chunk that is not judged within the deadline is LATE.

        Errors: `NotFound` code RUN_NOT_FOUND; `InvalidInput` codes TOO_MANY_CHUNKS, RUN_VERSION_GONE (retention) and
        RUN_SPACE_GONE; `SpaceMismatch` (this process has no embedder for the space); those of the embedder;
        `DependencyUnavailable`.
        """
        if len(why_not) > MAX_WHY_NOT_PASSAGES:
            raise InvalidInput(
                f"At most {MAX_WHY_NOT_PASSAGES} passages can be asked about at once.",
                code="TOO_MANY_CHUNKS",
                path=("whyNot",),
            )
        run = await self.runs.get(principal, workspace, run_id)
        if run is None:
            raise NotFound("There is no such run.", code="RUN_NOT_FOUND")
        explained = explain_candidates(run.answer)
        known = {story.trace.chunk_id: story for story in explained}
        asked = [one for one in dict.fromkeys(why_not) if one not in known or known[one].fate is CandidateFate.TOP_K]
        found = {one.chunk_id: one for one in await self._in_time(read_identity(principal), run, asked)}
        answers = (_explain_passage(found.get(one), known.get(one)) for one in dict.fromkeys(why_not))
        return Explanation(run, _searches(run), explained, tuple(answers))

    async def _in_time(self, reading: ReadIdentity, run: Run, chunk_ids: Sequence[UUID]) -> list[WhyNot]:
        deadline = asyncio.timeout(self.seconds)
        try:
            async with deadline:
                return await self._why_not(reading, run, chunk_ids)
        except TimeoutError:
            if not deadline.expired():
                raise
            explanation = f"The searches could not be run again within {self.seconds:g} s: ask once more."
            return [WhyNot(one, "", WhyNotVerdict.LATE, explanation) for one in chunk_ids]

    async def _why_not(self, reading: ReadIdentity, run: Run, chunk_ids: Sequence[UUID]) -> list[WhyNot]:
        if not chunk_ids:
            return []
        searches = _searches(run)
        if not searches:
            explanation = "The run looked for no passages: its answer did not need any, or the gate forbade it."
            return [WhyNot(one, "", WhyNotVerdict.NOT_SEARCHED, explanation) for one in chunk_ids]
        space = await self._space(run)
        vectors = await self._vectors(run, space)
        async with self._snapshot(reading, run, space) as snapshot:
            access_ids = snapshot.access.access_ids
            settings = _settings(run)
            if Dependency.GRAPH in run.answer.degraded:
                settings = replace(settings, weights=replace(settings.weights, graph=0.0))
            places = await snapshot.documents.placements(chunk_ids, access_ids)
            scope = await scope_of(snapshot, settings.filter, access_ids)
            visible: dict[UUID, ChunkVersion] = {}
            answers: list[WhyNot] = []
            for chunk_id in chunk_ids:
                place = nearest_version(places, chunk_id, snapshot.version)
                hidden = _why_not_visible(chunk_id, place, snapshot.version, scope)
                if hidden is not None:
                    answers.append(hidden)
                elif place is not None:
                    visible[chunk_id] = place
            if visible:

                async def rerun(used: Mapping[str, NDArray[np.float32]]) -> list[_Rerun]:
                    queries = (
                        build_query(
                            run.workspace.workspace_id,
                            settings,
                            text,
                            used.get(text),
                            scope,
                            None if space is None else space.space,
                            run.answer.debug.standalone_question or run.question,
                        )
                        for text in searches
                    )
                    return [await self._again(snapshot, one, self._has_reranking(run)) for one in queries]

                reruns = await rerun(vectors.used)
                alone = None if vectors.alone is None else await rerun(vectors.alone)
                missing = self._missing_reranker(run)
                answers += [_why_not_ranked_high(place, reruns, alone, missing) for place in visible.values()]
        return answers

    async def _space(self, run: Run) -> RegisteredSpace | None:
        """The run's space; None when the run had no vectors. Errors: `InvalidInput` code RUN_SPACE_GONE."""
        if run.versions.space is None or Dependency.EMBEDDER in run.answer.degraded:
            return None
        async with self.database.transaction(run.workspace.org_id) as transaction:
            spaces = await transaction.spaces.all(run.workspace)
        for record in spaces:
            if record.registered.space.name == run.versions.space:
                return record.registered
        if not spaces:
            return None
        raise InvalidInput(
            f"The workspace no longer has the vectors of {run.versions.space}, in which this run searched. Ask the "
            "question again and explain the new run.",
            code="RUN_SPACE_GONE",
            path=("runId",),
        )

    def _has_reranking(self, run: Run) -> bool:
        """True when the run's reranker ordered its searches and is available now."""
        name = _settings(run).reranker
        return name is not None and name == self._reranker_now(run) and Dependency.RERANKER not in run.answer.degraded

    def _missing_reranker(self, run: Run) -> str | None:
        name = _settings(run).reranker
        return name if name != self._reranker_now(run) and Dependency.RERANKER not in run.answer.degraded else None

    def _reranker_now(self, run: Run) -> str | None:
        return self.retrieve.reranker(_settings(run).rerank)

    async def _vectors(self, run: Run, space: RegisteredSpace | None) -> _Vectors:
        """The vector of each search as the run embedded it; a part that waited for another has the whole question's."""
        if space is None or _settings(run).weights.vector == 0:
            return _Vectors({})
        plan = run.answer.debug.plan
        waiting = {place for place, part in enumerate(plan.sub_questions if plan else ()) if part.depends_on}
        whole = _standalone(run)
        texts = {text: whole if place in waiting else text for place, text in enumerate(_searches(run))}
        embedder = (await self.embedders.of(run.workspace)).for_space(space.space)
        divided = plan is not None and len(plan.sub_questions) > 1
        moved = whole if divided else next(iter(texts.values()))
        alone, used = await embed_with_passage(embedder, texts.values(), moved, run.answer.debug.hyde_text)
        by_question = {text: alone[embedded] for text, embedded in texts.items()}
        if used is alone:
            return _Vectors(by_question)
        return _Vectors({text: used[embedded] for text, embedded in texts.items()}, by_question)

    @asynccontextmanager
    async def _snapshot(
        self, reading: ReadIdentity, run: Run, space: RegisteredSpace | None
    ) -> AsyncGenerator[CorpusSnapshot]:
        version = run.versions.corpus_version
        try:
            async with self.database.snapshot(
                run.workspace, version, None if space is None else space.space_id, reading
            ) as snapshot:
                yield snapshot
        except InvalidInput as error:
            if error.code != "AS_OF_UNAVAILABLE":
                raise
            raise InvalidInput(
                "The version of the corpus that this run read is past its retention. Ask the question again and "
                "explain the new run.",
                code="RUN_VERSION_GONE",
                path=("runId",),
            ) from error

    async def _again(self, snapshot: CorpusSnapshot, query: RetrievalQuery, is_reordered: bool) -> _Rerun:
        ranking = await self.retrieve.rank(snapshot, query)
        deep: dict[Retriever, Sequence[ArmHit]] = {}
        for arm in SEED_ARMS if query.terms else ():
            hits = await arm.search(snapshot, query, MAX_RANK_DEPTH, True)
            if hits is not None:
                deep[arm.name] = hits
        weights = arm_weights(ranking.arms, query.weights, query.dense_trust)
        expanded = {arm.name for arm in EXPANDING_ARMS if ranking.paths is not None}
        rankings = tuple(
            ArmRanking(name, weight, name in deep or name in expanded, ranking.arms.get(name, ()), deep.get(name, ()))
            for name, weight in weights.items()
        )
        reranked = await self.retrieve.rerank_order(snapshot, query, ranking) if is_reordered else None
        return _Rerun(query.text, ranking.candidates, query.top_k, rankings, reranked)


def _explain_passage(found: WhyNot | None, story: CandidateExplanation | None) -> WhyNot:
    """The explanation of a passage: what the repeated searches say of one that was not handed on, and the record of
    every other candidate. Of one that a model moved below the cut, both.
    """
    if story is None:
        if found is None:
            raise AssertionError("what is no candidate was looked for")
        return found
    explanation = f"It is a candidate, at rank {story.rank}. {story.reason}"
    if found is not None and found.verdict in _MOVED:
        return replace(found, explanation=f"{explanation} {found.explanation}", candidate=story)
    if found is not None and found.verdict is WhyNotVerdict.OUTRANKED and not _is_reranked(found):
        return replace(found, candidate=story)
    if found is not None and found.verdict is WhyNotVerdict.NOT_FOUND:
        return found
    return WhyNot(story.trace.chunk_id, story.trace.title, WhyNotVerdict.CANDIDATE, explanation, story)


def _is_reranked(found: WhyNot) -> bool:
    """True where a reranker decided: the score of the last passage that is handed on says nothing then."""
    return any(one.reranked is not None for one in found.searches)


_MOVED = frozenset({WhyNotVerdict.RERANKED, WhyNotVerdict.HYDE})


def _standalone(run: Run) -> str:
    return run.answer.debug.standalone_question or fold_text(run.question)


def _searches(run: Run) -> tuple[str, ...]:
    """The search texts of the run: those of the parts, then the whole question where it was divided."""
    debug = run.answer.debug
    if debug.rewritten_query is None:
        return (_standalone(run),) if debug.candidates else ()
    parts = debug.rewritten_query.split("\n")
    divided = debug.plan is not None and len(debug.plan.sub_questions) > 1
    return tuple(dict.fromkeys([*parts, _standalone(run)] if divided else parts))


def _settings(run: Run) -> SearchSettings:
    """The run's search settings; the defaults for a run that was stored without them."""
    return run.answer.debug.search or effective(AnswerOptions(filter=DocumentFilter()), AnswerDefaults()).search


def _why_not_visible(chunk_id: UUID, place: ChunkVersion | None, version: int, scope: SearchScope) -> WhyNot | None:
    """The reason why the run's searches could not see a passage; None when they could."""
    if place is None:
        explanation = "There is no such passage in this workspace."
        return WhyNot(chunk_id, "", WhyNotVerdict.NOT_FOUND, explanation)
    if not place.is_visible(version):
        since = f"it came with version {place.visible_from}"
        if place.visible_from <= version:
            since = f"it was gone from version {place.visible_to} on"
        explanation = f"It was no part of the corpus at version {version}, which the run read: {since}."
        return WhyNot(chunk_id, place.document_title, WhyNotVerdict.NOT_VISIBLE, explanation)
    if scope.ordinals is not None and place.ordinal not in scope.ordinals:
        explanation = "The filter of the request leaves its document out."
        return WhyNot(chunk_id, place.document_title, WhyNotVerdict.FILTERED, explanation)
    return None


def _why_not_ranked_high(
    place: ChunkVersion, reruns: Sequence[_Rerun], alone: Sequence[_Rerun] | None, missing: str | None
) -> WhyNot:
    """`alone`: the results without the run's hypothetical passage; `missing`: its reranker, if not available here."""
    by_run = tuple(_search_placement(place.ordinal, rerun) for rerun in reruns)
    verdict, placements = decide_why_not(by_run), by_run
    if alone is not None and verdict is not WhyNotVerdict.WITHIN_REACH:
        by_question = tuple(_search_placement(place.ordinal, rerun) for rerun in alone)
        if decide_why_not(by_question) is WhyNotVerdict.WITHIN_REACH:
            verdict, placements = WhyNotVerdict.HYDE, by_question
    explanation = format_why_not(verdict, placements)
    if missing is not None and verdict is WhyNotVerdict.WITHIN_REACH:
        explanation += f" The reranker {missing} ordered the run, which this process does not have."
    return WhyNot(place.chunk_id, place.document_title, verdict, explanation, searches=by_run)


def _place(ordinal: int, order: Sequence[int] | None) -> int | None:
    return order.index(ordinal) + 1 if order is not None and ordinal in order else None


def _search_placement(ordinal: int, rerun: _Rerun) -> SearchPlacement:
    ranked = enumerate(rerun.candidates, start=1)
    rank, score = next(((at, one.score) for at, one in ranked if one.ordinal == ordinal), (None, None))
    cutoff = min(rerun.cutoff, len(rerun.candidates))
    return SearchPlacement(
        search=rerun.text,
        rank=rank,
        score=score,
        candidates=len(rerun.candidates),
        cutoff=cutoff,
        cutoff_score=rerun.candidates[cutoff - 1].score if cutoff else 0.0,
        arms=tuple(place_in_arm(ordinal, ranking) for ranking in rerun.rankings),
        reranked=_place(ordinal, rerun.reranked),
    )
