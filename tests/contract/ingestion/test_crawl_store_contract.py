"""Every store keeps how far a crawl is, and cancels crawls where the web is switched off."""

from dataclasses import replace

from tests.contract.backends import Backend

from agentic_rag.ingestion.web.frontier import FrontierPage, PageState
from agentic_rag.jobs.job import JobKind, JobState, NewJob

FIRST, SECOND = FrontierPage("http://a.example/", 0), FrontierPage("http://a.example/1", 1)


async def test_a_frontier_keeps_each_page_once_and_how_it_ended(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    ended = replace(SECOND, state=PageState.KEPT, size=7, text_hash=b"\x01" * 32, signature=(1, 2**40))
    async with adapter.database.transaction(workspace.org_id) as transaction:
        ref, _ = await transaction.jobs.enqueue(NewJob(workspace, JobKind.CRAWL, "a", {}))
        other, _ = await transaction.jobs.enqueue(NewJob(workspace, JobKind.CRAWL, "b", {}))
        await transaction.crawls.add(ref, [SECOND, FIRST])
        await transaction.crawls.add(other, [FIRST])
        await transaction.crawls.record(ref, ended)
        await transaction.crawls.add(ref, [SECOND])

    async with adapter.database.transaction(workspace.org_id) as transaction:
        assert await transaction.crawls.pages(ref) == [FIRST, ended]
        assert await transaction.crawls.pages(other) == [FIRST]


async def test_crawls_of_a_workspace_are_cancelled_together(adapter: Backend) -> None:
    here = await adapter.workspace()
    there = await adapter.workspace(here.org_id)
    async with adapter.database.transaction(here.org_id) as transaction:
        for key in ("a", "b"):
            await transaction.jobs.enqueue(NewJob(here, JobKind.CRAWL, key, {}))
        ref, _ = await transaction.jobs.enqueue(NewJob(there, JobKind.CRAWL, "a", {}))
        await transaction.jobs.enqueue(NewJob(here, JobKind.COMPACT, "c", {}))

        assert await transaction.jobs.cancel_crawls(here.workspace_id) == 2
        assert await transaction.jobs.cancel_crawls(here.workspace_id) == 0
        left = await transaction.jobs.get(there, ref.job_id)

    assert left is not None
    assert left.state is JobState.QUEUED
