"""Answers kept for equal questions at one corpus version."""

from __future__ import annotations

from typing import Protocol

from agentic_rag.domain.tenancy import WorkspaceRef


class AnswerCache(Protocol):
    """Values are opaque bytes. A cache that is down behaves as empty and reports itself through `available`."""

    async def get(self, workspace: WorkspaceRef, key: str) -> bytes | None:
        """The value, or None when absent, expired or unreachable."""
        ...

    async def put(self, workspace: WorkspaceRef, key: str, value: bytes, ttl_seconds: int) -> None:
        """Store for at most `ttl_seconds`."""
        ...

    async def forget(self, workspace: WorkspaceRef) -> int:
        """Drop every entry of the workspace; how many went. Errors: `DependencyUnavailable` (an erasure must know)."""
        ...

    async def holding(self, workspace: WorkspaceRef, words: bytes) -> int:
        """How many entries of the workspace have `words` in their value. Errors: `DependencyUnavailable`."""
        ...

    @property
    def available(self) -> bool:
        """False after a failed call, until one succeeds again."""
        ...

    async def aclose(self) -> None:
        """Release connections."""
        ...
