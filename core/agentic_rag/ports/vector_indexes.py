"""Approximate indexes of large workspaces: what is known of them, and what makes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from agentic_rag.domain.spaces import RegisteredSpace
from agentic_rag.domain.tenancy import WorkspaceRef
from agentic_rag.domain.vector_indexes import IndexRecord


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
