"""Maps the ids of an archive's rows to another workspace: the ids that ingesting the same sources there would give."""

from __future__ import annotations

from typing import Any, cast
from uuid import UUID

from agentic_rag.documents.document import chunk_id_for, document_id_for
from agentic_rag.kernel.ids import derive_uuid
from agentic_rag.retrieval.graph.entities import entity_id_for
from agentic_rag.tenancy.principals import WorkspaceRef

_OCCURRENCES = 4096
"""The occurrence number of a repeated passage is found by trial up to this limit; beyond it the chunk gets a
derived id.
"""

Row = dict[str, Any]
"""One line of an archive."""


class ArchiveIdMap:
    """Rewrites rows in the order of an archive: documents before rows that belong to them, entities before mentions.

    Stores one pair of ids per document and entity; everything else is computed.
    """

    def __init__(self, target: WorkspaceRef, key: bytes) -> None:
        """`key`: the secret under which the target's documents get their ids."""
        self._target = target
        self._key = key
        self._documents: dict[UUID, UUID] = {}
        self._entities: dict[UUID, UUID] = {}

    def document(self, document_id: UUID) -> UUID:
        """The new id of a document of the archive, available once its row was rewritten."""
        return self._documents.get(document_id) or self._other(document_id)

    def revision(self, revision_id: UUID) -> UUID:
        """The new id of a revision of the archive."""
        return self._other(revision_id)

    def rewrite(self, table: str, row: Row) -> Row | None:
        """The row for the target workspace; None for a row that only concerns the source."""
        match table:
            case "rag_documents":
                return self._document(row)
            case "rag_revisions":
                return row | self._ids(row, "revision_id", "document_id")
            case "rag_chunks":
                return row | self._ids(row, "revision_id", "document_id") | {"chunk_id": self._chunk(row)}
            case "rag_originals":
                return row | {"document_id": str(self.document(UUID(row["document_id"])))}
            case "rag_entities":
                return self._entity(row)
            case "rag_mentions":
                related = cast(list[str], row["related"])
                return row | {
                    "entity_id": str(self._entity_id(UUID(row["entity_id"]))),
                    "document_id": str(self.document(UUID(row["document_id"]))),
                    "related": [str(self._entity_id(UUID(one))) for one in related],
                }
            case "rag_tombstones" | "rag_past_erasures":
                # An erased id cannot occur in the target. A tombstone keeps no path, so its id cannot be mapped.
                return None
            case _:
                return row

    def _document(self, row: Row) -> Row:
        document_id = document_id_for(self._target, row["source_path"], key=self._key)
        self._documents[UUID(row["document_id"])] = document_id
        revision = row["revision_id"]
        return row | {
            "document_id": str(document_id),
            "revision_id": None if revision is None else str(self.revision(UUID(revision))),
        }

    def _entity(self, row: Row) -> Row:
        entity_id = entity_id_for(self._target.workspace_id, row["key"])
        self._entities[UUID(row["entity_id"])] = entity_id
        return row | {"entity_id": str(entity_id), "source_id": str(self.document(UUID(row["source_id"])))}

    def _entity_id(self, entity_id: UUID) -> UUID:
        return self._entities.get(entity_id) or self._other(entity_id)

    def _ids(self, row: Row, revision: str, document: str) -> Row:
        return {
            revision: str(self._other(UUID(row[revision]))),
            document: str(self.document(UUID(row[document]))),
        }

    def _chunk(self, row: Row) -> str:
        document_id, chunk_id = UUID(row["document_id"]), UUID(row["chunk_id"])
        text_hash = bytes.fromhex(cast(str, row["content_hash"]).removeprefix("\\x"))
        for occurrence in range(_OCCURRENCES):
            if chunk_id_for(document_id, text_hash, occurrence) == chunk_id:
                return str(chunk_id_for(self.document(document_id), text_hash, occurrence))
        return str(self._other(chunk_id))

    def _other(self, one: UUID) -> UUID:
        return derive_uuid(b"restored", self._target.workspace_id.bytes, one.bytes)
