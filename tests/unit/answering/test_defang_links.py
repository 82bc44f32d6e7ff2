import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.answering.verification.defang_links import defang_links
from agentic_rag.web.url_policy import parse_host_list

CITED = {"https://source.example/page"}


@given(st.text(alphabet="ab /\\<>![]():.wW#?@", max_size=24))
def test_a_text_is_left_alone_or_holds_a_sign_of_a_link(text: str) -> None:
    signs = ("<", ":", "](", "![", "//", "\\\\", "/\\", "\\/", "www.")
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
        ("ftp://u@h.example", "ftp[:]//u[at]h[.]example"),
    ],
)
def test_links_off_the_list_can_be_read_and_not_followed(text: str, shown: str) -> None:
    assert defang_links(text, ()) == shown


@pytest.mark.parametrize("text", ["List<String> a < b", "f(x)[i] (see 3:4)", "mail hr@acme.example", "a/b and 1//2"])
def test_what_is_no_link_stays_as_it_is(text: str) -> None:
    assert defang_links(text, ()) == text


def test_links_to_cited_sources_and_listed_hosts_stay_live() -> None:
    hosts = parse_host_list("docs.example.org")

    assert defang_links("At https://source.example/page.", CITED) == "At https://source.example/page."
    assert defang_links("At https://docs.example.org/x", (), hosts) == "At https://docs.example.org/x"
    assert "hxxps" in defang_links("https://docs.example.org@evil.example/", (), hosts)
    assert "hxxp[:]" in defang_links("http://docs.example.org/", (), hosts)
    assert "hxxps" in defang_links("https://source.example/page2", CITED)


PIECES = st.sampled_from(
    ["http://", "HTTPS://", "a.example", "/", "(", ")", "[", "]", "!", "_", " ", "<", ">", "@", "x"]
)


@given(st.lists(PIECES, max_size=12).map("".join))
def test_however_it_is_put_together_no_viewer_sees_a_link_or_an_image(text: str) -> None:
    shown = defang_links(text, ())

    assert re.search(r"(?<![a-z0-9])https?://\S", shown, re.IGNORECASE) is None
    assert re.search(r"!\[[^\]]*\]\(", shown) is None
