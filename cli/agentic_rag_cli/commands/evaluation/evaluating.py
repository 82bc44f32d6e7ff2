"""Evaluations as jobs: starts one and fetches its report."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from agentic_rag.kernel.errors import NotFound
from agentic_rag.kernel.public_ids import NodeKind
from agentic_rag.operations.evaluation import EvalDataset, EvalRun, read_figures
from agentic_rag_cli.client import queries
from agentic_rag_cli.client.graphql_client import GraphQLClient
from agentic_rag_cli.client.ids import node_id


async def start(client: GraphQLClient, workspace: str | None, asked: EvalDataset) -> str:
    """Queue an evaluation; returns the public id of its job."""
    questions = [
        {
            "id": one.question_id,
            "question": one.question,
            "answers": list(one.answers),
            "goldIds": list(one.gold_ids),
            "type": one.kind,
            "without": list(one.without),
            "goldSpans": [list(span) for span in one.gold_spans],
        }
        for one in asked.questions
    ]
    chosen = await client.workspace_id(workspace)
    wish = {"workspaceId": chosen, "dataset": asked.name, "questions": questions}
    return (await client.fetch(queries.START_EVAL_RUN, input=wish))["evalRun"]["jobId"]


async def read_report(client: GraphQLClient, job: str, workspace: str | None) -> Mapping[str, Any]:
    """The report of a job. Errors: `NotFound` codes EVALUATION_NOT_FOUND, REPORT_MISSING (not finished yet)."""
    chosen = await client.workspace_id(workspace, job)
    found = await client.fetch(queries.EVAL_RUN, jobId=node_id(chosen, job, NodeKind.JOB))
    if found is None:
        raise NotFound(f"{job} is no evaluation; `rag job list` shows the jobs.", code="EVALUATION_NOT_FOUND")
    if found["report"] is None:
        raise NotFound(
            f"{found['answered']} of {found['questions']} questions are answered: `rag job show {job}` tells how the "
            "work stands.",
            code="REPORT_MISSING",
        )
    return json.loads(found["report"])


def eval_json(run: EvalRun) -> dict[str, Any]:
    """The progress of an evaluation, and its figures once it is finished."""
    figures = {} if run.report is None else read_figures(run.report)
    return {
        "dataset": run.dataset.name,
        "questions": len(run.dataset.questions),
        "answered": run.answered,
        "figures": {name: one.mean for name, one in figures.items()},
    }
