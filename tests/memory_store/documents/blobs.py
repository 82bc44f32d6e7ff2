"""`documents.ports.BlobStore` in memory."""

from __future__ import annotations

import hashlib
import re
from collections.abc import AsyncIterator

from agentic_rag.documents.ports import StoredBlob
from agentic_rag.kernel.errors import InvalidInput, LeaseLost, NotFound

PIECE = 64 * 1024

_KEY = re.compile(r"(?!\.)[A-Za-z0-9._-]{1,200}(?:/(?!\.)[A-Za-z0-9._-]{1,200})*")


class MemoryBlobStore:
    """Takes the keys that a directory can hold."""

    def __init__(self) -> None:
        self._blobs: dict[str, bytes] = {}
        self._fences: dict[str, int] = {}

    async def put(self, key: str, content: bytes, fence: int | None = None) -> None:
        """Store `content` under `key`; replaces what was there under no higher fence."""
        if fence is not None:
            if fence < self._fences.get(_checked(key), 0):
                raise LeaseLost("A newer holder of the job has written this blob: stop, change nothing.")
            self._fences[key] = fence
        self._blobs[_checked(key)] = bytes(content)

    async def put_stream(self, key: str, pieces: AsyncIterator[bytes]) -> StoredBlob:
        """Store what `pieces` yields."""
        _checked(key)
        content = b"".join([piece async for piece in pieces])
        await self.put(key, content)
        return StoredBlob(len(content), hashlib.sha256(content).digest())

    async def read(self, key: str) -> bytes:
        """The whole content of `key`."""
        return self._read(key)

    async def stream(self, key: str, part: range | None = None) -> AsyncIterator[bytes]:
        """The content, or a part of it, in pieces of at most 64 KiB."""
        content = self._read(key)
        content = content if part is None else content[part.start : part.stop]
        for start in range(0, len(content), PIECE):
            yield content[start : start + PIECE]

    async def delete(self, key: str) -> bool:
        """Remove `key`; False when it was not there."""
        self._fences.pop(key, None)
        return self._blobs.pop(_checked(key), None) is not None

    async def keys(self, prefix: str) -> list[str]:
        """All keys below `prefix` (a key or the beginning of its path), sorted."""
        below = f"{_checked(prefix)}/" if prefix else ""
        return sorted(key for key in self._blobs if key == prefix or key.startswith(below))

    async def has_folder(self, prefix: str) -> bool:
        """It is there as long as the process."""
        return True

    def _read(self, key: str) -> bytes:
        content = self._blobs.get(_checked(key))
        if content is None:
            raise NotFound(f"There is no blob {key}.")
        return content


def _checked(key: str) -> str:
    if _KEY.fullmatch(key) is None:
        raise InvalidInput(f"{key!r} is not a blob key.", code="BLOB_KEY_INVALID")
    return key
