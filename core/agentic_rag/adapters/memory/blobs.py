"""`ports.BlobStore` in memory."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

from agentic_rag.domain.errors import InvalidInput, NotFound

PIECE = 64 * 1024

_KEY = re.compile(r"(?!\.)[A-Za-z0-9._-]{1,200}(?:/(?!\.)[A-Za-z0-9._-]{1,200})*")


class MemoryBlobStore:
    """Takes the keys that a directory can hold."""

    def __init__(self) -> None:
        self._blobs: dict[str, bytes] = {}

    async def put(self, key: str, content: bytes) -> None:
        """Store `content` under `key`; replaces what was there."""
        self._blobs[_checked(key)] = bytes(content)

    async def read(self, key: str) -> bytes:
        """The whole content of `key`."""
        return self._read(key)

    async def stream(self, key: str) -> AsyncIterator[bytes]:
        """The content in pieces of at most 64 KiB."""
        content = self._read(key)
        for start in range(0, len(content), PIECE):
            yield content[start : start + PIECE]

    async def delete(self, key: str) -> bool:
        """Remove `key`; False when it was not there."""
        return self._blobs.pop(_checked(key), None) is not None

    async def keys(self, prefix: str) -> list[str]:
        """All keys below `prefix` (a key or the beginning of its path), sorted."""
        below = f"{_checked(prefix)}/" if prefix else ""
        return sorted(key for key in self._blobs if key == prefix or key.startswith(below))

    def _read(self, key: str) -> bytes:
        content = self._blobs.get(_checked(key))
        if content is None:
            raise NotFound(f"There is no blob {key}.")
        return content


def _checked(key: str) -> str:
    if _KEY.fullmatch(key) is None:
        raise InvalidInput(f"{key!r} is no blob key.", code="BLOB_KEY_INVALID")
    return key
