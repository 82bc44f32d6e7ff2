"""What bounds searches and crawls: the operator's hosts, bytes, time, pauses, and leave that is taken back."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace

import pytest
from tests.gate.from_the_web import Worker
from tests.gate.simulated_web import Answer, page, prose
from tests.gate.web_ground import CrawledWorkspace
from tests.unit.ingestion.test_look_outside import look

from agentic_rag.adapters.system.ids import RandomIds
from agentic_rag.answering.outside import OutsideRequest
from agentic_rag.ingestion.web import crawl
from agentic_rag.ingestion.web.crawl import CrawlWeb
from agentic_rag.ingestion.web.frontier import CrawlRequest, PageState
from agentic_rag.ingestion.web.read_pages import ReadPages
from agentic_rag.ingestion.web.search_web import SearchEngine, SearchWeb
from agentic_rag.jobs.job import JobRef
from agentic_rag.kernel.errors import PolicyRefused
from agentic_rag.kernel.pagination import PageRequest
from agentic_rag.web.fetch_policy import FetchedPage
from agentic_rag.web.ports import AdmitRedirect, FetchIfNew
from agentic_rag.web.search import SearchFilters, SearchRequest, SearchResult
from agentic_rag.web.url_policy import HostList, parse_target
from agentic_rag.workspaces.administer import Administer
from agentic_rag.workspaces.organisation import FeatureFlag
from agentic_rag.workspaces.web_access import WebAccess

SHUT, WIDE = "shut.example.org", "wide.example.org"
REAL_SLEEP = asyncio.sleep


def filtered(ground: CrawledWorkspace, filters: SearchFilters, fetch: FetchIfNew | None = None) -> ReadPages:
    """A reader whose client would go anywhere: what is refused, the reader refuses."""
    web = ground.web
    return ReadPages(
        fetch or web.fetcher().fetch_if_new,
        web.listings().fetch_if_new,
        web.robots().fetch,
        ground.envelope,
        ground.store.clock,
        filters,
    )


async def start(ground: CrawledWorkspace, *hosts: str) -> JobRef:
    for host in hosts:
        ground.web.pages[f"{host}/"] = page(host, prose(sum(host.encode())))
    return await ground.crawler.start(
        ground.workspace, CrawlRequest(tuple(f"http://{host}/" for host in hosts), depth=0), "user:ada"
    )


async def test_a_host_that_the_operator_left_out_is_not_crawled_and_its_robots_txt_is_not_asked_for() -> None:
    ground = await CrawledWorkspace().open()
    ref = await start(ground, SHUT)
    pages = filtered(ground, SearchFilters(without=HostList((SHUT,))))
    ground.crawler = replace(ground.crawler, pages=pages)

    with pytest.raises(PolicyRefused) as refused:
        await ground.crawler.start(ground.workspace, CrawlRequest((f"http://{SHUT}/",)), "user:ada")
    await ground.attempt(ref)

    [ended] = (await ground.frontier(ref)).values()
    assert (refused.value.code, ended.state, ended.code) == ("ADDRESS_REFUSED", PageState.REFUSED, "ADDRESS_REFUSED")
    assert ground.web.requests == []


async def test_a_page_that_moved_to_a_host_outside_the_operators_is_not_kept() -> None:
    ground = await CrawledWorkspace().open()
    moved = f"www.{WIDE}"
    ref = await start(ground, WIDE, moved)
    ground.web.pages[f"{moved}/"] = Answer(status="302 Found", headers=(f"Location: http://{WIDE}/",))
    pages = filtered(ground, SearchFilters(hosts=HostList((moved,))))
    ground.crawler = replace(ground.crawler, pages=pages)

    await ground.attempt(ref)

    assert {one.url: (one.state, one.code) for one in (await ground.frontier(ref)).values()} == {
        f"http://{moved}/": (PageState.FAILED, "ADDRESS_REFUSED"),
        f"http://{WIDE}/": (PageState.REFUSED, "ADDRESS_REFUSED"),
    }
    assert await ground.documents() == {}


@pytest.mark.parametrize(
    "filters",
    [SearchFilters(without=HostList((SHUT,))), SearchFilters(hosts=HostList((WIDE,)))],
    ids=["without", "hosts"],
)
async def test_what_an_engine_names_outside_the_operators_hosts_is_no_result_whatever_was_asked(
    filters: SearchFilters,
) -> None:
    ground = await CrawledWorkspace().open()

    async def ask(request: SearchRequest) -> tuple[SearchResult, ...]:
        return SearchResult(f"http://{SHUT}/"), SearchResult(f"http://{WIDE}/")

    search = SearchWeb(ground.database, ground.envelope, ground.telemetry, SearchEngine("file", ask, filters))
    found = await search.run(ground.workspace, SearchRequest("tide", filters=SearchFilters()))

    assert [one.url for one in found.results] == [f"http://{WIDE}/"]
    assert ground.web.requests == []


async def test_a_crawl_ends_with_the_page_that_reaches_its_bytes() -> None:
    ground = await CrawledWorkspace().open()
    links = [f"/{number}" for number in range(5)]
    bodies = {f"{WIDE}{link}": page(link, prose(at + 70)) for at, link in enumerate(links)}
    ground.web.pages |= {f"{WIDE}/": page("Start", prose(60), links), **bodies}
    sizes = [len(ground.web.pages[one].body) for one in (f"{WIDE}/", f"{WIDE}/0", f"{WIDE}/1")]
    ref = await ground.crawl(CrawlRequest((f"http://{WIDE}/",), max_bytes=sum(sizes)))

    read = [one for one in (await ground.frontier(ref)).values() if one.state is PageState.KEPT]
    assert sorted(one.size for one in read) == sorted(sizes)
    assert ground.web.page_requests == [f"{WIDE}/", f"{WIDE}/0", f"{WIDE}/1"]


@pytest.mark.parametrize(
    "refused",
    [
        Answer(b"a " * 999_995),
        Answer(b"a " * 900_000, headers=("X-Robots-Tag: noindex",)),
        Answer(b"2dc6c0\r\n" + b"a " * 900_000, headers=("Transfer-Encoding: chunked",)),
    ],
    ids=["too large", "noindex", "cut off"],
)
async def test_what_came_of_pages_that_are_refused_counts_against_the_bytes(refused: Answer) -> None:
    ground = await CrawledWorkspace().open()
    links = [f"/{number}" for number in range(5)]
    ground.web.pages |= {f"{WIDE}/": page("Start", prose(60), links), **{f"{WIDE}{one}": refused for one in links}}
    await ground.crawl(CrawlRequest((f"http://{WIDE}/",), max_bytes=3_000_000))

    assert ground.web.page_requests == [f"{WIDE}/", f"{WIDE}/0", f"{WIDE}/1"]


async def test_links_are_followed_to_the_same_site_with_www_and_without() -> None:
    ground = await CrawledWorkspace().open()
    ground.web.pages |= {
        f"{WIDE}/": Answer(status="301 Moved Permanently", headers=(f"Location: http://www.{WIDE}/",)),
        f"www.{WIDE}/": page("Start", prose(60), [f"http://www.{WIDE}/a", f"http://{WIDE}/b", "http://else.org/"]),
        f"www.{WIDE}/a": page("A", prose(61)),
        f"{WIDE}/b": page("B", prose(62)),
    }
    ref = await ground.crawl(CrawlRequest((f"http://{WIDE}/",)))

    assert {url: one.state for url, one in (await ground.frontier(ref)).items()} == {
        f"http://{WIDE}/": PageState.KEPT,
        f"http://www.{WIDE}/a": PageState.KEPT,
        f"http://{WIDE}/b": PageState.KEPT,
    }


async def test_a_crawl_ends_with_the_page_after_which_its_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    ground = await CrawledWorkspace().open()
    links = [f"/{number}" for number in range(5)]
    ground.web.pages |= {f"{WIDE}{link}": page(link, prose(at + 70)) for at, link in enumerate(links)}
    ground.web.pages[f"{WIDE}/"] = page("Start", prose(60), links)
    # Each page takes two seconds.
    monkeypatch.setattr(crawl, "monotonic", lambda: 2.0 * len(ground.web.page_requests))

    ref = await ground.crawl(CrawlRequest((f"http://{WIDE}/",), max_seconds=5))

    assert ground.web.page_requests == [f"{WIDE}/", f"{WIDE}/0", f"{WIDE}/1"]
    states = [one.state for one in (await ground.frontier(ref)).values()]
    assert (states.count(PageState.KEPT), states.count(PageState.PENDING)) == (3, 3)


@dataclass
class Pauses:
    """Takes the place of sleeping. With `gather` nobody wakes before so many sleep."""

    gather: int = 1
    slept: list[float] = field(default_factory=list[float])
    sleeping: int = 0
    most: int = 0
    enough: asyncio.Event = field(default_factory=asyncio.Event)

    async def __call__(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.sleeping += 1
        self.most = max(self.most, self.sleeping)
        if self.sleeping == self.gather:
            # Time in which one more would come, were it let.
            await REAL_SLEEP(0.1)
            self.enough.set()
        await self.enough.wait()
        self.sleeping -= 1


def with_pauses(ground: CrawledWorkspace) -> CrawlWeb:
    """The crawler as it is built outside tests, which is the one that rests."""
    return CrawlWeb(ground.database, ground.pages, ground.keep, ground.renew.parser, ground.telemetry, ground.renew)


@pytest.mark.parametrize(("asked", "pause"), [("", 1.0), ("Crawl-delay: 3", 3.0), ("Crawl-delay: 90", 30.0)])
async def test_a_site_rests_a_second_or_as_long_as_it_asks_up_to_half_a_minute(
    monkeypatch: pytest.MonkeyPatch, asked: str, pause: float
) -> None:
    ground = await CrawledWorkspace().open()
    ground.crawler, pauses = with_pauses(ground), Pauses()
    ground.web.pages[f"{WIDE}/robots.txt"] = Answer(f"User-agent: *\n{asked}\n".encode(), media="text/plain")
    ref = await start(ground, WIDE)
    monkeypatch.setattr(asyncio, "sleep", pauses)

    await ground.attempt(ref)

    assert pauses.slept == [pause]
    async with ground.crawler.turns.take(WIDE, 0.5) as turn:
        assert turn is None


async def test_four_sites_are_asked_beside_each_other_and_no_fifth(monkeypatch: pytest.MonkeyPatch) -> None:
    ground = await CrawledWorkspace().open()
    ground.crawler, pauses = with_pauses(ground), Pauses(gather=4)
    ref = await start(ground, *(f"{name}.example.org" for name in "abcdef"))
    monkeypatch.setattr(asyncio, "sleep", pauses)

    async with asyncio.timeout(20):
        await ground.attempt(ref)

    assert (pauses.most, pauses.slept) == (4, [1.0] * 6)


async def test_two_crawls_of_a_process_ask_a_site_for_one_page_at_a_time() -> None:
    ground = await CrawledWorkspace().open()
    links = {name: [f"/{name}{number}" for number in range(3)] for name in "ab"}
    for name, paths in links.items():
        ground.web.pages[f"{WIDE}/{name}"] = page(name, prose(ord(name)), paths)
        ground.web.pages |= {f"{WIDE}{one}": page(one, prose(at + ord(name) * 9)) for at, one in enumerate(paths)}
    fetch, under_way, most = ground.web.fetcher().fetch_if_new, Counter[str](), Counter[str]()

    async def fetch_if_new(url: str, validator: str, admit_redirect: AdmitRedirect) -> FetchedPage | None:
        under_way[WIDE] += 1
        most[WIDE] = max(most[WIDE], under_way[WIDE])
        await REAL_SLEEP(0.01)
        under_way[WIDE] -= 1
        return await fetch(url, validator, admit_redirect)

    pages = filtered(ground, SearchFilters(), fetch_if_new)
    ground.crawler = replace(ground.crawler, pages=pages)
    refs = [
        await ground.crawler.start(ground.workspace, CrawlRequest((f"http://{WIDE}/{name}",)), "user:ada")
        for name in "ab"
    ]
    await asyncio.gather(*map(ground.attempt, refs))

    assert len(await ground.documents()) == 8
    assert most[WIDE] == 1


async def test_a_crawl_that_waits_for_its_turn_at_a_site_asks_others_meanwhile_and_nothing_after_its_time() -> None:
    ground = await CrawledWorkspace().open()
    ground.crawler = replace(ground.crawler, pause_seconds=0.0)
    hosts = [f"{name}.example.org" for name in "abcde"]
    ref = await start(ground, *hosts)
    asked_last = asyncio.Event()
    ground.web.after = lambda url: asked_last.set() if url == f"{hosts[-1]}/" else None

    async with AsyncExitStack() as taken, asyncio.timeout(20):
        # Another crawl's turn at as many sites as are asked at once.
        for host in hosts[:-1]:
            await taken.enter_async_context(ground.crawler.turns.take(host, 60.0))
        attempt = asyncio.create_task(ground.attempt(ref))
        await asked_last.wait()
        assert ground.web.page_requests == [f"{hosts[-1]}/"]
        await taken.aclose()
        await attempt

    assert sorted(ground.web.page_requests) == [f"{host}/" for host in hosts]


async def test_a_crawl_whose_time_ends_before_its_turn_at_a_site_does_not_ask_it() -> None:
    ground = await CrawledWorkspace().open()
    ground.web.pages[f"{WIDE}/"] = page("Wide", prose(1))
    async with ground.crawler.turns.take(WIDE, 60.0) as turn:
        assert turn is not None
        turn.rest(60.0)

    ref = await ground.crawl(CrawlRequest((f"http://{WIDE}/",), max_seconds=5))

    [waits] = (await ground.frontier(ref)).values()
    assert (waits.state, ground.web.requests) == (PageState.PENDING, [])


async def test_a_host_with_www_and_without_is_one_site_that_is_asked_for_one_page_at_a_time() -> None:
    ground = await CrawledWorkspace().open()
    ground.web.pages |= {f"www.{WIDE}/{name}": page(name, prose(ord(name))) for name in "ab"}
    ground.web.pages[f"{WIDE}/"] = page("Start", prose(9), [f"http://www.{WIDE}/a", f"http://{WIDE}/b"])
    ground.web.pages[f"{WIDE}/b"] = page("b", prose(98))
    fetch, under_way, most = ground.web.fetcher().fetch_if_new, Counter[str](), Counter[str]()

    async def fetch_if_new(url: str, validator: str, admit_redirect: AdmitRedirect) -> FetchedPage | None:
        under_way[WIDE] += 1
        most[WIDE] = max(most[WIDE], under_way[WIDE])
        await REAL_SLEEP(0.01)
        under_way[WIDE] -= 1
        return await fetch(url, validator, admit_redirect)

    ground.crawler = replace(ground.crawler, pages=filtered(ground, SearchFilters(), fetch_if_new))
    ref = await ground.crawler.start(ground.workspace, CrawlRequest((f"http://{WIDE}/",)), "user:ada")
    await ground.attempt(ref)

    assert sorted(ground.web.page_requests) == [f"{WIDE}/", f"{WIDE}/b", f"www.{WIDE}/a"]
    assert most[WIDE] == 1


async def test_a_run_asks_a_site_for_one_page_at_a_time_and_sites_beside_each_other() -> None:
    ground = await CrawledWorkspace().open()
    paths = ("/0", "/1", "/2")
    hosts = (SHUT, WIDE)
    ground.web.pages |= {f"{host}{path}": page(path, prose(80)) for host in hosts for path in paths}
    fetch, under_way, most = ground.web.fetcher().fetch_if_new, Counter[str](), Counter[str]()
    both = asyncio.Event()

    async def fetch_if_new(url: str, validator: str, admit_redirect: AdmitRedirect) -> FetchedPage | None:
        host = parse_target(url).host
        under_way.update((host, "all"))
        for one in (host, "all"):
            most[one] = max(most[one], under_way[one])
        if under_way["all"] > 1:
            both.set()
        await both.wait()
        try:
            return await fetch(url, validator, admit_redirect)
        finally:
            under_way.subtract((host, "all"))

    ground.pages = filtered(ground, SearchFilters(), fetch_if_new)
    urls = tuple(f"http://{host}{path}" for host in hosts for path in paths)
    report = await look(ground, OutsideRequest(ground.workspace, (), urls, seconds=10.0), queue=Worker(ground))

    assert (report.pages, dict(most)) == (6, {SHUT: 1, WIDE: 1, "all": 2})


@pytest.mark.parametrize(
    ("asked", "slept", "read", "refusals"),
    [("0.25", [0.25], 2, ()), ("2", [], 1, ("ROBOTS_REFUSED",))],
    ids=["a pause", "a long one"],
)
async def test_a_run_rests_between_pages_of_a_site_that_asks_for_it_or_reads_one(
    monkeypatch: pytest.MonkeyPatch, asked: str, slept: list[float], read: int, refusals: tuple[str, ...]
) -> None:
    ground, pauses = await CrawledWorkspace().open(), Pauses()
    rules = f"User-agent: *\nCrawl-delay: {asked}\n"
    ground.web.pages[f"{WIDE}/robots.txt"] = Answer(rules.encode(), media="text/plain")
    ground.web.pages |= {f"{WIDE}/{number}": page(str(number), prose(90 + number)) for number in range(2)}
    monkeypatch.setattr(asyncio, "sleep", pauses)

    urls = (f"http://{WIDE}/0", f"http://{WIDE}/1")
    report = await look(ground, OutsideRequest(ground.workspace, (), urls, seconds=2.0), queue=Worker(ground))

    assert (pauses.slept, report.pages, report.refusals) == (slept, read, refusals)


async def test_that_the_organisation_takes_its_leave_back_cancels_its_crawls_and_says_how_many() -> None:
    ground = await CrawledWorkspace().open()
    administer = Administer(ground.database, RandomIds(), ground.telemetry)
    org_id, flag = ground.workspace.org_id, FeatureFlag.WEB_ACCESS
    for host in (WIDE, SHUT):
        await start(ground, host)

    purged = [(await administer.set_feature(org_id, flag, on=on, actor="user:ada"))[1] for on in (True, False, False)]

    async with ground.database.transaction(org_id) as transaction:
        logged = (await transaction.audit.page(PageRequest(10))).items
    told = [one.detail.get("purged_crawls") for one in logged if one.action == "organisation.settings"]
    assert (purged, sorted(map(str, told))) == ([0, 2, 0], ["2", "None", "None"])


async def test_that_a_workspace_takes_its_leave_back_cancels_its_crawls_and_says_how_many() -> None:
    ground = await CrawledWorkspace().open()
    administer = Administer(ground.database, RandomIds(), ground.telemetry)
    for host in (WIDE, SHUT, "third.example.org"):
        await start(ground, host)

    for _ in range(2):
        await administer.change_workspace(ground.workspace, lambda before: replace(before, web=WebAccess()), "user:ada")

    async with ground.database.transaction(ground.workspace.org_id) as transaction:
        logged = (await transaction.audit.page(PageRequest(10))).items
    told = [one.detail.get("purged_crawls") for one in logged if one.action == "workspace.settings"]
    assert sorted(map(str, told)) == ["3", "None"]


async def test_a_page_says_by_which_way_and_how_far_from_a_named_one_it_came() -> None:
    ground = await CrawledWorkspace().open()
    ground.web.pages |= {f"{WIDE}/": page("Start", prose(60), ["/next"]), f"{WIDE}/next": page("Next", prose(61))}
    await ground.crawl(CrawlRequest((f"http://{WIDE}/",)))

    told = {url: one.provenance for url, one in (await ground.documents()).items()}
    assert {url: (one["crawl_depth"], one["search_query"]) for url, one in told.items()} == {
        f"http://{WIDE}/": ("0", ""),
        f"http://{WIDE}/next": ("1", ""),
    }
