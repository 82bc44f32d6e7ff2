"""A workspace as rows: out of the database at one instant, and into it in one transaction."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol
from uuid import UUID

from agentic_rag.domain.snapshots import TableShape
from agentic_rag.domain.tenancy import WorkspaceRef
from agentic_rag.ports.database import Transaction


class ArchiveReader(Protocol):
    """One instant of a workspace. Rows are JSON objects without the keys of organisation and workspace."""

    @property
    def name(self) -> str:
        """The workspace's name."""
        ...

    @property
    def corpus_version(self) -> int:
        """The version all rows belong to."""
        ...

    @property
    def schema(self) -> str:
        """The database's schema revision."""
        ...

    @property
    def spaces(self) -> tuple[str, ...]:
        """Names of the embedding spaces whose vectors are among the rows."""
        ...

    @property
    def tables(self) -> tuple[TableShape, ...]:
        """In an order in which the rows may be written again."""
        ...

    def rows(self, table: TableShape) -> AsyncIterator[list[str]]:
        """All rows of a table, a bounded number at a time, in the order of their key."""
        ...


class ArchiveWriter(Protocol):
    """One transaction that makes a workspace; nothing of it is seen before it ends."""

    @property
    def transaction(self) -> Transaction:
        """The stores in the same transaction."""
        ...

    async def accepts(self, table: TableShape) -> bool:
        """Whether this schema has the table with those columns."""
        ...

    async def write(self, table: TableShape, lines: Sequence[str]) -> int:
        """Insert rows; how many. Errors: `Permanent` code SNAPSHOT_DAMAGED for a value that does not fit."""
        ...

    async def erased_in(self, workspace: WorkspaceRef) -> list[UUID]:
        """The documents this system knows to be erased from a workspace."""
        ...


class WorkspaceArchive(Protocol):
    """Errors of every use: `DependencyUnavailable` (dependency "postgres")."""

    def reading(self, workspace: WorkspaceRef) -> AbstractAsyncContextManager[ArchiveReader]:
        """Open a workspace for reading. Errors: `NotFound`."""
        ...

    def restoring(self, workspace: WorkspaceRef) -> AbstractAsyncContextManager[ArchiveWriter]:
        """Open the transaction that writes a workspace; it commits when the block ends without an error."""
        ...
