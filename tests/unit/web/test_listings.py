"""Sitemaps and feeds: what they name, and what is refused before it costs anything."""

from __future__ import annotations

import time

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


RSS_0_91 = b"""<?xml version="1.0"?>
<!DOCTYPE rss PUBLIC "-//Netscape Communications//DTD RSS 0.91//EN" "http://my.netscape.com/publish/formats/rss-0.91.dtd">
<rss version="0.91"><channel><title>News</title><image><url>http://a.example/logo.png</url></image>
<item><title>One &nbsp; day</title><link>http://a.example/5</link></item></channel></rss>"""
CDF = b"""<?xml version="1.0"?><CHANNEL HREF="http://a.example/"><ITEM HREF="http://a.example/6"><TITLE>Six</TITLE></ITEM>
</CHANNEL>"""
PERMALINKS = b"""<rss><channel><item><guid>http://a.example/7</guid></item>
<item><guid isPermaLink="false">http://a.example/no</guid></item><item><guid>7</guid></item></channel></rss>"""
BASES = b"""<feed xmlns="http://www.w3.org/2005/Atom" xml:base="http://a.example/news/"><entry xml:base="2026/">
<link href="8"/></entry><entry><link href="9"/></entry></feed>"""
LANGUAGES = b"""<urlset xmlns:h="http://www.w3.org/1999/xhtml"><url><h:link rel="alternate" hreflang="de"
href="/de/10"/><loc>http://a.example/10</loc></url></urlset>"""
LOOSE = b"""<rss><channel><title>Caf&eacute; & more</title><item><link>http://a.example/?a=1&b=2</link>
<description><![CDATA[<!DOCTYPE html> a & b &amp; c]]></description></item>
<item><link><![CDATA[http://a.example/?a=1&b=3]]></link></item></channel></rss>"""
ALTERNATES = b"""<feed xmlns="http://www.w3.org/2005/Atom"><entry>
<link rel="alternate" type="application/json" href="http://a.example/13.json"/>
<link rel="alternate" type="text/html; charset=utf-8" href="http://a.example/13"/></entry>
<entry><link type="application/pdf" href="http://a.example/14.pdf"/></entry></feed>"""
UNTIDY = b"""
 <?xml version="1.0" encoding="iso-8859-1"?><urlset><url></url><url><loc>http://a.example/15</loc></url><url/>
<url><loc>\x0bhttp://a.example/16</loc><title>\xe9 \x08</title></url></urlset>"""
LINES = b"\xef\xbb\xbfhttp://a.example/11\r\n\r\nhttps://a.example/12\n"


@pytest.mark.parametrize(
    ("body", "kind", "pages"),
    [
        (SITEMAP, ListingKind.SITEMAP, [ListedPage("http://a.example/1", "2026-01-02")]),
        (IN_UTF_16, ListingKind.SITEMAP, [ListedPage("http://a.example/1", "2026-01-02")]),
        (RSS, ListingKind.FEED, [ListedPage("http://a.example/2", "Mon, 5 Jan 2026")]),
        (ATOM, ListingKind.FEED, [ListedPage("http://a.example/3", "2026-01-03")]),
        (RDF, ListingKind.FEED, [ListedPage("http://a.example/4")]),
        (INDEX, ListingKind.INDEX, [ListedPage("http://a.example/inner.xml")]),
        (RSS_0_91, ListingKind.FEED, [ListedPage("http://a.example/5")]),
        (CDF, ListingKind.FEED, [ListedPage("http://a.example/6")]),
        (PERMALINKS, ListingKind.FEED, [ListedPage("http://a.example/7")]),
        (BASES, ListingKind.FEED, [ListedPage("http://a.example/news/2026/8"), ListedPage("http://a.example/news/9")]),
        (LANGUAGES, ListingKind.SITEMAP, [ListedPage("http://a.example/10")]),
        (LOOSE, ListingKind.FEED, [ListedPage("http://a.example/?a=1&b=2"), ListedPage("http://a.example/?a=1&b=3")]),
        (ALTERNATES, ListingKind.FEED, [ListedPage("http://a.example/13"), ListedPage("http://a.example/14.pdf")]),
        (UNTIDY, ListingKind.SITEMAP, [ListedPage("http://a.example/15"), ListedPage("http://a.example/16")]),
        (LINES, ListingKind.SITEMAP, [ListedPage("http://a.example/11"), ListedPage("https://a.example/12")]),
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


@pytest.mark.parametrize("piece", [b"<!---->", b"<!-- a -->", b"<?a?>", b"<!DOCTYPE a>", b" ", b"<!--"])
def test_what_stands_before_a_root_is_read_in_one_pass(piece: bytes) -> None:
    begun = time.process_time()

    assert not looks_like_listing("text/html", piece * 2_000 + b"<x>")
    assert time.process_time() - begun < 0.5


@pytest.mark.parametrize("piece", ["<![CDATA[", "&", "&#", "<a>&", "]]>"])
def test_a_listing_that_is_no_xml_is_refused_in_one_pass(piece: str) -> None:
    begun = time.process_time()

    with pytest.raises(ListingRefused):
        read_listing(f"<urlset>{piece * 200_000}".encode())
    assert time.process_time() - begun < 2.0


@pytest.mark.parametrize(
    ("media_type", "body", "is_listing"),
    [
        ("text/html", b"<?xml version='1.0'?>\n<!-- made by hand -->\n<rdf:RDF xmlns:rdf=''>", True),
        ("text/plain", RSS, True),
        ("text/plain", b"\xef\xbb\xbf" + RSS, True),
        ("text/plain", IN_UTF_16, True),
        ("text/html", RSS_0_91, True),
        ("text/plain", LINES, True),
        ("text/plain", b"http://a.example/1\n" * 1_000, True),
        ("text/plain", b"Read http://a.example/1\nhttp://a.example/2\n", False),
        ("text/html", LINES, False),
        ("text/plain", b"", False),
        ("application/xml", b"<other/>", True),
        ("text/html", b"<!doctype html><html><body>A feed: <rss></body></html>", False),
        ("text/html", b"<feedback>", False),
    ],
)
def test_a_listing_is_known_by_its_root_whatever_its_server_calls_it(
    media_type: str, body: bytes, is_listing: bool
) -> None:
    assert looks_like_listing(media_type, body) is is_listing
