"""Exact BM25 over our own postings."""

from __future__ import annotations

import enum
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from agentic_rag.models.embedding.space import RegisteredSpace
from agentic_rag.retrieval.candidates import ArmHit, EntityPassages, Neighbour, SearchScope, Subgraph
from agentic_rag.retrieval.lexical.bm25 import TermProfile
from agentic_rag.retrieval.passage import Passage
from agentic_rag.retrieval.vector_index import IndexRecord
from agentic_rag.tenancy.access import ReadScope
from agentic_rag.tenancy.principals import WorkspaceRef


class LexicalReader(Protocol):
    """Search inside one snapshot."""

    async def search(self, terms: Mapping[str, int], limit: int, scope: SearchScope) -> list[ArmHit]:
        """BM25 for the query terms (term → count in the query), best first, ties by ordinal.

        `raw` is BM25 rounded to 1e-6; `score` in [0, 1] is the absolute scale of `language.tokenizer.absolute_score`.
        """
        ...

    async def rarity(self, terms: Sequence[str], scope: SearchScope) -> dict[str, float]:
        """How rare each term is among the visible chunks: its idf divided by the largest possible one, in (0, 1];
        1 for a term that occurs nowhere.

        After a `search` for the same terms it needs no further round trip.
        """
        ...

    async def profile(self, terms: Mapping[str, int], ordinals: Sequence[int], scope: SearchScope) -> TermProfile:
        """What each of these chunks (visible ones) holds of the query terms, by the statistics of `search`, after which
        it needs no further round trip.
        """
        ...

    async def passages(self, scope: SearchScope) -> int:
        """How many chunks are visible to the scope's access sets (a filter does not count). After a `search` it needs
        no further round trip.
        """
        ...


class VectorSearch(enum.Enum):
    """How vectors are searched."""

    SERVED = "served"
    """As questions are: by the index where it is READY and finds enough, else exactly."""
    EXACT = "exact"
    INDEXED = "indexed"
    """By the index, complete or not, to measure it; a store without one searches exactly."""


class VectorReader(Protocol):
    """Search inside one snapshot."""

    async def nearest(
        self,
        query: NDArray[np.float32],
        space_id: int,
        limit: int,
        scope: SearchScope,
        search: VectorSearch = VectorSearch.SERVED,
    ) -> list[ArmHit]:
        """The `limit` visible chunks nearest to `query` by cosine, best first, ties by ordinal.

        The store proposes; `raw` is the cosine computed in float64 from the stored half-precision vector and rounded
        to 1e-6, `score` is max(0, raw).
        Errors: `SpaceMismatch` when the query's dimensions differ from the stored ones.
        """
        ...

    async def cosines(self, query: NDArray[np.float32], space_id: int, ordinals: Sequence[int]) -> dict[int, float]:
        """`raw` of `nearest` for each of these chunks; none for a chunk without a vector. The caller knows that they
        are visible. Errors: `SpaceMismatch`.
        """
        ...


class VectorIndexStore(Protocol):
    """Inside a transaction of one organisation."""

    async def all(self, workspace: WorkspaceRef) -> Sequence[IndexRecord]:
        """What is known of the indexes of a workspace's spaces."""
        ...

    async def put(self, workspace: WorkspaceRef, record: IndexRecord) -> None:
        """Replace what is known of a space's index."""
        ...

    async def forget(self, workspace: WorkspaceRef, space_id: int) -> None:
        """Nothing is known of it any more."""
        ...


class IndexBuilder(Protocol):
    """Changes the schema, with rights that requests and other jobs do not have.

    Errors: `Misconfigured` when the login may not, `DependencyUnavailable`, `Retryable` code INDEX_BUSY while another
    process works on the same index.
    """

    async def build(self, workspace: WorkspaceRef, space: RegisteredSpace) -> None:
        """Make the index without hindering writers; what a crash left is dropped first. Returns when it is complete."""
        ...

    async def drop(self, workspace: WorkspaceRef, space_id: int) -> None:
        """Drop it, if it is there."""
        ...

    async def others(self, workspace: WorkspaceRef, space_id: int) -> int:
        """How many there are beside this one, of all tenants."""
        ...


Visible = Callable[[Sequence[int]], Awaitable[frozenset[int]]]
"""Of some ordinals, those whose chunks a snapshot shows its readers."""


class GraphReader(Protocol):
    """Reads of one snapshot (Postgres) or at the graph's watermark (Neo4j), for the snapshot's readers: what they may
    not read is as if it were not there. Errors: `DependencyUnavailable`.
    """

    @property
    def version(self) -> int:
        """The corpus version the graph reflects."""
        ...

    async def mentions_of(self, entity_ids: Sequence[UUID], cap: int) -> list[EntityPassages]:
        """The visible passages of each entity that has any, in the order asked; of one in more than `cap` passages only
        that it is.
        """
        ...

    async def vicinity(self, entity_ids: Sequence[UUID], ordinals: Sequence[int], cap: int) -> Subgraph:
        """One hop in one round trip: what these chunks mention, and the passages (as `mentions_of`) of that and of
        these entities.
        """
        ...

    async def neighbours(self, entity_ids: Sequence[UUID], cap: int) -> list[Neighbour]:
        """The `cap` strongest related entities of each: weight descending, then id; in the order asked."""
        ...

    async def names(self, entity_ids: Sequence[UUID]) -> dict[UUID, str]:
        """Display names of known entities."""
        ...


class GraphStore(Protocol):
    """A graph outside Postgres, which follows it."""

    def reader(self, workspace: WorkspaceRef, version: int, access: ReadScope, visible: Visible) -> GraphReader:
        """A reader for a snapshot at corpus version `version`. What it finds is cut to what is `visible` there;
        passages that `access` leaves out count nowhere.

        Its reads raise `DependencyUnavailable` (dependency "neo4j") when the graph does not answer in time, was never
        filled, or is too far behind; its `version` is then not the snapshot's.
        """
        ...

    async def check(self) -> None:
        """Answer, or raise `DependencyUnavailable` or `Misconfigured`."""
        ...

    async def aclose(self) -> None:
        """Close the connections."""
        ...


class Reranker(Protocol):
    """A model, or a server, that judges passages against the question. Without one the order of fusion stands, which
    holds the learned part already (`retrieval.graph.multi_hop.StepWeights`).

    Whatever it raises, and whatever comes too late or in the wrong number, leaves the order as it was and marks the
    answer as degraded (RERANKER).
    """

    @property
    def name(self) -> str:
        """What answers made with it are told apart by; another name when it would judge otherwise."""
        ...

    @property
    def depth(self) -> int:
        """How many of the first candidates it wants to see, at least 1."""
        ...

    async def scores(self, question: str, passages: Sequence[Passage]) -> Sequence[float]:
        """One finite figure per passage, the higher the better; passages come best first. Each has its text, its title,
        its fused score and what every arm gave it. May be cancelled.
        """
        ...
