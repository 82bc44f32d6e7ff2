"""Crawls that begin at a sitemap or a feed."""

from __future__ import annotations

import gzip
from collections.abc import Sequence

import pytest
from tests.gate.simulated_web import Answer, page, prose
from tests.gate.web_ground import CrawledWorkspace

from agentic_rag.ingestion.web.frontier import CrawlRequest, PageState

HOST = "listed.example.org"
SEED = f"http://{HOST}/sitemap.xml"
XML = "application/xml"
KEPT = (PageState.KEPT, "")
EXPANDED = (PageState.EXPANDED, "")


def sitemap(addresses: Sequence[str], root: str = "urlset", entry: str = "url") -> bytes:
    listed = "".join(f"<{entry}><loc>{one}</loc></{entry}>" for one in addresses)
    return f"<{root}>{listed}</{root}>".encode()


def index(*paths: str) -> Answer:
    return Answer(sitemap([f"http://{HOST}{path}" for path in paths], "sitemapindex", "sitemap"), media=XML)


async def ground(listings: dict[str, Answer]) -> CrawledWorkspace:
    """A site of a few pages, none of which leads to another."""
    made = await CrawledWorkspace().open()
    for number in range(5):
        made.web.pages[f"{HOST}/{number}"] = page(f"Page {number}", prose(9_000 + number))
    made.web.pages |= {f"{HOST}{path}": answer for path, answer in listings.items()}
    return made


async def ends(at: CrawledWorkspace, request: CrawlRequest) -> dict[str, tuple[PageState, str]]:
    found = await at.frontier(await at.crawl(request))
    return {url.partition(HOST)[2]: (one.state, one.code) for url, one in found.items()}


@pytest.mark.parametrize(
    "listing",
    [
        Answer(sitemap([f"http://{HOST}/0", f"http://{HOST}/1"]), media=XML, headers=("X-Robots-Tag: noindex",)),
        Answer(
            f"<rss><channel><item><link>http://{HOST}/0</link></item><item><link>http://{HOST}/1</link></item>"
            "</channel></rss>".encode(),
            media="text/plain",
        ),
        Answer(
            gzip.compress(b"<urlset>")
            + gzip.compress(f"<url><loc>http://{HOST}/0</loc></url><url><loc>/1</loc></url></urlset>".encode())
            + b"\0" * 100_000,
            media="application/gzip",
        ),
        Answer(gzip.compress(sitemap([f"http://{HOST}/0", "/1"])), media="application/x-gzip"),
        Answer(gzip.compress(f"http://{HOST}/0\nhttp://{HOST}/1\n".encode()), media="application/octet-stream"),
        Answer(
            gzip.compress(gzip.compress(sitemap([f"http://{HOST}/0", f"http://{HOST}/1"]))),
            media=XML,
            headers=("Content-Encoding: gzip",),
        ),
        Answer(f"http://{HOST}/0\nhttp://{HOST}/1\n".encode(), media="text/plain"),
    ],
    ids=["sitemap", "feed", "in members", "packed", "packed lines", "packed twice", "lines"],
)
async def test_a_listing_is_read_and_its_pages_are_kept(listing: Answer) -> None:
    at = await ground({"/sitemap.xml": listing})

    assert await ends(at, CrawlRequest((SEED,), depth=0)) == {"/sitemap.xml": EXPANDED, "/0": KEPT, "/1": KEPT}
    assert sorted(await at.documents()) == [f"http://{HOST}/0", f"http://{HOST}/1"]


async def test_an_index_is_followed_one_level_deep() -> None:
    listed = Answer(sitemap([f"http://{HOST}/0"]), media=XML)
    at = await ground(
        {"/sitemap.xml": index("/a.xml", "/b.xml"), "/a.xml": listed, "/b.xml": index("/a.xml", "/c.xml")}
    )

    assert await ends(at, CrawlRequest((SEED,), depth=0)) == {
        "/sitemap.xml": EXPANDED,
        "/a.xml": EXPANDED,
        "/b.xml": (PageState.FAILED, "LISTING_NESTED"),
        "/0": KEPT,
    }


async def test_a_listing_gives_no_more_pages_than_the_crawl_may_fetch() -> None:
    long = sitemap([f"http://{HOST}/{number}" for number in range(10_000)])
    at = await ground({"/sitemap.xml": Answer(long, media=XML)})

    found = await ends(at, CrawlRequest((SEED,), max_pages=4))

    assert [one for one in found.values() if one == KEPT] == [KEPT] * 3
    assert len(found) == 5
    assert len(at.web.page_requests) == 4


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (Answer(sitemap([f"http://{HOST}/{n}" for n in range(100_000)]), media=XML), "LISTING_TOO_LONG"),
        (Answer(b"<!DOCTYPE a [<!ENTITY b 'c'>]><urlset/>", media=XML), "LISTING_INVALID"),
        (Answer(b"<opml/>", media=XML), "LISTING_INVALID"),
        (
            Answer(sitemap(["http://127.0.0.1/", "file:///etc/passwd"]), media=XML),
            "ADDRESS_REFUSED",
        ),
        (Answer(sitemap(["http://elsewhere.example.org/"]), media=XML), "ADDRESS_REFUSED"),
        (
            Answer(gzip.compress(b"<urlset>" + b" " * 20_000_000), media=XML, headers=("Content-Encoding: gzip",)),
            "FETCH_TOO_LARGE",
        ),
        (Answer(gzip.compress(b"<urlset>" + b" " * 20_000_000), media="application/gzip"), "FETCH_TOO_LARGE"),
        (Answer(gzip.compress(sitemap([f"http://{HOST}/0"]))[:-9], media="application/gzip"), "FETCH_FAILED"),
        (Answer(gzip.compress(b"<html><p>A page.</p>"), media="application/gzip"), "FETCH_TYPE"),
        (Answer(b"A file of words.", media="application/octet-stream"), "FETCH_TYPE"),
        (Answer(b"<html>" + b"a " * 1_500_000), "FETCH_TOO_LARGE"),
    ],
    ids=[
        "100,000",
        "entities",
        "other XML",
        "private",
        "elsewhere",
        "bomb",
        "packed bomb",
        "cut off",
        "packed page",
        "a file",
        "a page as large",
    ],
)
async def test_a_hostile_listing_ends_under_its_own_name_and_asks_nobody_else(answer: Answer, code: str) -> None:
    at = await ground({"/sitemap.xml": answer})

    assert (await ends(at, CrawlRequest((SEED,))))["/sitemap.xml"][1] == code
    assert at.web.page_requests == [f"{HOST}/sitemap.xml"]


async def test_a_crawl_goes_on_behind_a_listing_that_was_read() -> None:
    at = await ground({"/sitemap.xml": index("/a.xml"), "/a.xml": index("/c.xml")})
    ref = await at.crawl(CrawlRequest((SEED,)), stop_after=1)
    await at.attempt(ref)

    found = {url.partition(HOST)[2]: one.code for url, one in (await at.frontier(ref)).items()}
    assert found == {"/sitemap.xml": "", "/a.xml": "LISTING_NESTED"}
    assert at.web.asked_twice == []
