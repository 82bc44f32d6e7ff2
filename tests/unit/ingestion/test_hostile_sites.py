"""Crawls of sites that mean harm or are in need: they cost a crawl no more than its budget, and get no more requests
than they ask for.
"""

from __future__ import annotations

import gzip
import time
import tracemalloc

import pytest
from tests.gate.simulated_web import Answer, page, prose
from tests.gate.web_ground import CrawledWorkspace

from agentic_rag.ingestion.web import near_pages
from agentic_rag.ingestion.web.crawl import LEAST_FRONTIER
from agentic_rag.ingestion.web.frontier import CrawlRequest, PageState
from agentic_rag.ingestion.web.near_pages import signature
from agentic_rag.web.links import read_links
from agentic_rag.web.robots import read_directives

SITE = "site.example.com"
PRIVATE = Answer(b"User-agent: *\nDisallow: /private\n", media="text/plain")
LEAVES = tuple(f"/{number}" for number in range(6))


def html(head: str) -> Answer:
    return Answer(f"<html><head>{head}</head><body></body></html>".encode())


async def crawled(
    pages: dict[str, Answer], max_pages: int = 50
) -> tuple[CrawledWorkspace, dict[str, tuple[PageState, str]]]:
    """A crawl of a site whose first page links to `LEAVES`, which say nothing alike unless `pages` has them."""
    ground = await CrawledWorkspace().open()
    ground.web.pages[f"{SITE}/"] = page("Site", prose(1), LEAVES)
    ground.web.pages |= {f"{SITE}{leaf}": page(leaf, prose(10 + at)) for at, leaf in enumerate(LEAVES)}
    ground.web.pages |= {f"{SITE}{path}": sent for path, sent in pages.items()}
    ref = await ground.crawl(CrawlRequest((f"http://{SITE}/",), max_pages=max_pages))
    ended = {url.partition(SITE)[2]: (one.state, one.code) for url, one in (await ground.frontier(ref)).items()}
    return ground, ended


@pytest.mark.parametrize(
    "busy",
    [
        Answer(status="429 Too Many Requests", headers=("Retry-After: 120",)),
        Answer(status="503 Service Unavailable", headers=("Retry-After: 3600",)),
        Answer(
            status="429 Too Many Requests",
            headers=("Date: Sat, 28 Nov 2026 18:00:00 GMT", "Retry-After: Sat, 28 Nov 2026 18:02:00 GMT"),
        ),
        Answer(status="503 Service Unavailable", headers=("Retry-After: Fri, 31 Dec 9999 23:59:59 GMT",)),
    ],
)
async def test_a_site_that_asks_for_more_than_a_crawl_waits_gets_no_further_request(busy: Answer) -> None:
    ground, ended = await crawled({"/0": busy})

    assert ground.web.page_requests == [f"{SITE}/", f"{SITE}/0"]
    assert ended["/0"] == (PageState.FAILED, "SITE_BUSY")
    assert {ended[one] for one in LEAVES[1:]} == {(PageState.REFUSED, "SITE_BUSY")}


async def test_a_site_that_is_busy_twice_gets_no_further_request() -> None:
    busy = Answer(status="429 Too Many Requests", headers=("Retry-After: 0",))
    ground, ended = await crawled({"/0": busy, "/2": busy})

    assert ground.web.page_requests == [f"{SITE}{one}" for one in ("/", "/0", "/1", "/2")]
    assert ended["/1"][0] is PageState.KEPT
    assert ended["/3"] == (PageState.REFUSED, "SITE_BUSY")


async def test_one_page_that_fails_does_not_end_its_site() -> None:
    _, ended = await crawled({"/0": Answer(status="503 Service Unavailable")})

    assert ended["/0"] == (PageState.FAILED, "FETCH_FAILED")
    assert all(ended[one][0] is PageState.KEPT for one in LEAVES[1:])


async def test_redirects_that_lead_nowhere_count_against_the_budget() -> None:
    loop = {leaf: Answer(status="302 Found", headers=(f"Location: {leaf}",)) for leaf in LEAVES}
    ground, ended = await crawled(loop, max_pages=3)

    assert {one.partition("/")[2] for one in ground.web.page_requests} == {"", "0", "1"}
    assert ended["/0"] == (PageState.FAILED, "ADDRESS_REFUSED")
    assert ended["/5"][0] is PageState.PENDING


@pytest.mark.parametrize(
    ("own", "kept_at"),
    [
        ("/rules", "/view?id=7&ref=mail"),
        ("/view?id=2", "/view?id=7&ref=mail"),
        ("/view?id=7", "/view?id=7"),
        ("/view", "/view"),
        ("http://elsewhere.example.org/view", "/view?id=7&ref=mail"),
    ],
)
async def test_no_page_takes_the_place_of_another_by_calling_it_its_own(own: str, kept_at: str) -> None:
    at = "/view?id=7&ref=mail"
    said = page("Post", prose(90), head=f'<link rel="canonical" href="{own}">')
    ground, _ = await crawled({"/": page("Site", prose(1), [at]), at: said})

    assert sorted(await ground.documents()) == sorted([f"http://{SITE}/", f"http://{SITE}{kept_at}"])


async def test_a_site_of_many_links_fills_no_table() -> None:
    many = {
        leaf: page(leaf, prose(10 + at), [f"/{at}/{one}" for one in range(400)]) for at, leaf in enumerate(LEAVES[:3])
    }
    ground = await CrawledWorkspace().open()
    ground.web.pages |= {
        f"{SITE}/": page("Site", prose(1), [*many]),
        **{f"{SITE}{at}": one for at, one in many.items()},
    }

    ref = await ground.crawl(CrawlRequest((f"http://{SITE}/",), depth=2, max_pages=4))

    found = (await ground.frontier(ref)).values()
    assert len(found) == LEAST_FRONTIER
    assert sum(one.state is PageState.KEPT for one in found) == 4


async def test_a_page_that_moved_to_what_robots_txt_forbids_is_not_asked_for_there() -> None:
    moved = {leaf: Answer(status="301 Moved Permanently", headers=("Location: /private/0",)) for leaf in LEAVES[:2]}
    ground, ended = await crawled({"/robots.txt": PRIVATE, "/private/0": page("Private", prose(50)), **moved})

    assert f"{SITE}/private/0" not in ground.web.requests
    assert {ended[leaf] for leaf in LEAVES[:2]} == {(PageState.FAILED, "ROBOTS_REFUSED")}
    assert {ended[leaf] for leaf in LEAVES[2:]} == {(PageState.KEPT, "")}


async def test_what_a_crawl_begins_with_is_not_asked_for_where_it_moved_to_what_robots_txt_forbids() -> None:
    ground, ended = await crawled(
        {
            "/robots.txt": PRIVATE,
            "/": Answer(status="302 Found", headers=("Location: /private/list.xml",)),
            "/private/list.xml": Answer(f"<urlset><loc>http://{SITE}/0</loc></urlset>".encode(), media="text/xml"),
        }
    )

    assert ground.web.page_requests == [f"{SITE}/"]
    assert ended == {"/": (PageState.FAILED, "ROBOTS_REFUSED")}


async def test_a_page_that_sends_its_readers_on_is_no_document_and_the_page_behind_it_is_read() -> None:
    refresh = "<meta http-equiv='Refresh' content=\"0; URL='/target'\">"
    target = page("Target", prose(99))
    _, ended = await crawled({"/0": html(refresh), "/target": target})

    assert ended["/0"][0] is PageState.EXPANDED
    assert ended["/target"][0] is PageState.KEPT


async def test_pages_that_send_one_another_on_end() -> None:
    there, back = (html(f"<meta http-equiv=refresh content='0;url={one}'>") for one in ("/1", "/0"))
    ground, ended = await crawled({"/0": there, "/1": back})

    assert ground.web.asked_twice == []
    assert ended["/0"][0] is PageState.EXPANDED
    assert ended["/1"][0] is PageState.EXPANDED


async def test_a_page_of_many_packed_members_is_read_to_its_end() -> None:
    members = b"".join(gzip.compress(one.encode()) for one in ("<p>", prose(81), "</p>" * 3, "<a href='/last'>x</a>"))
    packed = Answer(members, headers=("Content-Encoding: gzip",))
    _, ended = await crawled({"/": packed, "/last": page("Last", prose(82))})

    assert ended["/last"] == (PageState.KEPT, "")


@pytest.mark.parametrize(
    "sent",
    [
        Answer("<p>Größe</p><a href='/größe'>x</a>".encode("latin-1"), media="text/html; charset=iso-8859-1"),
        Answer("<meta charset=windows-1252><p>Größe</p><a href='/größe'>x</a>".encode("cp1252"), media="text/html"),
        Answer("\ufeff<p>Größe</p><a href='/größe'>x</a>".encode("utf-16-le"), media="text/html"),
    ],
    ids=["by its server", "by itself", "by a byte order mark"],
)
async def test_links_are_read_in_the_encoding_of_their_page(sent: Answer) -> None:
    ground, ended = await crawled({"/": sent, "/gr%C3%B6%C3%9Fe": page("Size", prose(80))})

    assert ended["/gr%C3%B6%C3%9Fe"] == (PageState.KEPT, "")
    assert ground.web.page_requests == [f"{SITE}/", f"{SITE}/gr%C3%B6%C3%9Fe"]


def test_texts_are_compared_piece_by_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    text = prose(1) + prose(2)
    whole = signature(text)
    monkeypatch.setattr(near_pages, "AT_ONCE", 7)

    assert signature(text) == whole
    assert len(set(whole)) > 1


def test_a_large_text_is_compared_in_little_memory() -> None:
    text = " ".join(map(str, range(60_000)))
    tracemalloc.start()
    try:
        signature(text)
        assert tracemalloc.get_traced_memory()[1] < 40_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.tells("rag_crawl_ended", "job_id")
async def test_a_page_of_signs_is_no_document() -> None:
    _, ended = await crawled({"/0": Answer(b"<html><body>" + b"<" * 5_000), "/1": Answer("<p>泵站</p>".encode())})

    assert ended["/0"] == (PageState.FAILED, "PARSE_NO_TEXT")
    assert ended["/1"][0] is PageState.KEPT


@pytest.mark.parametrize(
    ("content", "moved_to"),
    [
        ("0;url=/next", "http://h.example.org/next"),
        ("3; URL = 'https://h.example.org/next?utm_source=x'", "https://h.example.org/next"),
        ("300;url=/next", None),
        ("0", None),
        ("5;url=/", None),
        ("0;url=javascript:alert(1)", None),
        ("0;url=http://[", None),
    ],
)
def test_a_refresh_moves_a_page_where_it_comes_at_once_and_leads_elsewhere(content: str, moved_to: str | None) -> None:
    body = f'<meta http-equiv="refresh" content="{content}">'
    assert read_links("http://h.example.org/", body).moved_to == moved_to


@pytest.mark.parametrize(
    "rules",
    [
        Answer(b"User-agent: *\nDisallow: /\n", media=""),
        Answer(b"User-agent: *\nDisallow: /\n", media="binary/octet-stream"),
        Answer(b"\xef\xbb\xbfUser-agent: *\nDisallow: /\n", media="text/plain"),
        Answer(b"User-agent: *\nDisallow: /\n", media="text/plain", headers=("Content-Encoding: br",)),
        Answer(b"User-agent: *\nDisallow: /\n\n" + b"#" * 600_000, media="text/plain"),
        Answer(b"#" * 10_000_000, media="text/plain"),
        Answer("User-agent: *\nDisallow: /\n".encode("utf-16-le"), media="text/plain"),
    ],
    ids=["no type", "another type", "byte order mark", "packed as nobody asked", "long", "10 MB", "UTF-16"],
)
async def test_a_robots_txt_that_is_written_or_sent_oddly_forbids_what_it_says(rules: Answer) -> None:
    ground, ended = await crawled({"/robots.txt": rules})

    assert ground.web.page_requests == []
    assert ended == {"/": (PageState.REFUSED, "ROBOTS_REFUSED")}


async def test_a_picture_in_the_place_of_a_robots_txt_forbids_nothing() -> None:
    _, ended = await crawled({"/robots.txt": Answer(b"\x89PNG\r\n\x1a\n\0", media="image/png")})

    assert ended["/"][0] is PageState.KEPT


@pytest.mark.parametrize(
    "piece",
    [
        b"<!--",
        b"<!-- ",
        b"<meta ",
        b"<meta name=robots content=x ",
        b"<script",
        b"<meta a=\"'>",
        b"<meta name=robots content='" + b"a" * 9_900,
    ],
)
def test_what_a_page_asks_of_robots_is_read_in_one_pass(piece: bytes) -> None:
    body = (piece * 25_000)[:100_000]
    begun = time.process_time()

    assert not read_directives("", body).noindex
    assert time.process_time() - begun < 0.5


def test_an_attribute_with_room_in_it_takes_no_time() -> None:
    begun = time.process_time()

    assert not read_directives("", b"<meta name=" + b" " * 1_900_000 + b"x>").noindex
    assert time.process_time() - begun < 0.5


def test_an_unclosed_comment_hides_no_wish() -> None:
    body = b"<!-- a --><!-- <meta name=robots content=noindex> --><meta name=robots content=nofollow><!-- "
    assert read_directives("", body) == read_directives("nofollow", b"")
