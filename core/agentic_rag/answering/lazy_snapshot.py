"""The snapshot of a run: opened at the first read, closed at the end of the run."""

from __future__ import annotations

from contextlib import AsyncExitStack
from types import TracebackType
from typing import Self

from agentic_rag.kernel.database import CorpusSnapshot, Database
from agentic_rag.tenancy.access import ReadIdentity
from agentic_rag.tenancy.principals import WorkspaceRef


class LazySnapshot:
    """Opens a workspace's snapshot, in the name of the caller, at its first use."""

    def __init__(self, database: Database, workspace: WorkspaceRef, as_of: int | None, readers: ReadIdentity) -> None:
        self._database = database
        self._workspace = workspace
        self._as_of = as_of
        self._readers = readers
        self._stack = AsyncExitStack()
        self._snapshot: CorpusSnapshot | None = None

    async def snapshot(self, *, may_defer: bool = False) -> CorpusSnapshot:
        """The snapshot. Errors: those of `Database.snapshot`."""
        if self._snapshot is None:
            opened = self._database.snapshot(
                self._workspace, self._as_of, readers=self._readers, may_defer=may_defer, may_lag=True
            )
            self._snapshot = await self._stack.enter_async_context(opened)
        return self._snapshot

    async def release(self) -> None:
        """Close the snapshot before a long wait, so that no database connection is held meanwhile. The next read opens
        a new one, perhaps at a later version.
        """
        if self._snapshot is not None:
            self._snapshot = None
            await self._stack.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stack.__aexit__(kind, error, trace)
