"""Corpus versions as callers are shown them: without those that changed only what they may not read."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from agentic_rag.adapters.postgres.session.connection import PostgresConnection
from agentic_rag.tenancy.access import ReadScope
from agentic_rag.tenancy.principals import DEFAULT_ACCESS_ID, WorkspaceRef

NOTE = """
INSERT INTO rag_restricted_versions (org_id, workspace_id, version, access_id)
SELECT $1, $2, $3, unnest($4::integer[])
"""

# The sets of documents and of all their passages.
SETS_OF = """
SELECT access_id FROM rag_documents WHERE org_id = $1 AND workspace_id = $2 AND document_id = ANY ($3::uuid[])
UNION
SELECT access_id FROM rag_chunks WHERE org_id = $1 AND workspace_id = $2 AND document_id = ANY ($3)
"""

# $3: the sets that the caller reads; $4: a version.
SHOWN = """
SELECT $4 - count(*) FROM (
    SELECT FROM rag_restricted_versions
    WHERE org_id = $1 AND workspace_id = $2 AND version <= $4
    GROUP BY version
    HAVING NOT bool_or(access_id = ANY ($3::integer[]))
) hidden
"""

# $4: a version as it was shown: the version that is shown so first, and hidden ones right behind it show the same. The
# first of them that the workspace keeps is read.
STORED = """
SELECT least($4 + h.all_same, greatest($4 + h.before, w.oldest_version))
FROM rag_workspaces w, (
    SELECT count(*) AS all_same, count(*) FILTER (WHERE shown < $4) AS before
    FROM (
        SELECT version - row_number() OVER (ORDER BY version) AS shown
        FROM rag_restricted_versions
        WHERE org_id = $1 AND workspace_id = $2
        GROUP BY version
        HAVING NOT bool_or(access_id = ANY ($3::integer[]))
    ) hidden
    WHERE shown <= $4
) h
WHERE w.org_id = $1 AND w.workspace_id = $2
"""


async def note_restricted(
    connection: PostgresConnection, workspace: WorkspaceRef, version: int, access_ids: Collection[int]
) -> None:
    """Write down the sets that a version touched, unless everybody reads one of them."""
    if access_ids and DEFAULT_ACCESS_ID not in access_ids:
        await connection.execute(NOTE, *workspace.key, version, sorted(access_ids))


async def sets_of(
    connection: PostgresConnection, workspace: WorkspaceRef, document_ids: Collection[UUID]
) -> frozenset[int]:
    """The access sets of documents and of their passages of every version."""
    rows = await connection.fetch(SETS_OF, *workspace.key, list(document_ids))
    return frozenset(row["access_id"] for row in rows)


async def shown_version(connection: PostgresConnection, workspace: WorkspaceRef, scope: ReadScope, version: int) -> int:
    """The number that a caller is shown for a version."""
    if scope.is_unrestricted:
        return version
    shown: int = await connection.fetchval(SHOWN, *workspace.key, list(scope.access_ids), version)
    return shown


async def stored_version(connection: PostgresConnection, workspace: WorkspaceRef, scope: ReadScope, shown: int) -> int:
    """The first version still kept that a caller is shown under a number."""
    if scope.is_unrestricted:
        return shown
    stored: int = await connection.fetchval(STORED, *workspace.key, list(scope.access_ids), shown)
    return stored
