"""`answering.ports.SavedStore` on Postgres."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from agentic_rag.adapters.postgres.session.connection import PostgresConnection, Row, value_from
from agentic_rag.answering.saved.saved_question import NotCompared, Replayed, SavedQuestion, SavedState
from agentic_rag.tenancy.principals import KeyScope, Principal, Role, SubjectKind, WorkspaceRef

EVERY = """
SELECT saved_id, kind, subject, role, groups, scopes, question, run_id, saved_at, seen_at, checked_at,
       state, version, newer_run_id, reason, stage, what, removed, added
FROM rag_saved_questions
WHERE org_id = $1 AND workspace_id = $2
ORDER BY saved_at, saved_id
"""

# Those who save at the same time wait for each other, so that they do not pass the limit together.
LOCK = "SELECT pg_advisory_xact_lock(hashtextextended($1::text, 2))"

PUT = """
INSERT INTO rag_saved_questions (org_id, workspace_id, saved_id, kind, subject, role, groups, scopes, question, run_id,
                                 saved_at, seen_at, checked_at, state, version, newer_run_id, reason, stage, what,
                                 removed, added)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21)
ON CONFLICT (org_id, workspace_id, saved_id) DO UPDATE
SET role = excluded.role, groups = excluded.groups, scopes = excluded.scopes, run_id = excluded.run_id,
    seen_at = excluded.seen_at, checked_at = excluded.checked_at, state = excluded.state, version = excluded.version,
    newer_run_id = excluded.newer_run_id, reason = excluded.reason, stage = excluded.stage, what = excluded.what,
    removed = excluded.removed, added = excluded.added
"""

NOTE_RIGHTS = """
UPDATE rag_saved_questions SET role = $5, groups = $6, scopes = $7, seen_at = $8
WHERE org_id = $1 AND workspace_id = $2 AND kind = $3 AND subject = $4
"""

# A question that was saved anew meanwhile is compared with another run.
NOTE = """
UPDATE rag_saved_questions
SET run_id = $5, checked_at = $6, state = $7, version = $8, newer_run_id = $9, reason = $10, stage = $11, what = $12,
    removed = $13, added = $14
WHERE org_id = $1 AND workspace_id = $2 AND saved_id = $3 AND run_id = $4
"""

REMOVE = """
DELETE FROM rag_saved_questions
WHERE org_id = $1 AND workspace_id = $2 AND saved_id = $3 AND kind || ':' || subject = $4
"""


class PostgresSavedStore:
    """On a connection whose transaction is open and set to `org_id`."""

    def __init__(self, connection: PostgresConnection) -> None:
        self._connection = connection

    async def every(self, workspace: WorkspaceRef) -> list[SavedQuestion]:
        await self._connection.execute(LOCK, str(workspace.workspace_id))
        rows = await self._connection.fetch(EVERY, *workspace.key)
        return [_question_of(workspace, row) for row in rows]

    async def put(self, saved: SavedQuestion) -> None:
        await self._connection.execute(
            PUT,
            *saved.workspace.key,
            saved.saved_id,
            *_subject(saved.principal),
            *_rights(saved.principal),
            saved.question,
            saved.run_id,
            saved.saved_at,
            saved.seen_at,
            saved.checked_at,
            *_replay_values(saved.replayed),
        )

    async def note_rights(self, workspace: WorkspaceRef, principal: Principal, now: datetime) -> None:
        await self._connection.execute(NOTE_RIGHTS, *workspace.key, *_subject(principal), *_rights(principal), now)

    async def note(self, saved: SavedQuestion, found: Replayed, checked_at: datetime | None) -> None:
        run_id = found.run_id if found.state is SavedState.SAME and found.run_id is not None else saved.run_id
        await self._connection.execute(
            NOTE, *saved.workspace.key, saved.saved_id, saved.run_id, run_id, checked_at, *_replay_values(found)
        )

    async def remove(self, workspace: WorkspaceRef, saved_id: UUID, subject: str) -> bool:
        return await self._connection.change(REMOVE, *workspace.key, saved_id, subject) > 0


def _subject(principal: Principal) -> tuple[str, str]:
    return principal.kind.value, principal.subject


def _rights(principal: Principal) -> tuple[object, ...]:
    scopes = None if principal.scopes is None else sorted(one.value for one in principal.scopes)
    return principal.role.value, list(principal.groups), scopes


def _replay_values(found: Replayed) -> tuple[object, ...]:
    reason = None if found.reason is None else found.reason.value
    return (
        found.state.value,
        found.version,
        found.run_id,
        reason,
        found.stage,
        found.what,
        found.removed,
        found.added,
    )


def _question_of(workspace: WorkspaceRef, row: Row) -> SavedQuestion:
    scopes = row["scopes"]
    principal = Principal(
        workspace.org_id,
        row["subject"],
        Role(row["role"]),
        tuple(row["groups"]),
        None if scopes is None else frozenset(KeyScope(one) for one in scopes),
        SubjectKind(row["kind"]),
    )
    replayed = value_from(
        Replayed,
        row,
        state=SavedState(row["state"]),
        run_id=row["newer_run_id"],
        reason=None if row["reason"] is None else NotCompared(row["reason"]),
    )
    return value_from(SavedQuestion, row, workspace=workspace, principal=principal, replayed=replayed)
