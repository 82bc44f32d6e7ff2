"""`documents.ports.DocumentStore` on Postgres: documents and their status; `staging.py` holds staging."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from uuid import UUID

from agentic_rag.adapters.postgres.documents.document_rows import (
    DOCUMENT_COLUMNS,
    document_from,
    list_condition,
    scope_arguments,
)
from agentic_rag.adapters.postgres.documents.filter_sql import filter_conditions
from agentic_rag.adapters.postgres.documents.staging import StagingRows
from agentic_rag.adapters.postgres.jobs.corpus_versions import next_version
from agentic_rag.adapters.postgres.session.connection import PostgresConnection, value_from
from agentic_rag.adapters.postgres.session.page_cursors import page_size
from agentic_rag.documents.document import (
    ANY_DOCUMENT,
    STATUS_TRANSITIONS,
    Document,
    DocumentFault,
    DocumentFilter,
    DocumentStatus,
)
from agentic_rag.documents.metadata import MetadataChange, change_json
from agentic_rag.documents.ports import DocumentLabel, NewDocument
from agentic_rag.documents.revision_diff import VisibleChunk
from agentic_rag.kernel.pagination import Page, PageRequest, cursor_after, decode_cursor
from agentic_rag.tenancy.access import ListScope
from agentic_rag.tenancy.principals import WorkspaceRef

# Rows are passed as columns and inserted in id order, the order in which publishing locks them.
REGISTER = f"""
WITH lifted AS (
    DELETE FROM rag_tombstones WHERE org_id = $1 AND workspace_id = $2 AND document_id = ANY ($3::uuid[])
    RETURNING document_id, version, erased_at, certificate
), kept AS (
    INSERT INTO rag_past_erasures (org_id, workspace_id, document_id, version, erased_at, certificate)
    SELECT $1, $2, document_id, version, erased_at, certificate FROM lifted
    ON CONFLICT DO NOTHING
)
INSERT INTO rag_documents (org_id, workspace_id, status, document_id, source_path, title, url, file_name, media_type,
                           size, uploaded_by, access_id, provenance)
SELECT $1, $2, 'PENDING', n.document_id, n.source_path, n.title, n.url, n.file_name, n.media_type, n.size,
       n.uploaded_by, coalesce(n.access_id, 0), n.provenance::jsonb
FROM unnest($3::uuid[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::bigint[], $10::text[],
            $11::integer[], $12::text[])
    AS n(document_id, source_path, title, url, file_name, media_type, size, uploaded_by, access_id, provenance)
ORDER BY n.document_id
ON CONFLICT (org_id, workspace_id, document_id) DO UPDATE
SET source_path = excluded.source_path,
    title = coalesce(rag_documents.given_metadata ->> 'title', excluded.title),
    url = excluded.url, file_name = excluded.file_name,
    media_type = excluded.media_type, size = excluded.size, provenance = excluded.provenance, status = 'PENDING',
    error_code = NULL, error_message = NULL, error_attempts = 0, error_retryable = false, updated_at = now()
RETURNING {DOCUMENT_COLUMNS}
"""  # noqa: S608 - a constant list of columns

GET = f"""
SELECT {DOCUMENT_COLUMNS} FROM rag_documents WHERE org_id = $1 AND workspace_id = $2 AND document_id = $3
"""  # noqa: S608 - a constant list of columns

GET_LISTED = f"{GET} AND {list_condition('rag_documents', 4)}"

LOCKED = f"{GET} FOR NO KEY UPDATE"

GET_MANY = f"""
SELECT {DOCUMENT_COLUMNS} FROM rag_documents WHERE org_id = $1 AND workspace_id = $2 AND document_id = ANY ($3::uuid[])
"""  # noqa: S608 - a constant list of columns

_LISTED = f"""
  org_id = $1 AND workspace_id = $2
  AND (cardinality($3::text[]) = 0 OR status = ANY ($3))
  AND {list_condition("rag_documents", 4)}
"""

PAGE = f"""
SELECT {DOCUMENT_COLUMNS} FROM rag_documents
WHERE {_LISTED}{{conditions}} AND (${{after}}::text IS NULL OR source_path > ${{after}})
ORDER BY source_path
LIMIT ${{most}}
"""  # noqa: S608 - a constant list of columns

COUNT_LISTED = f"SELECT count(*) FROM rag_documents WHERE {_LISTED}{{conditions}}"  # noqa: S608 - constant conditions

CHANGED = f"""
SELECT {DOCUMENT_COLUMNS} FROM rag_documents
WHERE org_id = $1 AND workspace_id = $2 AND updated_at > now() - make_interval(secs => $3)
  AND {list_condition("rag_documents", 5)}
ORDER BY updated_at DESC
LIMIT $4
"""  # noqa: S608 - a constant list of columns

COUNT = f"""
SELECT status, count(*) AS documents FROM rag_documents
WHERE org_id = $1 AND workspace_id = $2 AND {list_condition("rag_documents", 3)}
GROUP BY status
"""  # noqa: S608 - constants

PATHS = f"""
SELECT {DOCUMENT_COLUMNS} FROM rag_documents
WHERE org_id = $1 AND workspace_id = $2 AND provenance ->> 'source' = $3
  AND (cardinality($4::text[]) = 0 OR source_path = ANY ($4))
"""  # noqa: S608 - a constant list of columns

# The rows whose metadata differ by what is said ($4), locked in the order in which publishing locks them.
DESCRIBE = """
WITH told AS (
    SELECT document_id, rag_merge_metadata(given_metadata, $4::text::jsonb) AS given_metadata
    FROM rag_documents
    WHERE org_id = $1 AND workspace_id = $2 AND document_id = ANY ($3::uuid[])
      AND rag_merge_metadata(given_metadata, $4::text::jsonb) <> given_metadata
    ORDER BY document_id
    FOR NO KEY UPDATE
)
UPDATE rag_documents d
SET given_metadata = t.given_metadata, title = coalesce(t.given_metadata ->> 'title', d.title), updated_at = now()
FROM told t
WHERE d.org_id = $1 AND d.workspace_id = $2 AND d.document_id = t.document_id
RETURNING d.revision_id IS NOT NULL AS is_published
"""

ID_KEY = "SELECT document_key FROM rag_organizations WHERE org_id = $1"

OCCUPANTS = """
SELECT document_id, source_path FROM rag_documents
WHERE org_id = $1 AND workspace_id = $2 AND (source_path = ANY ($3::text[]) OR document_id = ANY ($4::uuid[]))
"""

RELABEL = """
UPDATE rag_documents d
SET source_path = $4, file_name = $5, url = $6, provenance = d.provenance || $7::text::jsonb, updated_at = now()
FROM (SELECT source_path FROM rag_documents WHERE org_id = $1 AND workspace_id = $2 AND document_id = $3) before
WHERE d.org_id = $1 AND d.workspace_id = $2 AND d.document_id = $3
RETURNING d.revision_id IS NOT NULL AND before.source_path <> $4 AS is_seen
"""

SET_STATUS = """
UPDATE rag_documents
SET status = $4, error_code = $5, error_message = $6, error_attempts = $7, error_retryable = $8, updated_at = now()
WHERE org_id = $1 AND workspace_id = $2 AND document_id = $3 AND status = ANY ($9::text[])
"""

SET_PROGRESS = """
UPDATE rag_documents SET chunks_done = $4, chunk_count = $5, updated_at = now()
WHERE org_id = $1 AND workspace_id = $2 AND document_id = $3
"""

VISIBLE_CHUNKS = """
SELECT ordinal, chunk_id, index, char_start AS start, char_end AS end, page, line_start, line_end, heading_path
FROM rag_chunks
WHERE org_id = $1 AND workspace_id = $2 AND document_id = $3 AND visible_to IS NULL
ORDER BY index
"""

_MOVES_TO: Mapping[DocumentStatus, list[str]] = {
    target: [source.value for source, targets in STATUS_TRANSITIONS.items() if target in targets]
    for target in DocumentStatus
}


class PostgresDocumentStore(StagingRows):
    """Reads and writes inside a transaction of one organisation. With `is_followed`, a new corpus version enqueues, in
    this transaction, a job that updates the graph outside Postgres.
    """

    def __init__(self, connection: PostgresConnection, *, is_followed: bool = False) -> None:
        super().__init__(connection)
        self._is_followed = is_followed

    async def register(self, workspace: WorkspaceRef, new: NewDocument) -> Document:
        (document,) = await self.register_many(workspace, [new])
        return document

    async def register_many(self, workspace: WorkspaceRef, new: Sequence[NewDocument]) -> list[Document]:
        if not new:
            return []
        rows = await self._connection.fetch(
            REGISTER,
            *workspace.key,
            [one.document_id for one in new],
            [one.source_path for one in new],
            [one.title for one in new],
            [one.url for one in new],
            [one.file_name for one in new],
            [one.media_type for one in new],
            [one.size for one in new],
            [one.uploaded_by for one in new],
            [one.access_id for one in new],
            [json.dumps(dict(one.provenance)) for one in new],
        )
        documents = {row["document_id"]: document_from(workspace, row) for row in rows}
        return [documents[one.document_id] for one in new]

    async def get(self, workspace: WorkspaceRef, document_id: UUID, scope: ListScope | None = None) -> Document | None:
        row = await self._connection.fetchrow(GET_LISTED, *workspace.key, document_id, *scope_arguments(scope))
        return None if row is None else document_from(workspace, row)

    async def get_for_update(self, workspace: WorkspaceRef, document_id: UUID) -> Document | None:
        row = await self._connection.fetchrow(LOCKED, *workspace.key, document_id)
        return None if row is None else document_from(workspace, row)

    async def get_many(self, workspace: WorkspaceRef, document_ids: Sequence[UUID]) -> Mapping[UUID, Document]:
        rows = await self._connection.fetch(GET_MANY, *workspace.key, list(document_ids))
        return {row["document_id"]: document_from(workspace, row) for row in rows}

    async def page(
        self,
        workspace: WorkspaceRef,
        request: PageRequest,
        statuses: Sequence[DocumentStatus] = (),
        scope: ListScope | None = None,
        wanted: DocumentFilter = ANY_DOCUMENT,
    ) -> Page[Document]:
        size = page_size(request)
        after = None if request.after is None else decode_cursor(request.after)
        conditions, arguments = _conditions(workspace, statuses, scope, wanted)
        last = len(arguments)
        statement = PAGE.format(conditions=conditions, after=last + 1, most=last + 2)
        rows = await self._connection.fetch(statement, *arguments, after, size + 1)
        documents = tuple(document_from(workspace, row) for row in rows[:size])
        return Page(documents, tuple(cursor_after(document.source_path) for document in documents), len(rows) > size)

    async def count_listed(
        self,
        workspace: WorkspaceRef,
        statuses: Sequence[DocumentStatus] = (),
        scope: ListScope | None = None,
        wanted: DocumentFilter = ANY_DOCUMENT,
    ) -> int:
        conditions, arguments = _conditions(workspace, statuses, scope, wanted)
        return await self._connection.fetchval(COUNT_LISTED.format(conditions=conditions), *arguments)

    async def changed(
        self, workspace: WorkspaceRef, seconds: float, most: int, scope: ListScope | None = None
    ) -> Sequence[Document]:
        rows = await self._connection.fetch(CHANGED, *workspace.key, seconds, most, *scope_arguments(scope))
        return [document_from(workspace, row) for row in rows]

    async def count(self, workspace: WorkspaceRef, scope: ListScope | None = None) -> Mapping[DocumentStatus, int]:
        rows = await self._connection.fetch(COUNT, *workspace.key, *scope_arguments(scope))
        counted = {row["status"]: row["documents"] for row in rows}
        return {status: counted.get(status.value, 0) for status in DocumentStatus}

    async def paths(self, workspace: WorkspaceRef, source: str, only: Sequence[str] = ()) -> Mapping[str, Document]:
        rows = await self._connection.fetch(PATHS, *workspace.key, source, list(only))
        return {row["source_path"]: document_from(workspace, row) for row in rows}

    async def describe(self, workspace: WorkspaceRef, document_ids: Sequence[UUID], change: MetadataChange) -> int:
        said = json.dumps(change_json(change))
        rows = await self._connection.fetch(DESCRIBE, *workspace.key, list(document_ids), said)
        if any(row["is_published"] for row in rows):
            await next_version(self._connection, workspace, document_ids, is_followed=self._is_followed)
        return len(rows)

    async def id_key(self, workspace: WorkspaceRef) -> bytes:
        key: bytes | None = await self._connection.fetchval(ID_KEY, workspace.org_id)
        return key or b""

    async def occupants(
        self, workspace: WorkspaceRef, paths: Sequence[str], document_ids: Sequence[UUID]
    ) -> Mapping[UUID, str]:
        rows = await self._connection.fetch(OCCUPANTS, *workspace.key, list(paths), list(document_ids))
        return {row["document_id"]: row["source_path"] for row in rows}

    async def relabel(self, workspace: WorkspaceRef, document_id: UUID, label: DocumentLabel) -> bool:
        row = await self._connection.fetchrow(
            RELABEL,
            *workspace.key,
            document_id,
            label.source_path,
            label.file_name,
            label.url,
            json.dumps(dict(label.provenance)),
        )
        if row is not None and row["is_seen"]:
            await next_version(self._connection, workspace, [document_id], is_followed=self._is_followed)
        return row is not None

    async def set_status(
        self,
        workspace: WorkspaceRef,
        document_id: UUID,
        status: DocumentStatus,
        fault: DocumentFault | None = None,
    ) -> bool:
        faulty = (None, None, 0, False)
        if fault is not None:
            faulty = (fault.code, fault.message, fault.attempts, fault.retryable)
        changed = await self._connection.change(
            SET_STATUS, *workspace.key, document_id, status.value, *faulty, _MOVES_TO[status]
        )
        return changed == 1

    async def set_progress(
        self, workspace: WorkspaceRef, document_id: UUID, chunks_done: int, chunk_count: int
    ) -> None:
        await self._connection.execute(SET_PROGRESS, *workspace.key, document_id, chunks_done, chunk_count)

    async def visible_chunks(self, workspace: WorkspaceRef, document_id: UUID) -> list[VisibleChunk]:
        rows = await self._connection.fetch(VISIBLE_CHUNKS, *workspace.key, document_id)
        return [value_from(VisibleChunk, row) for row in rows]


def _conditions(
    workspace: WorkspaceRef, statuses: Sequence[DocumentStatus], scope: ListScope | None, wanted: DocumentFilter
) -> tuple[str, list[object]]:
    """What follows `_LISTED`, and the arguments of both."""
    before = [*workspace.key, [status.value for status in statuses], *scope_arguments(scope)]
    conditions, arguments = filter_conditions(wanted, len(before))
    return conditions, [*before, *arguments]
