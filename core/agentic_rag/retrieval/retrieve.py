"""Hybrid retrieval inside one snapshot: dense beside lexical, then the graph from what they found, fused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from agentic_rag.documents.document import Chunk, DocumentFilter
from agentic_rag.kernel.concurrency import background_task
from agentic_rag.kernel.database import CorpusSnapshot
from agentic_rag.kernel.dependency import Dependency
from agentic_rag.kernel.errors import DependencyUnavailable, SpaceMismatch
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.language.tokenizer import query_terms
from agentic_rag.models.embedding.space import EmbeddingSpace
from agentic_rag.retrieval.candidates import (
    ArmHit,
    Candidate,
    CandidateTrace,
    ExtractedEntity,
    HopKind,
    Retriever,
    SearchScope,
)
from agentic_rag.retrieval.confidence import RankingConfidence, measure_confidence
from agentic_rag.retrieval.fusion import FusionMethod, FusionWeights, effective_lexical_share, fuse
from agentic_rag.retrieval.graph.entities import question_entities
from agentic_rag.retrieval.graph.graph_search import GraphQuery, GraphSearch
from agentic_rag.retrieval.graph.paths import GraphPaths, PathStep, describe_steps
from agentic_rag.retrieval.rerank import Rerank
from agentic_rag.retrieval.selection import SelectionRules, select

ARM_LIMIT = 60
"""Candidates asked of each text arm: beyond it neither recall nor fusion changed on the development sets' corpora."""


@dataclass(frozen=True, slots=True)
class QueryVector:
    """A question's vector and the space it belongs to."""

    space: EmbeddingSpace
    vector: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class RetrievalQuery:
    """What to look for, and how to merge it. Without a vector the dense arm is left out."""

    workspace_id: UUID
    text: str
    vector: QueryVector | None
    scope: SearchScope
    top_k: int
    fusion: FusionMethod = FusionMethod.WEIGHTED
    weights: FusionWeights = FusionWeights()
    dense_trust: float = 1.0
    min_score: float = 0.0
    per_document: int | None = None
    diversity: float = 0.0
    min_cosine: float = 0.0
    """Least cosine of a passage; 0: none. Without a vector it cannot be asked for."""
    title_query: str = ""
    """The question with the words that say which documents it means; `text` when empty."""

    @property
    def rules(self) -> SelectionRules:
        """What is handed on of the ranking."""
        is_sifted = self.min_cosine > 0 and self.vector is not None
        return SelectionRules(self.top_k, self.min_score, self.per_document, self.diversity, is_sifted)


@dataclass(frozen=True, slots=True)
class Ranking:
    """All that the arms found, and the fused candidates, best first. `trails` is None where the graph was not asked."""

    arms: Mapping[Retriever, Sequence[ArmHit]]
    candidates: list[Candidate]
    rarity: Mapping[str, float]
    confidence: RankingConfidence
    paths: GraphPaths | None
    degraded: tuple[Dependency, ...]


@dataclass(frozen=True, slots=True)
class RetrievalResult:
    """The passages by score, the fused candidates behind them, how rare the question's terms are, and how the best
    passage stands out.
    """

    chunks: tuple[tuple[Chunk, Candidate], ...]
    traces: tuple[CandidateTrace, ...]
    rarity: Mapping[str, float]
    confidence: RankingConfidence
    degraded: tuple[Dependency, ...]


async def scope_of(snapshot: CorpusSnapshot, wanted: DocumentFilter, access_ids: tuple[int, ...]) -> SearchScope:
    """What the caller may see, narrowed by the filter (one round trip only when there is one)."""
    if wanted.is_empty:
        return SearchScope(access_ids)
    return SearchScope(access_ids, await snapshot.documents.ordinals_matching(wanted, access_ids))


@dataclass(frozen=True, slots=True)
class _TextArms:
    """What both text arms found, and what else of the question needs no further round trip."""

    dense: list[ArmHit]
    lexical: list[ArmHit]
    rarity: Mapping[str, float]
    entities: Sequence[ExtractedEntity]


class Retrieve:
    """The retrieval use case: three round trips on one snapshot, two without a graph, one more to name what trails
    lead over.
    """

    def __init__(self, telemetry: Telemetry, graph: GraphSearch | None = None, rerank: Rerank | None = None) -> None:
        self._telemetry = telemetry
        self._graph = graph or GraphSearch()
        self._rerank = rerank

    async def run(self, snapshot: CorpusSnapshot, query: RetrievalQuery) -> RetrievalResult:
        """The best passages for a query.

        Errors: `DependencyUnavailable` (database), `SpaceMismatch` when the vector is not of the workspace's space.
        """
        rules = query.rules
        wanted = rules.candidate_count if self._rerank is None else max(rules.candidate_count, self._rerank.depth)
        ranking = await self.rank(snapshot, query, wanted)
        found = await _with_texts(snapshot, query, ranking)
        degraded = ranking.degraded
        if self._rerank is not None:
            reranked = await self._rerank.order(query.text, found)
            found, degraded = reranked.passages, (*degraded, *reranked.degraded)
        judged = select(found, rules, await _too_far(snapshot, query, found))
        return RetrievalResult(
            chunks=tuple((one.chunk, one.candidate) for one in judged if one.drop_reason is None),
            traces=tuple(trace_of(one.chunk, one.candidate, one.drop_reason) for one in judged),
            rarity=ranking.rarity,
            confidence=ranking.confidence,
            degraded=degraded,
        )

    @property
    def reranker(self) -> str | None:
        """The name of the reranker in force."""
        return None if self._rerank is None else self._rerank.name

    async def rerank_order(self, snapshot: CorpusSnapshot, query: RetrievalQuery, ranking: Ranking) -> list[int]:
        """The ordinals of a ranking as the reranker orders them; as they were without one, or when it fails."""
        order = [one.ordinal for one in ranking.candidates]
        if self._rerank is None:
            return order
        depth = self._rerank.depth
        found = await _with_texts(snapshot, query, replace(ranking, candidates=list(ranking.candidates)[:depth]))
        reranked = await self._rerank.order(query.text, found)
        return [*(candidate.ordinal for _, candidate in reranked.passages), *order[depth:]]

    async def rank(self, snapshot: CorpusSnapshot, query: RetrievalQuery, limit: int | None = None) -> Ranking:
        """The first `limit` fused candidates (None: all) without their texts. Errors: those of `run`."""
        terms = query_terms(query.text)
        text = await self._text_arms(snapshot, query, terms)
        arms: Mapping[Retriever, Sequence[ArmHit]] = {Retriever.DENSE: text.dense, Retriever.LEXICAL: text.lexical}
        degraded: tuple[Dependency, ...] = ()
        trails: GraphPaths | None = None
        if query.weights.graph > 0:
            try:
                linked = await self._graph.hits(snapshot, _graph_query(snapshot, query, terms, text, arms), arms)
                trails = linked.paths
                arms = {
                    Retriever.DENSE: _merge_hits(text.dense, linked.hits[Retriever.DENSE]),
                    Retriever.LEXICAL: _merge_hits(text.lexical, linked.hits[Retriever.LEXICAL]),
                    Retriever.GRAPH: linked.hits[Retriever.GRAPH],
                }
            except DependencyUnavailable as error:
                if error.dependency == "postgres":
                    raise
                degraded = (Dependency.GRAPH,)
        began = perf_counter()
        fused = fuse(arms, query.weights, query.fusion, dense_trust=query.dense_trust, limit=limit)
        self._telemetry.observe("rag_retrieval_fusion_seconds", perf_counter() - began)
        share = effective_lexical_share(arms, query.weights, query.dense_trust)
        standing = measure_confidence(arms, share, query.dense_trust, trails)
        return Ranking(arms, fused, text.rarity, standing, trails, degraded)

    async def _text_arms(self, snapshot: CorpusSnapshot, query: RetrievalQuery, terms: Mapping[str, int]) -> _TextArms:
        """Dense beside lexical: the database scans vectors while this process does all that needs no answer of it."""
        if query.vector is None or snapshot.space is None or query.weights.vector == 0:
            return await self._run_while_scanning(snapshot, query, terms)
        space = snapshot.space
        if space.space != query.vector.space:
            raise SpaceMismatch(
                f"The workspace is embedded with {space.space.name}, the question with {query.vector.space.name}. "
                "Set the embedder back or re-embed the workspace."
            )
        scan = snapshot.vectors.nearest(query.vector.vector, space.space_id, ARM_LIMIT, query.scope)
        async with background_task(scan) as scanning:
            found = await self._run_while_scanning(snapshot, query, terms)
            return replace(found, dense=await scanning)

    async def _run_while_scanning(
        self, snapshot: CorpusSnapshot, query: RetrievalQuery, terms: Mapping[str, int]
    ) -> _TextArms:
        return _TextArms(
            dense=[],
            lexical=await self._lexical(snapshot, query, terms),
            rarity=await snapshot.lexical.rarity(list({**terms, **query_terms(query.title_query)}), query.scope),
            entities=question_entities(query.workspace_id, query.text) if query.weights.graph > 0 else [],
        )

    async def _lexical(self, snapshot: CorpusSnapshot, query: RetrievalQuery, terms: Mapping[str, int]) -> list[ArmHit]:
        if not terms or query.weights.vector == 0:
            return []
        return await snapshot.lexical.search(terms, ARM_LIMIT, query.scope)


def _graph_query(
    snapshot: CorpusSnapshot,
    query: RetrievalQuery,
    terms: Mapping[str, int],
    text: _TextArms,
    arms: Mapping[Retriever, Sequence[ArmHit]],
) -> GraphQuery:
    searched = query.vector if text.dense else None
    return GraphQuery(
        workspace_id=query.workspace_id,
        text=query.title_query or query.text,
        terms=terms,
        entities=text.entities,
        vector=None if searched is None else searched.vector,
        space_id=None if snapshot.space is None else snapshot.space.space_id,
        lexical_share=effective_lexical_share(arms, query.weights, query.dense_trust),
        scope=query.scope,
    )


def _merge_hits(found: Sequence[ArmHit], also: Sequence[ArmHit]) -> list[ArmHit]:
    """An arm's hits with those of passages that another arm found, best first."""
    hits = {hit.ordinal: hit for hit in (*also, *found) if hit.score > 0}
    return sorted(hits.values(), key=lambda hit: (-hit.raw, hit.ordinal))


async def _with_texts(
    snapshot: CorpusSnapshot, query: RetrievalQuery, ranking: Ranking
) -> list[tuple[Chunk, Candidate]]:
    """The candidates that are still there, with their texts and the paths that led to them."""
    first = ranking.candidates
    if not first:
        return []
    steps = {one.ordinal: ranking.paths.steps_to(one.ordinal) for one in first} if ranking.paths else {}
    on_trails = {step.origin for trail in steps.values() for step in trail} - {one.ordinal for one in first}
    ordinals = [*(one.ordinal for one in first), *sorted(on_trails)]
    chunks = {chunk.ordinal: chunk for chunk in await snapshot.documents.chunks(ordinals, query.scope.access_ids)}
    names = await _entity_names(snapshot, [step for trail in steps.values() for step in trail])
    return [
        (chunks[one.ordinal], replace(one, path=describe_steps(steps.get(one.ordinal, ()), chunks, names)))
        for one in first
        if one.ordinal in chunks
    ]


async def _too_far(
    snapshot: CorpusSnapshot, query: RetrievalQuery, found: Sequence[tuple[Chunk, Candidate]]
) -> frozenset[int]:
    """The passages that are less similar to the question than it asks for, whichever arm found them."""
    if query.vector is None or snapshot.space is None or not query.rules.has_min_similarity:
        return frozenset()
    cosines = {
        candidate.ordinal: arm.raw
        for _, candidate in found
        for arm in candidate.arms
        if arm.retriever is Retriever.DENSE
    }
    unknown = [candidate.ordinal for _, candidate in found if candidate.ordinal not in cosines]
    if unknown:
        cosines.update(await snapshot.vectors.cosines(query.vector.vector, snapshot.space.space_id, unknown))
    return frozenset(one.ordinal for _, one in found if cosines.get(one.ordinal, 0.0) < query.min_cosine)


async def _entity_names(snapshot: CorpusSnapshot, steps: Sequence[PathStep]) -> Mapping[UUID, str]:
    """The names of entities that trails lead over; a graph that fails now leaves them without."""
    shared = {step.entity_id for step in steps if step.kind is HopKind.SHARES and step.entity_id is not None}
    if not shared:
        return {}
    try:
        return await snapshot.graph.names(sorted(shared))
    except DependencyUnavailable as error:
        if error.dependency == "postgres":
            raise
        return {}


def trace_of(chunk: Chunk, candidate: Candidate, dropped: str | None = None) -> CandidateTrace:
    """What is told of a candidate."""
    return CandidateTrace(
        chunk.chunk_id,
        chunk.document_id,
        chunk.document_title,
        candidate.score,
        candidate.arms,
        dropped,
        candidate.path,
    )
