"""Snapshots of a workspace: their records, and the manifest that makes an archive self-describing."""

from __future__ import annotations

import enum
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from types import MappingProxyType
from uuid import UUID

import msgspec

from agentic_rag.kernel.errors import Permanent
from agentic_rag.tenancy.principals import WorkspaceRef

ARCHIVE_FORMAT = 1
"""Increased when a reader of the old format would misread the new one."""

ORIGINALS = "rag_originals"
"""The table whose rows refer to files; the files are next to the parts (see `original_name`)."""

MANIFEST = "manifest.json"


class RestoredRights(enum.Enum):
    """Who has what in a copy beside the workspace."""

    NARROWER = "narrower"
    """Who could read and write a document then and may now, and the owner of now."""
    THEN = "then"
    """As in the snapshot."""


class SnapshotState(enum.Enum):
    """The lifecycle states of a snapshot."""

    BUILDING = "BUILDING"
    READY = "READY"
    FAILED = "FAILED"
    EXPIRED = "EXPIRED"
    """Deleted, or past its retention; its files are gone or about to go."""


SNAPSHOT_TRANSITIONS: Mapping[SnapshotState, frozenset[SnapshotState]] = MappingProxyType(
    {
        SnapshotState.BUILDING: frozenset({SnapshotState.READY, SnapshotState.FAILED}),
        SnapshotState.READY: frozenset({SnapshotState.EXPIRED}),
        # Replaying the dead letter of its job builds it again.
        SnapshotState.FAILED: frozenset({SnapshotState.BUILDING, SnapshotState.EXPIRED}),
        SnapshotState.EXPIRED: frozenset(),
    }
)


class SnapshotReason(enum.Enum):
    """Why a snapshot was taken. Only scheduled ones expire automatically."""

    MANUAL = "manual"
    SCHEDULED = "scheduled"


@dataclass(frozen=True, slots=True)
class SnapshotRecord:
    """A snapshot's row in the database. `corpus_version` and the fields filled with it are None while it is built."""

    workspace: WorkspaceRef
    snapshot_id: UUID
    state: SnapshotState
    reason: SnapshotReason
    with_originals: bool
    created_at: datetime
    corpus_version: int | None = None
    manifest_key: str | None = None
    size: int = 0
    """Bytes in the blob store."""
    counts: Mapping[str, int] = field(default_factory=dict[str, int])
    """Rows by table."""
    error_code: str | None = None
    is_stored: bool = True
    """Whether the blob store may still contain files of it."""
    finished_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class RestoreRecord:
    """The record that a workspace was restored from a snapshot."""

    workspace: WorkspaceRef
    snapshot_id: UUID
    source_workspace_id: UUID
    corpus_version: int


@dataclass(frozen=True, slots=True)
class TableShape:
    """A table of an archive and the columns of its lines."""

    name: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ArchivePart:
    """A file of an archive: JSON lines, gzip. `key` is relative to the manifest's folder; the hash is of the compressed
    file.
    """

    key: str
    table: str
    rows: int
    size: int
    raw_size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """The contents of an archive. It is written last: a folder without a manifest is no snapshot."""

    snapshot_id: UUID
    org_id: UUID
    workspace_id: UUID
    workspace_name: str
    corpus_version: int
    schema: str
    """The database's schema revision when the snapshot was taken."""
    product: str
    created_at: str
    spaces: tuple[str, ...]
    """Names of the embedding spaces whose vectors it contains."""
    with_originals: bool
    missing_originals: int
    """Originals that could not be copied because they were gone or did not match their hash."""
    tables: tuple[TableShape, ...]
    parts: tuple[ArchivePart, ...]
    format: int = ARCHIVE_FORMAT

    @property
    def workspace(self) -> WorkspaceRef:
        """The workspace the snapshot was taken of."""
        return WorkspaceRef(self.org_id, self.workspace_id)

    @property
    def counts(self) -> dict[str, int]:
        """Rows by table."""
        found = dict.fromkeys((table.name for table in self.tables), 0)
        for part in self.parts:
            found[part.table] = found.get(part.table, 0) + part.rows
        return found

    def parts_of(self, table: str) -> tuple[ArchivePart, ...]:
        """The table's parts, in order."""
        return tuple(part for part in self.parts if part.table == table)


@dataclass(frozen=True, slots=True)
class _Maker:
    """The members of a manifest that every format has."""

    format: int
    product: str | None = None


def encode_manifest(manifest: Manifest) -> bytes:
    """A manifest as JSON for people and programs."""
    return json.dumps(asdict(manifest), default=str, indent=1, sort_keys=True).encode()


def decode_manifest(content: bytes) -> Manifest:
    """The inverse of `encode_manifest`. Errors: `Permanent` codes SNAPSHOT_DAMAGED, SNAPSHOT_TOO_NEW."""
    try:
        maker = msgspec.json.decode(content, type=_Maker)
        if maker.format > ARCHIVE_FORMAT:
            raise Permanent(
                f"The snapshot has format {maker.format}, made by agentic-rag {maker.product}; this version reads up "
                f"to {ARCHIVE_FORMAT}. Restore it with that version or a newer one.",
                code="SNAPSHOT_TOO_NEW",
            )
        return msgspec.json.decode(content, type=Manifest)
    except ValueError as error:
        raise damage_error("its manifest cannot be read") from error


def original_name(document_id: str, content_hash: str) -> str:
    """The key of an original's bytes in its archive; originals are named by their SHA-256."""
    return f"originals/{document_id}/{content_hash}"


def hash_digits(stored: str) -> str:
    r"""The hex digits of a hash that Postgres writes in JSON as `\x…`."""
    return stored.removeprefix("\\x")


def damage_error(what: str) -> Permanent:
    """The error for a damaged archive."""
    return Permanent(
        f"The snapshot is damaged: {what}. Nothing was written; restore another snapshot, or another copy of this one.",
        code="SNAPSHOT_DAMAGED",
    )
