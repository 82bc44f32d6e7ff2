"""`operations.ports.EvalRunStore` on Postgres."""

from __future__ import annotations

from dataclasses import asdict
from uuid import UUID

import msgspec

from agentic_rag.adapters.postgres.session.connection import PostgresConnection, value_from
from agentic_rag.operations.evaluation import EvalDataset, EvalRun, EvalScore
from agentic_rag.tenancy.principals import WorkspaceRef

BEGIN = """
INSERT INTO rag_eval_runs (org_id, workspace_id, job_id, dataset, k, questions) VALUES ($1, $2, $3, $4, $5, $6)
"""

GET = """
SELECT dataset, k, questions, report, created_at,
       (SELECT count(*) FROM rag_eval_scores s
        WHERE s.org_id = r.org_id AND s.workspace_id = r.workspace_id AND s.job_id = r.job_id) AS answered
FROM rag_eval_runs r
WHERE org_id = $1 AND workspace_id = $2 AND job_id = $3
"""

SCORES = """
SELECT score FROM rag_eval_scores WHERE org_id = $1 AND workspace_id = $2 AND job_id = $3 ORDER BY position
"""

KEEP = """
INSERT INTO rag_eval_scores (org_id, workspace_id, job_id, position, score) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (org_id, workspace_id, job_id, position) DO UPDATE SET score = excluded.score
"""

FINISH = "UPDATE rag_eval_runs SET report = $4 WHERE org_id = $1 AND workspace_id = $2 AND job_id = $3"

FORGET_SCORES = "DELETE FROM rag_eval_scores WHERE org_id = $1 AND workspace_id = $2 AND job_id = $3"


class PostgresEvalRunStore:
    """On a connection whose transaction is open and set to `org_id`."""

    def __init__(self, connection: PostgresConnection, org_id: UUID) -> None:
        self._connection = connection
        self._org_id = org_id

    async def begin(self, workspace: WorkspaceRef, job_id: UUID, asked: EvalDataset, k: int) -> None:
        questions = [asdict(one) for one in asked.questions]
        await self._connection.execute(BEGIN, *self._key(workspace, job_id), asked.name, k, questions)

    async def get(self, workspace: WorkspaceRef, job_id: UUID) -> EvalRun | None:
        row = await self._connection.fetchrow(GET, *self._key(workspace, job_id))
        if row is None:
            return None
        dataset = msgspec.convert({"name": row["dataset"], "questions": row["questions"]}, EvalDataset)
        answered = row["answered"] if row["report"] is None else len(dataset.questions)
        return value_from(EvalRun, row, workspace=workspace, job_id=job_id, dataset=dataset, answered=answered)

    async def scores(self, workspace: WorkspaceRef, job_id: UUID) -> list[EvalScore]:
        rows = await self._connection.fetch(SCORES, *self._key(workspace, job_id))
        return [msgspec.convert(row["score"], EvalScore) for row in rows]

    async def keep(self, workspace: WorkspaceRef, job_id: UUID, position: int, score: EvalScore) -> None:
        await self._connection.execute(KEEP, *self._key(workspace, job_id), position, asdict(score))

    async def finish(self, workspace: WorkspaceRef, job_id: UUID, report: str) -> None:
        key = self._key(workspace, job_id)
        await self._connection.execute(FINISH, *key, report)
        await self._connection.execute(FORGET_SCORES, *key)

    def _key(self, workspace: WorkspaceRef, job_id: UUID) -> tuple[UUID, UUID, UUID]:
        return self._org_id, workspace.workspace_id, job_id
