"""Files of backups, what is refused, and what a failure leaves."""

from __future__ import annotations

import contextlib
import os
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest
from tests.memory_store.telemetry import RecordingTelemetry

from agentic_rag.bootstrap import open_directory
from agentic_rag.kernel.errors import DependencyUnavailable, InvalidInput, Misconfigured, NotFound, Permanent
from agentic_rag.operations.backups.backup import (
    BACKUP_MANIFEST,
    ORIGINALS_LIST,
    BackupManifest,
    DatabaseDump,
    DumpTable,
    ErasureRecord,
    OriginalFile,
    decode_backup,
    decode_erasures,
    encode_backup,
    encode_line,
)
from agentic_rag.operations.backups.create import CreateBackup
from agentic_rag.operations.backups.verify_backup import list_erasures, verify_backup
from agentic_rag.operations.snapshots.snapshot import TableShape

HEAD = "0035"
ROWS = os.urandom(3_000_000)
"""More than one block, and hard to compress."""
CONTENT = b"an original"


def silent(*_: object) -> None:
    """Nobody watches."""


class System:
    """A database of one table, and a store of originals."""

    def __init__(self, folder: Path, schema: str = HEAD) -> None:
        self.blobs = open_directory(folder / "blobs")
        self.target = open_directory(folder / "backup")
        self.schema = schema
        self.originals: list[OriginalFile] = []
        self.record = ErasureRecord(uuid4(), uuid4(), uuid4(), 3, "2026-11-27T18:00:00+00:00")

    @contextlib.asynccontextmanager
    async def dump(self) -> AsyncIterator[DatabaseDump]:
        shape = TableShape("rag_chunks", ("a", "b"))
        yield DatabaseDump(self.schema, "18.1", "2026", (DumpTable(shape, 7),), self._rows, self._originals)

    async def _rows(self, _: TableShape) -> AsyncIterator[bytes]:
        for start in range(0, len(ROWS), 60_000):
            yield ROWS[start : start + 60_000]

    async def _originals(self) -> AsyncIterator[OriginalFile]:
        for one in self.originals:
            yield one

    async def _erasures(self) -> AsyncIterator[ErasureRecord]:
        yield self.record

    async def add_original(self, name: str = "one") -> OriginalFile:
        async def pieces() -> AsyncIterator[bytes]:
            yield CONTENT

        stored = await self.blobs.put_stream(f"documents/o/w/{name}", pieces())
        one = OriginalFile(f"documents/o/w/{name}", stored.size, stored.sha256.hex())
        self.originals.append(one)
        return one

    async def back_up(self) -> BackupManifest:
        create = CreateBackup(self.dump, self._erasures, self.blobs, HEAD, RecordingTelemetry())
        return await create.run(self.target, silent)


@pytest.fixture
def system(tmp_path: Path) -> System:
    return System(tmp_path)


@pytest.mark.tells("rag_backup_taken")
async def test_a_backup_holds_what_it_was_given(system: System) -> None:
    await system.add_original()
    manifest = await system.back_up()
    checked = await verify_backup(system.target, HEAD, silent)

    assert checked.problems == ()
    assert checked.manifest == manifest
    assert (manifest.rows, manifest.original_count, manifest.missing_originals) == (7, 1, 0)
    assert await list_erasures(system.target, manifest) == [system.record]


async def test_originals_that_are_gone_or_changed_are_missing(system: System) -> None:
    one = await system.add_original()
    system.originals = [replace(one, sha256="0" * 64), replace(one, key="documents/o/w/gone")]
    manifest = await system.back_up()
    checked = await verify_backup(system.target, HEAD, silent)

    assert (manifest.original_count, manifest.missing_originals) == (2, 2)
    assert [original.is_missing for original in checked.originals] == [True, True]
    assert checked.problems == ()


@pytest.mark.parametrize("name", ["tables/rag_chunks.copy.gz", "originals/documents/o/w/one", "originals.jsonl.gz"])
async def test_damage_is_found(system: System, tmp_path: Path, name: str) -> None:
    await system.add_original()
    await system.back_up()
    file = tmp_path / "backup" / name
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)

    changed = (await verify_backup(system.target, HEAD, silent)).problems
    file.unlink()
    missing = (await verify_backup(system.target, HEAD, silent)).problems

    assert len(changed) == 1
    assert f"{name} is missing" in missing[0]


async def test_a_manifest_is_refused_where_it_cannot_be_trusted(system: System) -> None:
    manifest = await system.back_up()

    with pytest.raises(Permanent) as damaged:
        decode_backup(encode_backup(manifest)[:-10], HEAD)
    with pytest.raises(Permanent) as too_new:
        decode_backup(encode_backup(replace(manifest, format=2)), HEAD)
    with pytest.raises(Misconfigured) as schema:
        decode_backup(encode_backup(replace(manifest, schema="0099")), HEAD)
    with pytest.raises(NotFound) as absent:
        await verify_backup(system.blobs, HEAD, silent)

    codes = [one.value.code for one in (damaged, too_new, schema, absent)]
    assert codes == ["BACKUP_DAMAGED", "BACKUP_TOO_NEW", "SCHEMA_TOO_NEW", "BACKUP_NOT_FOUND"]


async def test_a_newer_database_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured) as refused:
        await System(tmp_path, schema="0099").back_up()

    assert refused.value.code == "SCHEMA_TOO_NEW"


async def test_a_full_disk_leaves_nothing(system: System, monkeypatch: pytest.MonkeyPatch) -> None:
    await system.add_original()
    write = type(system.target).put_stream

    async def full(store: object, key: str, pieces: AsyncIterator[bytes]) -> object:
        if key.startswith("originals/"):
            raise DependencyUnavailable("The disk is full.", dependency="blobs", code="STORAGE_FULL")
        return await write(store, key, pieces)  # type: ignore[arg-type]

    monkeypatch.setattr(type(system.target), "put_stream", full)
    with pytest.raises(DependencyUnavailable) as refused:
        await system.back_up()

    assert refused.value.code == "STORAGE_FULL"
    assert await system.target.keys("") == []


@pytest.mark.slow
async def test_a_backup_that_broke_off_goes_on_with_the_originals_that_are_whole(
    system: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ["whole", "damaged", "gone-since"]
    first, second, gone = [await system.add_original(name) for name in names]
    write = type(system.target).put_stream
    written: list[str] = []

    async def breaks_off(store: object, key: str, pieces: AsyncIterator[bytes]) -> object:
        written.append(key)
        if key == ORIGINALS_LIST:
            async for _ in pieces:
                """Each original is copied before its line."""
            raise DependencyUnavailable("The bucket does not answer.", dependency="blobs")
        return await write(store, key, pieces)  # type: ignore[arg-type]

    monkeypatch.setattr(type(system.target), "put_stream", breaks_off)
    with pytest.raises(DependencyUnavailable):
        await system.back_up()
    await system.target.put(second.stored_key, b"x" * len(CONTENT))
    system.originals.remove(gone)
    written.clear()

    def goes_on(store: object, key: str, pieces: AsyncIterator[bytes]) -> object:
        written.append(key)
        return write(store, key, pieces)  # type: ignore[arg-type]

    monkeypatch.setattr(type(system.target), "put_stream", goes_on)
    manifest = await system.back_up()
    checked = await verify_backup(system.target, HEAD, silent)

    assert [key for key in written if key.startswith("originals/")] == [second.stored_key]
    assert (checked.problems, manifest.original_count, manifest.missing_originals) == ((), 2, 0)
    assert manifest.original_bytes == 2 * len(CONTENT)
    copies = await system.target.keys("originals")
    assert copies == sorted([first.stored_key, second.stored_key])


async def test_only_a_place_without_anything_else_is_written_to(system: System) -> None:
    await system.target.put("tables/rag_chunks.copy.gz", b"of a backup that was killed")
    manifest = await system.back_up()
    with pytest.raises(InvalidInput) as refused:
        await system.back_up()

    assert manifest.rows == 7
    assert refused.value.code == "BACKUP_TARGET_NOT_EMPTY"
    assert BACKUP_MANIFEST in await system.target.keys("")


def test_a_list_of_erasures_is_one_record_a_line() -> None:
    record = ErasureRecord(uuid4(), None, None, 0, "2026")

    assert decode_erasures(encode_line(record) * 2, "here") == [record, record]
    with pytest.raises(InvalidInput, match="no list of erasures"):
        decode_erasures(b"{}\n", "here")
