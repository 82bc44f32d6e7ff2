"""The one form of an address, links of a page, and what robots are asked."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.web.links import PageLink, canonical_url, is_worth_following, read_link_texts, read_links, same_page
from agentic_rag.web.robots import CLOSED, MAX_ROBOTS_BYTES, parse_robots, read_directives
from agentic_rag.web.url_policy import AddressRefused, parse_target


@pytest.mark.parametrize(
    ("url", "form"),
    [
        ("HTTP://A.Example.org:80/x/../b//c/#part", "http://a.example.org/b/c"),
        ("http://a.example.org", "http://a.example.org/"),
        ("http://a.example.org/index.html?b=2&a=1&utm_source=x&fbclid=9", "http://a.example.org/?a=1&b=2"),
        ("https://a.example.org/p;jsessionid=7?PHPSESSID=1", "https://a.example.org/p"),
        ("http://a.example.org/b/;/index.html;/", "http://a.example.org/b"),
        ("http://a.example.org/%7Eada/%41%c3%a4/%2e%2e/b", "http://a.example.org/~ada/b"),
        ("http://a.example.org/%c3%a4%2fb", "http://a.example.org/%C3%A4%2Fb"),
        ("http://a.example.org/article.php?sid=12", "http://a.example.org/article.php?sid=12"),
        ("http://a.example.org/ä", "http://a.example.org/%C3%A4"),
        ("http://a.example.org/?q=M%E4dchen&r=%41+b%20c", "http://a.example.org/?q=M%E4dchen&r=A+b+c"),
        ("http://a.example.org/?q=%93%FA&%FF=1", "http://a.example.org/?q=%93%FA&%FF=1"),
    ],
)
def test_an_address_has_one_form(url: str, form: str) -> None:
    assert canonical_url(url) == form
    assert canonical_url(form) == form


@given(st.text(alphabet="abc/.?&=;%20#-_3456E+", max_size=40))
def test_the_form_of_a_form_is_itself(path: str) -> None:
    try:
        form = canonical_url(f"http://a.example.org/{path}")
    except AddressRefused:
        return
    assert canonical_url(form) == form


@pytest.mark.parametrize("path", ["/a/b/a/c/a", "/x.pdf", f"/{'y' * 600}", "/?a=1&b=2&c=3&d=4&e=5&f=6&g=7"])
def test_mazes_and_other_files_are_not_followed(path: str) -> None:
    assert not is_worth_following(parse_target(f"http://a.example.org{path}"))


def test_links_are_read_in_order_and_each_once() -> None:
    body = (
        '<base href="http://a.example.org/sub/"><link rel="canonical" href="/own">'
        '<a href="b">b</a><a href="/c#x">c</a><a href="/c">c</a><a rel="nofollow" href="/d">d</a>'
        '<a href="mailto:x@y">m</a><a href="javascript:x()">j</a><a href="http://10.0.0.1/">i</a><a href="e.png">e</a>'
    )

    assert read_links("http://a.example.org/", body) == (
        ("http://a.example.org/sub/b", "http://a.example.org/c"),
        "http://a.example.org/own",
        None,
    )
    assert read_link_texts("http://a.example.org/", "<a href=/b>All of <b>b</b>\n now</a> then") == [
        PageLink("http://a.example.org/b", "All of b now")
    ]
    assert same_page("http://www.a.org/x") == same_page("https://a.org/x")


@pytest.mark.parametrize("mark", ["<![1]>", "<![foo[x]>", "<![ if IE]>", "<![CDATA[x]>", "<![endif]>"])
def test_marked_sections_hide_no_link_behind_them(mark: str) -> None:
    assert read_links("http://a.example.org/", f"{mark}<a href='/x'>x</a>").urls == ("http://a.example.org/x",)


@given(st.text(alphabet="<![CDATAif]>-x \"'=/&#;?:", max_size=30))
def test_every_text_has_links_or_none(text: str) -> None:
    assert all(url.startswith("http") for url in read_links("http://a.example.org/", f"<!{text}").urls)


def test_rules_of_a_site_hold_for_us_before_those_for_everybody() -> None:
    rules = parse_robots(b"User-agent: agentic-rag\nDisallow: /p\nCrawl-delay: 3\n\nUser-agent: *\nDisallow: /\n")

    assert not rules.allows("http://a.org/p/1")
    assert rules.allows("http://a.org/q")
    assert rules.delay_seconds == 3.0
    assert not CLOSED.allows("http://a.org/q")


@pytest.mark.parametrize(
    ("asked", "pause"),
    [
        ("Crawl-delay: 2.5", 2.5),
        ("Request-rate: 2/10", 5.0),
        ("Request-rate: 1/1m 0800-1200", 60.0),
        ("Request-rate: 1/5\nCrawl-delay: 9", 9.0),
        ("Request-rate: 0/5", 0.0),
        ("Crawl-delay: nan", 0.0),
        ("Crawl-delay: -3", 0.0),
    ],
)
def test_a_site_says_how_long_it_is_left_alone(asked: str, pause: float) -> None:
    assert parse_robots(f"User-agent: *\n{asked}\n".encode()).delay_seconds == pause


@pytest.mark.parametrize("named", ["agentic-rag/1.0", "Agentic-RAG 2", "agentic-rag*", "agentic-rag"])
def test_rules_for_us_hold_whatever_version_they_name(named: str) -> None:
    assert not parse_robots(f"User-agent: {named}\nDisallow: /\n".encode()).allows("http://a.org/p")
    assert parse_robots(f"User-agent: x{named}\nDisallow: /\n".encode()).allows("http://a.org/p")


def test_rules_for_a_robot_whose_name_begins_as_ours_are_none_for_us() -> None:
    assert parse_robots(b"User-agent: agentic-rag-bot/1.0\nDisallow: /\n").allows("http://a.org/p")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_an_encoding_hides_no_rule(encoding: str) -> None:
    assert not parse_robots("User-agent: *\nDisallow: /\n".encode(encoding)).allows("http://a.org/p")


def test_rules_are_read_up_to_half_a_megabyte_and_none_in_part() -> None:
    ours = b"User-agent: agentic-rag\nDisallow: /p\n"
    line = b"Allow: /p/allowed/by/what/is/cut/here\n"
    room = MAX_ROBOTS_BYTES - len(ours) - len("Allow: /p")

    assert parse_robots(b"#" * (MAX_ROBOTS_BYTES - len(ours) - 1) + b"\n" + ours).allows("http://a.org/p") is False
    assert parse_robots(ours + b"#" * (room - 1) + b"\n" + line).allows("http://a.org/p") is False
    assert parse_robots(ours + b"#" * MAX_ROBOTS_BYTES + b"\nDisallow: /\n").allows("http://a.org/q") is True


@pytest.mark.parametrize(
    ("header", "body", "noindex", "nofollow"),
    [
        ("", b"<meta name=robots content=noindex>", True, False),
        ("", b"<META CONTENT='NOFOLLOW, noarchive' NAME='Robots'>", False, True),
        ("", b'<meta name="agentic-rag" content="none">', True, True),
        ("", b'<meta name="googlebot" content="noindex">', False, False),
        ("", b'<!-- <meta name="robots" content="noindex"> -->', False, False),
        ("", b"<style>" + b" " * 150_000 + b"</style><meta name=robots content=noindex>", True, False),
        ("", b'<meta name="robots" content="noindex nofollow">', True, True),
        ("", '\ufeff<meta name="robots" content="noindex">'.encode("utf-16-le"), True, False),
        ("", b'<meta name="&#114;obots" content="noindex">', True, False),
        ("", b'<meta name="robots" content="nofollow" content="noindex">', False, True),
        ("", b'<meta name="robots-note" data-name="robots" content="noindex">', False, False),
        ("", b"<script>a = '<!--'</script><meta name=robots content=noindex><p>--></p>", True, False),
        ("", b"<script>write('<meta name=robots content=noindex>')</script>", False, False),
        ("noindex nofollow", b"", True, True),
        ("googlebot: noindex", b"", False, False),
        ("googlebot: nofollow\nnoindex", b"", True, False),
        ("agentic-rag: noindex, nofollow", b"", True, True),
        ("unavailable_after: 25 Jun 2030 15:00:00 PST, noindex", b"", True, False),
        ("", b'<meta name="robots" content="index, follow, max-image-preview:none">', False, False),
        ("", b'<meta name="robots" content="max-image-preview: none, noindex">', True, False),
        ("", b'<meta name="robots" content="max-snippet:-1,nofollow">', False, True),
        ("", b'<meta name="robots" content="robots: noindex">', True, False),
        ("noindex; nofollow", b"", True, True),
        ("max-image-preview:none", b"", False, False),
        ("agentic-rag: max-image-preview: none, nofollow", b"", False, True),
        ("max-image-preview:large, noindex", b"", True, False),
        ("max-snippet: 20, noindex", b"", True, False),
        ("googlebot: max-snippet: 20, noindex", b"", False, False),
    ],
)
def test_a_page_says_what_robots_may_do(header: str, body: bytes, noindex: bool, nofollow: bool) -> None:
    found = read_directives(header, body)

    assert (found.noindex, found.nofollow) == (noindex, nofollow)
