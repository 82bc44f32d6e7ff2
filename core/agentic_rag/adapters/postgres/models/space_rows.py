"""Rows of embedding spaces and their registration: each workspace numbers its spaces."""

from __future__ import annotations

from agentic_rag.adapters.postgres.session.connection import PostgresConnection, Row, value_from
from agentic_rag.kernel.errors import NotFound
from agentic_rag.models.embedding.space import EmbeddingSpace, RegisteredSpace
from agentic_rag.tenancy.principals import WorkspaceRef

LOCK = "SELECT active_space FROM rag_workspaces WHERE org_id = $1 AND workspace_id = $2 FOR NO KEY UPDATE"

FIND_SPACE = """
SELECT space_id FROM rag_embedding_spaces
WHERE org_id = $1 AND workspace_id = $2 AND provider = $3 AND model = $4 AND dimensions = $5 AND precision = $6
"""

# The first space is active at once; a later one is filled first. A number is never reused.
ADD_SPACE = """
WITH numbered AS (
    UPDATE rag_workspaces SET last_space = last_space + 1, active_space = coalesce(active_space, last_space + 1)
    WHERE org_id = $1 AND workspace_id = $2
    RETURNING last_space, active_space
)
INSERT INTO rag_embedding_spaces (org_id, workspace_id, space_id, provider, model, dimensions, precision, state)
SELECT $1, $2, last_space, $3, $4, $5, $6, CASE WHEN active_space = last_space THEN 'ACTIVE' ELSE 'FILLING' END
FROM numbered
RETURNING space_id
"""


def space_from(row: Row) -> RegisteredSpace:
    """The space from a row with the columns of rag_embedding_spaces."""
    return RegisteredSpace(row["space_id"], value_from(EmbeddingSpace, row))


async def register_space(
    connection: PostgresConnection, workspace: WorkspaceRef, space: EmbeddingSpace
) -> RegisteredSpace:
    """The workspace's number for a space, assigned at first use. Errors: `NotFound` (workspace)."""
    key = workspace.key
    wanted = (space.provider, space.model, space.dimensions, space.precision.value)
    number = await connection.fetchval(FIND_SPACE, *key, *wanted)
    if number is None:
        # The lock keeps two concurrent first users from registering it twice.
        if await connection.fetchrow(LOCK, *key) is None:
            raise NotFound(f"There is no workspace {workspace.workspace_id}.")
        number = await connection.fetchval(FIND_SPACE, *key, *wanted)
    if number is None:
        number = await connection.fetchval(ADD_SPACE, *key, *wanted)
    return RegisteredSpace(number, space)
