"""`answering.ports.GateLog` on Postgres, and the statement that stores decisions beside their runs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

import msgspec

from agentic_rag.adapters.postgres.session.connection import PostgresConnection, Row, value_from
from agentic_rag.adapters.postgres.session.pool import PostgresPool
from agentic_rag.answering.feedback.feedback import Feedback, FeedbackKind, FeedbackReason, Rating, TaskOutcome
from agentic_rag.answering.gate.rollback import REST, Rollback
from agentic_rag.answering.gate.stored_decision import StoredDecision, decision_to_store
from agentic_rag.answering.gate_decision import Downgrade, DowngradeCause, FeatureContribution
from agentic_rag.answering.ports import MOST_LOOKED_THROUGH
from agentic_rag.answering.run import Run
from agentic_rag.tenancy.principals import WorkspaceRef

_COLUMNS = """
    run_id, decided_at, weights_version, mode, care, score, plan_type, planned, intent, contributions, downgrades,
    seconds, cost_usd, tokens, deploy, external_calls, gained
"""

# Skips decisions of runs that were not inserted because their idempotency key exists.
ADD_DECISIONS = f"""
INSERT INTO rag_gate_decisions (org_id, workspace_id, {_COLUMNS})
SELECT $1, d.workspace_id, d.run_id, d.decided_at, d.weights_version, d.mode, d.care, d.score, d.plan_type, d.planned,
       d.intent, d.contributions::jsonb, d.downgrades::jsonb, d.seconds, d.cost_usd, d.tokens, d.deploy,
       d.external_calls, d.gained
FROM unnest($2::uuid[], $3::uuid[], $4::timestamptz[], $5::text[], $6::text[], $7::float8[], $8::float8[], $9::text[],
            $10::text[], $11::text[], $12::text[], $13::text[], $14::float8[], $15::float8[], $16::bigint[],
            $17::text[], $18::integer[], $19::boolean[])
    AS d(workspace_id, {_COLUMNS})
JOIN rag_runs r ON r.org_id = $1 AND r.workspace_id = d.workspace_id AND r.run_id = d.run_id
ON CONFLICT DO NOTHING
"""  # noqa: S608 - a constant list of columns

DECISIONS = """
SELECT d.*
FROM rag_gate_decisions d
JOIN rag_runs r USING (org_id, workspace_id, run_id)
WHERE d.org_id = $1 AND d.workspace_id = $2 AND d.decided_at >= $3 AND ($4::text IS NULL OR r.subject = $4)
  AND ($6::text IS NULL OR d.mode = $6)
ORDER BY d.decided_at DESC, d.run_id DESC
LIMIT $5
"""

# Every process asks twice a minute: a plan that nobody takes must not cost a look at all decisions of a month.
DECISIONS_OF_PLAN = f"""
SELECT d.*
FROM (
    SELECT *
    FROM rag_gate_decisions
    WHERE org_id = $1 AND workspace_id = $2 AND decided_at >= $3
    ORDER BY decided_at DESC, run_id DESC
    LIMIT {MOST_LOOKED_THROUGH}
) d
WHERE d.plan_type = $4 AND ($6::text IS NULL OR coalesce(d.deploy, '') <> $6)
ORDER BY d.decided_at DESC, d.run_id DESC
LIMIT $5
"""  # noqa: S608 - a constant number

_FEEDBACK_COLUMNS = "run_id, subject, given_at, rating, reason, task_outcome, chunk_ids, precision_at_k"

# No row where the run is not stored: it is waited for, or gone with its days.
ADD_FEEDBACK = f"""
INSERT INTO rag_feedback (org_id, workspace_id, {_FEEDBACK_COLUMNS})
SELECT r.org_id, r.workspace_id, r.run_id, $4, $5, $6, $7, $8, $9, $10
FROM rag_runs r
WHERE r.org_id = $1 AND r.workspace_id = $2 AND r.run_id = $3
ON CONFLICT (org_id, workspace_id, run_id, subject) DO UPDATE
SET given_at = excluded.given_at, rating = excluded.rating, reason = excluded.reason,
    task_outcome = excluded.task_outcome, chunk_ids = excluded.chunk_ids, precision_at_k = excluded.precision_at_k
"""  # noqa: S608 - a constant list of columns

# A later one of the same kind says nothing new.
ADD_IMPLICIT_FEEDBACK = """
INSERT INTO rag_implicit_feedback (org_id, workspace_id, run_id, subject, kind, given_at, rating)
SELECT r.org_id, r.workspace_id, r.run_id, $4, $5, $6, $7
FROM rag_runs r
WHERE r.org_id = $1 AND r.workspace_id = $2 AND r.run_id = $3
ON CONFLICT DO NOTHING
"""

FEEDBACK_OF = f"""
SELECT {_FEEDBACK_COLUMNS}, 'said' AS kind
FROM rag_feedback
WHERE org_id = $1 AND workspace_id = $2 AND run_id = $3 AND ($4::text IS NULL OR subject = $4)
ORDER BY given_at, subject
"""  # noqa: S608 - a constant list of columns

FEEDBACK_ON = f"""
SELECT {_FEEDBACK_COLUMNS}, 'said' AS kind
FROM rag_feedback
WHERE org_id = $1 AND workspace_id = $2 AND run_id = ANY ($3::uuid[])
UNION ALL
SELECT run_id, subject, given_at, rating, NULL, NULL, '{{}}'::uuid[], NULL, kind
FROM rag_implicit_feedback
WHERE org_id = $1 AND workspace_id = $2 AND run_id = ANY ($3::uuid[])
ORDER BY given_at DESC, subject, run_id, kind
"""  # noqa: S608 - a constant list of columns

ROLLBACKS = """
SELECT plan, cause, reason, began_at, deploy
FROM rag_gate_rollbacks
WHERE org_id = $1 AND workspace_id = $2 AND began_at >= $3
ORDER BY began_at DESC, plan
"""

ADD_ROLLBACK = """
INSERT INTO rag_gate_rollbacks (org_id, workspace_id, plan, cause, reason, began_at, deploy)
SELECT $1, $2, $3, $4, $5, $6, $7
WHERE NOT EXISTS (
    SELECT FROM rag_gate_rollbacks
    WHERE org_id = $1 AND workspace_id = $2 AND plan = $3 AND deploy = $7 AND began_at > $8 AND began_at <= $6
)
ON CONFLICT DO NOTHING
"""


async def add_decisions(connection: PostgresConnection, org_id: UUID, runs: Sequence[Run], deploy: str) -> None:
    """Store the decisions of runs of one organisation, in the transaction that stored the runs."""
    rows = [_arguments(run, one) for run in runs if (one := decision_to_store(run, deploy)) is not None]
    if rows:
        await connection.execute(ADD_DECISIONS, org_id, *[list(column) for column in zip(*rows, strict=True)])


class PostgresGateLog:
    """Opens its own transactions."""

    def __init__(self, pool: PostgresPool) -> None:
        self._pool = pool

    async def decisions(
        self,
        workspace: WorkspaceRef,
        since: datetime,
        subject: str | None,
        most: int,
        *,
        mode: str | None = None,
    ) -> list[StoredDecision]:
        async with self._pool.transaction(workspace.org_id) as connection:
            rows = await connection.fetch(DECISIONS, *workspace.key, since, subject, most, mode)
        return [_decision(row) for row in rows]

    async def decisions_of_plan(
        self, workspace: WorkspaceRef, since: datetime, plan: str, most: int, *, but_deploy: str | None = None
    ) -> list[StoredDecision]:
        async with self._pool.transaction(workspace.org_id) as connection:
            rows = await connection.fetch(DECISIONS_OF_PLAN, *workspace.key, since, plan, most, but_deploy)
        return [_decision(row) for row in rows]

    async def rollbacks(self, workspace: WorkspaceRef, since: datetime) -> list[Rollback]:
        async with self._pool.transaction(workspace.org_id) as connection:
            rows = await connection.fetch(ROLLBACKS, *workspace.key, since)
        return [value_from(Rollback, row, cause=DowngradeCause(row["cause"])) for row in rows]

    async def add_rollback(self, workspace: WorkspaceRef, rollback: Rollback) -> None:
        one = rollback
        values = one.plan, one.cause.value, one.reason, one.began_at, one.deploy, one.began_at - REST
        async with self._pool.transaction(workspace.org_id) as connection:
            await connection.execute(ADD_ROLLBACK, *workspace.key, *values)

    async def add_feedback(self, workspace: WorkspaceRef, feedback: Feedback) -> bool:
        if feedback.kind is not FeedbackKind.SAID:
            return await self._add_implicit(workspace, feedback)
        values = (
            feedback.run_id,
            feedback.subject,
            feedback.given_at,
            feedback.rating.value,
            None if feedback.reason is None else feedback.reason.value,
            None if feedback.task_outcome is None else feedback.task_outcome.value,
            list(feedback.chunk_ids),
            feedback.precision,
        )
        async with self._pool.transaction(workspace.org_id) as connection:
            return await connection.execute(ADD_FEEDBACK, *workspace.key, *values) != "INSERT 0 0"

    async def _add_implicit(self, workspace: WorkspaceRef, one: Feedback) -> bool:
        values = one.run_id, one.subject, one.kind.value, one.given_at, one.rating.value
        async with self._pool.transaction(workspace.org_id) as connection:
            return await connection.execute(ADD_IMPLICIT_FEEDBACK, *workspace.key, *values) != "INSERT 0 0"

    async def feedback_of(self, workspace: WorkspaceRef, run_id: UUID, subject: str | None) -> list[Feedback]:
        async with self._pool.transaction(workspace.org_id) as connection:
            rows = await connection.fetch(FEEDBACK_OF, *workspace.key, run_id, subject)
        return [_feedback(row) for row in rows]

    async def feedback_on(self, workspace: WorkspaceRef, run_ids: Sequence[UUID]) -> list[Feedback]:
        async with self._pool.transaction(workspace.org_id) as connection:
            rows = await connection.fetch(FEEDBACK_ON, *workspace.key, list(run_ids))
        return [_feedback(row) for row in rows]


def _arguments(run: Run, one: StoredDecision) -> tuple[object, ...]:
    return (
        run.workspace.workspace_id,
        one.run_id,
        one.decided_at,
        one.weights_version,
        one.mode,
        one.care,
        one.score,
        one.plan_type,
        one.planned,
        one.intent,
        msgspec.json.encode(one.contributions).decode(),
        msgspec.json.encode(one.downgrades).decode(),
        one.seconds,
        one.cost_usd,
        one.tokens,
        one.deploy,
        one.external_calls,
        one.gained,
    )


def _decision(row: Row) -> StoredDecision:
    return value_from(
        StoredDecision,
        row,
        contributions=msgspec.convert(row["contributions"], tuple[FeatureContribution, ...]),
        downgrades=msgspec.convert(row["downgrades"], tuple[Downgrade, ...]),
        deploy=row["deploy"] or "",
    )


def _feedback(row: Row) -> Feedback:
    reason, outcome = row["reason"], row["task_outcome"]
    return value_from(
        Feedback,
        row,
        rating=Rating(row["rating"]),
        reason=None if reason is None else FeedbackReason(reason),
        task_outcome=None if outcome is None else TaskOutcome(outcome),
        chunk_ids=tuple(row["chunk_ids"]),
        precision=row["precision_at_k"],
        kind=FeedbackKind(row["kind"]),
    )
