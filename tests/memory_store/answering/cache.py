"""`answering.ports.AnswerCache` in memory."""

from __future__ import annotations

from datetime import datetime, timedelta

from agentic_rag.kernel.clock import Clock
from agentic_rag.tenancy.principals import WorkspaceRef


class MemoryAnswerCache:
    """Expired entries go when they are asked for, or with their workspace."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._entries: dict[WorkspaceRef, dict[str, tuple[bytes, datetime]]] = {}

    async def get(self, workspace: WorkspaceRef, key: str) -> bytes | None:
        """The value, or None when absent or expired."""
        entries = self._entries.get(workspace, {})
        entry = entries.get(key)
        if entry is None:
            return None
        value, expires = entry
        if expires <= self._clock.now():
            del entries[key]
            return None
        return value

    async def put(self, workspace: WorkspaceRef, key: str, value: bytes, ttl_seconds: int) -> None:
        """Store for at most `ttl_seconds`."""
        if ttl_seconds > 0:
            expires = self._clock.now() + timedelta(seconds=ttl_seconds)
            self._entries.setdefault(workspace, {})[key] = (value, expires)

    async def forget(self, workspace: WorkspaceRef) -> int:
        """Drop every entry of the workspace; how many went."""
        return self.drop(workspace)

    def drop(self, workspace: WorkspaceRef) -> int:
        """`forget` without waiting, for an erasure in the same process."""
        now = self._clock.now()
        entries = self._entries.pop(workspace, {})
        return sum(expires > now for _, expires in entries.values())

    async def holding(self, workspace: WorkspaceRef, words: bytes) -> int:
        """How many entries of the workspace have `words` in their value."""
        return sum(words in value for value, _ in self._entries.get(workspace, {}).values())

    @property
    def available(self) -> bool:
        """Always."""
        return True

    async def aclose(self) -> None:
        """Nothing to release."""
