"""A set's questions as the graph arm sees them, in memory: what the weights of `retrieval.graph.multi_hop` are fitted
on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from uuid import UUID, uuid5

import numpy as np
from numpy.typing import NDArray

from agentic_rag.documents.chunking import chunk_document
from agentic_rag.documents.document import ParsedDocument
from agentic_rag.kernel.text import strip_unstorable
from agentic_rag.language.token_estimate import estimate_tokens
from agentic_rag.language.tokenizer import query_terms, term_counts
from agentic_rag.models.embedding.ports import Embedder
from agentic_rag.retrieval.candidates import ArmHit, EntityPassages, MentionCount, Retriever
from agentic_rag.retrieval.graph.entities import extract_entities, question_entities, title_entities
from agentic_rag.retrieval.graph.multi_hop import (
    CandidatePool,
    GraphPath,
    StepWeights,
    extend_paths,
    first_passages,
    likeliest_paths,
    path_features,
    start_paths,
)
from agentic_rag.retrieval.graph.neighbourhood import PASSAGE_CAP, GraphNeighbourhood
from agentic_rag.retrieval.graph.subgraph import Subgraph
from agentic_rag.retrieval.lexical.bm25 import VisiblePostings
from agentic_rag.retrieval.lexical.postings import SegmentRow, build_segment
from agentic_rag.workspaces.chunk_profiles import chunk_profile
from agentic_rag_eval.records import EvalDocument, EvalQuestion

Floats = NDArray[np.float64]

ARM_LIMIT = 60
"""As `retrieval.retrieve`."""

BATCH = 512
_WORKSPACE = UUID(int=0)


@dataclass(frozen=True, slots=True, eq=False)
class TrainingStep:
    """A trail and what may follow it. `features` and `open_rows` as `retrieval.graph.multi_hop.path_features`."""

    start: int
    """Row of the trail's first passage."""
    parent: int | None
    """The step that this one follows, and the row that was chosen there."""
    row: int
    features: NDArray[np.float32]
    open_rows: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class TrainingQuestion:
    """One question: its pool, its trails, and which passages are gold."""

    score: Floats
    chance: Floats
    steps: tuple[TrainingStep, ...]
    gold: NDArray[np.bool_]
    documents: tuple[str, ...]
    """(n,) the document of each passage."""
    gold_ids: frozenset[str]
    dense: Floats
    lexical: Floats


class TrainingCorpus:
    """Chunks, vectors, postings and entities of a set."""

    def __init__(
        self,
        chunks: Sequence[tuple[str, str, str]],
        vectors: NDArray[np.float32],
        lexical_share: float,
        floor: float = 0.0,
    ) -> None:
        """`chunks` are (document id, title, text); cosines count from `floor`."""
        self._documents = [document for document, _, _ in chunks]
        self._vectors = vectors
        self._floor = floor
        self._lexical_share = lexical_share
        rows = [SegmentRow(place, 1, 1, term_counts(text)) for place, (_, _, text) in enumerate(chunks)]
        self._postings = VisiblePostings.of([build_segment(rows)], np.zeros(0, np.int32), 1, [1])
        self._titles = [title_entities(_WORKSPACE.int, title) for _, title, _ in chunks]
        mentions: list[MentionCount] = []
        passages: dict[UUID, list[int]] = {}
        for place, (_, title, text) in enumerate(chunks):
            for one in extract_entities(_WORKSPACE, text, (), title or None).entities:
                mentions.append(MentionCount(one.entity_id, place, one.count))
                passages.setdefault(one.entity_id, []).append(place)
        reached = [
            EntityPassages(one, len(held), tuple(held), (1,) * len(held))
            if len(held) <= PASSAGE_CAP
            else EntityPassages(one, PASSAGE_CAP + 1, (), ())
            for one, held in passages.items()
        ]
        self._around = GraphNeighbourhood.of([Subgraph.of(mentions, reached)], len(chunks))

    @classmethod
    async def of(
        cls, documents: Sequence[EvalDocument], embedder: Embedder, lexical_share: float, profile: str
    ) -> TrainingCorpus:
        """Cut and embed as ingestion does."""
        chunks: list[tuple[str, str, str]] = []
        for one in documents:
            text = strip_unstorable(one.text)
            title = one.title or one.document_id
            parsed = ParsedDocument(text, (), (), title, "text/plain", "plain", "1")
            drafts = chunk_document(uuid5(_WORKSPACE, one.document_id), parsed, chunk_profile(profile), estimate_tokens)
            chunks += [(one.document_id, title, draft.text) for draft in drafts]
        parts = [
            await embedder.embed([embedder.space.as_passage(text) for _, _, text in chunks[start : start + BATCH]])
            for start in range(0, len(chunks), BATCH)
        ]
        # Stored as half floats, so that is what cosines are made of.
        vectors = np.concatenate(parts).astype(np.float16).astype(np.float32)
        return cls(chunks, vectors, lexical_share, embedder.space.floor)

    def question(self, question: EvalQuestion, vector: NDArray[np.float32], weights: StepWeights) -> TrainingQuestion:
        """The pool and the trails of a question; `weights` choose which trails of two passages are followed."""
        terms = query_terms(question.question)
        cosines = (self._vectors @ vector - self._floor) / (1.0 - self._floor)
        dense = np.argsort(-cosines, kind="stable")[:ARM_LIMIT].tolist()
        lexical = self._postings.search(terms, None, ARM_LIMIT)
        asked = frozenset(
            one.entity_id.int
            for one in question_entities(_WORKSPACE, question.question)
            if self._around.specificity(one.entity_id.int) > 0
        )
        arms = {Retriever.DENSE: _hits(dense, cosines), Retriever.LEXICAL: lexical}
        first = first_passages(arms, self._lexical_share)
        base = {*dense, *(hit.ordinal for hit in lexical)}

        def pool_of(ordinals: set[int]) -> CandidatePool:
            kept = np.array(sorted(ordinals), np.int64)
            titles = [self._titles[place] for place in kept]
            named = [max((self._around.specificity(one) for one in title & asked), default=0.0) for title in titles]
            return CandidatePool(
                kept,
                np.maximum(0.0, cosines[kept].astype(np.float64)),
                self._postings.profile(terms, kept),
                titles,
                np.arange(len(kept)),
                np.array(named),
                np.zeros(len(kept)),
                self._lexical_share,
            )

        small = pool_of(base.union(self._around.neighbours_of(first).tolist()))
        trails = start_paths(small, first)
        longer = likeliest_paths(extend_paths(small, self._around, asked, trails, weights))
        pool = pool_of({*small.rows, *self._around.neighbours_of(trail.ordinals[-1] for trail in longer).tolist()})
        reachable = np.array([*(ordinal in small.rows for ordinal in pool.ordinals.tolist()), True])
        steps = [self._step(pool, asked, trail, None, reachable) for trail in trails]
        parents = {trail.ordinals: place for place, trail in enumerate(trails)}
        steps += [self._step(pool, asked, trail, parents[trail.ordinals[:1]], None) for trail in longer]
        documents = tuple(self._documents[place] for place in pool.ordinals.tolist())
        return TrainingQuestion(
            score=pool.score,
            chance=pool.probability,
            steps=tuple(steps),
            gold=np.array([document in question.gold_ids for document in documents], np.bool_),
            documents=documents,
            gold_ids=frozenset(question.gold_ids),
            dense=pool.cosine,
            lexical=pool.lexical,
        )

    def _step(
        self,
        pool: CandidatePool,
        asked: frozenset[int],
        trail: GraphPath,
        parent: int | None,
        reachable: NDArray[np.bool_] | None,
    ) -> TrainingStep:
        (features,), (open_rows,) = path_features(pool, self._around, asked, [trail])
        if reachable is not None:
            open_rows &= reachable
        rows = [pool.rows[ordinal] for ordinal in trail.ordinals]
        return TrainingStep(rows[0], parent, rows[-1], features.astype(np.float32), open_rows)


def as_vector(weights: StepWeights) -> Floats:
    """(16,) in the order of the fields."""
    return np.array(astuple(weights))


def _hits(places: Sequence[int], cosines: NDArray[np.float32]) -> list[ArmHit]:
    found = [(place, float(cosines[place])) for place in places]
    return [ArmHit(place, cosine, max(0.0, cosine)) for place, cosine in found]
