"""Keeps the original bytes of documents."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Protocol


class BlobStore(Protocol):
    """Keys are relative POSIX paths made by the product, not by users. Errors: `NotFound`, `DependencyUnavailable`."""

    async def put(self, key: str, content: bytes) -> None:
        """Store `content` under `key`, atomically; replaces what was there."""
        ...

    async def read(self, key: str) -> bytes:
        """The whole content of `key`."""
        ...

    def stream(self, key: str) -> AsyncIterator[bytes]:
        """The content in pieces of at most 64 KiB."""
        ...

    async def delete(self, key: str) -> bool:
        """Remove `key`; False when it was not there."""
        ...

    async def keys(self, prefix: str) -> list[str]:
        """All keys below `prefix`, sorted."""
        ...
