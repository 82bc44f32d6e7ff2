import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import html
from markdown_it import MarkdownIt

from agentic_rag.answering.verification.defang_links import defang_links
from agentic_rag.web.url_policy import parse_host_list

CITED = ["https://source.example/page"]


@given(st.text(alphabet="ab /\\<>![]():.wW#?@", max_size=24))
def test_a_text_is_left_alone_or_holds_a_sign_of_a_link(text: str) -> None:
    signs = ("<", ":", "&", "](", "![", "//", "\\\\", "/\\", "\\/", "www.")
    assert defang_links(text, ()) == text or any(sign in text.lower() for sign in signs)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("See https://evil.example/a?b=c.", "See hxxps[:]//evil[.]example/a?b=c."),
        ("![x](https://e.example/a.png)", "[x] (hxxps[:]//e[.]example/a[.]png)"),
        ("[click](//e.example)", "[click] (/ /e[.]example)"),
        ("[out](/logout)", "[out] (/logout)"),
        ("[1]: https://x.example", "[1] : hxxps[:]//x[.]example"),
        ("www.evil.example/x", "www[.]evil[.]example/x"),
        ("<img src=x onerror=alert(1)>", "‹img src=x onerror=alert(1)>"),
        ("javascript:alert(1)", "javascript[:]alert(1)"),
        ("xmpp:u@h.example/x", "xmpp[:]u[at]h[.]example/x"),
        ("ms-msdt:/id x", "ms-msdt[:]/id x"),
        ("sip:u@h.example", "sip[:]u[at]h[.]example"),
        ("ftp://u@h.example", "ftp[:]//u[at]h[.]example"),
        ("List<String> a < b", "List‹String> a < b"),
        ("<x-y onfoo=alert(1)>", "‹x-y onfoo=alert(1)>"),
        ("</p><!-- x --><?xml ?>", "‹/p>‹!-- x -->‹?xml ?>"),
        ("&lt;img&gt; &#60; &#x3c;b &ltb", "& lt;img& gt; & #60; & #x3c;b & ltb"),
        ("> [a]: javascript:alert(1)", "> [a] : javascript[:]alert(1)"),
        ("[a](x) [a](&#106;avascript:x)", "[a] (x) [a] (& #106;avascript:x)"),
        ("ms-msdt://x", "ms-msdt[:]//x"),
        ("*a*{onclick=x} `b`{: .c href=x}", "*a*｛onclick=x} `b`｛: .c href=x}"),
        ("__www.evil.example/", "__www[.]evil[.]example/"),
        ("www.e.example/1&#60;a x", "www[.]e[.]example/1& #60;a x"),
        ("mailto:a@e.example&lt;img x", "mailto[:]a[at]e[.]example& lt;img x"),
        ("'//x'__a@e.example", "'/ /x'__a@e.example"),
    ],
)
def test_links_off_the_list_can_be_read_and_not_followed(text: str, shown: str) -> None:
    assert defang_links(text, ()) == shown


@pytest.mark.parametrize(
    "text",
    [
        "a < b & c",
        "AT&T, R&D; 3<4",
        "f(x)[i] (see 3:4)",
        "mail hr@acme.example",
        "a/b, 1//2",
        "ms:1, sipping: tea",
        '{"a": [1]} {x}',
    ],
)
def test_what_is_no_link_stays_as_it_is(text: str) -> None:
    assert defang_links(text, ()) == text


def test_links_to_cited_sources_and_listed_hosts_stay_live() -> None:
    hosts = parse_host_list("docs.example.org")

    assert defang_links("At https://source.example/page.", CITED) == "At https://source.example/page."
    assert defang_links("At https://docs.example.org/x", (), hosts) == "At https://docs.example.org/x"
    assert "hxxps" in defang_links("https://docs.example.org@evil.example/", (), hosts)
    assert "hxxps" in defang_links("https://docs.example.org/&lt;img", (), hosts)
    # In a viewer that links addresses what follows would be a part of the host.
    assert (
        defang_links("https://docs.example.org'.evil.example", (), hosts) == "https://docs.example.org '.evil.example"
    )
    assert defang_links("(https://docs.example.org).", (), hosts) == "(https://docs.example.org)."
    assert "hxxp[:]" in defang_links("http://docs.example.org/", (), hosts)
    assert "hxxps" in defang_links("https://source.example/page2", CITED)


MARKUP = [
    *("<", "</", "<!", "<?", ">", "&", "&#", "#x3c;", "lt;", "gt;", "amp;", "colon;", "![", "[", "]", "](", "]:", "]["),
    *("(", ")", "javascript:", "JaVaScRiPt:", "data:text/html,", "vbscript:", "https://", "//", "www.", "e.example"),
    *(
        "mailto:",
        "a",
        "img",
        "svg",
        "iframe",
        "x-y",
        " src=x",
        " href=",
        " onerror=alert(1)",
        " onload=x",
        "style",
        "script",
    ),
    *("base", "\n", "\n\n", "    ", "> ", "- ", "`", "*", "_", "\\", "'", '"', "/", " ", "!", ":", "1", CITED[0]),
]
VIEWERS = [
    MarkdownIt("commonmark", {"html": True}),
    MarkdownIt("js-default", {"html": True}),
    MarkdownIt("zero", {"html": True}).enable(["html_inline", "html_block", "link", "image", "reference", "autolink"]),
]


def live(text: str) -> list[str]:
    """What the viewers of Markdown and of HTML make of a text: every element, link and image."""
    made: list[str] = []
    for viewer in VIEWERS:
        tokens = [inner for token in viewer.parse(text) for inner in (token, *(token.children or ()))]
        made += [f"{one.type} {one.content}" for one in tokens if one.type in ("link_open", "image", "html_inline")]
        made += [one.content for one in tokens if one.type == "html_block"]
    [body] = html.document_fromstring(f"<html><body><div>{text}</div></body></html>")
    return made + [str(element.tag) for element in list(body.iterdescendants())[1:]]


@pytest.mark.slow
@settings(max_examples=10 * settings().max_examples)
@given(st.lists(st.sampled_from(MARKUP), max_size=14).map("".join))
def test_no_viewer_makes_an_element_a_link_or_an_image_of_an_answer(text: str) -> None:
    assert live(defang_links(text, CITED)) == []


def test_the_viewers_see_what_is_live() -> None:
    for text in (
        "<x-y>",
        "[a](//e.example)",
        "![a](b)",
        "[a]\n\n[a]: //e.example",
        "<https://e.example>",
        "a<!-- b -->",
    ):
        assert live(text) != []


PIECES = st.sampled_from(
    ["http://", "HTTPS://", "a.example", "/", "(", ")", "[", "]", "!", "_", " ", "<", ">", "@", "x"]
)


@given(st.lists(PIECES, max_size=12).map("".join))
def test_however_it_is_put_together_no_viewer_sees_a_link_or_an_image(text: str) -> None:
    shown = defang_links(text, ())

    assert re.search(r"(?<![a-z0-9])https?://\S", shown, re.IGNORECASE) is None
    assert re.search(r"!\[[^\]]*\]\(", shown) is None
