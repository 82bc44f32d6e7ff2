"""`answering.ports.ThreadStore` on Postgres, and how runs become turns of threads."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from agentic_rag.adapters.postgres.session.connection import PostgresConnection, Row, value_from
from agentic_rag.adapters.postgres.session.page_cursors import decode_instant_cursor, instant_cursor, page_size
from agentic_rag.answering.run import Run
from agentic_rag.answering.threads.thread import Thread
from agentic_rag.kernel.pagination import Page, PageRequest
from agentic_rag.tenancy.principals import WorkspaceRef

_THREADS = """
SELECT h.thread_id, h.subject, h.title, h.began_at, h.last_at, oldest.question AS oldest_question,
       (SELECT count(*) FROM rag_thread_turns t
        WHERE t.org_id = h.org_id AND t.workspace_id = h.workspace_id AND t.thread_id = h.thread_id) AS turns
FROM rag_threads h
CROSS JOIN LATERAL (
    SELECT r.question
    FROM rag_thread_turns t
    JOIN rag_runs r USING (org_id, workspace_id, run_id)
    WHERE t.org_id = h.org_id AND t.workspace_id = h.workspace_id AND t.thread_id = h.thread_id
    ORDER BY r.created_at, r.run_id
    LIMIT 1
) oldest
WHERE h.org_id = $1 AND h.workspace_id = $2 AND h.subject = $3
"""

PAGE = f"""{_THREADS}
  AND ($4::timestamptz IS NULL OR (h.last_at, h.thread_id) < ($4, $5::uuid))
ORDER BY h.last_at DESC, h.thread_id DESC
LIMIT $6
"""

GET = f"{_THREADS} AND h.thread_id = $4"

RENAME = """
UPDATE rag_threads SET title = $5
WHERE org_id = $1 AND workspace_id = $2 AND subject = $3 AND thread_id = $4
"""

# Runs that are being stored in the thread hold its row until they are there (`TOUCH`).
LOCK = """
SELECT FROM rag_threads WHERE org_id = $1 AND workspace_id = $2 AND subject = $3 AND thread_id = $4 FOR UPDATE
"""

DROP_RUNS = """
DELETE FROM rag_runs r USING rag_thread_turns t
WHERE t.org_id = $1 AND t.workspace_id = $2 AND t.thread_id = $3
  AND r.org_id = t.org_id AND r.workspace_id = t.workspace_id AND r.run_id = t.run_id
"""

DROP = "DELETE FROM rag_threads WHERE org_id = $1 AND workspace_id = $2 AND thread_id = $3"

DROP_RUN = "DELETE FROM rag_runs WHERE org_id = $1 AND workspace_id = $2 AND subject = $3 AND run_id = $4"

TOUCH = """
UPDATE rag_threads h SET last_at = greatest(h.last_at, given.at)
FROM (SELECT * FROM unnest($2::uuid[], $3::uuid[], $4::text[], $5::timestamptz[])
      AS g(workspace_id, thread_id, subject, at) ORDER BY workspace_id, thread_id) given
WHERE h.org_id = $1 AND h.workspace_id = given.workspace_id AND h.thread_id = given.thread_id
  AND h.subject = given.subject
RETURNING h.workspace_id, h.thread_id
"""

# Of runs that were stored: not of one whose idempotency key exists.
BEGIN = """
INSERT INTO rag_threads (org_id, workspace_id, thread_id, subject, began_at, last_at)
SELECT org_id, workspace_id, run_id, subject, created_at, created_at
FROM rag_runs WHERE org_id = $1 AND workspace_id = $2 AND run_id = $3
ON CONFLICT DO NOTHING
"""

ADD_TURN = """
INSERT INTO rag_thread_turns (org_id, workspace_id, run_id, thread_id)
SELECT org_id, workspace_id, run_id, $4 FROM rag_runs WHERE org_id = $1 AND workspace_id = $2 AND run_id = $3
ON CONFLICT DO NOTHING
"""


class PostgresThreadStore:
    """On a connection whose transaction is open and set to `org_id`."""

    def __init__(self, connection: PostgresConnection) -> None:
        self._connection = connection

    async def page(self, workspace: WorkspaceRef, subject: str, request: PageRequest) -> Page[Thread]:
        """Errors: `InvalidInput` (cursor, size)."""
        size = page_size(request)
        after = decode_instant_cursor(request.after)
        rows = await self._connection.fetch(PAGE, *workspace.key, subject, *after, size + 1)
        found = tuple(_thread(workspace, row) for row in rows[:size])
        cursors = tuple(instant_cursor(one.last_at, one.thread_id) for one in found)
        return Page(found, cursors, len(rows) > size)

    async def get(self, workspace: WorkspaceRef, thread_id: UUID, subject: str) -> Thread | None:
        row = await self._connection.fetchrow(GET, *workspace.key, subject, thread_id)
        return None if row is None else _thread(workspace, row)

    async def rename(self, workspace: WorkspaceRef, thread_id: UUID, subject: str, title: str) -> None:
        await self._connection.execute(RENAME, *workspace.key, subject, thread_id, title)

    async def delete(self, workspace: WorkspaceRef, thread_id: UUID, subject: str) -> int | None:
        if await self._connection.fetchrow(LOCK, *workspace.key, subject, thread_id) is None:
            return None
        runs = await self._connection.change(DROP_RUNS, *workspace.key, thread_id)
        await self._connection.execute(DROP, *workspace.key, thread_id)
        return runs

    async def delete_run(self, workspace: WorkspaceRef, run_id: UUID, subject: str) -> bool:
        return await self._connection.change(DROP_RUN, *workspace.key, subject, run_id) > 0


async def hold_threads(connection: PostgresConnection, org_id: UUID, runs: Sequence[Run]) -> list[Run]:
    """The runs without those whose thread is gone. The threads of the others stay until the transaction ends."""
    asked = [run for run in runs if run.thread not in (None, run.run_id)]
    if not asked:
        return list(runs)
    rows = await connection.fetch(
        TOUCH,
        org_id,
        [run.workspace.workspace_id for run in asked],
        [run.thread for run in asked],
        [run.subject for run in asked],
        [run.created_at for run in asked],
    )
    held = {(row["workspace_id"], row["thread_id"]) for row in rows}
    return [run for run in runs if run.thread in (None, run.run_id) or (run.workspace.workspace_id, run.thread) in held]


async def add_turns(connection: PostgresConnection, runs: Sequence[Run]) -> None:
    """Begin the threads that begin with one of the runs, which are stored, and add the runs to their threads."""
    asked = [run for run in runs if run.thread is not None]
    begun = [(*run.workspace.key, run.run_id) for run in asked if run.thread == run.run_id]
    if begun:
        await connection.executemany(BEGIN, begun)
    if asked:
        await connection.executemany(ADD_TURN, [(*run.workspace.key, run.run_id, run.thread) for run in asked])


def _thread(workspace: WorkspaceRef, row: Row) -> Thread:
    return value_from(Thread, row, workspace=workspace)
