"""`erasure.ports.WorkspaceErasureStore` on Postgres."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from agentic_rag.adapters.postgres.session.connection import PostgresConnection, Row, value_from
from agentic_rag.erasure.ports import ErasureTrace
from agentic_rag.erasure.workspace_erasure import BLOBS, KEPT, UNBUILT, WORK, WorkspaceErasure
from agentic_rag.kernel.errors import no_such_workspace
from agentic_rag.tenancy.principals import WorkspaceRef

SEE_LEAVING = "SELECT set_config('rag.erasing', 'on', true)"


@dataclass(frozen=True, slots=True)
class ErasedTable:
    """A table that loses all rows of an erased workspace; before the last transaction only those of the condition."""

    name: str
    early: str = "true"


ERASED: Sequence[ErasedTable] = (
    # The erasing job keeps its row to the end; without theirs, other jobs have lost their fence.
    ErasedTable("rag_eval_scores"),
    ErasedTable("rag_eval_runs"),
    ErasedTable(
        "rag_job_attempts",
        "EXISTS (SELECT FROM rag_jobs j WHERE j.org_id = t.org_id AND j.workspace_id = t.workspace_id "
        "AND j.job_id = t.job_id AND j.kind <> 'erase')",
    ),
    ErasedTable("rag_crawl_pages"),
    ErasedTable("rag_jobs", "t.kind <> 'erase'"),
    ErasedTable("rag_sources"),
    ErasedTable("rag_run_stages"),
    ErasedTable("rag_thread_turns"),
    ErasedTable("rag_threads"),
    ErasedTable("rag_saved_questions"),
    ErasedTable("rag_gate_decisions"),
    ErasedTable("rag_feedback"),
    ErasedTable("rag_implicit_feedback"),
    ErasedTable("rag_gate_rollbacks"),
    ErasedTable("rag_runs"),
    ErasedTable("rag_cache_entries"),
    ErasedTable("rag_staged_chunks"),
    ErasedTable("rag_mentions"),
    ErasedTable("rag_entities"),
    ErasedTable("rag_embeddings"),
    ErasedTable("rag_vector_indexes"),
    ErasedTable("rag_segments"),
    ErasedTable("rag_closed_ordinals"),
    ErasedTable("rag_moved_ordinals"),
    ErasedTable("rag_chunks"),
    ErasedTable("rag_document_labels"),
    ErasedTable("rag_text_pieces"),
    ErasedTable("rag_revisions"),
    ErasedTable("rag_documents"),
    ErasedTable("rag_tombstones"),
    ErasedTable("rag_past_erasures"),
    ErasedTable("rag_graph_erasures"),
    ErasedTable("rag_uploads"),
    ErasedTable("rag_snapshots"),
    ErasedTable("rag_restores"),
    ErasedTable("rag_usage"),
    ErasedTable("rag_embedding_spaces"),
    ErasedTable("rag_restricted_versions"),
    ErasedTable("rag_version_times"),
    ErasedTable("rag_access_sets"),
    # Their rows go with their blobs.
    ErasedTable("rag_originals", "false"),
    ErasedTable("rag_doomed_blobs", "false"),
    ErasedTable("rag_workspaces", "false"),
)
"""Every workspace table, rows before those that they refer to. A test compares the list with the database."""

ERASED_WITH_ORGANISATION = ("rag_api_keys", "rag_provider_keys", "rag_stored_bytes")

# The erasure of a file that is gone from its source waits for its grace: nobody asked for it.
RUNNING = """
SELECT kind, count(*) AS jobs FROM rag_jobs
WHERE org_id = $1 AND workspace_id = $2 AND kind = ANY ($3::text[])
  AND (state = 'RUNNING' OR state = 'QUEUED' AND kind <> 'sync'
       AND NOT (kind = 'delete' AND run_after > clock_timestamp()))
GROUP BY kind
"""

CANCEL_JOBS = """
UPDATE rag_jobs
SET state = 'CANCELLED', fence = fence + 1, leased_by = NULL, lease_until = NULL, updated_at = clock_timestamp()
WHERE org_id = $1 AND workspace_id = $2 AND kind <> 'erase' AND state IN ('QUEUED', 'RUNNING')
"""

# Rows that refer to the workspace wait for the transaction that has this lock.
LOCK_WORKSPACE = "SELECT FROM rag_workspaces WHERE org_id = $1 AND workspace_id = $2 FOR UPDATE"

# A job's fence rises with each lease, and with its cancellation.
DROP_UNBUILT = """
DELETE FROM rag_snapshots s
WHERE s.org_id = $1 AND s.workspace_id = $2 AND s.state = 'BUILDING'
  AND EXISTS (SELECT FROM rag_jobs j WHERE j.org_id = s.org_id AND j.workspace_id = s.workspace_id
              AND j.job_id = s.snapshot_id AND j.state = 'CANCELLED' AND j.fence <= 1)
"""

# The new name begins with a character that no given name has.
HIDE_WORKSPACE = """
UPDATE rag_workspaces
SET leaving_at = clock_timestamp(), name = U&'\\2060' || workspace_id, external_ref = NULL, settings = '{}'
WHERE org_id = $1 AND workspace_id = $2
"""

BEGIN = """
INSERT INTO rag_erasures (org_id, subject_id, blob_owner, requested_by) VALUES ($1, $2, $3, $4)
ON CONFLICT (org_id, subject_id) DO UPDATE
SET blob_owner = excluded.blob_owner, requested_by = excluded.requested_by, requested_at = excluded.requested_at,
    counts = '{}', finished_at = NULL
"""

HIDE_ORGANISATION = """
UPDATE rag_organizations
SET leaving_at = clock_timestamp(), name = U&'\\2060' || org_id, external_ref = NULL, settings = '{}'
WHERE org_id = $1
"""

STAYING = "SELECT workspace_id FROM rag_workspaces WHERE org_id = $1 AND leaving_at IS NULL ORDER BY workspace_id"

LOCK_LEAVING_ORGANISATION = "SELECT true FROM rag_organizations WHERE org_id = $1 AND leaving_at IS NOT NULL FOR UPDATE"

HAS_WORKSPACES = "SELECT EXISTS (SELECT FROM rag_workspaces WHERE org_id = $1)"

DROP_ORGANISATION = "DELETE FROM rag_organizations WHERE org_id = $1"

DOOM = """
WITH gone AS (
    DELETE FROM rag_originals WHERE org_id = $1 AND workspace_id = $2 RETURNING blob_key, document_id
)
INSERT INTO rag_doomed_blobs (org_id, workspace_id, blob_key, document_id)
SELECT $1, $2, blob_key, document_id FROM gone
ON CONFLICT DO NOTHING
"""

HAS_BLOBS = """
SELECT EXISTS (SELECT FROM rag_originals WHERE org_id = $1 AND workspace_id = $2)
    OR EXISTS (SELECT FROM rag_doomed_blobs WHERE org_id = $1 AND workspace_id = $2)
"""

UNNAMED = """
SELECT blob_key FROM unnest($2::text[]) AS k(blob_key)
EXCEPT SELECT blob_key FROM rag_originals WHERE org_id = $1 AND blob_key = ANY ($2)
EXCEPT SELECT blob_key FROM rag_doomed_blobs WHERE org_id = $1 AND blob_key = ANY ($2)
ORDER BY blob_key
"""

COUNT = """
UPDATE rag_erasures
SET counts = counts || jsonb_build_object($3::text, coalesce((counts ->> $3)::bigint, 0) + $4::bigint)
WHERE org_id = $1 AND subject_id = $2
"""

COMPLETE = """
UPDATE rag_erasures
SET finished_at = clock_timestamp(), blob_owner = encode(sha256(convert_to(blob_owner, 'UTF8')), 'hex')
WHERE org_id = $1 AND subject_id = $2 AND finished_at IS NULL
"""

_COLUMNS = "org_id, subject_id, requested_by, requested_at, finished_at, counts, blob_owner"

GET = f"SELECT {_COLUMNS} FROM rag_erasures WHERE org_id = $1 AND subject_id = $2"  # noqa: S608 - a constant

ALL = f"SELECT {_COLUMNS} FROM rag_erasures WHERE org_id = $1 ORDER BY requested_at DESC LIMIT $2"  # noqa: S608

# Every table with the column, whichever version of the product made it.
TABLES_NAMING = """
SELECT c.relname AS name
FROM pg_class c
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = $1 AND NOT a.attisdropped
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND c.relname <> ALL ($2::text[])
ORDER BY c.relname
"""


class PostgresWorkspaceErasures:
    """Inside a transaction of one organisation."""

    def __init__(self, connection: PostgresConnection, org_id: UUID) -> None:
        self._connection = connection
        self._org_id = org_id

    async def running(self, workspace: WorkspaceRef) -> Mapping[str, int]:
        rows = await self._connection.fetch(RUNNING, *workspace.key, [kind.value for kind in WORK])
        return {row["kind"]: row["jobs"] for row in rows}

    async def begin(self, workspace: WorkspaceRef, blob_owner: str, requested_by: str) -> None:
        await self._connection.execute(SEE_LEAVING)
        # Jobs before the workspace, as everywhere; those that came before its lock are cancelled under it.
        await self._connection.execute(CANCEL_JOBS, *workspace.key)
        await self._connection.execute(LOCK_WORKSPACE, *workspace.key)
        await self._connection.execute(CANCEL_JOBS, *workspace.key)
        if not await self._connection.change(HIDE_WORKSPACE, *workspace.key):
            raise no_such_workspace()
        await self._connection.execute(BEGIN, *workspace.key, blob_owner, requested_by)
        # Now, since it goes by their jobs: of a snapshot of which nothing is known, something may be stored.
        await self.count(workspace, UNBUILT, await self._connection.change(DROP_UNBUILT, *workspace.key))

    async def begin_organisation(self, requested_by: str) -> Sequence[WorkspaceRef]:
        await self._connection.execute(SEE_LEAVING)
        await self._connection.execute(HIDE_ORGANISATION, self._org_id)
        await self._connection.execute(BEGIN, self._org_id, self._org_id, None, requested_by)
        await self._drop_rows_of_organisation()
        return await self._staying()

    async def drop_rows(self, workspace: WorkspaceRef, limit: int) -> int:
        for table in ERASED:
            gone = await self._connection.change(
                f"DELETE FROM {table.name} WHERE org_id = $1 AND workspace_id = $2 AND ctid = ANY (ARRAY ("  # noqa: S608
                f"SELECT t.ctid FROM {table.name} t WHERE t.org_id = $1 AND t.workspace_id = $2 AND {table.early} "
                "LIMIT $3))",
                *workspace.key,
                limit,
            )
            if gone:
                await self.count(workspace, table.name, gone)
                return gone
        return 0

    async def doom_blobs(self, workspace: WorkspaceRef) -> int:
        doomed = await self._connection.change(DOOM, *workspace.key)
        await self.count(workspace, BLOBS, doomed)
        return doomed

    async def unnamed(self, keys: Sequence[str]) -> list[str]:
        return [row["blob_key"] for row in await self._connection.fetch(UNNAMED, self._org_id, list(keys))]

    async def count(self, workspace: WorkspaceRef, store: str, number: int) -> None:
        if number:
            await self._connection.execute(COUNT, *workspace.key, store, number)

    async def finish(self, workspace: WorkspaceRef) -> bool:
        await self._connection.execute(SEE_LEAVING)
        await self._connection.execute(LOCK_WORKSPACE, *workspace.key)
        if await self._connection.fetchval(HAS_BLOBS, *workspace.key):
            return False
        for table in ERASED:
            gone = await self._connection.change(
                f"DELETE FROM {table.name} WHERE org_id = $1 AND workspace_id = $2",  # noqa: S608 - a constant
                *workspace.key,
            )
            await self.count(workspace, table.name, gone)
        await self._connection.execute(COMPLETE, *workspace.key)
        return True

    async def finish_organisation(self) -> Sequence[WorkspaceRef]:
        await self._connection.execute(SEE_LEAVING)
        if not await self._connection.fetchval(LOCK_LEAVING_ORGANISATION, self._org_id):
            return ()
        staying = await self._staying()
        if not staying and not await self._connection.fetchval(HAS_WORKSPACES, self._org_id):
            await self._drop_rows_of_organisation()
            await self._connection.execute(DROP_ORGANISATION, self._org_id)
            await self._connection.execute(COMPLETE, self._org_id, self._org_id)
        return staying

    async def get(self, subject_id: UUID) -> WorkspaceErasure | None:
        row = await self._connection.fetchrow(GET, self._org_id, subject_id)
        return None if row is None else _erasure(row)

    async def all(self, most: int | None = None) -> list[WorkspaceErasure]:
        return [_erasure(row) for row in await self._connection.fetch(ALL, self._org_id, most)]

    async def traces(self, subject_id: UUID) -> list[ErasureTrace]:
        await self._connection.execute(SEE_LEAVING)
        column = "org_id" if subject_id == self._org_id else "workspace_id"
        found: list[ErasureTrace] = []
        for table in await self._connection.fetch(TABLES_NAMING, column, list(KEPT)):
            rows: int = await self._connection.fetchval(
                f"SELECT count(*) FROM {table['name']} WHERE org_id = $1 AND {column} = $2",  # noqa: S608 - our tables
                self._org_id,
                subject_id,
            )
            if rows:
                found.append(ErasureTrace(table["name"], rows))
        return found

    async def _staying(self) -> Sequence[WorkspaceRef]:
        rows = await self._connection.fetch(STAYING, self._org_id)
        return [WorkspaceRef(self._org_id, row["workspace_id"]) for row in rows]

    async def _drop_rows_of_organisation(self) -> None:
        organisation = WorkspaceRef(self._org_id, self._org_id)
        for table in ERASED_WITH_ORGANISATION:
            gone = await self._connection.change(f"DELETE FROM {table} WHERE org_id = $1", self._org_id)  # noqa: S608
            await self.count(organisation, table, gone)


def _erasure(row: Row) -> WorkspaceErasure:
    return value_from(WorkspaceErasure, row)
