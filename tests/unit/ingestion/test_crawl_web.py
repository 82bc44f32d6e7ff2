"""Crawls: who may start one, what stays of it in the audit log, and what ends it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import pytest
from tests.gate.simulated_web import SHELLS, TWINS, Answer
from tests.gate.web_ground import CrawledWorkspace

from agentic_rag.documents.unread_pages import read_left_out
from agentic_rag.ingestion.web.crawl import report_crawl
from agentic_rag.ingestion.web.frontier import CrawlRequest, PageState
from agentic_rag.ingestion.web.search_web import SearchEngine, SearchWeb
from agentic_rag.jobs.job import JobRef
from agentic_rag.kernel.errors import DependencyUnavailable, InvalidInput, NotFound, PolicyRefused, Retryable
from agentic_rag.kernel.pagination import PageRequest
from agentic_rag.web.search import SearchRequest, SearchResult
from agentic_rag.workspaces.web_access import WebAccess

CLOSED = "closed.example.org"


async def logged(ground: CrawledWorkspace) -> list[str]:
    async with ground.database.transaction(ground.workspace.org_id) as transaction:
        page = await transaction.audit.page(PageRequest(10))
    return [one.action for one in page.items]


async def forbid(ground: CrawledWorkspace) -> None:
    async with ground.database.transaction(ground.workspace.org_id) as transaction:
        await transaction.workspaces.change_settings(
            ground.workspace.workspace_id, lambda before: replace(before, web=WebAccess())
        )


async def test_a_crawl_and_a_search_are_in_the_audit_log() -> None:
    ground = await CrawledWorkspace().open()

    async def ask(request: SearchRequest) -> tuple[SearchResult, ...]:
        return ()

    search = SearchWeb(ground.database, ground.envelope, ground.telemetry, SearchEngine("file", ask))
    await ground.crawler.start(ground.workspace, CrawlRequest((f"http://{SHELLS}/",)), "user:ada")
    await search.run(ground.workspace, SearchRequest("tide"), "user:ada")

    assert sorted(await logged(ground)) == ["web.crawl", "web.search"]


@pytest.mark.tells("rag_search_failed")
async def test_searches_and_pages_are_counted_by_how_they_ended_and_what_they_cost() -> None:
    ground = await CrawledWorkspace().open()

    async def ask(request: SearchRequest) -> tuple[SearchResult, ...]:
        if request.query == "fails":
            raise Retryable("It does not answer.", code="SEARCH_BUSY")
        return ()

    search = SearchWeb(ground.database, ground.envelope, ground.telemetry, SearchEngine("file", ask, usd=0.25))
    await search.run(ground.workspace, SearchRequest("tide"))
    with pytest.raises(Retryable):
        await search.run(ground.workspace, SearchRequest("fails"))
    await ground.crawl(CrawlRequest((f"http://{SHELLS}/", f"http://{CLOSED}/")))

    counted = {
        (name, *(value for _, value in sorted(of))): many for (name, of), many in ground.telemetry.counters.items()
    }
    assert {
        key: many for key, many in counted.items() if key[0].startswith(("rag_search", "rag_web", "rag_crawl"))
    } == {
        ("rag_search_requests_total", "ok"): 1,
        ("rag_search_requests_total", "SEARCH_BUSY"): 1,
        ("rag_web_calls_total", "search", "reserved"): 2,
        ("rag_web_cost_usd_total", "search"): 0.5,
        ("rag_web_calls_total", "page", "reserved"): 3,
        ("rag_crawl_pages_total", "kept"): 2,
        ("rag_crawl_pages_total", "needs_script"): 1,
        ("rag_crawl_pages_total", "robots_refused"): 1,
    }


@pytest.mark.tells("rag_web_refused", "job_id")
async def test_without_leave_nothing_is_asked() -> None:
    ground = await CrawledWorkspace().open()
    ref = await ground.crawler.start(ground.workspace, CrawlRequest((f"http://{SHELLS}/",)), "user:ada")
    await forbid(ground)

    with pytest.raises(PolicyRefused), ground.telemetry.bind(job_id=str(ref.job_id)):
        await ground.attempt(ref)
    [told] = [one.fields for one in ground.telemetry.events if one.name == "rag_web_refused"]
    assert (told["code"], told["cause"], told["job_id"]) == ("WEB_REFUSED", "workspace", str(ref.job_id))
    with pytest.raises(PolicyRefused):
        await ground.crawler.start(ground.workspace, CrawlRequest((f"http://{SHELLS}/",)), "user:ada")
    assert ground.web.requests == []


async def test_a_page_that_scripts_make_is_no_empty_document() -> None:
    ground = await CrawledWorkspace().open()
    ref = await ground.crawl(CrawlRequest((f"http://{SHELLS}/",)))

    states = {url.partition(SHELLS)[2]: one.state for url, one in (await ground.frontier(ref)).items()}
    assert states == {"/": PageState.KEPT, "/app": PageState.NEEDS_SCRIPT, "/full": PageState.KEPT}
    assert f"http://{SHELLS}/app" not in await ground.documents()


def counted(ground: CrawledWorkspace, metric: str) -> dict[str, float]:
    counters = ground.telemetry.counters
    return {dict(of)["outcome"]: value for (name, of), value in counters.items() if name == metric}


async def test_every_page_of_a_crawl_is_counted_by_how_it_ended() -> None:
    ground = await CrawledWorkspace().open()
    await ground.crawl(CrawlRequest((f"http://{SHELLS}/", f"http://{SHELLS}/none")))

    assert counted(ground, "rag_crawl_pages_total") == {"kept": 2, "needs_script": 1, "fetch_failed": 1}


async def test_every_search_is_counted_by_how_it_ended_and_timed() -> None:
    ground = await CrawledWorkspace().open()

    async def ask(request: SearchRequest) -> tuple[SearchResult, ...]:
        if request.query == "away":
            raise DependencyUnavailable("It is away.", code="SEARCH_UNAVAILABLE", dependency="search")
        return ()

    search = SearchWeb(ground.database, ground.envelope, ground.telemetry, SearchEngine("file", ask))
    await search.run(ground.workspace, SearchRequest("tide"), "user:ada")
    with pytest.raises(DependencyUnavailable):
        await search.run(ground.workspace, SearchRequest("away"), "user:ada")

    assert counted(ground, "rag_search_requests_total") == {"ok": 1, "SEARCH_UNAVAILABLE": 1}
    assert [name for name, *_ in ground.telemetry.observations].count("rag_search_seconds") == 2


async def test_of_a_page_that_a_crawl_brought_the_furniture_is_left_out_and_told() -> None:
    said = "".join(f"<p>The pump of house {one} lifts forty litres a minute, and stops then.</p>" for one in "abcde")
    posts = "".join(f"<li><a href='/{number}'>Ten gardens, part {number}</a></li>" for number in range(8))
    page = f"<div class='entry-content'><h1>Pumps</h1>{said}</div><div class='related-posts'><ul>{posts}</ul></div>"
    ground = await CrawledWorkspace().open()
    ground.web.pages["pumps.example.org/"] = Answer(page.encode())
    await ground.crawl(CrawlRequest(("http://pumps.example.org/",), depth=0))
    await ground.work_pages()

    told = read_left_out((await ground.documents())["http://pumps.example.org/"].provenance)
    assert told is not None
    assert told.total > told.characters > 100


async def test_what_ends_one_site_ends_the_crawl_under_its_own_name() -> None:
    class Away:
        """Progress of a worker whose database goes away."""

        def advance(self) -> None:
            raise DependencyUnavailable("PostgreSQL does not answer.", dependency="postgres")

    ground = await CrawledWorkspace().open()
    ref = await ground.crawler.start(
        ground.workspace, CrawlRequest((f"http://{SHELLS}/", f"http://{TWINS}/")), "user:ada"
    )
    async with ground.database.transaction(ref.workspace.org_id) as transaction:
        lease = await transaction.jobs.lease(ref, "worker", timedelta(seconds=60))
    assert lease is not None

    with pytest.raises(DependencyUnavailable):
        await ground.crawler.run(lease, Away())


async def test_only_a_crawl_has_pages() -> None:
    ground = await CrawledWorkspace().open()
    ref = await ground.crawler.start(ground.workspace, CrawlRequest((f"http://{SHELLS}/",)), "user:ada")
    stranger = JobRef(ground.workspace, uuid4())

    assert [one.url for one in (await report_crawl(ground.database, ref)).pages] == [f"http://{SHELLS}/"]
    with pytest.raises(NotFound):
        await report_crawl(ground.database, stranger)


@pytest.mark.parametrize(
    "wrong", [{"seeds": ()}, {"seeds": ("http://127.0.0.1/",)}, {"seeds": ("http://a.example/",), "depth": 4}]
)
def test_a_crawl_that_cannot_be_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        CrawlRequest(**wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("media", ["text/html; charset=windows-1254", 'text/html;Charset="WINDOWS-1254"'])
async def test_a_page_is_read_in_the_code_page_that_only_its_server_states(media: str) -> None:
    ground = await CrawledWorkspace().open()
    said = "İskele ışığı 04:30'da söner; ağ çekilmez."
    site = "site.example.com"
    ground.web.pages[f"{site}/"] = Answer(f"<html><body><p>{said}</p></body></html>".encode("cp1254"), media=media)
    ref = await ground.crawl(CrawlRequest((f"http://{site}/",), depth=0))

    await ground.work_pages()

    assert (await ground.frontier(ref))[f"http://{site}/"].state is PageState.KEPT
    assert [text for *_, text in await ground.seen()] == [said]
