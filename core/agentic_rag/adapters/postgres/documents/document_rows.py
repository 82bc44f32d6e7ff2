"""Conversions between rows and values of documents and chunks."""

from __future__ import annotations

from collections.abc import Sequence

from agentic_rag.adapters.postgres.session.connection import Row, value_from
from agentic_rag.documents.document import ChunkDraft, Document, DocumentFault
from agentic_rag.documents.metadata import metadata_from
from agentic_rag.tenancy.access import Hiding, ListScope
from agentic_rag.tenancy.principals import WorkspaceRef

DOCUMENT_COLUMNS = f"""
    document_id, source_path, title, url, file_name, media_type, size, uploaded_by, access_id, status, error_code,
    error_message, error_attempts, error_retryable, revision_id, content_hash, chunk_count, chunks_done, created_at,
    updated_at, provenance, writers, metadata,
    EXISTS (
        SELECT FROM rag_access_sets g
        WHERE g.org_id = rag_documents.org_id AND g.workspace_id = rag_documents.workspace_id
          AND g.access_id = rag_documents.access_id
          AND g.principals[1] ~ '^({Hiding.MISSING.value})?{Hiding.WITHDRAWN.value}'
    ) AS is_withdrawn,
    EXISTS (
        SELECT FROM rag_access_sets g
        WHERE g.org_id = rag_documents.org_id AND g.workspace_id = rag_documents.workspace_id
          AND g.access_id = rag_documents.access_id AND starts_with(g.principals[1], '{Hiding.MISSING.value}')
    ) AS is_missing
"""  # noqa: S608 - values of an enumeration

HEADING_SEPARATOR = "\x1f"
"""Joins a heading path into one value (ASCII unit separator), because arrays of arrays cannot be unnested row by row.
"""


_LIST_CONDITION = """(
    {sets} IS NULL OR {documents}.access_id = ANY ({sets})
    OR ({documents}.uploaded_by = ANY ({principals}) OR {documents}.writers && {principals}) AND EXISTS (
        SELECT FROM rag_access_sets g
        WHERE g.org_id = $1 AND g.workspace_id = $2 AND g.access_id = {documents}.access_id
          AND g.principals && {if_restored}
    )
)"""


def list_condition(documents: str, first: int) -> str:
    """The condition that a list shows a row of `documents`; the arguments from number `first` on are those of
    `scope_arguments`.
    """
    return _LIST_CONDITION.format(
        documents=documents,
        sets=f"${first}::integer[]",
        principals=f"${first + 1}::text[]",
        if_restored=f"${first + 2}::text[]",
    )


def scope_arguments(scope: ListScope | None) -> tuple[Sequence[object] | None, ...]:
    """The arguments of `list_condition`; a list shows a manager of the workspace every document."""
    return (None, None, None) if scope is None else (scope.access_ids, scope.principals, scope.if_restored)


def document_from(workspace: WorkspaceRef, row: Row) -> Document:
    """The document from a row with `DOCUMENT_COLUMNS`."""
    fault = None
    if row["error_code"] is not None:
        fault = DocumentFault(
            row["error_code"], row["error_message"] or "", row["error_attempts"], row["error_retryable"]
        )
    return value_from(Document, row, workspace=workspace, fault=fault, metadata=metadata_from(row["metadata"]))


def draft_columns(drafts: Sequence[ChunkDraft]) -> tuple[Sequence[object], ...]:
    """Chunks as columns: chunk_id, index, char_start, char_end, page, line_start, line_end, headings, content_hash,
    text.
    """
    return (
        [draft.chunk_id for draft in drafts],
        [draft.index for draft in drafts],
        [draft.start for draft in drafts],
        [draft.end for draft in drafts],
        [draft.page for draft in drafts],
        [draft.line_start for draft in drafts],
        [draft.line_end for draft in drafts],
        [_join_headings(draft.heading_path) for draft in drafts],
        [draft.content_hash for draft in drafts],
        [draft.text for draft in drafts],
    )


def _join_headings(path: tuple[str, ...]) -> str:
    """A heading path as one value; separators inside headings become spaces."""
    return HEADING_SEPARATOR.join([heading.replace(HEADING_SEPARATOR, " ") for heading in path])
