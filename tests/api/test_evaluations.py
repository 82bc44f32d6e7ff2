"""Evaluations through GraphQL: started by admins, once for the same questions, read by the id of their job."""

import json
from typing import Any
from uuid import UUID

import pytest

from agentic_rag.adapters.system.clock import SystemClock
from agentic_rag.kernel.pagination import PageRequest
from agentic_rag.kernel.public_ids import encode_workspace
from agentic_rag.operations.start_evaluation import Evaluations
from agentic_rag.workspaces.settings import WorkspaceSettings
from agentic_rag.workspaces.workspace import WorkspaceKind
from tests.api.builders import ORG, WORKSPACE, WORKSPACE_ID, Container, numbered, query
from tests.memory_store.session.database import MemoryDatabase
from tests.memory_store.session.store import MemoryStore
from tests.memory_store.telemetry import RecordingTelemetry

START = """mutation($input: StartEvalRunInput!) {
  startEvalRun(input: $input) {
    evalRun { jobId dataset k questions answered report figures { name } job { kind state } } userErrors { code }
  }
}"""
READ = "query($id: ID!) { evalRun(jobId: $id) { answered report figures { name mean low high questions } } }"
QUESTION = {"id": "1", "question": "Who signs?", "goldIds": ["policy.md"], "goldSpans": [[3, 7]]}
REPORT = json.dumps(
    {"summary": {"figures": {"hit_rate": {"mean": 0.5, "low": 0.0, "high": 1.0, "questions": 2}}}, "questions": []}
)


@pytest.fixture
async def container() -> Container:
    """Memory stores with one workspace; nobody works, so nothing is answered."""
    database = MemoryDatabase(MemoryStore(SystemClock()))
    async with database.transaction(ORG) as transaction:
        await transaction.workspaces.create(WORKSPACE, "w", WorkspaceKind.GENERAL, None, WorkspaceSettings())
    return Container(database=database, evaluations=Evaluations(database, RecordingTelemetry(), 8))


async def start(container: Container, **changes: Any) -> dict[str, Any]:
    given = {"workspaceId": WORKSPACE_ID, "dataset": "mine", "questions": [QUESTION], **changes}
    return (await query(container, START, {"input": given}))["data"]["startEvalRun"]


async def the_job(container: Container) -> UUID:
    async with container.database.transaction(ORG) as transaction:
        workspace = (await transaction.workspaces.get(WORKSPACE)).ref
        [job] = (await transaction.jobs.page(workspace, PageRequest(10))).items
        await transaction.eval_runs.finish(workspace, job.job_id, REPORT)
    return job.job_id


async def test_an_evaluation_is_queued_once_for_the_same_questions(container: Container) -> None:
    first, second = await start(container), await start(container)
    other = await start(container, questions=[{**QUESTION, "question": "Who pays?"}])

    assert first["userErrors"] == []
    assert first["evalRun"] | {"jobId": ""} == {
        "jobId": "", "dataset": "mine", "k": 8, "questions": 1, "answered": 0, "report": None, "figures": [],
        "job": {"kind": "EVAL", "state": "QUEUED"},
    }  # fmt: skip
    assert second["evalRun"]["jobId"] == first["evalRun"]["jobId"] != other["evalRun"]["jobId"]


async def test_its_report_and_its_figures_are_read_by_the_job(container: Container) -> None:
    job_id = (await start(container))["evalRun"]["jobId"]
    await the_job(container)

    found = (await query(container, READ, {"id": job_id}))["data"]["evalRun"]

    assert found["answered"] == 1
    assert json.loads(found["report"]) == json.loads(REPORT)
    assert found["figures"] == [{"name": "hit_rate", "mean": 0.5, "low": 0.0, "high": 1.0, "questions": 2}]


@pytest.mark.parametrize(
    "changes",
    [
        {"questions": []},
        {"dataset": " "},
        {"questions": [{**QUESTION, "question": " "}]},
        {"questions": [{**QUESTION, "goldSpans": [[7, 3]]}]},
        {"questions": [{**QUESTION, "goldSpans": [[7]]}]},
        {"questions": [{**QUESTION, "goldIds": []}]},
    ],
)
async def test_questions_that_cannot_be_judged_are_refused(container: Container, changes: dict[str, Any]) -> None:
    assert await start(container, **changes) == {"evalRun": None, "userErrors": [{"code": "DATASET_INVALID"}]}


async def test_an_unknown_workspace_is_a_fault_of_the_caller(container: Container) -> None:
    refused = await start(container, workspaceId=encode_workspace(numbered(77)))

    assert refused == {"evalRun": None, "userErrors": [{"code": "WORKSPACE_NOT_FOUND"}]}


async def test_evaluations_take_the_role_admin(container: Container) -> None:
    job_id = (await start(container))["evalRun"]["jobId"]
    given = {"workspaceId": WORKSPACE_ID, "dataset": "mine", "questions": [QUESTION]}

    for document, variables in ((START, {"input": given}), (READ, {"id": job_id})):
        refused = await query(container, document, variables, token="viewer-token")
        assert refused["errors"][0]["extensions"]["code"] == "FORBIDDEN"
