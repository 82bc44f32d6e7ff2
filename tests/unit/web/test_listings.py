"""Sitemaps and feeds: what they name, and what is refused before it costs anything."""

from __future__ import annotations

import pytest

from agentic_rag.web.listings import (
    MAX_LISTED,
    ListedPage,
    ListingKind,
    ListingRefused,
    looks_like_listing,
    read_listing,
)

SITEMAP = b"""<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:x="urn:x">
<url><loc> http://a.example/1 </loc><lastmod>2026-01-02</lastmod><x:image><x:loc>/picture</x:loc></x:image></url>
</urlset>"""
RSS = b"""<rss version="2.0"><channel><title>News</title><link>http://a.example/</link>
<item><title>One</title><link>http://a.example/2</link><pubDate>Mon, 5 Jan 2026</pubDate></item>
<item><title>No address</title></item></channel></rss>"""
ATOM = b"""<feed xmlns="http://www.w3.org/2005/Atom"><link rel="self" href="http://a.example/feed"/>
<entry><link rel="edit" href="http://a.example/edit"/><link href="http://a.example/3"/><updated>2026-01-03</updated>
</entry></feed>"""
RDF = b"""<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/">
<channel><link>http://a.example/</link></channel><item><link>http://a.example/4</link></item></rdf:RDF>"""
INDEX = b"<sitemapindex><sitemap><loc>http://a.example/inner.xml</loc></sitemap></sitemapindex>"
IN_UTF_16 = SITEMAP.decode().replace('"1.0"', '"1.0" encoding="utf-16"').encode("utf-16")


@pytest.mark.parametrize(
    ("body", "kind", "pages"),
    [
        (SITEMAP, ListingKind.SITEMAP, [ListedPage("http://a.example/1", "2026-01-02")]),
        (IN_UTF_16, ListingKind.SITEMAP, [ListedPage("http://a.example/1", "2026-01-02")]),
        (RSS, ListingKind.FEED, [ListedPage("http://a.example/2", "Mon, 5 Jan 2026")]),
        (ATOM, ListingKind.FEED, [ListedPage("http://a.example/3", "2026-01-03")]),
        (RDF, ListingKind.FEED, [ListedPage("http://a.example/4")]),
        (INDEX, ListingKind.INDEX, [ListedPage("http://a.example/inner.xml")]),
    ],
)
def test_a_listing_names_its_pages(body: bytes, kind: ListingKind, pages: list[ListedPage]) -> None:
    found = read_listing(body)

    assert (found.kind, list(found.pages)) == (kind, pages)


ADDRESS = {
    "shift_jis": "日本", "gbk": "中国", "gb18030": "中国", "euc-jp": "日本", "big5": "台灣", "euc-kr": "한국",
    "windows-1251": "страница", "koi8-r": "страница", "iso-8859-2": "účet", "utf-16": "日本", "utf-8": "日本",
}  # fmt: skip


def written(path: str, encoding: str | None, stated: str | None) -> bytes:
    says = "" if stated is None else f' encoding="{stated}"'
    text = f'<?xml version="1.0"{says}?><urlset><url><loc>http://a.example/{path}</loc></url></urlset>'
    return text.encode(encoding or "utf-8")


@pytest.mark.parametrize("encoding", ADDRESS)
def test_a_listing_may_be_in_any_encoding_that_it_or_its_server_states(encoding: str) -> None:
    path = ADDRESS[encoding]
    by_itself = read_listing(written(path, encoding, encoding))
    by_server = read_listing(written(path, encoding, None), encoding)
    # RFC 7303: what the server says comes first, where it fits.
    both = read_listing(written(path, encoding, "iso-8859-1"), encoding)

    assert {one.pages[0].address for one in (by_itself, by_server, both)} == {f"http://a.example/{path}"}


@pytest.mark.parametrize(
    ("charset", "stated"), [("us-ascii", "windows-1251"), ("utf-8", "windows-1251"), ("x-no", "cp1251")]
)
def test_what_the_server_says_wrongly_is_passed_over(charset: str, stated: str) -> None:
    assert read_listing(written("страница", "cp1251", stated), charset).pages[0].address.endswith("/страница")


@pytest.mark.parametrize("stated", ["x-user-defined", "punycode", "utf-7", "zlib", "us-ascii"])
def test_a_listing_in_an_encoding_that_nobody_reads_is_refused(stated: str) -> None:
    body = written("é", "iso-8859-1", stated)

    with pytest.raises(ListingRefused, match="its bytes are not"):
        read_listing(body)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", "LISTING_INVALID"),
        (b"<html/>", "LISTING_INVALID"),
        (b"<urlset>", "LISTING_INVALID"),
        (b"<urlset><url></url></urlset>", "LISTING_INVALID"),
        (b"<urlset>" + b"<a>" * 100_000, "LISTING_INVALID"),
        (b"<!DOCTYPE urlset [<!ENTITY a 'b'>]><urlset/>", "LISTING_INVALID"),
        ("<!DOCTYPE urlset [<!ENTITY a 'b'>]><urlset/>".encode("utf-16"), "LISTING_INVALID"),
        (b"<urlset>" + b"<url><loc>/</loc></url>" * (MAX_LISTED + 1) + b"</urlset>", "LISTING_TOO_LONG"),
    ],
    ids=["empty", "a page", "cut off", "no address", "deep", "entities", "entities in UTF-16", "long"],
)
def test_what_no_listing_may_be_is_refused(body: bytes, code: str) -> None:
    with pytest.raises(ListingRefused) as refused:
        read_listing(body)

    assert refused.value.code == code


@pytest.mark.parametrize(
    ("media_type", "body", "is_listing"),
    [
        ("text/html", b"<?xml version='1.0'?>\n<!-- made by hand -->\n<rdf:RDF xmlns:rdf=''>", True),
        ("text/plain", RSS, True),
        ("application/xml", b"<other/>", True),
        ("text/html", b"<!doctype html><html><body>A feed: <rss></body></html>", False),
        ("text/html", b"<feedback>", False),
    ],
)
def test_a_listing_is_known_by_its_root_whatever_its_server_calls_it(
    media_type: str, body: bytes, is_listing: bool
) -> None:
    assert looks_like_listing(media_type, body) is is_listing
