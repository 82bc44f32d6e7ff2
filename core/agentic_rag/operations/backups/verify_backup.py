"""Reads a backup from end to end: every file is there and is what was written."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

from agentic_rag.documents.ports import BlobStore
from agentic_rag.kernel.errors import NotFound, Permanent
from agentic_rag.operations.backups.backup import (
    BACKUP_MANIFEST,
    BackupFile,
    BackupManifest,
    OriginalFile,
    TakenAway,
    TellProgress,
    decode_backup,
    decode_erasures,
    decode_originals,
)
from agentic_rag.operations.backups.streams import read_file, read_stored


@dataclass(frozen=True, slots=True)
class BackupCheck:
    """What a backup holds, and what is wrong with it."""

    manifest: BackupManifest
    originals: tuple[OriginalFile, ...]
    problems: tuple[str, ...]


async def read_manifest(source: BlobStore, head: str) -> BackupManifest:
    """Errors: `NotFound` code BACKUP_NOT_FOUND, those of `decode_backup`."""
    try:
        content = await source.read(BACKUP_MANIFEST)
    except NotFound as error:
        raise NotFound(
            f"There is no backup at that place: it has no {BACKUP_MANIFEST}. A backup that was interrupted has none.",
            code="BACKUP_NOT_FOUND",
        ) from error
    return decode_backup(content, head)


async def verify_backup(source: BlobStore, head: str, tell: TellProgress) -> BackupCheck:
    """Read and hash everything. Errors: those of `read_manifest`, `DependencyUnavailable`."""
    manifest = await read_manifest(source, head)
    total = len(manifest.tables) + manifest.original_count
    problems: list[str] = []
    for done, one in enumerate(manifest.tables):
        tell(done, total, one.table.name)
        await _look(read_file(source, one.file), problems)
    originals: list[OriginalFile] = []
    try:
        originals = await list_originals(source, manifest)
    except Permanent as error:
        problems.append(error.message)
    for done, original in enumerate(originals, len(manifest.tables)):
        tell(done, total, original.key)
        if not original.is_missing:
            stored = read_stored(source, original.stored_key, original.size, original.sha256)
            await _look(stored, problems)
    await _look(read_file(source, manifest.erasures), problems)
    return BackupCheck(manifest, tuple(originals), tuple(problems))


async def list_originals(source: BlobStore, manifest: BackupManifest) -> list[OriginalFile]:
    """The originals of a backup. Errors: `Permanent` code BACKUP_DAMAGED."""
    return decode_originals(await _whole(source, manifest.originals))


async def list_erasures(source: BlobStore, manifest: BackupManifest) -> list[TakenAway]:
    """The erasures that the system knew when the backup ended. Errors: `Permanent`, `InvalidInput`."""
    return decode_erasures(await _whole(source, manifest.erasures), manifest.erasures.key)


async def _whole(source: BlobStore, file: BackupFile) -> bytes:
    return b"".join([piece async for piece in read_file(source, file)])


async def _look(pieces: AsyncIterator[bytes], problems: list[str]) -> None:
    try:
        async for _ in pieces:
            pass
    except Permanent as error:
        problems.append(error.message)
