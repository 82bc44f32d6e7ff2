"""Files of a backup as streams: compressed and hashed on the way, in bounded memory."""

from __future__ import annotations

import asyncio
import hashlib
import zlib
from collections.abc import AsyncIterator

from agentic_rag.documents.ports import BlobStore
from agentic_rag.kernel.errors import NotFound
from agentic_rag.operations.backups.backup import BackupFile, damaged_backup

_LEVEL = 1
"""Level 6 makes the files a tenth smaller and takes four times as long."""
_GZIP = 31
"""`wbits` of zlib for the gzip format."""
_BLOCK = 512 * 1024
"""Bytes handed to a thread at once; 64 KiB would cost more in threads than in compression."""


async def write_file(target: BlobStore, key: str, pieces: AsyncIterator[bytes]) -> BackupFile:
    """Store a stream. Errors: `DependencyUnavailable`, code STORAGE_FULL for a full disk; nothing is left then."""
    raw_size = 0

    async def count() -> AsyncIterator[bytes]:
        nonlocal raw_size
        async for piece in pieces:
            raw_size += len(piece)
            yield piece

    content = compress(count()) if key.endswith(".gz") else count()
    stored = await target.put_stream(key, content)
    return BackupFile(key, stored.size, raw_size, stored.sha256.hex())


async def read_file(source: BlobStore, file: BackupFile) -> AsyncIterator[bytes]:
    """The content of a file. Errors: `Permanent` code BACKUP_DAMAGED where it is missing or is not what was written."""
    stored = read_stored(source, file.key, file.size, file.sha256)
    raw_size = 0
    async for piece in decompress(stored, file.key) if file.key.endswith(".gz") else stored:
        raw_size += len(piece)
        if raw_size > file.raw_size:
            break
        yield piece
    if raw_size != file.raw_size:
        raise damaged_backup(f"{file.key} unpacks to another length")


async def read_stored(source: BlobStore, key: str, size: int, sha256: str) -> AsyncIterator[bytes]:
    """The bytes of a file as they are stored. The last piece comes before they are judged. Errors: `Permanent` code
    BACKUP_DAMAGED.
    """
    digest = hashlib.sha256()
    seen = 0
    try:
        async for piece in source.stream(key):
            digest.update(piece)
            seen += len(piece)
            yield piece
    except NotFound as error:
        raise damaged_backup(f"{key} is missing") from error
    if seen != size or digest.hexdigest() != sha256:
        raise damaged_backup(f"{key} is not what was written")


async def compress(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The pieces as one gzip file."""
    packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, _GZIP)
    async for block in _blocks(pieces):
        if packed := await asyncio.to_thread(packer.compress, block):
            yield packed
    yield packer.flush()


async def decompress(pieces: AsyncIterator[bytes], key: str) -> AsyncIterator[bytes]:
    """The content of a gzip file, at most some megabytes at once. Errors: `Permanent` code BACKUP_DAMAGED."""
    unpacker = zlib.decompressobj(_GZIP)
    try:
        async for block in _blocks(pieces):
            rest = block
            while rest:
                content = await asyncio.to_thread(unpacker.decompress, rest, 8 * _BLOCK)
                rest = unpacker.unconsumed_tail
                if content:
                    yield content
        if content := unpacker.flush():
            yield content
    except zlib.error as error:
        raise damaged_backup(f"{key} cannot be unpacked") from error
    if not unpacker.eof:
        raise damaged_backup(f"{key} breaks off")


async def _blocks(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The same bytes in larger blocks."""
    held = bytearray()
    async for piece in pieces:
        held += piece
        if len(held) >= _BLOCK:
            yield bytes(held)
            held.clear()
    if held:
        yield bytes(held)
