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


@pytest.mark.parametrize("tag", ["p", "script", "svg", "TITLE"])
def test_attributes_without_end_are_dropped_of_any_element(tag: str) -> None:
    page = f"<{tag} {' '.join(f'a{number}=1' for number in range(100_000))}></{tag}><p>{SAID}</p>"

    assert flatten(page) == f"<{tag}></{tag}><p>{SAID}</p>"


def test_a_tag_with_attributes_without_end_keeps_its_name() -> None:
    many = " ".join(f"a{number}='<{number}'" for number in range(100_000))
    page = f"<body><p {many}>{SAID}</p><p title='{'x' * 1_000_000}' class='last'>It is the last one.</p></body>"
    began = process_time()

    found = read_html(page)

    # 20,000 attributes took 0.8 s, and twice as many four times as long.
    assert process_time() - began < 5
    assert found.text == f"{SAID}\n\nIt is the last one."
    assert flatten(page).startswith(f"<body><p>{SAID}</p><p title='xxx")


@pytest.mark.parametrize(
    "torn", ["<!-- ", "<script>", "<div ", "<a b='", "<", "</div>", "<!", "<div/>", "<a b=\"'", "<p don't"]
)
def test_torn_pages_take_no_longer(torn: str) -> None:
    page = torn * 300_000
    began = process_time()

    flatten(page)

    assert process_time() - began < 5
