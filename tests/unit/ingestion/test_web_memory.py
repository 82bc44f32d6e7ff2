"""What is remembered of sites and pages, so that nobody is asked twice: robots.txt, the validator of a page, and when
it was fetched; and whose pages are read first.
"""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime, timedelta
from hashlib import sha256

import pytest
from tests.gate.from_the_web import Worker
from tests.gate.simulated_web import SITE, Answer, page, prose
from tests.gate.web_ground import CrawledWorkspace
from tests.unit.ingestion.test_look_outside import look
from tests.unit.ingestion.test_renew_pages import RenewedWorkspace

from agentic_rag.answering.outside import OutsideRequest
from agentic_rag.documents.document import Document, SpanRequest
from agentic_rag.documents.originals import original_behind
from agentic_rag.ingestion.web.earlier_responses import EARLIER_RESPONSES, MAX_EARLIER, tell_earlier
from agentic_rag.ingestion.web.frontier import CrawlRequest, PageState
from agentic_rag.web.page_paths import FETCHED_AT
from agentic_rag.web.search import SearchRequest, SearchResult
from agentic_rag.web.url_policy import parse_target
from agentic_rag.workspaces.web_profiles import PROFILES, ProfileName

HOST = "memory.example.org"
FACT = f"http://{SITE}/fact/1"
MAKERS = "docs.python.org"


async def ground_with_pages(*paths: str) -> RenewedWorkspace:
    ground = RenewedWorkspace()
    await ground.open()
    for number, path in enumerate(paths):
        ground.web.pages[f"{HOST}{path}"] = page(path, prose(number))
    return ground


@pytest.mark.parametrize(
    ("rules", "allowed"),
    [
        (Answer(b"User-agent: *\nAllow: /\n", media="text/plain"), True),
        (Answer(status="404 Not Found"), True),
        (Answer(status="503 Service Unavailable"), False),
    ],
    ids=["rules", "none", "closed"],
)
async def test_a_sites_robots_txt_is_known_for_an_hour_and_then_asked_for_again(rules: Answer, allowed: bool) -> None:
    ground = await ground_with_pages("/a", "/b")
    ground.web.pages[f"{HOST}/robots.txt"] = rules
    target = parse_target(f"http://{HOST}/a")
    asked: list[int] = []

    for later in (timedelta(), timedelta(minutes=59), timedelta(minutes=2)):
        ground.clock.ahead += later
        assert (await ground.pages.rules(target)).allows(target.url) is allowed
        asked.append(ground.web.requests.count(f"{HOST}/robots.txt"))

    assert asked == [1, 1, 2]


async def test_what_a_site_asks_is_heard_anew_when_its_robots_txt_is_read_again() -> None:
    ground = await ground_with_pages("/a")
    target = parse_target(f"http://{HOST}/a")
    assert (await ground.pages.rules(target)).allows(target.url)

    ground.web.pages[f"{HOST}/robots.txt"] = Answer(b"User-agent: *\nDisallow: /\n", media="text/plain")
    ground.clock.ahead = timedelta(hours=1, seconds=1)

    assert not (await ground.pages.rules(target)).allows(target.url)


async def test_a_crawl_asks_for_a_page_that_it_kept_by_its_validator_and_keeps_it_where_that_holds() -> None:
    ground = await ground_with_pages("/same", "/changed")
    request = CrawlRequest((f"http://{HOST}/same", f"http://{HOST}/changed"), depth=0)
    await ground.crawl(request)
    await ground.work_pages()
    before, stored = await ground.documents(), len(await ground.blobs.keys(""))
    ground.clock.ahead = timedelta(hours=2)
    ground.web.pages[f"{HOST}/changed"] = page("/changed", prose(9))
    ground.web.requests.clear()

    ended = await ground.frontier(await ground.crawl(request))
    await ground.work_pages()

    after = await ground.documents()
    same, changed = (f"http://{HOST}/{name}" for name in ("same", "changed"))
    assert {url: one.state for url, one in ended.items()} == {same: PageState.UNCHANGED, changed: PageState.KEPT}
    assert len(await ground.blobs.keys("")) == stored + 1
    assert after[same].provenance[FETCHED_AT] > before[same].provenance[FETCHED_AT]
    assert (await ground.texts())[0] != (await ground.texts())[1]
    assert any(prose(9) in one for one in await ground.texts())


async def test_what_an_unchanged_page_links_to_is_asked_for_and_a_copy_of_it_is_not_kept() -> None:
    ground = await ground_with_pages("/same", "/changed")
    ground.web.pages[f"{HOST}/same"] = page("/same", prose(0), ("/deeper",))
    ground.web.pages[f"{HOST}/deeper"] = page("/deeper", prose(8))
    ground.web.pages[f"{HOST}/copy"] = ground.web.pages[f"{HOST}/same"]
    ground.web.pages[f"{HOST}/"] = page("Start", prose(7), ("/same", "/changed", "/copy"))
    request = CrawlRequest((f"http://{HOST}/",))
    await ground.crawl(request)
    await ground.work_pages()
    ground.web.pages[f"{HOST}/changed"] = page("/changed", prose(9))

    ended = await ground.frontier(await ground.crawl(request))

    assert {url.partition(HOST)[2]: one.state for url, one in ended.items()} == {
        "/": PageState.UNCHANGED,
        "/same": PageState.UNCHANGED,
        "/changed": PageState.KEPT,
        "/copy": PageState.DUPLICATE,
    }
    assert f"http://{HOST}/copy" not in await ground.documents()


async def test_the_links_of_an_unchanged_page_are_those_of_the_address_that_it_moved_to() -> None:
    ground = await ground_with_pages("/docs/a.html")
    ground.web.pages[f"{HOST}/docs"] = Answer(status="301 Moved", headers=(f"Location: http://{HOST}/docs/",))
    ground.web.pages[f"{HOST}/docs/"] = page("Docs", prose(9), ("a.html",))
    request = CrawlRequest((f"http://{HOST}/docs/",))
    await ground.crawl(request)
    await ground.work_pages()

    ended = await ground.frontier(await ground.crawl(request))

    assert {url.partition(HOST)[2]: one.state for url, one in ended.items()} == {
        "/docs": PageState.UNCHANGED,
        "/docs/a.html": PageState.UNCHANGED,
    }


async def test_the_links_of_an_unchanged_page_are_read_in_its_encoding() -> None:
    ground = await ground_with_pages("/gr%C3%B6%C3%9Fe")
    body = f"<p>Größe {prose(9)}</p><a href='/größe'>x</a>".encode("latin-1")
    ground.web.pages[f"{HOST}/"] = Answer(body, media="text/html; charset=iso-8859-1")
    request = CrawlRequest((f"http://{HOST}/",))
    await ground.crawl(request)
    await ground.work_pages()

    ended = await ground.frontier(await ground.crawl(request))

    assert {url.partition(HOST)[2]: one.state for url, one in ended.items()} == {
        "/": PageState.UNCHANGED,
        "/gr%C3%B6%C3%9Fe": PageState.UNCHANGED,
    }


async def test_a_page_that_nobody_read_yet_is_asked_for_as_a_whole() -> None:
    ground = await ground_with_pages("/a")
    request = CrawlRequest((f"http://{HOST}/a",), depth=0)
    await ground.crawl(request)

    [ended] = (await ground.frontier(await ground.crawl(request))).values()

    assert ended.state is PageState.KEPT


@pytest.mark.parametrize("changes", [False, True], ids=["the same", "another text"])
async def test_a_page_that_asks_not_to_be_kept_any_more_is_hidden_by_the_next_crawl(changes: bool) -> None:
    ground = await ground_with_pages("/a")
    request = CrawlRequest((f"http://{HOST}/a",), depth=0)
    await ground.crawl(request)
    await ground.work_pages()
    assert len(await ground.texts()) == 1
    body = page("/a", prose(5)).body if changes else ground.web.pages[f"{HOST}/a"].body
    ground.web.pages[f"{HOST}/a"] = Answer(body, headers=("X-Robots-Tag: noindex",))

    [ended] = (await ground.frontier(await ground.crawl(request))).values()

    assert (ended.state, ended.code) == (PageState.FAILED, "PAGE_NOINDEX")
    assert await ground.texts() == []


@pytest.mark.tells("rag_page_gone", "document_id")
async def test_a_page_that_asks_not_to_be_kept_any_more_is_hidden_by_the_run_that_hears_it() -> None:
    ground = await ground_with_pages("/a")
    address = f"http://{HOST}/a"
    await ground.crawl(CrawlRequest((address,), depth=0))
    await ground.work_pages()
    before = await ground.texts()
    ground.clock.ahead = timedelta(hours=1)
    ground.web.pages[f"{HOST}/a"] = replace(ground.web.pages[f"{HOST}/a"], headers=("X-Robots-Tag: noindex",))

    report = await look(ground, OutsideRequest(ground.workspace, (), (address,), seconds=2.0))

    assert (len(before), report.refusals, await ground.texts()) == (1, ("PAGE_NOINDEX",), [])


@pytest.mark.parametrize(("minutes", "fetched"), [(9, 0), (11, 1)])
async def test_a_page_that_was_fetched_within_ten_minutes_is_not_fetched_again_for_a_run(
    minutes: int, fetched: int
) -> None:
    ground = await ground_with_pages()
    request = OutsideRequest(ground.workspace, (), (FACT,), seconds=5.0)
    first = await look(ground, request, queue=Worker(ground))
    assert (first.pages, first.ready) == (1, 1)
    ground.web.requests.clear()
    ground.clock.ahead = timedelta(minutes=minutes)

    again = await look(ground, request, queue=Worker(ground))

    assert (again.known, again.pages) == (1, fetched)
    assert (FACT.partition("://")[2] in ground.web.requests) is bool(fetched)


@pytest.mark.parametrize(("profile", "is_read"), [(ProfileName.CODE, True), (ProfileName.GENERAL, False)])
async def test_pages_of_makers_and_standards_are_read_before_others_that_searches_name(
    profile: ProfileName, is_read: bool
) -> None:
    ground = await CrawledWorkspace().open()
    named = {name: [f"{name}{number}.example.org" for number in range(4)] for name in ("first", "second")}
    named["second"][3] = MAKERS
    for number, host in enumerate(one for hosts in named.values() for one in hosts):
        ground.web.pages[f"{host}/"] = page(host, prose(number))

    async def name_hosts(request: SearchRequest) -> tuple[SearchResult, ...]:
        return tuple(SearchResult(f"http://{host}/") for host in named[request.query])

    hosts = PROFILES[profile].first_hosts
    request = OutsideRequest(ground.workspace, tuple(named), seconds=5.0, first_hosts=hosts)
    report = await look(ground, request, name_hosts, Worker(ground))

    # Six of the eight are read, and the last that an engine named is none of them by itself.
    assert report.pages == 6
    assert (f"{MAKERS}/" in ground.web.page_requests) is is_read


async def test_the_response_is_kept_as_it_came_with_its_hash_time_and_headers_after_the_page_changed_too() -> None:
    ground = await ground_with_pages("/news")
    request = CrawlRequest((f"http://{HOST}/news",), depth=0)
    kept: list[Document] = []
    bodies: list[bytes] = []
    for number in (50, 51):
        ground.web.pages[f"{HOST}/news"] = page("/news", prose(number))
        await ground.crawl(request)
        await ground.work_pages()
        kept += (await ground.documents()).values()
        bodies.append(ground.web.pages[f"{HOST}/news"].body)
        ground.clock.ahead += timedelta(hours=2)

    held = [await ground.blobs.read(key) for key in await ground.blobs.keys("")]
    assert sorted(held) == sorted(bodies)
    assert [one.content_hash for one in kept] == [sha256(body).digest() for body in bodies]
    for document, body in zip(kept, bodies, strict=True):
        told = document.provenance
        headers = json.loads(told["response_headers"])
        validator = f'"{sha256(body).hexdigest()[:12]}"'
        assert (headers["etag"], headers["content-type"]) == (validator, "text/html; charset=utf-8")
        assert told["etag"] == validator
    first, second = (datetime.fromisoformat(one.provenance[FETCHED_AT]) for one in kept)
    assert timedelta(hours=2) <= second - first < timedelta(hours=2, minutes=5)


async def test_of_a_page_that_changed_the_file_behind_an_earlier_text_is_known_with_its_time_and_headers() -> None:
    ground = await ground_with_pages("/news")
    request = CrawlRequest((f"http://{HOST}/news",), depth=0)
    kept: list[Document] = []
    digests: list[bytes] = []
    for number in (50, 51, 52):
        ground.web.pages[f"{HOST}/news"] = page("/news", prose(number))
        await ground.crawl(request)
        await ground.work_pages()
        kept += (await ground.documents()).values()
        digests.append(sha256(ground.web.pages[f"{HOST}/news"].body).digest())
        ground.clock.ahead += timedelta(hours=2)

    revisions = [one.revision_id for one in kept if one.revision_id is not None]
    async with ground.database.transaction(ground.workspace.org_id) as transaction:
        originals = await transaction.originals.of(ground.workspace, kept[0].document_id)
    async with ground.database.snapshot(ground.workspace) as snapshot:
        spans = await snapshot.documents.revision_spans([SpanRequest(one, 0, 0) for one in revisions])
    found = [
        original_behind(kept[0].document_id, revision, "" if span is None else span.parser_version, originals)
        for revision, span in zip(revisions, spans, strict=True)
    ]
    told = json.loads(kept[-1].provenance[EARLIER_RESPONSES])

    assert [one and one.content_hash for one in found] == digests
    assert [*told] == [one.hex() for one in digests[:2]]
    for before, response in zip(kept, told.values(), strict=False):
        assert response["fetched_at"] == before.provenance[FETCHED_AT]
        assert response["headers"] == json.loads(before.provenance["response_headers"])


@pytest.mark.parametrize(
    ("before", "told"),
    [
        ({}, []),
        ({"content_sha256": "ff"}, []),
        ({"content_sha256": "aa", "fetched_at": "then"}, ["aa"]),
        ({"content_sha256": "aa", "earlier_responses": '{"aa": {}, "bb": {}}'}, ["bb", "aa"]),
        ({"content_sha256": "ff", "earlier_responses": '{"ff": {}, "bb": {}}'}, ["ff", "bb"]),
    ],
)
def test_a_response_is_told_of_once_and_no_more_than_so_many_are(before: dict[str, str], told: list[str]) -> None:
    many = json.dumps({str(number): {} for number in range(MAX_EARLIER)})

    assert [*json.loads(tell_earlier(before, b"\xff").get(EARLIER_RESPONSES, "{}"))] == told
    full = json.loads(tell_earlier({"content_sha256": "aa", EARLIER_RESPONSES: many}, b"\xff")[EARLIER_RESPONSES])
    assert [*full] == [*map(str, range(1, MAX_EARLIER)), "aa"]


def test_of_a_long_header_a_thousand_characters_are_told() -> None:
    headers = json.dumps({"cache-control": "x" * 60_000, "etag": "short"})

    told = json.loads(tell_earlier({"content_sha256": "aa", "response_headers": headers}, b"\xff")[EARLIER_RESPONSES])

    assert told["aa"]["headers"] == {"cache-control": "x" * 1_000, "etag": "short"}


async def test_of_a_long_header_a_thousand_characters_are_kept() -> None:
    ground = await ground_with_pages("/a")
    ground.web.pages[f"{HOST}/a"] = replace(ground.web.pages[f"{HOST}/a"], headers=(f"Cache-Control: {'x' * 20_000}",))
    await ground.crawl(CrawlRequest((f"http://{HOST}/a",), depth=0))

    [kept] = (await ground.documents()).values()
    assert json.loads(kept.provenance["response_headers"])["cache-control"] == "x" * 1_000


async def test_an_address_is_asked_for_as_it_is_named_and_another_query_is_another_page() -> None:
    ground = await CrawledWorkspace().open()
    paths = ("/docs/", "/article.php?sid=123", "/article.php?sid=124")
    for number, path in enumerate(paths):
        ground.web.pages[f"{SITE}{path}"] = page(path, prose(number))
    named = tuple(f"http://{SITE}{path}" for path in (*paths, "/docs/index.html"))

    first, again = [
        await look(ground, OutsideRequest(ground.workspace, (), named, seconds=5.0), queue=Worker(ground))
        for _ in range(2)
    ]

    assert (first.ready, first.refusals, again.known) == (3, (), 3)
    assert ground.web.page_requests == [f"{SITE}{path}" for path in paths]
