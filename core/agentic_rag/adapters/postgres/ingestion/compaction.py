"""Housekeeping of one workspace: drop versions past its history, then merge its postings segments into one."""

from __future__ import annotations

import numpy as np

from agentic_rag.adapters.postgres.operations.history import purge_history
from agentic_rag.adapters.postgres.retrieval.segments import (
    ADD_SEGMENT,
    SEGMENT_COLUMNS,
    read_moves,
    segment_arguments,
    segment_from,
)
from agentic_rag.adapters.postgres.session.connection import PostgresConnection
from agentic_rag.retrieval.lexical.postings import merge_segments
from agentic_rag.tenancy.principals import WorkspaceRef

# Publishes only add segments; what rewrites them (compaction, erasure) excludes each other here, without
# making a publish wait.
LOCK_SEGMENTS = "SELECT pg_advisory_xact_lock(hashtextextended($1::uuid::text, 0))"

SEGMENTS = f"""
SELECT {SEGMENT_COLUMNS} FROM rag_segments WHERE org_id = $1 AND workspace_id = $2 ORDER BY visible_from, segment_id
"""  # noqa: S608 - a constant list of columns

# Closed for every version that can still be asked for.
DROPPABLE = """
SELECT c.ordinal
FROM rag_closed_ordinals c
JOIN rag_workspaces w USING (org_id, workspace_id)
WHERE c.org_id = $1 AND c.workspace_id = $2 AND c.closed_at <= w.oldest_version
"""

DROP_SEGMENTS = "DELETE FROM rag_segments WHERE org_id = $1 AND workspace_id = $2 AND segment_id = ANY ($3::uuid[])"

DROP_CLOSED = (
    "DELETE FROM rag_closed_ordinals WHERE org_id = $1 AND workspace_id = $2 AND ordinal = ANY ($3::integer[])"
)

# One that moved again meanwhile stays.
DROP_MOVED = """
DELETE FROM rag_moved_ordinals m
USING unnest($3::integer[], $4::integer[]) AS told(ordinal, access_id)
WHERE m.org_id = $1 AND m.workspace_id = $2 AND m.ordinal = told.ordinal AND m.access_id = told.access_id
"""


async def compact(connection: PostgresConnection, workspace: WorkspaceRef) -> int:
    """Merge the workspace's segments into one, without chunks that no readable version shows and with every chunk in
    the access set where it stands now; how many were merged.

    0 when there is at most one and nothing to drop from it. No reader sees a difference.
    """
    key = (workspace.org_id, workspace.workspace_id)
    await connection.execute(LOCK_SEGMENTS, workspace.workspace_id)
    await purge_history(connection, workspace)
    drop = [row["ordinal"] for row in await connection.fetch(DROPPABLE, *key)]
    moves = await read_moves(connection, *key)
    rows = await connection.fetch(SEGMENTS, *key)
    if not rows or (len(rows) == 1 and not drop and not len(moves.ordinals)):
        return 0
    merged = merge_segments([segment_from(row) for row in rows], np.array(drop, np.int32), moves)
    await connection.execute(DROP_SEGMENTS, *key, [row["segment_id"] for row in rows])
    if len(merged.ordinals):
        await connection.execute(ADD_SEGMENT, *key, *segment_arguments(merged))
    await connection.execute(DROP_CLOSED, *key, drop)
    await connection.execute(DROP_MOVED, *key, moves.ordinals.tolist(), moves.access.tolist())
    return len(rows)
