"""A backup of a whole system: its manifest, the names of its files, and the erasures that a restore applies again."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec

from agentic_rag.kernel.errors import InvalidInput, Misconfigured, Permanent
from agentic_rag.operations.backups.rights import Listed, ListedOrganisation, ListedRights, ListedWorkspace
from agentic_rag.operations.snapshots.snapshot import TableShape

BACKUP_FORMAT = 1
"""Increased when a reader of the old format would misread the new one."""

BACKUP_MANIFEST = "manifest.json"
ORIGINALS_LIST = "originals.jsonl.gz"
ERASURES_LIST = "erasures.jsonl"
TABLES_FOLDER = "tables"
ORIGINALS_FOLDER = "originals"

TellProgress = Callable[[int, int, str], None]
"""Hears what is done, of how much, and what it was. The unit is a row or a file."""


@dataclass(frozen=True, slots=True)
class BackupFile:
    """A file of a backup. `size` and the hash are of the file as it is stored, `raw_size` is of its content."""

    key: str
    size: int
    raw_size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class TableFile:
    """The rows of a table in Postgres' binary COPY format, gzip."""

    table: TableShape
    rows: int
    file: BackupFile


@dataclass(frozen=True, slots=True)
class OriginalFile:
    """An original that the database names. `is_missing`: its blob was gone, or did not match its hash."""

    key: str
    size: int
    sha256: str
    is_missing: bool = False

    @property
    def stored_key(self) -> str:
        """Where the backup keeps it."""
        return f"{ORIGINALS_FOLDER}/{self.key}"


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupManifest:
    """What a backup holds. It is written last: a folder without a manifest is no backup."""

    format: int = BACKUP_FORMAT
    product: str
    schema: str
    """The database's schema revision."""
    server: str
    """The version of Postgres."""
    taken_at: str
    """The instant of the database that the rows are of."""
    tables: tuple[TableFile, ...]
    originals: BackupFile
    """The list of originals."""
    original_count: int
    original_bytes: int
    missing_originals: int
    erasures: BackupFile
    """Everything that was erased or deleted when the backup ended, and the rights at that instant."""

    @property
    def taken(self) -> datetime:
        """`taken_at` as an instant."""
        return datetime.fromisoformat(self.taken_at)

    @property
    def rows(self) -> int:
        """Rows of all tables."""
        return sum(one.rows for one in self.tables)

    @property
    def size(self) -> int:
        """Bytes of all files, without the manifest."""
        lists = self.originals.size + self.erasures.size
        return sum(one.file.size for one in self.tables) + self.original_bytes + lists

    def counts_of(self, *tables: str) -> dict[str, int]:
        """Rows of these tables."""
        return {one.table.name: one.rows for one in self.tables if one.table.name in tables}


@dataclass(frozen=True, slots=True)
class ErasureRecord:
    """An erasure that happened: of a document, of a workspace (no document), or of an organisation (neither)."""

    org_id: UUID
    workspace_id: UUID | None
    document_id: UUID | None
    version: int
    """The corpus version without the document; 0 for workspaces and organisations."""
    erased_at: str


@dataclass(frozen=True, slots=True)
class RevokedKey:
    """An API key that was revoked. The list of erasures names it: a restore of an earlier state revokes it again."""

    org_id: UUID
    key_id: UUID
    revoked_at: str


@dataclass(frozen=True, slots=True)
class DeletedConversation:
    """A thread, or a run, that its subject deleted."""

    org_id: UUID
    workspace_id: UUID
    thread_id: UUID | None
    run_id: UUID | None
    subject: str
    deleted_at: str


TakenAway = ErasureRecord | RevokedKey | DeletedConversation | Listed
"""What must not come back with a backup of before, and the rights that it must not exceed."""


@dataclass(frozen=True, slots=True)
class DumpTable:
    """A table to dump and the number of its rows."""

    shape: TableShape
    rows: int


@dataclass(frozen=True, slots=True)
class DatabaseDump:
    """The database at one instant. Its calls are made one after the other."""

    schema: str
    server: str
    taken_at: str
    tables: tuple[DumpTable, ...]
    rows_of: Callable[[TableShape], AsyncIterator[bytes]]
    """The binary COPY stream of a table."""
    originals: Callable[[], AsyncIterator[OriginalFile]]
    """Every original that a row names, by key."""


@dataclass(frozen=True, slots=True)
class DatabaseLoad:
    """An empty database inside the transaction that fills it."""

    write: Callable[[TableShape, AsyncIterator[bytes]], Awaitable[int]]
    """Takes a binary COPY stream of a table; the number of rows."""


def encode_backup(manifest: BackupManifest) -> bytes:
    """A manifest as JSON for people and programs."""
    return msgspec.json.format(msgspec.json.encode(manifest), indent=1)


@dataclass(frozen=True, slots=True)
class _Maker:
    """The members of a manifest that every format has."""

    format: int
    product: str = ""


def decode_backup(content: bytes, head: str) -> BackupManifest:
    """The inverse of `encode_backup`. `head` is the newest schema that this version knows. Errors: `Permanent` codes
    BACKUP_DAMAGED and BACKUP_TOO_NEW, `Misconfigured` code SCHEMA_TOO_NEW.
    """
    try:
        maker = msgspec.json.decode(content, type=_Maker)
        if maker.format > BACKUP_FORMAT:
            raise Permanent(
                f"The backup has format {maker.format}, made by agentic-rag {maker.product}; this version reads up to "
                f"{BACKUP_FORMAT}. Restore it with that version or a newer one.",
                code="BACKUP_TOO_NEW",
            )
        manifest = msgspec.json.decode(content, type=BackupManifest)
    except ValueError as error:
        raise damaged_backup("its manifest cannot be read") from error
    require_known_schema("backup", manifest.schema, head)
    return manifest


def require_known_schema(what: str, schema: str, head: str) -> None:
    """Errors: `Misconfigured` code SCHEMA_TOO_NEW."""
    if schema > head:
        raise Misconfigured(
            f"The {what} is at schema {schema}, this version knows {head}: use the version that made it, or a newer "
            "one; a migration is not undone.",
            code="SCHEMA_TOO_NEW",
        )


def damaged_backup(what: str) -> Permanent:
    """The error for a damaged backup."""
    return Permanent(
        f"The backup is damaged: {what}. Use another backup, or another copy of this one.", code="BACKUP_DAMAGED"
    )


def encode_line(value: object) -> bytes:
    """A line of a list."""
    return msgspec.json.encode(value) + b"\n"


def decode_originals(lines: bytes) -> list[OriginalFile]:
    """Lines of the list of originals. Errors: `Permanent` code BACKUP_DAMAGED."""
    return _decode_lines(lines, (OriginalFile,), lambda: damaged_backup(f"{ORIGINALS_LIST} cannot be read"))


def decode_erasures(lines: bytes, place: str) -> list[TakenAway]:
    """The records of a list of erasures. Errors: `InvalidInput` code ERASURES_UNREADABLE."""

    def unreadable() -> InvalidInput:
        return InvalidInput(
            f"{place} is no list of erasures, or a newer version wrote it: take a file that `rag backup erasures` "
            "wrote, or a backup; with one of a newer version, that version.",
            code="ERASURES_UNREADABLE",
            path=("erasures",),
        )

    kinds = (ListedRights, RevokedKey, ErasureRecord, DeletedConversation, ListedWorkspace, ListedOrganisation)
    return _decode_lines(lines, kinds, unreadable)


def _decode_lines(lines: bytes, kinds: Sequence[type[Any]], problem: Callable[[], Exception]) -> list[Any]:
    """Each line as the first of the kinds whose members it has. Errors: `problem`."""
    found: list[Any] = []
    for line in filter(None, lines.splitlines()):
        for kind in kinds:
            with suppress(ValueError):
                found.append(msgspec.json.decode(line, type=kind))
                break
        else:
            raise problem()
    return found
