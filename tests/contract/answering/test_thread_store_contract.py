"""What every `ThreadStore` promises, with the `RunStore` that adds to its threads."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

from tests.builders import run_of
from tests.contract.backends import Backend

from agentic_rag.answering.run import Run
from agentic_rag.answering.runs.run_filter import RunFilter
from agentic_rag.answering.threads.thread import Thread
from agentic_rag.kernel.pagination import Page, PageRequest
from agentic_rag.tenancy.principals import WorkspaceRef

ADA, EVE = "user:ada", "user:eve"


def beginning(workspace: WorkspaceRef, question: str = "What?", subject: str = ADA) -> Run:
    made = run_of(workspace, question=question)
    return replace(made, subject=subject, thread=made.run_id)


def following(first: Run, question: str = "And when?") -> Run:
    return replace(run_of(first.workspace, question=question), subject=first.subject, thread=first.thread)


async def listed(adapter: Backend, workspace: WorkspaceRef, subject: str = ADA, size: int = 20) -> Page[Thread]:
    async with adapter.database.transaction(workspace.org_id) as transaction:
        return await transaction.threads.page(workspace, subject, PageRequest(size))


async def deleted(adapter: Backend, run: Run, subject: str = ADA) -> int | None:
    assert run.thread is not None
    async with adapter.database.transaction(run.workspace.org_id) as transaction:
        return await transaction.threads.delete(run.workspace, run.thread, subject)


async def test_a_run_begins_a_thread_and_the_next_ones_are_its_turns(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    first = beginning(workspace, "Who  signs\nthe lease?")
    second, apart = following(first), run_of(workspace)

    await adapter.runs.record([first])
    await adapter.runs.record([second, apart])

    (thread,) = (await listed(adapter, workspace)).items
    assert thread == Thread(workspace, first.run_id, ADA, None, first.question, 2, first.created_at, second.created_at)
    assert thread.shown_title == "Who signs the lease?"
    of_thread = await adapter.runs.page(workspace, PageRequest(), RunFilter(thread=first.run_id))
    assert of_thread.items == (second, first)
    assert await adapter.runs.count(workspace, RunFilter(thread=first.run_id)) == 2
    assert await adapter.runs.get(workspace, second.run_id) == second


async def test_threads_are_paged_by_their_last_question(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    first, second = beginning(workspace), beginning(workspace)
    await adapter.runs.record([first, second])
    await adapter.runs.record([following(first)])

    page = await listed(adapter, workspace, size=1)
    async with adapter.database.transaction(workspace.org_id) as transaction:
        rest = await transaction.threads.page(workspace, ADA, PageRequest(1, page.cursors[-1]))

    assert [one.thread_id for one in (*page.items, *rest.items)] == [first.run_id, second.run_id]
    assert (page.has_next, rest.has_next) == (True, False)


async def test_a_thread_is_of_its_subject_alone(adapter: Backend) -> None:
    workspace, other = await adapter.workspace(), await adapter.workspace()
    first = beginning(workspace)
    await adapter.runs.record([first])

    assert (await listed(adapter, workspace, EVE)).items == (await listed(adapter, other)).items == ()
    async with adapter.database.transaction(workspace.org_id) as transaction:
        assert await transaction.threads.get(workspace, first.run_id, EVE) is None
        await transaction.threads.rename(workspace, first.run_id, EVE, "Mine")
    assert await deleted(adapter, first, EVE) is None
    stranger = replace(following(first), subject=EVE)
    await adapter.runs.record([stranger])
    assert await adapter.runs.get(workspace, stranger.run_id) is None
    (kept,) = (await listed(adapter, workspace)).items
    assert (kept.title, kept.turns) == (None, 1)


async def test_a_deleted_thread_takes_its_runs_with_it_and_no_later_one_comes(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    first, apart = beginning(workspace), run_of(workspace)
    second, late = following(first), following(first)
    await adapter.runs.record([first, apart])
    await adapter.runs.record([second])

    assert await deleted(adapter, first) == 2
    await adapter.runs.record([late, after := run_of(workspace)])

    assert await deleted(adapter, first) is None
    assert (await listed(adapter, workspace)).items == ()
    assert {one.run_id for one in (await adapter.runs.page(workspace, PageRequest())).items} == {
        apart.run_id,
        after.run_id,
    }


async def test_a_run_is_deleted_by_its_subject_alone_and_its_thread_goes_on(adapter: Backend) -> None:
    workspace, other = await adapter.workspace(), await adapter.workspace()
    first = beginning(workspace)
    second = following(first)
    await adapter.runs.record([first])
    await adapter.runs.record([second])

    async with adapter.database.transaction(workspace.org_id) as transaction:
        foreign = await transaction.threads.delete_run(workspace, first.run_id, EVE)
        elsewhere = await transaction.threads.delete_run(other, first.run_id, ADA)
        gone = await transaction.threads.delete_run(workspace, first.run_id, ADA)
        again = await transaction.threads.delete_run(workspace, first.run_id, ADA)

    assert (foreign, elsewhere, gone, again) == (False, False, True, False)
    assert await adapter.runs.get(workspace, first.run_id) is None
    (thread,) = (await listed(adapter, workspace)).items
    assert (thread.oldest_question, thread.turns) == (second.question, 1)


async def test_a_name_stays_until_the_thread_goes(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    first = beginning(workspace)
    await adapter.runs.record([first])

    async with adapter.database.transaction(workspace.org_id) as transaction:
        await transaction.threads.rename(workspace, first.run_id, ADA, "The lease")
        await transaction.threads.rename(workspace, uuid4(), ADA, "Nothing")

    (thread,) = (await listed(adapter, workspace)).items
    assert (thread.title, thread.shown_title) == ("The lease", "The lease")


async def test_runs_past_their_keeping_leave_their_thread_and_the_last_one_takes_it_along(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    now, past = datetime.now(UTC), timedelta(days=31)
    aged = beginning(workspace, "The old question?")
    first = replace(aged, created_at=now - past)
    young = replace(following(first, "The young question?"), created_at=now)
    gone = replace(beginning(workspace), created_at=now - past)
    await adapter.runs.record([first, gone])
    await adapter.runs.record([young])

    async with adapter.database.transaction(workspace.org_id) as transaction:
        await transaction.workspaces.apply_retention(workspace)

    (thread,) = (await listed(adapter, workspace)).items
    assert (thread.thread_id, thread.shown_title, thread.turns) == (first.run_id, "The young question?", 1)
    assert await deleted(adapter, gone) is None


async def test_a_run_whose_idempotency_key_is_known_begins_no_thread(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    held = run_of(workspace, idempotency_key="k", input_hash=b"1" * 32)
    again = run_of(workspace, idempotency_key="k", input_hash=b"1" * 32)
    again = replace(again, subject=ADA, thread=again.run_id)
    await adapter.runs.record([held], durable=True)

    await adapter.runs.record([again], durable=True)

    assert (await listed(adapter, workspace)).items == ()
