"""`retrieval.ports.VectorIndexStore` in memory: what is said of indexes is kept; searches stay exact."""

from __future__ import annotations

from collections.abc import Sequence

from tests.memory_store.session.store import Working

from agentic_rag.retrieval.vector_index import IndexRecord
from agentic_rag.tenancy.principals import WorkspaceRef


class MemoryVectorIndexStore:
    """Inside a transaction of one organisation."""

    def __init__(self, working: Working) -> None:
        self._working = working

    async def all(self, workspace: WorkspaceRef) -> Sequence[IndexRecord]:
        """What is known of the indexes of a workspace's spaces."""
        state = self._working.read(workspace)
        return [] if state is None else sorted(state.indexes, key=lambda record: record.space_id)

    async def put(self, workspace: WorkspaceRef, record: IndexRecord) -> None:
        """Replace what is known of a space's index."""
        await self.forget(workspace, record.space_id)
        state = self._working.write(workspace)
        state.indexes = (*state.indexes, record)

    async def forget(self, workspace: WorkspaceRef, space_id: int) -> None:
        """Nothing is known of it any more."""
        state = self._working.write(workspace)
        state.indexes = tuple(record for record in state.indexes if record.space_id != space_id)
