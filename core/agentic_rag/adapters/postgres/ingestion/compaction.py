"""Compaction of one workspace: purges versions past its history, makes postings of earlier rules again, then merges its
postings segments into one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

import numpy as np

from agentic_rag.adapters.postgres.operations.history import purge_history
from agentic_rag.adapters.postgres.retrieval.segments import (
    ADD_SEGMENT,
    SEGMENT_COLUMNS,
    read_moves,
    segment_arguments,
    segment_from,
)
from agentic_rag.adapters.postgres.session.connection import PostgresConnection, Row
from agentic_rag.language.term_counts import TermCounts
from agentic_rag.language.tokenizer import TERMS_VERSION, term_counts
from agentic_rag.retrieval.lexical.postings import SegmentRow, build_segment, merge_segments
from agentic_rag.tenancy.principals import WorkspaceRef

# This lock serialises compaction and erasure, which rewrite segments. Publishes only add segments and do not wait.
LOCK_SEGMENTS = "SELECT pg_advisory_xact_lock(hashtextextended($1::uuid::text, 0))"

SEGMENTS = f"""
SELECT {SEGMENT_COLUMNS} FROM rag_segments WHERE org_id = $1 AND workspace_id = $2 ORDER BY visible_from, segment_id
"""  # noqa: S608 - a constant list of columns

OUTDATED = f"""
SELECT {SEGMENT_COLUMNS} FROM rag_segments WHERE org_id = $1 AND workspace_id = $2 AND terms_version < $3 LIMIT 1
"""  # noqa: S608 - a constant list of columns

# A chunk that moved to another revision has a row for each.
TEXTS = """
SELECT DISTINCT ON (ordinal) ordinal, text FROM rag_chunks
WHERE org_id = $1 AND workspace_id = $2 AND ordinal = ANY ($3::integer[])
"""
TEXTS_AT_ONCE = 32

# Ordinals that are closed for every readable version.
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

# A chunk that moved again meanwhile keeps its row.
DROP_MOVED = """
DELETE FROM rag_moved_ordinals m
USING unnest($3::integer[], $4::integer[]) AS told(ordinal, access_id)
WHERE m.org_id = $1 AND m.workspace_id = $2 AND m.ordinal = told.ordinal AND m.access_id = told.access_id
"""


async def compact(connection: PostgresConnection, workspace: WorkspaceRef) -> int | None:
    """Merge the workspace's segments into one; the number of merged segments. The merged segment omits chunks that no
    readable version shows, and records every chunk's current access set.

    0 when there is at most one segment and nothing to drop from it. None when this transaction purged a slice of the
    history, or made the terms of a segment again, and more is left: nothing was merged. Readers see no difference
    otherwise.
    """
    key = workspace.key
    await connection.execute(LOCK_SEGMENTS, workspace.workspace_id)
    if await purge_history(connection, workspace):
        return None
    outdated = await connection.fetch(OUTDATED, *key, TERMS_VERSION)
    if outdated:
        await _index_again(connection, workspace, outdated[0])
        return None
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


async def _index_again(connection: PostgresConnection, workspace: WorkspaceRef, row: Row) -> None:
    """Replace a segment by one whose terms are those of its chunks' texts. Chunks that are gone are left out."""
    segment = segment_from(row)
    counted: dict[int, TermCounts] = {}
    for start in range(0, len(segment.ordinals), TEXTS_AT_ONCE):
        ordinals = segment.ordinals[start : start + TEXTS_AT_ONCE].tolist()
        texts = [(one["ordinal"], one["text"]) for one in await connection.fetch(TEXTS, *workspace.key, ordinals)]
        counted |= await asyncio.to_thread(_count_terms, texts)
    known = zip(segment.ordinals.tolist(), segment.access.tolist(), segment.visible_from.tolist(), strict=True)
    made = build_segment(
        SegmentRow(ordinal, access, since, counted[ordinal]) for ordinal, access, since in known if ordinal in counted
    )
    await connection.execute(DROP_SEGMENTS, *workspace.key, [row["segment_id"]])
    if len(made.ordinals):
        await connection.execute(ADD_SEGMENT, *workspace.key, *segment_arguments(made))


def _count_terms(texts: Iterable[tuple[int, str]]) -> dict[int, TermCounts]:
    return {ordinal: term_counts(text) for ordinal, text in texts}
