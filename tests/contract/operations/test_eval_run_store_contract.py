"""Every store of evaluations: scores are kept in the order of the questions until the report takes their place."""

from uuid import UUID, uuid4

from tests.contract.backends import Backend

from agentic_rag.jobs.job import JobKind, NewJob
from agentic_rag.kernel.database import Transaction
from agentic_rag.operations.evaluation import EvalDataset, EvalQuestion, EvalScore
from agentic_rag.tenancy.principals import WorkspaceRef

ASKED = EvalDataset(
    "mine",
    (
        EvalQuestion("1", "Who signs?", ("Oona",), ("policy.md",), "single", gold_spans=((3, 7),)),
        EvalQuestion("2", "Who flies?", (), (), "unanswerable", without=("policy.md",)),
    ),
)


def scored(outcome: str) -> EvalScore:
    return EvalScore(
        outcome, outcome == "ABSTAINED", {"hit_rate": 0.5}, ("policy.md",), "run", 0.25, {"plan": 0.1}, 7, 0.5, "SLOW"
    )


async def begun(transaction: Transaction, workspace: WorkspaceRef) -> UUID:
    ref, _ = await transaction.jobs.enqueue(NewJob(workspace, JobKind.EVAL, str(uuid4()), {}))
    await transaction.eval_runs.begin(workspace, ref.job_id, ASKED, 8)
    return ref.job_id


async def test_what_was_asked_comes_back_as_it_was_given(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    async with adapter.database.transaction(workspace.org_id) as transaction:
        job_id = await begun(transaction, workspace)
        found = await transaction.eval_runs.get(workspace, job_id)
        scores = await transaction.eval_runs.scores(workspace, job_id)

    assert found is not None
    assert (found.dataset, found.k, found.answered, found.report) == (ASKED, 8, 0, None)
    assert list(scores) == []


async def test_scores_come_back_in_the_order_of_the_questions_and_the_last_word_counts(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    async with adapter.database.transaction(workspace.org_id) as transaction:
        job_id = await begun(transaction, workspace)
        for position, outcome in ((1, "ABSTAINED"), (0, "CONFLICTING"), (0, "GROUNDED")):
            await transaction.eval_runs.keep(workspace, job_id, position, scored(outcome))
        found = await transaction.eval_runs.get(workspace, job_id)
        scores = await transaction.eval_runs.scores(workspace, job_id)

    assert list(scores) == [scored("GROUNDED"), scored("ABSTAINED")]
    assert found is not None
    assert found.answered == 2


async def test_the_report_takes_the_place_of_the_scores(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    async with adapter.database.transaction(workspace.org_id) as transaction:
        job_id = await begun(transaction, workspace)
        await transaction.eval_runs.keep(workspace, job_id, 0, scored("GROUNDED"))
        await transaction.eval_runs.finish(workspace, job_id, '{"summary": 1.50}')
        found = await transaction.eval_runs.get(workspace, job_id)
        scores = await transaction.eval_runs.scores(workspace, job_id)

    assert found is not None
    assert (found.report, found.answered) == ('{"summary": 1.50}', 2)
    assert list(scores) == []


async def test_other_workspaces_and_organisations_see_nothing_of_it(adapter: Backend) -> None:
    ours, theirs = await adapter.workspace(), await adapter.workspace()
    beside = await adapter.workspace(ours.org_id)
    async with adapter.database.transaction(ours.org_id) as transaction:
        job_id = await begun(transaction, ours)
        await transaction.eval_runs.keep(ours, job_id, 0, scored("GROUNDED"))

        assert await transaction.eval_runs.get(beside, job_id) is None
    async with adapter.database.transaction(theirs.org_id) as transaction:
        assert await transaction.eval_runs.get(theirs, job_id) is None
        assert list(await transaction.eval_runs.scores(theirs, job_id)) == []
