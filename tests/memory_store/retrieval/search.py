"""The three arms of retrieval over one snapshot in memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from tests.memory_store.session.state import EntityMention, PassageRow, WorkspaceState, is_visible

from agentic_rag.models.embedding.space import RegisteredSpace
from agentic_rag.retrieval.candidates import SCORE_DIGITS, ArmHit, EntityPassages, MentionCount, Neighbour, SearchScope
from agentic_rag.retrieval.graph.subgraph import Subgraph
from agentic_rag.retrieval.lexical.bm25 import TermProfile, VisiblePostings
from agentic_rag.retrieval.lexical.postings import AccessChanges
from agentic_rag.retrieval.ports import VectorSearch
from agentic_rag.tenancy.access import ReadScope


class MemoryVectorReader:
    """`retrieval.ports.VectorReader`: an exact scan."""

    def __init__(self, state: WorkspaceState, version: int, space: RegisteredSpace | None) -> None:
        self._state = state
        self._version = version
        self._space = space

    async def nearest(
        self,
        query: NDArray[np.float32],
        space_id: int,
        limit: int,
        scope: SearchScope,
        search: VectorSearch = VectorSearch.SERVED,
    ) -> list[ArmHit]:
        """The `limit` visible chunks nearest to `query` by cosine, best first, ties by ordinal."""
        active = self._space
        if active is None or limit < 1:
            return []
        active.require(space_id, len(query))
        found = [
            (ordinal, passage.vectors[space_id])
            for ordinal, passage in self._state.passages.items()
            if space_id in passage.vectors
            and passage.access_id in scope.access_ids
            and (scope.ordinals is None or ordinal in scope.ordinals)
            and is_visible(self._version, passage.visible_from, passage.visible_to)
        ]
        if not found or not query.any():
            return []
        ordinals = np.array([ordinal for ordinal, _ in found], np.int64)
        vectors = np.array([np.frombuffer(vector, "<f2") for _, vector in found], np.float64)
        cosines = _cosines(query.astype(np.float64), vectors)
        order = np.lexsort((ordinals, -cosines))[:limit]
        return [
            ArmHit(ordinal, cosine, max(0.0, cosine))
            for ordinal, cosine in zip(ordinals[order].tolist(), cosines[order].tolist(), strict=True)
        ]

    is_at_hand = False

    async def cosines(self, query: NDArray[np.float32], space_id: int, ordinals: Sequence[int]) -> dict[int, float]:
        """The cosine of each of these chunks that has a vector."""
        everyone = await self.nearest(query, space_id, len(self._state.passages), self._everywhere(ordinals))
        return {hit.ordinal: hit.raw for hit in everyone}

    def _everywhere(self, ordinals: Sequence[int]) -> SearchScope:
        access = {passage.access_id for passage in self._state.passages.values()}
        return SearchScope(tuple(sorted(access)), frozenset(ordinals))


def _cosines(query: NDArray[np.float64], vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Cosines rounded to `SCORE_DIGITS`; 0 for a null vector."""
    norms = np.linalg.norm(vectors, axis=1) * np.linalg.norm(query)
    products: NDArray[np.float64] = vectors @ query
    cosines = np.divide(products, norms, out=np.zeros_like(products), where=norms > 0)
    return np.round(cosines, SCORE_DIGITS).astype(np.float64) + 0.0


class MemoryLexicalReader:
    """`retrieval.ports.LexicalReader`: the domain's search over the segments."""

    def __init__(self, state: WorkspaceState, version: int) -> None:
        self._state = state
        self._version = version

    async def search(self, terms: Mapping[str, int], limit: int, scope: SearchScope) -> list[ArmHit]:
        """BM25 for the query terms, best first, ties by ordinal."""
        allowed = None if scope.ordinals is None else np.fromiter(scope.ordinals, np.int32, len(scope.ordinals))
        return self._visible(scope).search(terms, allowed, limit)

    async def rarity(self, terms: Sequence[str], scope: SearchScope) -> dict[str, float]:
        """How rare each term is among the visible chunks, in (0, 1]."""
        return self._visible(scope).rarity(terms)

    async def profile(self, terms: Mapping[str, int], ordinals: Sequence[int], scope: SearchScope) -> TermProfile:
        """What each of these chunks holds of the query terms."""
        return self._visible(scope).profile(terms, np.array(ordinals, np.int64))

    async def passages(self, scope: SearchScope) -> int:
        """How many chunks are visible to the scope's access sets."""
        return sum(
            passage.access_id in scope.access_ids
            and is_visible(self._version, passage.visible_from, passage.visible_to)
            for passage in self._state.passages.values()
        )

    def _visible(self, scope: SearchScope) -> VisiblePostings:
        moves = AccessChanges.of((ordinal, passage.access_id) for ordinal, passage in self._state.passages.items())
        return VisiblePostings.of(self._state.segments, self._closed(), self._version, scope.access_ids, moves)

    def _closed(self) -> NDArray[np.int32]:
        ordinals = [
            ordinal
            for ordinal, passage in self._state.passages.items()
            if passage.visible_to is not None and passage.visible_to <= self._version
        ]
        return np.array(ordinals, np.int32)


class MemoryGraphReader:
    """`retrieval.ports.GraphReader`: always at the snapshot's version."""

    def __init__(self, state: WorkspaceState, version: int, access: ReadScope) -> None:
        self._state = state
        self._version = version
        self._access_ids = frozenset(access.access_ids)

    @property
    def version(self) -> int:
        """The corpus version the graph reflects."""
        return self._version

    async def mentions_of(self, entity_ids: Sequence[UUID], cap: int) -> list[EntityPassages]:
        """The visible passages of each entity that has any, in the order asked; of one in more than `cap` passages only
        that it is.
        """
        found: list[EntityPassages] = []
        for entity_id in entity_ids:
            held = [(ordinal, mention.count) for ordinal, mention in self._mentions(entity_id)]
            if len(held) > cap:
                found.append(EntityPassages(entity_id, cap + 1, (), ()))
            elif held:
                ordinals, counts = zip(*held, strict=True)
                found.append(EntityPassages(entity_id, len(held), ordinals, counts))
        return found

    def _mentions_in(self, ordinals: Sequence[int]) -> list[MentionCount]:
        found: list[MentionCount] = []
        for ordinal in sorted(set(ordinals)):
            passage = self._state.passages.get(ordinal)
            if passage is not None and self._is_shown(passage):
                mentions = sorted(passage.mentions, key=lambda held: held.entity_id)
                found.extend(MentionCount(held.entity_id, ordinal, held.count) for held in mentions)
        return found

    async def vicinity(self, entity_ids: Sequence[UUID], ordinals: Sequence[int], cap: int) -> Subgraph:
        """What these chunks mention, and the passages of that and of these entities."""
        held = self._mentions_in(ordinals)
        wanted = sorted({*entity_ids, *(mention.entity_id for mention in held)})
        return Subgraph.of(held, await self.mentions_of(wanted, cap))

    async def neighbours(self, entity_ids: Sequence[UUID], cap: int) -> list[Neighbour]:
        """The `cap` strongest related entities of each: weight descending, then id; in the order asked."""
        found: list[Neighbour] = []
        for entity_id in entity_ids:
            weights: Counter[UUID] = Counter()
            for _, held in self._mentions(entity_id):
                weights.update(dict(held.related))
            strongest = sorted(weights.items(), key=lambda pair: (-pair[1], pair[0]))[:cap]
            found.extend(Neighbour(entity_id, related, weight) for related, weight in strongest)
        return found

    async def names(self, entity_ids: Sequence[UUID]) -> dict[UUID, str]:
        """Display names of known entities."""
        entities = self._state.entities
        return {entity_id: entities[entity_id].name for entity_id in entity_ids if entity_id in entities}

    def _mentions(self, entity_id: UUID) -> Iterator[tuple[int, EntityMention]]:
        """The visible mentions of an entity, by ordinal."""
        for ordinal in self._state.entity_ordinals.get(entity_id, ()):
            passage = self._state.passages[ordinal]
            if self._is_shown(passage):
                yield ordinal, next(held for held in passage.mentions if held.entity_id == entity_id)

    def _is_shown(self, passage: PassageRow) -> bool:
        return passage.access_id in self._access_ids and is_visible(
            self._version, passage.visible_from, passage.visible_to
        )
