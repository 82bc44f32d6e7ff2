"""A page of elements in elements without end is read in time that grows with its length."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time

import pytest

from agentic_rag.adapters.parsing.loaders.html import read_html, read_main_content
from agentic_rag.adapters.parsing.text.depth import DEEPEST, flatten
from agentic_rag.adapters.parsing.text_builder import LoadedText

SAID = "The pump is blue."
DEEP = 70_000


@pytest.mark.slow
@pytest.mark.parametrize(
    ("opened", "closed"),
    [
        ("<div>", "</div>"),
        ("<div>", ""),
        ("<ul><li>", "</li></ul>"),
        ("<section class='a'>", "</section>"),
        ("<span>", ""),
    ],
)
@pytest.mark.parametrize("read", [read_html, read_main_content])
def test_the_text_of_a_deep_page_is_read_in_seconds(
    read: Callable[[str], LoadedText], opened: str, closed: str
) -> None:
    page = f"<body><h1>Pumps</h1>{opened * DEEP}<p>{SAID}</p>{closed * DEEP}<p>It is the last one.</p></body>"
    began = process_time()

    found = read(page)

    # It took 14 s.
    assert process_time() - began < 5
    assert SAID in found.text
    assert "It is the last one." in found.text


def test_tags_within_the_limit_stay_and_those_beyond_it_go_with_their_ends() -> None:
    deep = f"{'<div>' * DEEPEST}<b id='x'>{SAID}</b>{'</div>' * DEEPEST}<b>after</b>"

    assert flatten(deep) == deep.replace("<b id='x'>", "\n").replace(f"{SAID}</b>", f"{SAID}\n")


def test_what_has_no_end_or_is_no_element_does_not_count() -> None:
    flat = "<p>one<li>two<br><img src='a'>" * DEEPEST + "<!-- <div> -->" * DEEPEST
    written = "write('<div>')" * DEEPEST * 2
    script = f"<script>{written}</script><div>{SAID}</div>"

    assert flatten(flat) == flat
    assert flatten(script) == script


def test_a_tag_ends_where_a_browser_ends_it() -> None:
    """A tag that is not closed takes in what looks like the next one, and a quoted value may hold a `>`."""
    torn = f'{"<b><i><a href=" * DEEPEST}"">{SAID}'
    quoted = f"{'<div>' * DEEPEST}<div title='a > b' lang=\"<div>\">{SAID}</div>"

    assert SAID in read_html(f"<body>{torn}</body>").text
    assert flatten(quoted) == f"{'<div>' * DEEPEST}\n{SAID}\n"


@pytest.mark.parametrize(
    "torn", ["<!-- ", "<script>", "<div ", "<a b='", "<", "</div>", "<!", "<div/>", "<a b=\"'", "<p don't"]
)
def test_torn_pages_take_no_longer(torn: str) -> None:
    page = torn * 300_000
    began = process_time()

    flatten(page)

    assert process_time() - began < 5
