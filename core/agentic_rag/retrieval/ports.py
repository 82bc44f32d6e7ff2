"""Readers of the retrieval arms, vector indexes, the external graph, and rerankers."""

from __future__ import annotations

import enum
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from agentic_rag.models.embedding.space import RegisteredSpace
from agentic_rag.retrieval.candidates import ArmHit, EntityPassages, Neighbour, Passage, SearchScope
from agentic_rag.retrieval.graph.subgraph import Subgraph
from agentic_rag.retrieval.lexical.bm25 import TermProfile
from agentic_rag.retrieval.vector_index import IndexRecord
from agentic_rag.tenancy.access import ReadScope
from agentic_rag.tenancy.principals import WorkspaceRef


class LexicalReader(Protocol):
    """Search inside one snapshot."""

    async def search(self, terms: Mapping[str, int], limit: int, scope: SearchScope) -> list[ArmHit]:
        """BM25 for the query terms (term → count in the query), best first, ties by ordinal.

        `raw` is BM25 rounded to 1e-6; `score` in [0, 1] is on the scale of `retrieval.lexical.bm25.absolute_score`.
        """
        ...

    async def rarity(self, terms: Sequence[str], scope: SearchScope) -> dict[str, float]:
        """The rarity of each term among the visible chunks: its idf divided by the largest possible one, in (0, 1]; 1
        for a term that does not occur.

        After a `search` for the same terms it needs no further round trip.
        """
        ...

    async def profile(self, terms: Mapping[str, int], ordinals: Sequence[int], scope: SearchScope) -> TermProfile:
        """The query terms in each of these (visible) chunks, by the statistics of `search`, after which it needs no
        further round trip.
        """
        ...

    async def passages(self, scope: SearchScope) -> int:
        """The number of chunks visible to the scope's access sets (its filter does not count). After a `search` it
        needs no further round trip.
        """
        ...


class VectorSearch(enum.Enum):
    """The method of a vector search."""

    SERVED = "served"
    """As for questions: by the index where it is READY and finds enough, else exactly."""
    EXACT = "exact"
    INDEXED = "indexed"
    """By the index even when it is not READY, to measure it; a store without one searches exactly."""


class VectorReader(Protocol):
    """Search inside one snapshot."""

    @property
    def is_at_hand(self) -> bool:
        """Whether `nearest` and `cosines` wait for nothing: to do other work beside them gains no time."""
        ...

    async def nearest(
        self,
        query: NDArray[np.float32],
        space_id: int,
        limit: int,
        scope: SearchScope,
        search: VectorSearch = VectorSearch.SERVED,
    ) -> list[ArmHit]:
        """The `limit` visible chunks nearest to `query` by cosine, best first, ties by ordinal.

        The store selects candidates; `raw` is the cosine counted from the floor of the space, computed in float64 from
        the stored half-precision vector and rounded to 1e-6, `score` is max(0, raw).

        Errors: `SpaceMismatch` when the query's dimensions differ from the stored ones.
        """
        ...

    async def cosines(self, query: NDArray[np.float32], space_id: int, ordinals: Sequence[int]) -> dict[int, float]:
        """`raw` of `nearest` for each of these chunks; chunks without a vector are left out. The caller ensures that
        they are visible. Errors: `SpaceMismatch`.
        """
        ...


class VectorIndexStore(Protocol):
    """Inside a transaction of one organisation."""

    async def all(self, workspace: WorkspaceRef) -> Sequence[IndexRecord]:
        """The records of the indexes of a workspace's spaces."""
        ...

    async def put(self, workspace: WorkspaceRef, record: IndexRecord) -> None:
        """Replace the record of a space's index."""
        ...

    async def forget(self, workspace: WorkspaceRef, space_id: int) -> None:
        """Delete the record of a space's index."""
        ...


class IndexBuilder(Protocol):
    """Changes the schema, with rights that requests and other jobs do not have.

    Errors: `Misconfigured` when the login lacks the right, `DependencyUnavailable`, `Retryable` code INDEX_BUSY while
    another process works on the same index.
    """

    async def build(self, workspace: WorkspaceRef, space: RegisteredSpace) -> None:
        """Build the index without blocking writers; drops the remains of a crash first. Returns when it is complete."""
        ...

    async def drop(self, workspace: WorkspaceRef, space_id: int) -> None:
        """Drop the index if it exists."""
        ...

    async def others(self, workspace: WorkspaceRef, space_id: int) -> int:
        """The number of other indexes, of all tenants."""
        ...


Visible = Callable[[Sequence[int]], Awaitable[frozenset[int]]]
"""Those of the ordinals whose chunks a snapshot shows its readers."""


class GraphReader(Protocol):
    """Reads of one snapshot (Postgres) or at the graph's watermark (Neo4j), for the snapshot's readers: passages that
    they may not read do not count. Errors: `DependencyUnavailable`.
    """

    @property
    def version(self) -> int:
        """The corpus version the graph reflects."""
        ...

    async def mentions_of(self, entity_ids: Sequence[UUID], cap: int) -> list[EntityPassages]:
        """The visible passages of each entity that has any, in the order asked. For an entity in more than `cap`
        passages, `passages` is `cap` + 1 and `ordinals` is empty.
        """
        ...

    async def vicinity(self, entity_ids: Sequence[UUID], ordinals: Sequence[int], cap: int) -> Subgraph:
        """One hop in one round trip: the mentions in these chunks, and the passages (as in `mentions_of`) of the
        mentioned and the given entities.
        """
        ...

    async def neighbours(self, entity_ids: Sequence[UUID], cap: int) -> list[Neighbour]:
        """The `cap` strongest related entities of each: weight descending, then id; in the order asked."""
        ...

    async def names(self, entity_ids: Sequence[UUID]) -> dict[UUID, str]:
        """Display names of known entities."""
        ...


class GraphStore(Protocol):
    """A graph outside Postgres that follows its corpus versions."""

    def reader(self, workspace: WorkspaceRef, version: int, access: ReadScope, visible: Visible) -> GraphReader:
        """A reader for a snapshot at corpus version `version`. Its results are restricted to passages that are
        `visible` there; passages outside `access` do not count.

        Its reads raise `DependencyUnavailable` (dependency "neo4j") when the graph does not answer in time, was never
        filled, or is too far behind; its `version` then differs from the snapshot's.
        """
        ...

    async def check(self) -> None:
        """Check that the graph answers. Errors: `DependencyUnavailable`, `Misconfigured`."""
        ...

    async def aclose(self) -> None:
        """Close the connections."""
        ...


class Reranker(Protocol):
    """A model or server that scores passages against the question. Without one the order of fusion remains, which
    already has the learned part (`retrieval.graph.multi_hop.StepWeights`).

    An error, a late result or one of the wrong length leaves the order unchanged and marks the answer as degraded
    (RERANKER).
    """

    @property
    def name(self) -> str:
        """Identifies the reranker in cache keys and runs; it changes whenever the scores may change."""
        ...

    @property
    def depth(self) -> int:
        """The number of top candidates to score, at least 1."""
        ...

    async def scores(self, question: str, passages: Sequence[Passage]) -> Sequence[float]:
        """One finite score per passage, higher is better. Passages come best first, each with its text, title, fused
        score and the score of every arm. May be cancelled.
        """
        ...
