"""Takes a backup of the whole system while it runs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager

from agentic_rag import __version__
from agentic_rag.documents.ports import BlobStore
from agentic_rag.kernel.errors import DependencyUnavailable, InvalidInput, Permanent
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.operations.backups.backup import (
    BACKUP_MANIFEST,
    ERASURES_LIST,
    ORIGINALS_FOLDER,
    ORIGINALS_LIST,
    TABLES_FOLDER,
    BackupManifest,
    DatabaseDump,
    OriginalFile,
    TableFile,
    TakenAway,
    TellProgress,
    encode_backup,
    encode_line,
    require_known_schema,
)
from agentic_rag.operations.backups.streams import read_stored, write_file

OWN_PLACES = (TABLES_FOLDER, ORIGINALS_FOLDER, ORIGINALS_LIST, ERASURES_LIST)
"""What a backup that was interrupted leaves."""


class CreateBackup:
    """The rows are those of one instant; every original that they name is copied after them, so that one which an
    erasure took meanwhile is missing. The erasures are listed last: a restore applies those that came meanwhile.
    """

    def __init__(
        self,
        dump: Callable[[], AbstractAsyncContextManager[DatabaseDump]],
        erasures: Callable[[], AsyncIterator[TakenAway]],
        blobs: BlobStore,
        head: str,
        telemetry: Telemetry,
    ) -> None:
        self._dump = dump
        self._erasures = erasures
        self._blobs = blobs
        self._head = head
        self._telemetry = telemetry

    async def run(self, target: BlobStore, tell: TellProgress) -> BackupManifest:
        """Write a backup into a store that holds nothing else. A failure removes what was written. Where the command is
        killed, or a server does not answer any more, originals stay: the next backup to the same place compares them
        with their hashes and copies those alone that are missing or differ.

        Errors: `InvalidInput` code BACKUP_TARGET_NOT_EMPTY, `Misconfigured` codes BACKUP_RIGHTS_MISSING,
        SCHEMA_TOO_NEW and SCHEMA_TOO_OLD, `DependencyUnavailable` (code STORAGE_FULL for a full disk).
        """
        held = await self._require_room(target)
        try:
            manifest = await self._write(target, held, tell)
        except BaseException as error:
            if not _is_outage(error):
                await _remove_all(target)
            raise
        self._telemetry.event("rag_backup_taken", rows=manifest.rows, originals=manifest.original_count)
        return manifest

    async def _require_room(self, target: BlobStore) -> set[str]:
        """The originals that a backup left which broke off."""
        keys = await target.keys("")
        if any(not key.startswith(OWN_PLACES) for key in keys):
            raise InvalidInput(
                "The place of the backup holds something already: name a new or empty directory.",
                code="BACKUP_TARGET_NOT_EMPTY",
                path=("target",),
            )
        held = {key for key in keys if key.startswith(f"{ORIGINALS_FOLDER}/")}
        for key in set(keys) - held:
            await target.delete(key)
        return held

    async def _write(self, target: BlobStore, held: set[str], tell: TellProgress) -> BackupManifest:
        originals = _Originals(self._blobs, target, held)
        async with self._dump() as dump:
            require_known_schema("database", dump.schema, self._head)
            total, done = sum(one.rows for one in dump.tables), 0
            tables: list[TableFile] = []
            for one in dump.tables:
                tell(done, total, one.shape.name)
                key = f"{TABLES_FOLDER}/{one.shape.name}.copy.gz"
                file = await write_file(target, key, dump.rows_of(one.shape))
                tables.append(TableFile(one.shape, one.rows, file))
                done += one.rows
            listed = await write_file(target, ORIGINALS_LIST, originals.copy(dump.originals(), tell, done, total))
        await originals.remove_others()
        erasures = await write_file(target, ERASURES_LIST, erasure_lines(self._erasures()))
        manifest = BackupManifest(
            product=__version__,
            schema=dump.schema,
            server=dump.server,
            taken_at=dump.taken_at,
            tables=tuple(tables),
            originals=listed,
            original_count=originals.count,
            original_bytes=originals.size,
            missing_originals=originals.missing,
            erasures=erasures,
        )
        await target.put(BACKUP_MANIFEST, encode_backup(manifest))
        return manifest


async def erasure_lines(records: AsyncIterator[TakenAway]) -> AsyncIterator[bytes]:
    """The list of erasures."""
    async for record in records:
        yield encode_line(record)


class _Originals:
    """Copies originals, each before its line in the list. `held` are the keys of copies that are there."""

    def __init__(self, blobs: BlobStore, target: BlobStore, held: set[str]) -> None:
        self._blobs = blobs
        self._target = target
        self._held = held
        self.count = 0
        self.size = 0
        self.missing = 0

    async def copy(
        self, wanted: AsyncIterator[OriginalFile], tell: TellProgress, done: int, total: int
    ) -> AsyncIterator[bytes]:
        async for one in wanted:
            self.count += 1
            tell(done, total, f"original {self.count}")
            yield encode_line(await self._copy(one))

    async def remove_others(self) -> None:
        """Remove the copies that this backup does not name: their documents are gone."""
        for key in self._held:
            await self._target.delete(key)

    async def _copy(self, one: OriginalFile) -> OriginalFile:
        if one.stored_key in self._held:
            self._held.discard(one.stored_key)
            if await self._is_whole(one):
                self.size += one.size
                return one
            await self._target.delete(one.stored_key)
        try:
            await self._target.put_stream(one.stored_key, read_stored(self._blobs, one.key, one.size, one.sha256))
        except Permanent:
            self.missing += 1
            return OriginalFile(one.key, one.size, one.sha256, is_missing=True)
        self.size += one.size
        return one

    async def _is_whole(self, one: OriginalFile) -> bool:
        try:
            async for _ in read_stored(self._target, one.stored_key, one.size, one.sha256):
                pass
        except Permanent:
            return False
        return True


def _is_outage(error: BaseException) -> bool:
    """A full disk is none: what was written has to make room."""
    return isinstance(error, DependencyUnavailable) and error.code != "STORAGE_FULL"


async def _remove_all(target: BlobStore) -> None:
    for key in await target.keys(""):
        await target.delete(key)
