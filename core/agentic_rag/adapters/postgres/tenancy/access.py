"""`tenancy.ports.AccessStore` on Postgres: interned access sets, and moves of documents between them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from functools import partial
from uuid import UUID

from agentic_rag.adapters.postgres.jobs.jobs import PostgresJobStore
from agentic_rag.adapters.postgres.session.connection import PostgresConnection, Row
from agentic_rag.adapters.postgres.session.pool import BOUND
from agentic_rag.adapters.postgres.session.version_times import noting, version_at
from agentic_rag.adapters.postgres.tenancy.read_scopes import ReadScopes
from agentic_rag.adapters.postgres.tenancy.restricted_versions import note_restricted
from agentic_rag.jobs.job import graph_job
from agentic_rag.kernel.errors import Retryable, no_such_workspace
from agentic_rag.tenancy.access import NO_SCOPE, ReadIdentity, ReadScope
from agentic_rag.tenancy.ports import AccessChange
from agentic_rag.tenancy.principals import WorkspaceRef

NEWEST_SET = """
SELECT w.access_version, pg_postmaster_start_time() AS started,
       (SELECT max(g.access_id) FROM rag_access_sets g
        WHERE g.org_id = w.org_id AND g.workspace_id = w.workspace_id) AS newest_set
FROM rag_workspaces w
WHERE w.org_id = $1 AND w.workspace_id = $2
"""

# $3: the caller's principals, null for unrestricted readers.
SETS_ABOVE = f"SELECT s.* FROM {BOUND} CROSS JOIN LATERAL rag_access_sets_above(bound.org_id, $2, $3, $4) s"  # noqa: S608

FIND = """
SELECT access_id FROM rag_access_sets WHERE org_id = $1 AND workspace_id = $2 AND principals = $3::text[]
"""

# One transaction at a time assigns numbers.
LOCK_SETS = "SELECT pg_advisory_xact_lock(hashtextextended($1::uuid::text, 2))"

ADD = """
INSERT INTO rag_access_sets (org_id, workspace_id, access_id, principals)
SELECT w.org_id, w.workspace_id,
       (SELECT coalesce(max(access_id), 0) + 1 FROM rag_access_sets WHERE org_id = $1 AND workspace_id = $2), $3
FROM rag_workspaces w
WHERE w.org_id = $1 AND w.workspace_id = $2
RETURNING access_id
"""

PRINCIPALS = """
SELECT access_id, principals FROM rag_access_sets
WHERE org_id = $1 AND workspace_id = $2 AND access_id = ANY ($3::integer[])
"""

# Documents, and those that are gone. A set that is not known has no readers.
UNREADABLE = """
SELECT d.document_id
FROM (
    SELECT document_id, access_id FROM rag_documents
    WHERE org_id = $1 AND workspace_id = $2 AND document_id = ANY ($3::uuid[])
    UNION ALL
    SELECT document_id, access_id FROM rag_tombstones
    WHERE org_id = $1 AND workspace_id = $2 AND document_id = ANY ($3)
) d
LEFT JOIN rag_access_sets g ON g.org_id = $1 AND g.workspace_id = $2 AND g.access_id = d.access_id
WHERE d.access_id IS DISTINCT FROM 0 AND NOT coalesce(g.principals && $4::text[], false)
"""

# A set is looked up whether there is a document or none: what is hidden takes the time of what never was.
SEES = """
SELECT coalesce(bool_or(d.access_id = 0 OR g.principals && $4::text[]), false)
FROM (
    SELECT coalesce((
        SELECT access_id FROM rag_documents WHERE org_id = $1 AND workspace_id = $2 AND document_id = $3
    ), -1) AS access_id
    UNION ALL
    SELECT coalesce((
        SELECT access_id FROM rag_tombstones WHERE org_id = $1 AND workspace_id = $2 AND document_id = $3
    ), -1)
) d
LEFT JOIN rag_access_sets g ON g.org_id = $1 AND g.workspace_id = $2 AND g.access_id = d.access_id
"""

OWNS = """
SELECT EXISTS (
    SELECT FROM rag_documents
    WHERE org_id = $1 AND workspace_id = $2 AND uploaded_by = $4 AND document_id = coalesce(
        (SELECT document_id FROM rag_jobs WHERE org_id = $1 AND workspace_id = $2 AND job_id = $3), $3
    )
)
"""

HELD_SETS = """
SELECT access_id, principals FROM rag_access_sets
WHERE org_id = $1 AND workspace_id = $2 AND access_id IN (
    SELECT unnest(ARRAY[access_id, past_access_id]) FROM rag_documents
    WHERE org_id = $1 AND workspace_id = $2 AND document_id = $3
    UNION
    SELECT access_id FROM rag_chunks WHERE org_id = $1 AND workspace_id = $2 AND document_id = $3
)
"""

LOCK_DOCUMENT = """
SELECT access_id, past_access_id, revision_id FROM rag_documents
WHERE org_id = $1 AND workspace_id = $2 AND document_id = $3
FOR NO KEY UPDATE
"""

NEXT_VERSION = noting("""
UPDATE rag_workspaces
SET corpus_version = corpus_version + 1, access_version = corpus_version + 1,
    graph_version = CASE WHEN $3 THEN graph_version ELSE corpus_version + 1 END
WHERE org_id = $1 AND workspace_id = $2
RETURNING corpus_version
""")

SET_DOCUMENT = """
UPDATE rag_documents
SET access_id = $4, past_access_id = $5, corpus_version = coalesce($6, corpus_version), updated_at = now()
WHERE org_id = $1 AND workspace_id = $2 AND document_id = $3
"""

SET_OWNER = """
UPDATE rag_documents SET uploaded_by = $4, updated_at = now()
WHERE org_id = $1 AND workspace_id = $2 AND document_id = $3
"""

SET_WRITERS = """
UPDATE rag_documents SET writers = $4, updated_at = now()
WHERE org_id = $1 AND workspace_id = $2 AND document_id = $3
"""

# The new set of each ordinal of the document. $4: the set of what readers of the newest version see; $5, $6: the sets
# of older text and where each moves, null to move all to $4. An ordinal has one text and one set.
TARGETS = """
SELECT c.ordinal, c.access_id AS held,
       CASE WHEN bool_or(c.visible_to IS NULL) OR $5::integer[] IS NULL THEN $4::integer
            ELSE max(o.access_id) END AS target
FROM rag_chunks c
LEFT JOIN unnest($5::integer[], $6::integer[]) AS o(held, access_id) ON o.held = c.access_id
WHERE c.org_id = $1 AND c.workspace_id = $2 AND c.document_id = $3
GROUP BY c.ordinal, c.access_id
"""

# $3: ordinals, $4: the set of each. One embedding space at a time, by the primary key.
MOVE = """
WITH own AS (
    SELECT * FROM unnest($3::integer[], $4::integer[]) AS t(ordinal, access_id)
), chunks AS (
    UPDATE rag_chunks c SET access_id = own.access_id FROM own
    WHERE c.org_id = $1 AND c.workspace_id = $2 AND c.ordinal = own.ordinal
), vectors AS (
    UPDATE rag_embeddings e SET access_id = own.access_id FROM own
    WHERE e.org_id = $1 AND e.workspace_id = $2 AND e.ordinal = own.ordinal
      AND e.space_id IN (SELECT space_id FROM rag_embedding_spaces WHERE org_id = $1 AND workspace_id = $2)
), mentions AS (
    UPDATE rag_mentions m SET access_id = own.access_id FROM own
    WHERE m.org_id = $1 AND m.workspace_id = $2 AND m.ordinal = own.ordinal
)
INSERT INTO rag_moved_ordinals (org_id, workspace_id, ordinal, access_id)
SELECT $1, $2, ordinal, access_id FROM own
ON CONFLICT (org_id, workspace_id, ordinal) DO UPDATE SET access_id = excluded.access_id
"""


def principals_of(readers: ReadIdentity) -> list[str] | None:
    """The argument of statements that read the sets of a caller."""
    return None if readers.is_unrestricted else list(readers.principals)


async def read_sets_above(
    connection: PostgresConnection, workspace: WorkspaceRef, readers: ReadIdentity, above: int
) -> Row | None:
    """The sets with numbers above `above`, and which of them the caller reads."""
    return await connection.fetchrow(SETS_ABOVE, *workspace.key, principals_of(readers), above)


class PostgresAccessStore:
    """Inside a transaction of one organisation. With `is_followed`, a change enqueues, in this transaction, a job that
    updates the graph outside Postgres. `scopes` holds what the process knows of access sets.
    """

    def __init__(
        self, connection: PostgresConnection, scopes: ReadScopes | None = None, *, is_followed: bool = False
    ) -> None:
        self._connection = connection
        self._scopes = ReadScopes() if scopes is None else scopes
        self._is_followed = is_followed
        self._has_added = False

    async def readable(self, workspace: WorkspaceRef, readers: ReadIdentity) -> ReadScope:
        row = await self._connection.fetchrow(NEWEST_SET, *workspace.key)
        if row is None:
            return NO_SCOPE
        above = partial(read_sets_above, self._connection, workspace, readers)
        return await self._scopes.of(workspace, readers, row, above, is_committed=not self._has_added)

    async def intern(self, workspace: WorkspaceRef, principals: tuple[str, ...]) -> int:
        found: int | None = await self._connection.fetchval(FIND, *workspace.key, principals)
        if found is None:
            await self._connection.execute(LOCK_SETS, workspace.workspace_id)
            found = await self._connection.fetchval(FIND, *workspace.key, principals)
        if found is None:
            found = await self._connection.fetchval(ADD, *workspace.key, principals)
            self._has_added = True
        if found is None:
            raise no_such_workspace()
        return found

    async def principals(self, workspace: WorkspaceRef, access_ids: Collection[int]) -> Mapping[int, tuple[str, ...]]:
        rows = await self._connection.fetch(PRINCIPALS, *workspace.key, sorted(access_ids))
        return {row["access_id"]: tuple(row["principals"]) for row in rows}

    async def shown_version(self, workspace: WorkspaceRef, scope: ReadScope, version: int) -> int:
        return await self._scopes.hidden.shown(self._connection, workspace, scope, version)

    async def stored_version(self, workspace: WorkspaceRef, scope: ReadScope, shown: int) -> int:
        return await self._scopes.hidden.stored(self._connection, workspace, scope, shown)

    async def version_at(self, workspace: WorkspaceRef, instant: datetime) -> int | None:
        return await version_at(self._connection, workspace, instant)

    async def unreadable(
        self, workspace: WorkspaceRef, document_ids: Sequence[UUID], readers: ReadIdentity
    ) -> set[UUID]:
        if readers.is_unrestricted or not document_ids:
            return set()
        rows = await self._connection.fetch(UNREADABLE, *workspace.key, list(document_ids), list(readers.principals))
        return {row["document_id"] for row in rows}

    async def sees(self, workspace: WorkspaceRef, document_id: UUID, readers: ReadIdentity) -> bool:
        found: bool = await self._connection.fetchval(SEES, *workspace.key, document_id, list(readers.principals))
        return found

    async def owns(self, workspace: WorkspaceRef, key: UUID, subject: str) -> bool:
        found: bool = await self._connection.fetchval(OWNS, *workspace.key, key, subject)
        return found

    async def held_sets(self, workspace: WorkspaceRef, document_id: UUID) -> Mapping[int, tuple[str, ...]]:
        rows = await self._connection.fetch(HELD_SETS, *workspace.key, document_id)
        return {row["access_id"]: tuple(row["principals"]) for row in rows}

    async def change(
        self, workspace: WorkspaceRef, document_id: UUID, access_id: int, older: Mapping[int, int] | None = None
    ) -> AccessChange | None:
        """As the port says.

        The document's row is locked before the workspace's, as in publishing, so the second of two sees the first's
        work. The workspace's row also keeps out the filling of an embedding space, which copies access sets from
        chunks.
        """
        key = (*workspace.key, document_id)
        document = await self._connection.fetchrow(LOCK_DOCUMENT, *key)
        if document is None:
            return None
        if document["revision_id"] is None:
            await self._connection.execute(SET_DOCUMENT, *key, access_id, None, None)
            return AccessChange(None, 0)
        moves, held = await self._moves(key, access_id, older)
        past = _past_set(document, access_id, older)
        if document["access_id"] == access_id and not moves:
            if document["past_access_id"] != past:
                await self._connection.execute(SET_DOCUMENT, *key, access_id, past, None)
            return AccessChange(None, 0)
        if self._is_followed:
            await PostgresJobStore(self._connection, workspace.org_id).enqueue(graph_job(workspace))
        version: int = await self._connection.fetchval(NEXT_VERSION, *workspace.key, self._is_followed)
        touched = {document["access_id"], access_id, *moves.values(), *held}
        await note_restricted(self._connection, workspace, version, touched)
        await self._connection.execute(MOVE, *workspace.key, list(moves), list(moves.values()))
        await self._connection.execute(SET_DOCUMENT, *key, access_id, past, version)
        return AccessChange(version, len(moves))

    async def set_owner(self, workspace: WorkspaceRef, document_id: UUID, owner: str) -> None:
        await self._connection.execute(SET_OWNER, *workspace.key, document_id, owner)

    async def set_writers(self, workspace: WorkspaceRef, document_id: UUID, writers: tuple[str, ...]) -> None:
        await self._connection.execute(SET_WRITERS, *workspace.key, document_id, list(writers))

    async def _moves(
        self, key: tuple[UUID, UUID, UUID], access_id: int, older: Mapping[int, int] | None
    ) -> tuple[Mapping[int, int], set[int]]:
        """The ordinals whose set changes, with their new set; and the sets that they leave. Errors: `Retryable`."""
        given = (None, None) if older is None else (list(older), list(older.values()))
        rows = await self._connection.fetch(TARGETS, *key, access_id, *given)
        if any(row["target"] is None for row in rows):
            raise _readers_changed()
        moved = [row for row in rows if row["target"] != row["held"]]
        return {row["ordinal"]: row["target"] for row in moved}, {row["held"] for row in moved}


def _past_set(document: Row, access_id: int, older: Mapping[int, int] | None) -> int | None:
    """The set of those who could read every text that the document had before and may read now; None where it is that
    of its newest text. It outlives older text: a backup may have that. Errors: `Retryable`.
    """
    if older is None:
        return None
    before = document["access_id"] if document["past_access_id"] is None else document["past_access_id"]
    if before not in older:
        raise _readers_changed()
    return None if older[before] == access_id else older[before]


def _readers_changed() -> Retryable:
    return Retryable("The readers of this document changed meanwhile.", code="DATABASE_CONFLICT")
