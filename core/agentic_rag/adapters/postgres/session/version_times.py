"""Since when each corpus version of a workspace is the newest one."""

from __future__ import annotations

from datetime import datetime

from agentic_rag.adapters.postgres.session.connection import PostgresConnection
from agentic_rag.tenancy.principals import WorkspaceRef

# Programs of before revision 0042 leave no row, and may run beside this one: where the next version has none, it is not
# known which one was the newest.
VERSION_AT = """
SELECT found.version
FROM rag_workspaces w, (
    SELECT version FROM rag_version_times WHERE org_id = $1 AND workspace_id = $2 AND since <= $3
    ORDER BY version DESC LIMIT 1
) found
WHERE w.org_id = $1 AND w.workspace_id = $2 AND (
    w.corpus_version = found.version OR EXISTS (
        SELECT FROM rag_version_times n
        WHERE n.org_id = $1 AND n.workspace_id = $2 AND n.version = found.version + 1
    )
)
"""


_NOTING = """
WITH raised AS ({update}),
noted AS (
    INSERT INTO rag_version_times (org_id, workspace_id, version, since)
    SELECT $1, $2, {version}, clock_timestamp() FROM raised
)
SELECT * FROM raised
"""


def noting(update: str, version: str = "corpus_version") -> str:
    """A statement that raises the corpus version of a workspace ($1, $2) and returns it in a column of that name, which
    writes down also since when. It returns what `update` does.
    """
    return _NOTING.format(update=update, version=version)


async def version_at(connection: PostgresConnection, workspace: WorkspaceRef, instant: datetime) -> int | None:
    """The version that was the newest one then; None where that is not known."""
    return await connection.fetchval(VERSION_AT, *workspace.key, instant)
