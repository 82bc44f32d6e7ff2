"""Two answer caches as one: the quick one first, the lasting one behind it."""

from __future__ import annotations

from agentic_rag.answering.ports import AnswerCache
from agentic_rag.tenancy.principals import WorkspaceRef


class ChainedAnswerCache:
    """`answering.ports.AnswerCache` over two others; an entry that only the second holds is served from there."""

    def __init__(self, first: AnswerCache, second: AnswerCache) -> None:
        self._first = first
        self._second = second

    async def get(self, workspace: WorkspaceRef, key: str) -> bytes | None:
        value = await self._first.get(workspace, key)
        return value if value is not None else await self._second.get(workspace, key)

    async def put(self, workspace: WorkspaceRef, key: str, value: bytes, ttl_seconds: int) -> None:
        await self._second.put(workspace, key, value, ttl_seconds)
        await self._first.put(workspace, key, value, ttl_seconds)

    async def forget(self, workspace: WorkspaceRef) -> int:
        """Drop every entry of the workspace from both; how many went in all. Errors: `DependencyUnavailable`, with
        the second one emptied all the same.
        """
        lasting = await self._second.forget(workspace)
        return lasting + await self._first.forget(workspace)

    async def holding(self, workspace: WorkspaceRef, words: bytes) -> int:
        return await self._first.holding(workspace, words) + await self._second.holding(workspace, words)

    @property
    def available(self) -> bool:
        return self._first.available and self._second.available

    async def aclose(self) -> None:
        try:
            await self._first.aclose()
        finally:
            await self._second.aclose()
