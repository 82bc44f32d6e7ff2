"""What this process holds of documents between requests, and how it drops it."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Collection, Coroutine, Generator
from contextlib import contextmanager
from functools import lru_cache
from itertools import chain
from typing import Any
from uuid import UUID

from agentic_rag.erasure.certificate import ErasedStore, StoreErasure
from agentic_rag.erasure.ports import DropProgress
from agentic_rag.kernel.concurrency import Turnstile
from agentic_rag.tenancy.principals import WorkspaceRef

LAPSE_SECONDS = 10.0
"""A process whose row was not renewed for so long counts as gone. It drops all it holds before it uses it again, since
it measures the same time by itself.
"""

_REMEMBERING: type[Any] = type(lru_cache(lambda: None))
"""Of functions that `lru_cache` or `cache` made."""


class ProcessMemory:
    """Every holder of this process, each with the function that drops what it holds."""

    def __init__(self) -> None:
        self._drops: list[Callable[[WorkspaceRef | None], None]] = []
        self._settles: list[Callable[[], Coroutine[Any, Any, None]]] = []
        self._drains: list[Callable[[], Coroutine[Any, Any, None]]] = []
        self._late_drops: list[Callable[[], Coroutine[Any, Any, None]]] = []
        self._ends: list[Callable[[], Coroutine[Any, Any, None]]] = []
        self._texts = Turnstile()
        self._read: set[WorkspaceRef | None] = set()
        """Workspaces of which children may hold texts."""
        self._ending: dict[asyncio.Task[None], frozenset[WorkspaceRef | None]] = {}
        """Ends of children under way, and what those read."""

    def holds(self, drop: Callable[[WorkspaceRef | None], None]) -> None:
        """A holder. `drop` gets the workspace to forget; None means all."""
        self._drops.append(drop)

    def is_used_by(self, settle: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Work that reads texts. `settle` returns when the work under way at its call has ended."""
        self._settles.append(settle)

    def is_handed_to(self, drain: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Who keeps for a while what work has read, after its end. `drain` returns when it keeps nothing of what it got
        before the call.
        """
        self._drains.append(drain)

    def holds_late(self, drop: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """A holder whose texts name no workspace, and whose drop waits for a use under way."""
        self._late_drops.append(drop)

    def is_ended_by(self, end: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Child processes that hold texts which `reading` named. `end` returns when they hold none."""
        self._ends.append(end)

    @contextmanager
    def reading(self, workspace: WorkspaceRef | None, document_id: UUID | None = None) -> Generator[None]:
        """A block that reads whole texts, here and in children: of a document, of a workspace, or (None) of any. Who
        drops them waits for its end.
        """
        with self._texts.inside((workspace, document_id)):
            try:
                yield
            finally:
                self._read.add(workspace)

    def drop(self, workspace: WorkspaceRef | None) -> None:
        """Drop what is held of a workspace, or of all, and every remembered result of a function: those name no
        workspace.
        """
        for drop in self._drops:
            drop(workspace)
        for remembered in _remembering_functions(len(sys.modules)):
            remembered.cache_clear()

    async def drop_for_good(self, workspace: WorkspaceRef | None, document_ids: Collection[UUID] = ()) -> None:
        """Drop it, wait for the work under way, which may have read a text before, then for those whom it handed it to,
        drop what they left, and end children that read of the workspace. `document_ids` (none: all) limit which readers
        of whole texts are waited for.
        """
        self.drop(workspace)

        def is_meant(key: tuple[WorkspaceRef | None, UUID | None]) -> bool:
            read, document = key
            return _concerns({read}, workspace) and (not document_ids or document is None or document in document_ids)

        await asyncio.gather(self._texts.settle(is_meant), *(settle() for settle in self._settles))
        await asyncio.gather(*(drain() for drain in self._drains))
        self.drop(workspace)
        await asyncio.gather(*(drop() for drop in self._late_drops))
        await self._end_children(workspace)

    async def _end_children(self, workspace: WorkspaceRef | None) -> None:
        """End the children if they read of the workspace, and wait for the ends under way of those that did."""
        if _concerns(self._read, workspace):
            # The children end with all that they read. What is read meanwhile is read by others.
            read = frozenset(self._read)
            self._read.clear()
            task = asyncio.ensure_future(self._end_all(read))
            self._ending[task] = read
            task.add_done_callback(self._ending.pop)
        ends = [task for task, read in self._ending.items() if _concerns(read, workspace)]
        await asyncio.gather(*(asyncio.shield(task) for task in ends))

    async def _end_all(self, read: frozenset[WorkspaceRef | None]) -> None:
        try:
            await asyncio.gather(*(end() for end in self._ends))
        except BaseException:
            self._read |= read
            raise


def _concerns(read: Collection[WorkspaceRef | None], workspace: WorkspaceRef | None) -> bool:
    """Whether what was read may be of a workspace, where None is any."""
    return bool(read) and (workspace is None or workspace in read or None in read)


@lru_cache(1)
def _remembering_functions(modules: int) -> tuple[Any, ...]:
    """Every function of the product that remembers results of texts, of modules and of classes in them; found anew when
    the number of modules has changed.
    """
    del modules
    values = list[Any]()
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0].startswith("agentic_rag"):
            values += vars(module).values()
    # Most classes stand in many modules.
    classes = {id(value): value for value in values if isinstance(value, type)}
    members = (vars(one).values() for one in classes.values())
    found: set[Any] = {one for one in chain(values, *members) if isinstance(one, _REMEMBERING)}
    return tuple(found - {_remembering_functions})


def lines_of(progress: DropProgress) -> tuple[StoreErasure, StoreErasure]:
    """What a certificate says of it."""
    return (
        StoreErasure(ErasedStore.PROCESSES, progress.followed, done=not progress.silent),
        StoreErasure(ErasedStore.LAPSED_PROCESSES, progress.lapsed),
    )
