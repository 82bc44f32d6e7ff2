"""Keeps the original bytes of documents."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class StoredBlob:
    """What a stream turned out to be: bytes, and their SHA-256."""

    size: int
    sha256: bytes


class BlobStore(Protocol):
    """Keys are relative POSIX paths made by the product, not by users. Errors: `NotFound`, `DependencyUnavailable`."""

    async def put(self, key: str, content: bytes, fence: int | None = None) -> None:
        """Store `content` under `key`, atomically; replaces what was there.

        A key that several attempts of a job write is written with the lease's `fence`, always: what is there under a
        higher one stays. Keys of which each belongs to one upload or one attempt need none. Errors: `LeaseLost`.
        """
        ...

    async def put_stream(self, key: str, pieces: AsyncIterator[bytes]) -> StoredBlob:
        """Store what `pieces` yields, in bounded memory; readers see it when it is whole. When `pieces` raises, or the
        caller is cancelled, nothing is left behind. For keys that hold nothing yet.
        """
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
