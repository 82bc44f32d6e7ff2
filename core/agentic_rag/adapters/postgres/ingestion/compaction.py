"""Compaction of one workspace: purges versions past its history, makes postings of earlier rules again, then merges its
small postings segments and writes anew those whose chunks are gone or have moved.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from agentic_rag.adapters.postgres.operations.history import purge_history
from agentic_rag.adapters.postgres.retrieval.segments import (
    ADD_SEGMENT,
    SEGMENT_COLUMNS,
    SEGMENTS,
    read_moves,
    segment_arguments,
    segment_from,
)
from agentic_rag.adapters.postgres.session.connection import PostgresConnection, Row
from agentic_rag.language.term_counts import TermCounts
from agentic_rag.language.tokenizer import TERMS_VERSION, term_counts
from agentic_rag.retrieval.lexical.postings import (
    MOST_CHUNKS,
    AccessChanges,
    SegmentRow,
    build_segment,
    hold_any,
    merge_groups,
    merge_segments,
    split_segment,
)
from agentic_rag.tenancy.principals import WorkspaceRef

# This lock serialises compaction and erasure, which rewrite segments. Publishes only add segments and do not wait.
LOCK_SEGMENTS = "SELECT pg_advisory_xact_lock(hashtextextended($1::uuid::text, 0))"

PLACES = """
SELECT segment_id, ordinals FROM rag_segments WHERE org_id = $1 AND workspace_id = $2 ORDER BY visible_from, segment_id
"""

# For a segment that was written whole before segments had a bound: its transaction idles longer than others may.
WAIT_FOR_LONG = "SET LOCAL idle_in_transaction_session_timeout = '10min'"

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
    """Write one group of the workspace's segments anew (`merge_groups`); how many segments it had. What is written
    omits chunks that no readable version shows, and records every chunk's current access set.

    0 when there is nothing to do. None when more is left for another transaction: this one purged a slice of the
    history, made the terms of a segment again or split it, or wrote one group of several. Readers see no difference
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
    drop = np.array([row["ordinal"] for row in await connection.fetch(DROPPABLE, *key)], np.int32)
    moves = await read_moves(connection, *key)
    places = await read_places(connection, workspace)
    changed = np.concatenate([drop, moves.ordinals])
    held = list(places.values())
    groups = merge_groups([len(ordinals) for ordinals in held], hold_any(held, changed))
    segment_ids = list(places)
    chosen = [segment_ids[place] for place in groups[0]] if groups else []
    if chosen:
        if sum(len(places[one]) for one in chosen) > MOST_CHUNKS:
            await connection.execute(WAIT_FOR_LONG)
        rows = await connection.fetch(SEGMENTS, *key, chosen)
        written = await asyncio.to_thread(_written_anew, rows, drop, moves)
        await connection.execute(DROP_SEGMENTS, *key, chosen)
        for one in written:
            await connection.execute(ADD_SEGMENT, *key, *one)
    left = [ordinals for segment_id, ordinals in places.items() if segment_id not in chosen]
    still = np.concatenate(left) if left else np.zeros(0, np.int32)
    await connection.execute(DROP_CLOSED, *key, drop[~np.isin(drop, still)].tolist())
    settled = ~np.isin(moves.ordinals, still)
    await connection.execute(DROP_MOVED, *key, moves.ordinals[settled].tolist(), moves.access[settled].tolist())
    return None if len(groups) > 1 else len(chosen)


async def read_places(connection: PostgresConnection, workspace: WorkspaceRef) -> dict[UUID, NDArray[np.int32]]:
    """The ordinals that each segment holds, without its postings; by the first version that shows one of them."""
    return {
        row["segment_id"]: np.frombuffer(row["ordinals"], "<i4")
        for row in await connection.fetch(PLACES, *workspace.key)
    }


def _written_anew(rows: Sequence[Row], drop: NDArray[np.int32], moves: AccessChanges) -> list[tuple[object, ...]]:
    merged = merge_segments([segment_from(row) for row in rows], drop, moves)
    return [segment_arguments(part) for part in split_segment(merged)]


async def _index_again(connection: PostgresConnection, workspace: WorkspaceRef, row: Row) -> None:
    """Replace a segment by one whose terms are those of its chunks' texts. Chunks that are gone are left out. One that
    is longer than a job has time for, and erasures would wait for, is split first, with its terms as they are.
    """
    segment = segment_from(row)
    if len(segment.ordinals) > 2 * MOST_CHUNKS:
        await connection.execute(WAIT_FOR_LONG)
        parts = await asyncio.to_thread(split_segment, segment)
        await connection.execute(DROP_SEGMENTS, *workspace.key, [row["segment_id"]])
        for part in parts:
            await connection.execute(ADD_SEGMENT, *workspace.key, *segment_arguments(part, row["terms_version"]))
        return
    counted: dict[int, TermCounts] = {}
    for start in range(0, len(segment.ordinals), TEXTS_AT_ONCE):
        ordinals = segment.ordinals[start : start + TEXTS_AT_ONCE].tolist()
        texts = [(one["ordinal"], one["text"]) for one in await connection.fetch(TEXTS, *workspace.key, ordinals)]
        counted |= await asyncio.to_thread(_count_terms, texts)
    known = zip(segment.ordinals.tolist(), segment.access.tolist(), segment.visible_from.tolist(), strict=True)
    kept = [
        SegmentRow(ordinal, access, since, counted[ordinal]) for ordinal, access, since in known if ordinal in counted
    ]
    made = await asyncio.to_thread(build_segment, kept)
    await connection.execute(DROP_SEGMENTS, *workspace.key, [row["segment_id"]])
    if len(made.ordinals):
        await connection.execute(ADD_SEGMENT, *workspace.key, *segment_arguments(made))


def _count_terms(texts: Iterable[tuple[int, str]]) -> dict[int, TermCounts]:
    return {ordinal: term_counts(text) for ordinal, text in texts}
