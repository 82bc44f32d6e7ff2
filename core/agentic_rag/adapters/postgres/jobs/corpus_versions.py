"""The next corpus version of a workspace, for changes that add no chunks."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from agentic_rag.adapters.postgres.jobs.jobs import PostgresJobStore
from agentic_rag.adapters.postgres.session.connection import PostgresConnection
from agentic_rag.adapters.postgres.session.version_times import noting
from agentic_rag.adapters.postgres.tenancy.restricted_versions import note_restricted, sets_of
from agentic_rag.jobs.job import graph_job
from agentic_rag.kernel.errors import no_such_workspace
from agentic_rag.tenancy.principals import WorkspaceRef

# $1 organisation, $2 workspace, $3 whether a graph outside Postgres moves its own watermark. Without one, `graph_home`
# is cleared: a graph connected later is filled anew, because it missed this version.
NEXT_VERSION = noting("""
UPDATE rag_workspaces
SET corpus_version = corpus_version + 1,
    graph_version = CASE WHEN $3 THEN graph_version ELSE corpus_version + 1 END,
    graph_home = CASE WHEN $3 THEN graph_home ELSE '' END
WHERE org_id = $1 AND workspace_id = $2
RETURNING corpus_version
""")


async def next_version(
    connection: PostgresConnection, workspace: WorkspaceRef, document_ids: Collection[UUID], *, is_followed: bool
) -> int:
    """Take the workspace's lock and the next version, which changes these documents. With `is_followed` a job, enqueued
    before, updates the graph outside Postgres. Errors: `NotFound` code WORKSPACE_NOT_FOUND.
    """
    if is_followed:
        await PostgresJobStore(connection, workspace.org_id).enqueue(graph_job(workspace))
    version: int | None = await connection.fetchval(NEXT_VERSION, *workspace.key, is_followed)
    if version is None:
        raise no_such_workspace()
    await note_restricted(connection, workspace, version, await sets_of(connection, workspace, document_ids))
    return version
