"""Pages that the web brought are asked for again: when, under whose leave, and what comes of those that are gone."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import pytest
from tests.gate.from_the_web import Worker
from tests.gate.simulated_web import Answer, page, prose
from tests.gate.web_ground import CrawledWorkspace, MovedClock
from tests.memory_store.jobs.job_board import MemoryJobBoard
from tests.memory_store.session.store import MemoryStore
from tests.unit.ingestion.test_look_outside import look

from agentic_rag.adapters.system.clock import SystemClock
from agentic_rag.answering.outside import OutsideRequest
from agentic_rag.ingestion.web.frontier import CrawlRequest, FrontierPage, PageState
from agentic_rag.ingestion.web.revisit import LONGEST, Look, Revisit, read_revisit
from agentic_rag.jobs.job import JobRef
from agentic_rag.jobs.schedule_maintenance import ScheduleMaintenance
from agentic_rag.kernel.errors import PolicyRefused
from agentic_rag.kernel.pagination import PageRequest
from agentic_rag.models.billing.limits import SpendingLimits
from agentic_rag.web.page_paths import FETCHED_AT, SEARCH_QUERY
from agentic_rag.workspaces.organisation import FeatureFlag
from agentic_rag.workspaces.web_access import WebAccess

HOST = "news.example.org"
DAY = timedelta(days=1)
RENEWED = WebAccess(allow=True, recrawl_hours=24)


@dataclass
class RenewedWorkspace(CrawledWorkspace):
    """A workspace with pages of one site, which wants them asked for again within a day."""

    clock: MovedClock = field(default_factory=MovedClock)

    def __post_init__(self) -> None:
        self.store = MemoryStore(self.clock)
        super().__post_init__()

    async def fill(self, *paths: str, limits: SpendingLimits | None = None) -> RenewedWorkspace:
        await self.open(limits)
        await self.want(RENEWED)
        for number, path in enumerate(paths):
            self.web.pages[f"{HOST}{path}"] = page(path, prose(number))
        await self.crawl(CrawlRequest(tuple(f"http://{HOST}{path}" for path in paths), depth=0))
        await self.work_pages()
        self.web.requests.clear()
        return self

    async def want(self, web: WebAccess) -> None:
        async with self.database.transaction(self.workspace.org_id) as transaction:
            await transaction.workspaces.change_settings(
                self.workspace.workspace_id, lambda before: replace(before, web=web)
            )

    async def enqueue(self) -> int:
        """What upkeep does: the number of jobs that it enqueued."""
        due = await MemoryJobBoard(self.store).upkeep()
        return await ScheduleMaintenance(self.database, self.telemetry).enqueue(due)

    async def renew_pages(self, later: timedelta = DAY + timedelta(hours=1)) -> dict[str, FrontierPage]:
        """The job of the next look, and the ingestion that comes of it: how each page ended, by path."""
        self.clock.ahead += later
        self.web.requests.clear()
        assert await self.enqueue() == 1
        async with self.database.transaction(self.workspace.org_id) as transaction:
            newest = (await transaction.jobs.page(self.workspace, PageRequest(1))).items[0]
        ref = JobRef(self.workspace, newest.job_id)
        await self.attempt(ref)
        await self.work_pages()
        return {url.partition(HOST)[2]: one for url, one in (await self.frontier(ref)).items()}

    async def texts(self) -> list[str]:
        return [text for _, _, _, text in await self.seen()]


async def test_a_page_that_changed_is_read_anew_and_one_that_did_not_is_not_sent_again() -> None:
    ground = await RenewedWorkspace().fill("/a", "/b")
    ground.web.pages[f"{HOST}/a"] = page("/a", f"The ferry sails at nine. {prose(90)}")

    ended = await ground.renew_pages()

    assert {path: one.state for path, one in ended.items()} == {"/a": PageState.KEPT, "/b": PageState.UNCHANGED}
    assert any("sails at nine" in text for text in await ground.texts())
    fetched = {url.partition(HOST)[2]: one.provenance[FETCHED_AT] for url, one in (await ground.documents()).items()}
    assert all(datetime.fromisoformat(at) > ground.clock.now() - timedelta(hours=1) for at in fetched.values())
    assert all(one.provenance[SEARCH_QUERY] == "" for one in (await ground.documents()).values())


async def test_a_page_is_asked_for_again_as_its_server_writes_its_address() -> None:
    ground = RenewedWorkspace()
    await ground.open()
    await ground.want(RENEWED)
    ground.web.pages[f"{HOST}/docs/"] = page("Docs", prose(1))
    request = OutsideRequest(ground.workspace, (), (f"http://{HOST}/docs/",), seconds=5.0)
    assert (await look(ground, request, queue=Worker(ground))).ready == 1

    assert {path: one.state for path, one in (await ground.renew_pages()).items()} == {"/docs": PageState.UNCHANGED}
    assert ground.web.page_requests == [f"{HOST}/docs/"]


async def test_pages_are_asked_for_no_sooner_than_wanted_and_none_by_themselves() -> None:
    ground = await RenewedWorkspace().fill("/a")

    early = await ground.renew_pages(timedelta(hours=23))
    await ground.want(WebAccess(allow=True))
    ground.clock.ahead += 30 * DAY

    assert early == {}
    assert await ground.enqueue() == 0
    assert ground.web.page_requests == []


async def test_leave_that_is_taken_back_before_the_job_runs_ends_it_without_a_request() -> None:
    ground = await RenewedWorkspace().fill("/a")
    ground.clock.ahead += 2 * DAY
    assert await ground.enqueue() == 1
    async with ground.database.transaction(ground.workspace.org_id) as transaction:
        job = (await transaction.jobs.page(ground.workspace, PageRequest(1))).items[0]
        await transaction.organisations.change(lambda before: before.with_flag(FeatureFlag.WEB_ACCESS, on=False))

    with pytest.raises(PolicyRefused) as refused:
        await ground.attempt(JobRef(ground.workspace, job.job_id))

    assert ground.crawler.is_rejection(refused.value)
    assert ground.web.requests == []


async def test_a_page_that_is_gone_at_two_looks_is_hidden_then_erased_and_shown_again_where_it_comes_back() -> None:
    ground = await RenewedWorkspace().fill("/a", "/b")
    kept = ground.web.pages.pop(f"{HOST}/a")

    once = await ground.renew_pages()
    after_once = await ground.texts()
    twice = await ground.renew_pages(timedelta(hours=4))
    hidden = await ground.texts()
    ground.web.pages[f"{HOST}/a"] = kept
    await ground.renew_pages(timedelta(hours=4))
    shown = await ground.texts()
    del ground.web.pages[f"{HOST}/a"]
    for _ in range(2):
        await ground.renew_pages()
    ground.clock.ahead += DAY + ground.renew.grace
    await ground.work_pages()

    assert once["/a"].code == twice["/a"].code == "PAGE_GONE"
    assert (len(after_once), len(hidden), len(shown)) == (2, 1, 2)
    assert [url.partition(HOST)[2] for url in await ground.documents()] == ["/b"]


@pytest.mark.tells("rag_page_gone", "document_id")
async def test_a_page_that_asks_not_to_be_kept_is_hidden_at_once() -> None:
    ground = await RenewedWorkspace().fill("/a", "/b")
    forbidden = page("/a", prose(0), head='<meta name="robots" content="noindex">')
    ground.web.pages[f"{HOST}/a"] = forbidden

    ended = await ground.renew_pages()

    assert ended["/a"].code == "PAGE_NOINDEX"
    assert len(await ground.texts()) == 1


async def test_a_page_that_fails_stays_and_is_asked_for_ever_more_rarely() -> None:
    ground = await RenewedWorkspace().fill("/a")
    ground.web.pages[f"{HOST}/a"] = Answer(status="503 Service Unavailable")

    looks = [len(await ground.renew_pages()) for _ in range(7)]

    assert looks == [1, 0, 1, 0, 0, 0, 1]
    assert len(await ground.texts()) == 1


async def test_the_budget_of_the_day_holds_and_what_it_left_out_is_due_still() -> None:
    ground = await RenewedWorkspace().fill("/a", "/b", "/c", limits=SpendingLimits(day_pages=5))

    first = await ground.renew_pages()
    asked = len(ground.web.page_requests)
    async with ground.database.transaction(ground.workspace.org_id) as transaction:
        await transaction.organisations.change(lambda before: replace(before, budget=SpendingLimits(day_pages=2)))
    second = await ground.renew_pages()

    assert asked == 3
    assert {one.state for one in first.values()} == {PageState.UNCHANGED}
    assert sorted(one.code for one in second.values()) == ["", "", "WEB_BUDGET_SPENT"]
    assert len(ground.web.page_requests) == 2
    assert len(await ground.renew_pages(timedelta(hours=1, minutes=1))) == 1


async def test_a_document_that_was_deleted_meanwhile_does_not_come_back() -> None:
    ground = await RenewedWorkspace().fill("/a")

    def delete(url: str) -> None:
        if url == f"{HOST}/a":
            state = ground.store.committed[ground.workspace]
            state.documents.clear()

    ground.web.pages[f"{HOST}/a"] = page("/a", prose(77))
    ground.web.after = delete

    ended = await ground.renew_pages()

    assert ended["/a"].code == "DOCUMENT_NOT_FOUND"
    assert await ground.documents() == {}


NOW = SystemClock().now()


def looks(changes: str, longest: timedelta = 2 * DAY) -> list[float]:
    """The hours between looks at a page that changed (c) or did not (u) at each of them."""
    provenance = {FETCHED_AT: NOW.isoformat()}
    hours: list[float] = []
    for one in changes:
        revisit = read_revisit(provenance)
        assert revisit is not None
        look = Look.CHANGED if one == "c" else Look.UNCHANGED
        provenance = {**provenance, **revisit.after(look, longest, NOW)}
        after = read_revisit(provenance)
        assert after is not None
        hours.append((after.due_at(longest) - NOW).total_seconds() / 3600)
    return hours


def test_the_more_often_a_page_changes_the_sooner_it_is_asked_for() -> None:
    assert looks("cccccc") == [24, 12, 6, 6, 6, 6]
    assert looks("ccuuuuu") == [24, 12, 18, 27, 40.5, 48, 48]
    assert looks("uuu") == [48, 48, 48]


def test_a_shorter_time_holds_at_once_and_no_failure_is_asked_for_again_later_than_in_a_month() -> None:
    every_two_days = Revisit(NOW, every=2 * DAY)
    failing = Revisit(NOW, asked_at=NOW, failures=40)

    assert every_two_days.due_at(DAY) == NOW + DAY
    assert failing.due_at(365 * DAY) == NOW + LONGEST


def test_what_failed_before_the_page_came_is_forgotten() -> None:
    failed = Revisit(NOW).after(Look.FAILED, DAY, NOW - DAY)

    assert read_revisit({FETCHED_AT: NOW.isoformat(), **failed}) == Revisit(NOW)
    assert read_revisit({}) is None
