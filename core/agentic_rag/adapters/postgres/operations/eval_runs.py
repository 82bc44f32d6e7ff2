"""`operations.ports.EvalRunStore` on Postgres."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any
from uuid import UUID

from agentic_rag.adapters.postgres.session.connection import PostgresConnection
from agentic_rag.operations.evaluation import EvalDataset, EvalQuestion, EvalRun, EvalScore
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
        questions = tuple(_question(one) for one in row["questions"])
        report = row["report"]
        return EvalRun(
            workspace=workspace,
            job_id=job_id,
            dataset=EvalDataset(row["dataset"], questions),
            k=row["k"],
            answered=row["answered"] if report is None else len(questions),
            report=report,
            created_at=row["created_at"],
        )

    async def scores(self, workspace: WorkspaceRef, job_id: UUID) -> list[EvalScore]:
        rows = await self._connection.fetch(SCORES, *self._key(workspace, job_id))
        return [_score(row["score"]) for row in rows]

    async def keep(self, workspace: WorkspaceRef, job_id: UUID, position: int, score: EvalScore) -> None:
        await self._connection.execute(KEEP, *self._key(workspace, job_id), position, asdict(score))

    async def finish(self, workspace: WorkspaceRef, job_id: UUID, report: str) -> None:
        key = self._key(workspace, job_id)
        await self._connection.execute(FINISH, *key, report)
        await self._connection.execute(FORGET_SCORES, *key)

    def _key(self, workspace: WorkspaceRef, job_id: UUID) -> tuple[UUID, UUID, UUID]:
        return self._org_id, workspace.workspace_id, job_id


def _question(stored: dict[str, Any]) -> EvalQuestion:
    return EvalQuestion(
        question_id=stored["question_id"],
        question=stored["question"],
        answers=tuple(stored["answers"]),
        gold_ids=tuple(stored["gold_ids"]),
        kind=stored["kind"],
        without=tuple(stored["without"]),
        gold_spans=tuple((start, end) for start, end in stored["gold_spans"]),
    )


def _score(stored: dict[str, Any]) -> EvalScore:
    rest = {name: value for name, value in stored.items() if name != "cited"}
    return EvalScore(cited=tuple(stored["cited"]), **rest)
