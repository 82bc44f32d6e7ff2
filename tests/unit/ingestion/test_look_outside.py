"""The look outside of a run: what it does when nothing comes in time, without leave, and what it says of a page."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from time import monotonic

import pytest
from tests.contract.ingestion.source_world import Steps
from tests.gate.from_the_web import Asked, Worker, fill_workspace
from tests.gate.simulated_web import SITE, Answer, fact, page, prose
from tests.gate.web_ground import CrawledWorkspace

from agentic_rag.adapters.deterministic.embedder import DeterministicEmbedder
from agentic_rag.answering.gate_decision import DowngradeCause
from agentic_rag.answering.outside import OutsideReport, OutsideRequest
from agentic_rag.answering.question import AnswerOptions, CacheMode
from agentic_rag.documents.document import DocumentStatus
from agentic_rag.ingestion.web.frontier import CrawlRequest
from agentic_rag.ingestion.web.look_outside import LookOutsideForRun
from agentic_rag.ingestion.web.read_pages import ReadPages
from agentic_rag.ingestion.web.search_web import SearchEngine, SearchWeb
from agentic_rag.jobs.job import GiveUp, JobRef, QueueName
from agentic_rag.kernel.errors import DependencyUnavailable, ParseFailed
from agentic_rag.models.billing.limits import SpendingLimits
from agentic_rag.models.billing.usage import UsageKind
from agentic_rag.models.providers.embedder_registry import EmbedderRegistry
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.web.fetch_policy import FetchedPage
from agentic_rag.web.ports import AdmitRedirect
from agentic_rag.web.search import AskEngine, SearchFilters, SearchRequest, SearchResult
from agentic_rag.workspaces.organisation import FeatureFlag
from agentic_rag.workspaces.web_access import WebAccess

FIRST, SECOND = (f"http://{SITE}/fact/{number}" for number in (1, 2))


@dataclass
class NobodyWorks:
    """A queue that nobody reads."""

    offered: list[JobRef] = field(default_factory=list[JobRef])

    async def offer(self, queue: QueueName, refs: Sequence[JobRef]) -> None:
        self.offered += refs


async def name_first(request: SearchRequest) -> tuple[SearchResult, ...]:
    return (SearchResult(FIRST),)


async def look(
    ground: CrawledWorkspace, request: OutsideRequest, ask: AskEngine = name_first, queue: object | None = None
) -> OutsideReport:
    search = SearchWeb(ground.database, ground.envelope, ground.telemetry, SearchEngine("simulated", ask))
    working: object = queue or NobodyWorks()
    looks = LookOutsideForRun(ground.database, search, ground.pages, ground.keep, working, ground.telemetry)  # type: ignore[arg-type]
    async with asyncio.timeout(20):
        return await looks(request)


@pytest.mark.tells("rag_search_failed")
async def test_a_search_that_fails_counts_as_none() -> None:
    async def fail(_: SearchRequest) -> tuple[SearchResult, ...]:
        raise DependencyUnavailable("The engine does not answer.", dependency="search")

    ground = await CrawledWorkspace().open()

    report = await look(ground, OutsideRequest(ground.workspace, ("valves",), (), seconds=0.6), fail)

    assert (report.searches, report.pages) == (0, 0)


@pytest.mark.slow
async def test_a_page_that_no_worker_reads_in_time_is_pending_and_the_report_partial() -> None:
    ground = await CrawledWorkspace().open()
    queue, began = NobodyWorks(), monotonic()

    report = await look(ground, OutsideRequest(ground.workspace, (), (FIRST,), seconds=0.6), queue=queue)

    assert (report.pages, report.ready, report.pending, report.is_partial, report.version) == (1, 0, 1, True, None)
    assert len(queue.offered) == 1
    # It waited for the worker, and no longer than it may.
    assert 0.4 <= monotonic() - began < 10


async def test_an_engine_that_never_answers_ends_with_the_share_of_the_time_for_fetching() -> None:
    ground = await CrawledWorkspace().open()

    async def never(request: SearchRequest) -> tuple[SearchResult, ...]:
        await asyncio.Event().wait()
        return ()

    report = await look(ground, OutsideRequest(ground.workspace, ("tide",), seconds=0.3), never)

    assert (report.refusals, report.pages, report.is_partial) == (("BUDGET",), 0, True)
    assert ground.web.requests == []


@pytest.mark.slow
async def test_a_page_that_never_comes_leaves_what_came_before_it() -> None:
    ground = await CrawledWorkspace().open()
    fetch = ground.web.fetcher().fetch_if_new

    async def fetch_if_new(url: str, validator: str, admit_redirect: AdmitRedirect) -> FetchedPage | None:
        if url == SECOND:
            await asyncio.Event().wait()
        return await fetch(url, validator, admit_redirect)

    web, clock = ground.web, ground.store.clock
    ground.pages = ReadPages(
        fetch_if_new, web.listings().fetch_if_new, web.robots().fetch, ground.envelope, clock, SearchFilters()
    )
    request = OutsideRequest(ground.workspace, (), (FIRST, SECOND), seconds=2.0)
    report = await look(ground, request, queue=Worker(ground))

    assert (report.pages, report.ready, report.pending, report.refusals) == (1, 1, 0, ("BUDGET",))
    assert (report.version is not None, ended(ground)) == (True, {"kept": 1, "late": 1})


@dataclass
class FailingWorker:
    """A queue whose pages cannot be read."""

    ground: CrawledWorkspace

    async def offer(self, queue: QueueName, refs: Sequence[JobRef]) -> None:
        ingest = self.ground.ingest_pages
        for ref in refs:
            async with self.ground.database.transaction(ref.workspace.org_id) as transaction:
                lease = await transaction.jobs.lease(ref, "worker", timedelta(minutes=1))
            assert lease is not None
            with pytest.raises(ParseFailed) as failed:
                await ingest.run(lease, Steps())
            async with self.ground.database.transaction(ref.workspace.org_id) as transaction:
                await ingest.record_failure(transaction, lease, failed.value, GiveUp(is_rejection=True))


@pytest.mark.parametrize("shown", ["", "<noscript>This app needs JavaScript.</noscript><p>Menu</p>"], ids=["no", "few"])
async def test_a_page_that_scripts_make_is_no_document_that_readers_see(shown: str) -> None:
    ground = await CrawledWorkspace().open()
    shell = f"<html><head><script>run()</script></head><body>{shown}<div id=root></div></body></html>"
    ground.web.pages[FIRST.partition("://")[2]] = Answer(shell.encode())
    request = OutsideRequest(ground.workspace, (), (FIRST,), seconds=2.0)
    report = await look(ground, request, queue=FailingWorker(ground))

    [document] = (await ground.documents()).values()
    assert (document.status, document.fault and document.fault.code) == (DocumentStatus.FAILED, "NEEDS_SCRIPT")
    assert (report.pages, report.ready, report.refusals, report.version) == (1, 0, ("NEEDS_SCRIPT",), None)


@pytest.mark.parametrize("address", ["http://localhost/x", "http://ada:secret@example.org/", "https://example.org:9/"])
async def test_an_address_that_may_not_be_asked_leaves_the_others(address: str) -> None:
    ground = await CrawledWorkspace().open()
    request = OutsideRequest(ground.workspace, (), (address, FIRST), seconds=5.0)
    report = await look(ground, request, queue=Worker(ground))

    assert (report.pages, report.ready, report.refusals) == (1, 1, ("ADDRESS_REFUSED",))


async def test_an_address_that_moved_to_what_robots_txt_forbids_is_not_asked_for_there() -> None:
    ground = await CrawledWorkspace().open()
    ground.web.pages |= {
        f"{SITE}/robots.txt": Answer(b"User-agent: *\nDisallow: /private", media="text/plain"),
        FIRST.partition("://")[2]: Answer(status="302 Found", headers=("Location: /private/1",)),
        f"{SITE}/private/1": page("Private", prose(50)),
    }
    report = await look(ground, OutsideRequest(ground.workspace, (), (FIRST,), seconds=2.0))

    assert f"{SITE}/private/1" not in ground.web.requests
    assert (report.pages, report.refusals) == (0, ("ROBOTS_REFUSED",))


async def test_a_page_that_searches_name_in_many_forms_is_read_once_and_is_the_document_of_a_crawl() -> None:
    async def name_thrice(_: SearchRequest) -> tuple[SearchResult, ...]:
        forms = (f"{FIRST}/?utm_source=mail", FIRST.replace("http://", "https://www."), f"{FIRST}#part")
        return tuple(map(SearchResult, forms))

    ground = await CrawledWorkspace().open()
    await ground.crawl(CrawlRequest((FIRST,), depth=0))
    ground.web.requests.clear()
    named = f"{FIRST.partition('://')[2]}/?utm_source=mail"
    ground.web.pages[named] = page("Fact", prose(1))

    await look(ground, OutsideRequest(ground.workspace, ("harbour",), (), seconds=0.6), name_thrice)

    assert ground.web.page_requests == [named]
    assert list(await ground.documents()) == [FIRST]


def ended(ground: CrawledWorkspace) -> dict[str, float]:
    counters = ground.telemetry.counters
    return {dict(of)["outcome"]: value for (name, of), value in counters.items() if name == "rag_run_pages_total"}


async def test_how_the_pages_of_runs_ended_is_counted() -> None:
    ground = await CrawledWorkspace().open()
    ground.web.pages["shut.example.org/robots.txt"] = Answer(b"User-agent: *\nDisallow: /", media="text/plain")
    request = OutsideRequest(ground.workspace, (), (FIRST, "http://shut.example.org/"), seconds=5.0)
    for _ in range(2):
        await look(ground, request, queue=Worker(ground))

    assert ended(ground) == {"kept": 1, "fresh": 1, "robots_refused": 2}


async def close_web(ground: CrawledWorkspace, level: str) -> None:
    async with ground.database.transaction(ground.workspace.org_id) as transaction:
        if level == "organisation":
            await transaction.organisations.change(lambda before: before.with_flag(FeatureFlag.WEB_ACCESS, on=False))
        elif level == "workspace":
            await transaction.workspaces.change_settings(
                ground.workspace.workspace_id, lambda before: replace(before, web=WebAccess())
            )


@pytest.mark.parametrize("level", ["organisation", "workspace"])
async def test_without_leave_an_address_that_the_caller_wrote_is_not_asked(level: str) -> None:
    ground = await CrawledWorkspace().open()
    await close_web(ground, level)

    report = await look(ground, OutsideRequest(ground.workspace, (), (FIRST,), seconds=1.0))

    assert report.refusals == ("WEB_REFUSED",)
    assert ground.web.requests == []
    [told] = [one.fields for one in ground.telemetry.events if one.name == "rag_web_refused"]
    assert (told["code"], told["cause"]) == ("WEB_REFUSED", level)


@pytest.mark.parametrize("cache", [CacheMode.DEFAULT, CacheMode.BYPASS])
@pytest.mark.parametrize("level", ["organisation", "workspace", "request"])
async def test_a_run_that_may_not_look_outside_tells_who_refused_with_its_id_and_trace(
    level: str, cache: CacheMode
) -> None:
    ground = await fill_workspace()
    await close_web(ground, level)
    asked = Asked(ground)
    ground.telemetry.events.clear()

    run = await asked.ask(fact(1)[0], AnswerOptions(cache=cache, allow_web=False if level == "request" else None))
    await asked.recorder.aclose()

    [lowered] = run.answer.gate.downgrades
    said = {"run_id": str(run.run_id), "code": "WEB_REFUSED", "cause": level, "reason": lowered.reason}
    told = [one for one in ground.telemetry.events if one.name == "rag_web_refused"]
    assert [(dict(one.fields), one.trace_id) for one in told] == [(said, run.trace_id)]
    assert (asked.searches, ground.web.requests) == (0, [])


async def test_what_is_not_looked_for_is_not_refused() -> None:
    ground = await fill_workspace()
    await close_web(ground, "organisation")
    asked = Asked(ground)

    await asked.ask("Hello!")
    await asked.recorder.aclose()

    assert "rag_web_refused" not in {one.name for one in ground.telemetry.events}


@pytest.mark.slow
@pytest.mark.tells("rag_page_kept", "document_id")
async def test_a_page_that_a_search_found_says_what_was_searched_for() -> None:
    ground = await CrawledWorkspace().open()

    await look(ground, OutsideRequest(ground.workspace, ("the tug of Brannvik",), seconds=0.6))

    [kept] = (await ground.documents()).values()
    assert (kept.provenance["search_query"], kept.provenance["crawl_depth"]) == ("the tug of Brannvik", "0")


@pytest.mark.tells("rag_directives_evaluated", "run_id")
@pytest.mark.tells("rag_web_refused", "run_id")
async def test_the_gates_decision_and_a_spent_envelope_are_told_with_the_run_and_its_trace() -> None:
    ground = await fill_workspace()
    spent = await ground.envelope.ceilings(ground.workspace)
    most = 1 + next(one.used for one in spent if one.kind is UsageKind.PAGE)
    async with ground.database.transaction(ground.workspace.org_id) as transaction:
        await transaction.organisations.change(lambda before: replace(before, budget=SpendingLimits(day_pages=most)))
    asked = Asked(ground)
    ground.telemetry.events.clear()

    run = await asked.ask(fact(1)[0], AnswerOptions())
    await asked.recorder.aclose()

    told = {one.name: one for one in ground.telemetry.events}
    decided, refused = told["rag_directives_evaluated"], told["rag_web_refused"]
    gate = run.answer.gate
    assert {name: decided.fields[name] for name in ("run_id", "weights_version", "score", "plan_type")} == {
        "run_id": str(run.run_id),
        "weights_version": gate.weights_version,
        "score": gate.score,
        "plan_type": gate.plan_type,
    }
    named = dict(one.split("=") for one in str(decided.fields["contributions"]).split())
    assert named == {one.name: f"{one.contribution:g}" for one in gate.contributions if one.contribution}
    assert named
    assert (refused.fields["run_id"], refused.fields["code"]) == (str(run.run_id), "WEB_BUDGET_SPENT")
    assert None is not decided.trace_id == refused.trace_id


class Billed(EmbedderRegistry):
    """Nothing is embedded here for money but in name."""

    async def is_billed(self, workspace: WorkspaceRef) -> bool:
        return True


async def with_dollars_spent() -> CrawledWorkspace:
    ground = await fill_workspace()
    async with ground.database.transaction(ground.workspace.org_id) as transaction:
        await transaction.organisations.change(lambda before: replace(before, budget=SpendingLimits(day_usd=0.0)))
    return ground


@pytest.mark.parametrize(("usd", "is_billed"), [(0.005, False), (0.0, True)], ids=["search", "embedder"])
async def test_where_the_dollars_are_spent_what_costs_some_stays_at_home_and_the_run_says_why(
    usd: float, is_billed: bool
) -> None:
    ground = await with_dollars_spent()
    if is_billed:
        embedder = DeterministicEmbedder()
        ground.keep = replace(ground.keep, embedders=Billed(embedder, lambda _: embedder, {}))
    asked = Asked(ground, usd=usd)

    run = await asked.ask(fact(1)[0])
    await asked.recorder.aclose()

    assert run.answer.gate.was_lowered_by(DowngradeCause.BUDGET)
    assert (asked.searches, ground.web.requests) == (0, [])
    [told] = [one.fields for one in ground.telemetry.events if one.name == "rag_web_refused"]
    assert (told["code"], told["run_id"]) == ("WEB_BUDGET_SPENT", str(run.run_id))


async def test_where_the_dollars_are_spent_what_costs_none_is_looked_for_all_the_same() -> None:
    question, harbour, _ = fact(1)
    asked = Asked(await with_dollars_spent())

    run = await asked.ask(question)
    await asked.recorder.aclose()

    assert not run.answer.gate.downgrades
    assert asked.searches > 0
    assert harbour in run.answer.text


@pytest.mark.slow
async def test_a_page_that_came_too_late_answers_the_next_question_and_is_not_asked_for_again() -> None:
    question, harbour, _ = fact(1)
    ground = await fill_workspace()
    queue = NobodyWorks()
    late = Asked(ground, queue=queue)
    run = await late.ask(question, AnswerOptions(cache=CacheMode.DEFAULT, timeout_ms=4_000))
    await late.recorder.aclose()
    assert run.answer.outside is not None
    assert (run.answer.outside.is_partial, harbour in run.answer.text) == (True, False)

    await Worker(ground).offer(QueueName.INTERACTIVE, queue.offered)
    ground.web.requests.clear()
    asked = Asked(ground)
    later = await asked.ask(question, AnswerOptions(cache=CacheMode.DEFAULT))
    await asked.recorder.aclose()

    assert harbour in later.answer.text
    assert [one.url for one in later.answer.citations] == [FIRST]
    assert FIRST.partition("://")[2] not in ground.web.requests


async def test_pages_that_a_site_lets_no_run_read_after_the_first_are_counted() -> None:
    ground = await CrawledWorkspace().open()
    ground.web.pages[f"{SITE}/robots.txt"] = Answer(b"User-agent: *\nCrawl-delay: 9", media="text/plain")
    others = tuple(f"{FIRST}?{number}" for number in range(3))
    await look(ground, OutsideRequest(ground.workspace, (), (FIRST, *others), seconds=5.0), queue=Worker(ground))

    assert ended(ground) == {"kept": 1, "robots_refused": 3}


async def test_a_page_that_a_site_refuses_is_followed_by_the_pause_that_it_asks_for() -> None:
    ground = await CrawledWorkspace().open()
    ground.web.pages |= {
        f"{SITE}/robots.txt": Answer(b"User-agent: *\nCrawl-delay: 9", media="text/plain"),
        FIRST.partition("://")[2]: Answer(status="404 Not Found"),
    }
    report = await look(ground, OutsideRequest(ground.workspace, (), (FIRST, f"{FIRST}?2"), seconds=5.0))

    assert len(ground.web.page_requests) == 1
    assert report.pages == 0
