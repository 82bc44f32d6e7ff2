"""Hybrid retrieval inside one snapshot: dense beside lexical, then the graph from what they found, fused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from time import perf_counter
from uuid import UUID

from agentic_rag.documents.document import Chunk, DocumentFilter
from agentic_rag.kernel.concurrency import background_task
from agentic_rag.kernel.database import CorpusSnapshot
from agentic_rag.kernel.dependency import Dependency
from agentic_rag.kernel.errors import DependencyUnavailable
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.language.tokenizer import query_terms
from agentic_rag.retrieval.arms.arm import SeedArm, SeedHits
from agentic_rag.retrieval.arms.table import EXPANDING_ARMS, SEED_ARMS, arm_weights
from agentic_rag.retrieval.candidates import (
    ArmHit,
    Candidate,
    CandidateTrace,
    HopKind,
    Retriever,
    SearchScope,
)
from agentic_rag.retrieval.confidence import RankingConfidence, measure_confidence
from agentic_rag.retrieval.fusion import effective_lexical_share, fuse
from agentic_rag.retrieval.graph.entities import question_entities
from agentic_rag.retrieval.graph.paths import GraphPaths, PathStep, describe_steps
from agentic_rag.retrieval.query import ARM_LIMIT, RetrievalQuery
from agentic_rag.retrieval.rerank import Rerank
from agentic_rag.retrieval.selection import TOP_K, SelectionOutcome, select

SHOWN_CANDIDATES = 10
"""Candidates of a search that are shown at least, however few of them are handed on."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """All that the arms found, and the fused candidates, best first. `paths` is None where the graph was not asked."""

    arms: Mapping[Retriever, Sequence[ArmHit]]
    candidates: list[Candidate]
    rarity: Mapping[str, float]
    confidence: RankingConfidence
    paths: GraphPaths | None
    degraded: tuple[Dependency, ...]


@dataclass(frozen=True, slots=True)
class RetrievalResult:
    """The passages by score, the fused candidates behind them, the rarity of the question's terms, and the confidence
    in the ranking.
    """

    chunks: tuple[tuple[Chunk, Candidate], ...]
    traces: tuple[CandidateTrace, ...]
    rarity: Mapping[str, float]
    confidence: RankingConfidence
    degraded: tuple[Dependency, ...]
    cosines: Mapping[int, float]
    """To the query by ordinal, where the query has a minimum; empty otherwise."""


async def scope_of(snapshot: CorpusSnapshot, wanted: DocumentFilter, access_ids: tuple[int, ...]) -> SearchScope:
    """What the caller may see, narrowed by the filter. Only a filter costs a round trip."""
    if wanted.is_empty:
        return SearchScope(access_ids)
    return SearchScope(access_ids, await snapshot.documents.ordinals_matching(wanted, access_ids))


class Retrieve:
    """The retrieval use case. It takes one round trip on one snapshot for texts, titles and names, and a few more for
    what the process does not hold.
    """

    def __init__(self, telemetry: Telemetry, rerank: Rerank | None = None, wished: Rerank | None = None) -> None:
        """`rerank` orders what every search finds; without one `wished` does for queries that say so (`rerank`)."""
        self._telemetry = telemetry
        self._rerank = rerank
        self._wished = wished

    async def run(self, snapshot: CorpusSnapshot, query: RetrievalQuery) -> RetrievalResult:
        """The best passages for a query.

        Errors: `DependencyUnavailable` (database), `SpaceMismatch` when the vector is not of the workspace's space.
        """
        rules = query.rules
        rerank = self._rerank_of(query.rerank)
        wanted = rules.candidate_count if rerank is None else max(rules.candidate_count, rerank.depth)
        ranking, found = await self._rank_with_texts(snapshot, query, max(wanted, SHOWN_CANDIDATES))
        found, further = found[:wanted], found[wanted:]
        degraded = ranking.degraded
        if rerank is not None:
            reranked = await rerank.order(query.text, found)
            found, degraded = reranked.passages, (*degraded, *reranked.degraded)
        cosines: Mapping[int, float] = {}
        if rules.has_min_similarity:
            cosines = await cosines_of(snapshot, query, found)
        judged = select(found, rules, _too_far(query, found, cosines))
        judged += [SelectionOutcome(*one, TOP_K) for one in further]
        return RetrievalResult(
            chunks=tuple((one.chunk, one.candidate) for one in judged if one.drop_reason is None),
            traces=tuple(trace_of(one.chunk, one.candidate, one.drop_reason) for one in judged),
            rarity=ranking.rarity,
            confidence=ranking.confidence,
            degraded=degraded,
            cosines=cosines,
        )

    async def _rank_with_texts(
        self, snapshot: CorpusSnapshot, query: RetrievalQuery, limit: int
    ) -> tuple[Ranking, list[tuple[Chunk, Candidate]]]:
        """The first fused candidates and their texts. They are ranked again where a title that the process held was
        stale: the second time titles are read.
        """
        query = replace(query, titles_are_checked=True)
        while True:
            ranking = await self.rank(snapshot, query, limit)
            found = await _with_texts(snapshot, query, ranking)
            if not snapshot.documents.has_stale_titles:
                return ranking, found

    def reranker(self, wished: int = 0) -> str | None:
        """The name of the reranker in force where the workspace wishes so many passages ordered."""
        rerank = self._rerank_of(wished)
        return None if rerank is None else rerank.name

    def _rerank_of(self, wished: int) -> Rerank | None:
        if self._rerank is not None or self._wished is None or not wished:
            return self._rerank
        return self._wished.at(wished)

    async def rerank_order(self, snapshot: CorpusSnapshot, query: RetrievalQuery, ranking: Ranking) -> list[int]:
        """The ordinals of a ranking as the reranker orders them; as they were without one, or when it fails."""
        order = [one.ordinal for one in ranking.candidates]
        rerank = self._rerank_of(query.rerank)
        if rerank is None:
            return order
        depth = rerank.depth
        found = await _with_texts(snapshot, query, replace(ranking, candidates=list(ranking.candidates)[:depth]))
        reranked = await rerank.order(query.text, found)
        return [*(candidate.ordinal for _, candidate in reranked.passages), *order[depth:]]

    async def rank(self, snapshot: CorpusSnapshot, query: RetrievalQuery, limit: int | None = None) -> Ranking:
        """The first `limit` fused candidates (None: all) without their texts. Errors: those of `run`.

        The last seed arm, the rarity of the question's terms and its entities are computed in this process while the
        database answers the other arms.
        """
        *scans, last = SEED_ARMS
        arms: dict[Retriever, Sequence[ArmHit]] = {}
        async with AsyncExitStack() as stack:
            if snapshot.vectors.is_at_hand:
                arms = {arm.name: await self._search(arm, snapshot, query) or [] for arm in scans}
                scans = []
            scanning = [
                await stack.enter_async_context(background_task(self._search(arm, snapshot, query))) for arm in scans
            ]
            found = await self._search(last, snapshot, query)
            terms = list({**query.terms, **query_terms(query.text), **query_terms(query.title_query)})
            rarity = await snapshot.lexical.rarity(terms, query.scope)
            entities = question_entities(query.workspace_id, query.text) if query.weights.graph > 0 else ()
            for arm in scans:
                # Popped: a variable would hold the task of an arm that failed, whose error holds this frame, and all
                # that it read stayed in memory until garbage in cycles is looked for.
                arms[arm.name] = await scanning.pop(0) or []
        arms[last.name] = found or []
        lexical_share = effective_lexical_share(arms, query.weights, query.dense_trust)
        seeds = SeedHits(dict(arms), entities, lexical_share)
        degraded: tuple[Dependency, ...] = ()
        paths: GraphPaths | None = None
        for arm in EXPANDING_ARMS:
            if arm.weight(query.weights, lexical_share) <= 0:
                continue
            try:
                with self._telemetry.span("rag.arm", {"rag.arm": arm.name.value}):
                    linked = await arm.expand(snapshot, query, seeds)
            except DependencyUnavailable as error:
                if error.dependency == "postgres":
                    raise
                degraded = (*degraded, arm.dependency)
                continue
            paths = linked.paths
            arms |= {
                name: _merge_hits(arms[name], hits) if name in arms else hits for name, hits in linked.hits.items()
            }
        began = perf_counter()
        weights = arm_weights(arms, query.weights, query.dense_trust)
        fused = fuse(arms, weights, query.fusion, limit)
        self._telemetry.observe("rag_retrieval_fusion_seconds", perf_counter() - began)
        confidence = measure_confidence(arms, lexical_share, query.dense_trust, paths)
        return Ranking(arms, fused, rarity, confidence, paths, degraded)

    async def _search(self, arm: SeedArm, snapshot: CorpusSnapshot, query: RetrievalQuery) -> Sequence[ArmHit] | None:
        with self._telemetry.span("rag.arm", {"rag.arm": arm.name.value}):
            return await arm.search(snapshot, query, ARM_LIMIT, False)


def _merge_hits(found: Sequence[ArmHit], also: Sequence[ArmHit]) -> list[ArmHit]:
    """An arm's hits with those of passages that another arm found, best first."""
    hits = {hit.ordinal: hit for hit in (*also, *found) if hit.score > 0}
    return sorted(hits.values(), key=lambda hit: (-hit.raw, hit.ordinal))


async def _with_texts(
    snapshot: CorpusSnapshot, query: RetrievalQuery, ranking: Ranking
) -> list[tuple[Chunk, Candidate]]:
    """The candidates that are still there, with their texts and the paths that led to them."""
    first = ranking.candidates
    steps = {one.ordinal: ranking.paths.steps_to(one.ordinal) for one in first} if ranking.paths else {}
    on_trails = {step.origin for trail in steps.values() for step in trail} - {one.ordinal for one in first}
    ordinals = [*(one.ordinal for one in first), *sorted(on_trails)]
    shared = _shared_entities([step for trail in steps.values() for step in trail])
    read = await snapshot.documents.chunks(
        ordinals, query.scope.access_ids, with_beside=query.with_beside, naming=shared
    )
    chunks = {chunk.ordinal: chunk for chunk in read}
    names = await _entity_names(snapshot, shared)
    return [
        (chunks[one.ordinal], replace(one, path=describe_steps(steps.get(one.ordinal, ()), chunks, names)))
        for one in first
        if one.ordinal in chunks
    ]


async def cosines_of(
    snapshot: CorpusSnapshot, query: RetrievalQuery, found: Sequence[tuple[Chunk, Candidate]]
) -> Mapping[int, float]:
    """The cosines of the passages to the query by ordinal, whichever arm found them; empty without a vector."""
    if query.vector is None or snapshot.space is None:
        return {}
    cosines = {
        candidate.ordinal: arm.raw
        for _, candidate in found
        for arm in candidate.arms
        if arm.retriever is Retriever.DENSE
    }
    unknown = [candidate.ordinal for _, candidate in found if candidate.ordinal not in cosines]
    if unknown:
        cosines.update(await snapshot.vectors.cosines(query.vector.vector, snapshot.space.space_id, unknown))
    return cosines


def _too_far(
    query: RetrievalQuery, found: Sequence[tuple[Chunk, Candidate]], cosines: Mapping[int, float]
) -> frozenset[int]:
    """The passages below the minimum cosine of the query."""
    if not cosines:
        return frozenset()
    return frozenset(one.ordinal for _, one in found if cosines.get(one.ordinal, 0.0) < query.min_cosine)


def _shared_entities(steps: Sequence[PathStep]) -> Sequence[UUID]:
    """The entities on paths, by id."""
    return sorted({step.entity_id for step in steps if step.kind is HopKind.SHARES and step.entity_id is not None})


async def _entity_names(snapshot: CorpusSnapshot, entity_ids: Sequence[UUID]) -> Mapping[UUID, str]:
    """The names of the entities; none when the graph fails now."""
    if not entity_ids:
        return {}
    try:
        return await snapshot.graph.names(entity_ids)
    except DependencyUnavailable as error:
        if error.dependency == "postgres":
            raise
        return {}


def trace_of(chunk: Chunk, candidate: Candidate, dropped: str | None = None) -> CandidateTrace:
    """The trace of a candidate, as debug output shows it."""
    return CandidateTrace(
        chunk.chunk_id,
        chunk.document_id,
        chunk.document_title,
        candidate.score,
        candidate.arms,
        dropped,
        candidate.path,
    )
