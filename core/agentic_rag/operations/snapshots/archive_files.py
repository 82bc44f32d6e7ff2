"""The files of an archive: JSON lines in gzip parts of bounded size, each listed in the manifest with its hash."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from uuid import UUID

from agentic_rag.documents.blob_keys import snapshots_of
from agentic_rag.documents.ports import BlobStore
from agentic_rag.kernel.errors import InvalidInput, NotFound
from agentic_rag.operations.snapshots.snapshot import MANIFEST, ArchivePart, Manifest, damage_error, decode_manifest
from agentic_rag.tenancy.principals import WorkspaceRef

PART_BYTES = 4 * 1024 * 1024
"""Uncompressed bytes. A part ends after the row that exceeds this size, so memory holds one part and one row."""

_LEVEL = 3
"""Level 6 makes parts 5 % smaller and takes twice as long."""


def snapshot_folder(workspace: WorkspaceRef, snapshot_id: UUID) -> str:
    """The folder of a snapshot. Each attempt has its own folder in it, so that a stale writer overwrites nothing."""
    return f"{snapshots_of(workspace)}/{snapshot_id}"


@dataclass(frozen=True, slots=True)
class ArchiveLocation:
    """The location of an archive. Keys of its files are relative to `folder` (empty: the store's root)."""

    blobs: BlobStore
    folder: str

    def key(self, name: str) -> str:
        """The key of a file of the archive."""
        return f"{self.folder}/{name}" if self.folder else name

    async def manifest(self) -> Manifest:
        """Read the manifest. Errors: `NotFound` code SNAPSHOT_NOT_FOUND, `Permanent` (damaged, too new)."""
        try:
            content = await self.blobs.read(self.key(MANIFEST))
        except NotFound as error:
            raise NotFound(
                f"There is no snapshot at {self.folder or 'that place'}: it has no {MANIFEST}.",
                code="SNAPSHOT_NOT_FOUND",
            ) from error
        return decode_manifest(content)

    async def lines(self, part: ArchivePart) -> list[str]:
        """The rows of a part. Errors: `Permanent` code SNAPSHOT_DAMAGED."""
        content = await self.read(part.key, part.sha256)
        lines = await asyncio.to_thread(_decompress, content, part.raw_size)
        if len(lines) != part.rows:
            raise damage_error(f"{part.key} has {len(lines)} rows instead of {part.rows}")
        return lines

    async def read(self, key: str, sha256: str) -> bytes:
        """A file, verified by its hash. Errors: `Permanent` code SNAPSHOT_DAMAGED."""
        try:
            content = await self.blobs.read(self.key(key))
        except NotFound as error:
            raise damage_error(f"{key} is missing") from error
        digest = await asyncio.to_thread(lambda: hashlib.sha256(content).hexdigest())
        if digest != sha256:
            raise damage_error(f"{key} is not what was written")
        return content


async def archives_in(blobs: BlobStore, prefix: str) -> list[ArchiveLocation]:
    """Every archive under a prefix, whether or not the database lists it."""
    keys = [key for key in await blobs.keys(prefix) if key.rsplit("/", 1)[-1] == MANIFEST]
    return [ArchiveLocation(blobs, key.removesuffix(MANIFEST).rstrip("/")) for key in keys]


async def only_archive(blobs: BlobStore, snapshot_id: UUID | None) -> ArchiveLocation:
    """The archive of a snapshot, or the only archive, in a store that contains nothing else.

    Errors: `NotFound` code SNAPSHOT_NOT_FOUND, `InvalidInput` code SNAPSHOT_AMBIGUOUS, `Permanent` (damaged, too new).
    """
    found = {place.folder: (await place.manifest()).snapshot_id for place in await archives_in(blobs, "")}
    wanted = [folder for folder, one in found.items() if snapshot_id in (None, one)]
    if not wanted:
        raise NotFound("There is no such snapshot in that directory.", code="SNAPSHOT_NOT_FOUND")
    if snapshot_id is None and len(set(found.values())) > 1:
        raise InvalidInput("That directory holds several snapshots: say which.", code="SNAPSHOT_AMBIGUOUS")
    return ArchiveLocation(blobs, max(wanted))


class PartWriter:
    """Writes the parts of an archive in sequence. Before each part it awaits `before`, which may refuse by raising."""

    def __init__(self, place: ArchiveLocation, before: Callable[[], Awaitable[None]]) -> None:
        self._place = place
        self._before = before
        self.parts: list[ArchivePart] = []

    async def table(self, table: str, batches: AsyncIterator[list[str]]) -> None:
        """Write all rows of a table."""
        held: list[str] = []
        size = 0
        async for batch in batches:
            for line in batch:
                held.append(line)
                size += len(line)
                if size >= PART_BYTES:
                    await self._put(table, held)
                    held, size = [], 0
        if held:
            await self._put(table, held)

    async def _put(self, table: str, lines: list[str]) -> None:
        raw, packed, digest = await asyncio.to_thread(_compress, lines)
        key = f"{len(self.parts) + 1:05d}-{table}.jsonl.gz"
        await self._before()
        await self._place.blobs.put(self._place.key(key), packed)
        self.parts.append(ArchivePart(key, table, len(lines), len(packed), raw, digest))


def _compress(lines: list[str]) -> tuple[int, bytes, str]:
    raw = "".join(f"{line}\n" for line in lines).encode()
    packed = gzip.compress(raw, _LEVEL, mtime=0)
    return len(raw), packed, hashlib.sha256(packed).hexdigest()


def _decompress(content: bytes, raw_size: int) -> list[str]:
    """The lines of a part. Never unpacks more bytes than the manifest states."""
    try:
        unpacker = zlib.decompressobj(wbits=31)
        raw = unpacker.decompress(content, raw_size + 1)
        if len(raw) != raw_size or not unpacker.eof:
            raise damage_error("a part unpacks to another length")
        return raw.decode().split("\n")[:-1]
    except (zlib.error, UnicodeDecodeError) as error:
        raise damage_error("a part cannot be unpacked") from error
