"""Rows of unpublished revisions: text, chunks, and vectors as they arrive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

from agentic_rag.adapters.postgres.documents.document_rows import HEADING_SEPARATOR, draft_columns
from agentic_rag.adapters.postgres.session.connection import PostgresConnection, value_from
from agentic_rag.documents.document import ChunkDraft, Revision, StagedChunk
from agentic_rag.tenancy.principals import WorkspaceRef

ADD_REVISIONS = """
INSERT INTO rag_revisions (org_id, workspace_id, revision_id, document_id, text, text_hash, page_numbers, page_starts,
                           page_ends, parser, parser_version, title, recognised_pages)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
ON CONFLICT DO NOTHING
"""

# When two workers stage the same revision (one of them lost its lease), the lock lets only one of them write.
LOCK_REVISION = """
SELECT FROM rag_revisions WHERE org_id = $1 AND workspace_id = $2 AND revision_id = $3 FOR NO KEY UPDATE
"""

IS_STAGED = """
SELECT EXISTS (SELECT FROM rag_staged_chunks WHERE org_id = $1 AND workspace_id = $2 AND revision_id = $3)
"""

# Rows are passed as columns: COPY is refused on tables with row level security.
ADD_CHUNKS = f"""
INSERT INTO rag_staged_chunks (org_id, workspace_id, revision_id, document_id, index, chunk_id, char_start, char_end,
                               page, line_start, line_end, heading_path, content_hash, text)
SELECT $1, $2, $3, $4, c.index, c.chunk_id, c.char_start, c.char_end, c.page, c.line_start, c.line_end,
       string_to_array(c.headings, '{HEADING_SEPARATOR}'), c.content_hash, c.text
FROM unnest($5::uuid[], $6::integer[], $7::integer[], $8::integer[], $9::integer[], $10::integer[], $11::integer[],
            $12::text[], $13::bytea[], $14::text[])
    AS c(chunk_id, index, char_start, char_end, page, line_start, line_end, headings, content_hash, text)
"""  # noqa: S608 - a constant separator

STAGED = """
SELECT index, chunk_id, vector, space_id
FROM rag_staged_chunks
WHERE org_id = $1 AND workspace_id = $2 AND revision_id = $3
ORDER BY index
"""

ADD_VECTORS = """
UPDATE rag_staged_chunks s SET space_id = $4, vector = v.vector
FROM unnest($5::integer[], $6::bytea[]) AS v(index, vector)
WHERE s.org_id = $1 AND s.workspace_id = $2 AND s.revision_id = $3 AND s.index = v.index
"""

DISCARD = """
DELETE FROM rag_staged_chunks
WHERE org_id = $1 AND workspace_id = $2 AND document_id = $3 AND revision_id IS DISTINCT FROM $4
"""

DISCARD_REVISIONS = """
DELETE FROM rag_revisions
WHERE org_id = $1 AND workspace_id = $2 AND document_id = $3 AND revision_id IS DISTINCT FROM $4
  AND published_from IS NULL
"""


def revision_arguments(revision: Revision) -> tuple[object, ...]:
    """The values of `ADD_REVISIONS` after the workspace's key."""
    return (
        revision.revision_id,
        revision.document_id,
        revision.text,
        revision.text_hash,
        [page.number for page in revision.pages],
        [page.start for page in revision.pages],
        [page.end for page in revision.pages],
        revision.parser,
        revision.parser_version,
        revision.title,
        revision.recognised_pages,
    )


class StagingRows:
    """The staging of the document store, inside a transaction of one organisation."""

    def __init__(self, connection: PostgresConnection) -> None:
        self._connection = connection

    async def stage(
        self, workspace: WorkspaceRef, document_id: UUID, revision: Revision, drafts: Sequence[ChunkDraft]
    ) -> None:
        """Write revision and chunks; a second call changes nothing. Errors: `NotFound` (document)."""
        key = workspace.key
        await self._connection.execute(ADD_REVISIONS, *key, *revision_arguments(revision))
        await self._connection.execute(LOCK_REVISION, *key, revision.revision_id)
        if await self._connection.fetchval(IS_STAGED, *key, revision.revision_id):
            return
        await self._connection.execute(
            ADD_CHUNKS,
            *key,
            revision.revision_id,
            document_id,
            *draft_columns(drafts),
        )

    async def load_staging(self, workspace: WorkspaceRef, revision_id: UUID) -> list[StagedChunk] | None:
        rows = await self._connection.fetch(STAGED, *workspace.key, revision_id)
        if not rows:
            return None
        return [value_from(StagedChunk, row) for row in rows]

    async def stage_vectors(
        self, workspace: WorkspaceRef, revision_id: UUID, space_id: int, vectors: Mapping[int, bytes]
    ) -> None:
        """Attach vectors to staged chunks."""
        await self._connection.execute(
            ADD_VECTORS, *workspace.key, revision_id, space_id, list(vectors.keys()), list(vectors.values())
        )

    async def discard_staging(self, workspace: WorkspaceRef, document_id: UUID, keep: UUID | None = None) -> int:
        """Delete staged chunks and never published revisions of a document."""
        key = (*workspace.key, document_id, keep)
        dropped = await self._connection.change(DISCARD, *key)
        await self._connection.execute(DISCARD_REVISIONS, *key)
        return dropped
