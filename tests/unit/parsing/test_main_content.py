"""Of a web page the main content is read, and what the page says of itself."""

from __future__ import annotations

from datetime import date

import pytest
from selectolax.lexbor import LexborHTMLParser

from agentic_rag.adapters.parsing.dispatch import load as load_file
from agentic_rag.adapters.parsing.file_types import SourceFile
from agentic_rag.adapters.parsing.loaders.html import load, read_html, read_main_content, read_whole
from agentic_rag.adapters.parsing.pages.choose_content import choose_content
from agentic_rag.adapters.parsing.pages.page_facts import read_facts
from agentic_rag.adapters.parsing.process.limits import ParserLimits
from agentic_rag.documents.document import Block, BlockKind, ParsedDocument
from agentic_rag.documents.unread_pages import left_out_provenance, read_left_out

SENTENCES = (
    "The pump lifts forty litres of water a minute, and it stops by itself when the tank is full.",
    "Its filter wants cleaning every six weeks, which takes ten minutes and needs no tools at all.",
    "In winter the hose is emptied first, since water that freezes in it would break the couplings.",
)
TABLE = (
    "<table><tr><th>Model</th><th>Litres a minute</th><th>Watts</th></tr><tr><td>P40</td><td>40</td><td>350</td></tr>"
    "<tr><td>P60</td><td>60</td><td>520</td></tr></table>"
)
RELATED = "".join(f"<li><a href='/{number}'>Ten gardens, part {number}</a></li>" for number in range(8))
ARTICLE = (
    f"<h1>The pump</h1>{''.join(f'<p>{one}</p>' for one in SENTENCES * 3)}<h2>Models</h2>{TABLE}"
    f"<ul><li>{SENTENCES[0]}</li></ul>"
)
PAGE = (
    f"<html><head><title>The pump</title></head><body><div class='entry-content'>{ARTICLE}</div>"
    f"<div class='sidebar related-posts'><h3>Related posts</h3><ul>{RELATED}</ul></div><footer class='site-footer'>"
    "<p>© 2024 Pumps. All rights reserved. <a href='/p'>Privacy policy</a></p></footer></body></html>"
)


def test_furniture_stands_behind_the_text_and_the_rest_is_as_structured_as_before() -> None:
    reading = read_main_content(PAGE)

    beside = [reading.text[one.start : one.end] for one in reading.blocks if one.kind is BlockKind.ASIDE]
    passages = reading.text[: reading.text.index(beside[0])]
    assert all(f"- Ten gardens, part {number}" in beside for number in range(8))
    assert "Ten gardens" not in passages
    assert "Privacy policy" not in passages
    assert all(sentence in reading.text for sentence in SENTENCES)
    assert "Model | Litres a minute | Watts\n--- | --- | ---\nP40 | 40 | 350\nP60 | 60 | 520" in reading.text
    assert [one.kind for one in reading.blocks].count(BlockKind.TABLE) == 1
    assert [reading.text[one.start : one.end] for one in reading.blocks if one.kind is BlockKind.HEADING] == [
        "The pump",
        "Models",
    ]


def test_blocks_of_the_main_content_are_exact_spans_with_white_space_between() -> None:
    reading = read_main_content(PAGE)

    at = 0
    for block in reading.blocks:
        assert not reading.text[at : block.start].strip()
        at = block.end
    assert at == len(reading.text)


def test_of_a_file_that_somebody_chose_nothing_is_taken_for_furniture() -> None:
    chosen, fetched = (
        load(SourceFile(PAGE.encode(), "page.html", ParserLimits(), is_web_page=fetched)) for fetched in (False, True)
    )

    assert not [one for one in chosen.blocks if one.kind is BlockKind.ASIDE]
    assert "- Ten gardens, part 7" in chosen.text
    assert [one for one in fetched.blocks if one.kind is BlockKind.ASIDE]


def test_what_stands_beside_the_main_part_or_is_hidden_is_told_of_any_page() -> None:
    page = (
        f"<main><h1>The pump</h1>{''.join(f'<p>{one}</p>' for one in SENTENCES * 4)}</main>"
        "<aside><p>The tap is made of brass.</p></aside><div hidden><p>Spare parts</p><p>come by post.</p></div>"
        "<noscript>Switch scripts on.</noscript><nav>Home</nav>"
    )

    reading = read_whole(page)
    parsed = ParsedDocument(reading.text, reading.blocks, (), None, "text/html", "p", "1")
    told = read_left_out(left_out_provenance(parsed))

    assert told is not None
    assert [reading.text[one.start : one.end] for one in told.parts] == [
        "The tap is made of brass.\n\nSpare parts come by post."
    ]
    assert told.characters == len("The tap is made of brass.") + len("Spare parts come by post.")
    assert parsed.main_text == read_html(page).text
    assert "Home" not in reading.text


def test_what_stands_beside_the_text_makes_no_page_unreadable() -> None:
    said = "<p>The pump is red, and it lifts forty litres.</p>" * 40
    page = f"{said}<div hidden>{'SchÃ¶ne GrÃ¼ÃŸe aus KÃ¶ln. ' * 20}</div>"

    _, loaded = load_file(page.encode(), "page.html", None, ParserLimits())

    assert loaded.text.startswith("The pump is red")


def test_nothing_is_told_of_a_page_that_is_read_as_it_stands() -> None:
    reading = read_whole("<p>The pump is red.</p>")

    parsed = ParsedDocument(reading.text, reading.blocks, (), None, "text/html", "p", "1")
    assert read_left_out(left_out_provenance(parsed)) is None


def test_a_page_of_which_little_would_be_left_is_read_whole() -> None:
    page = "<div class='footer'><p>Closed on Mondays.</p><a href='/'>Home</a></div>"

    assert read_main_content(page).text == read_html(page).text


@pytest.mark.parametrize(
    ("head", "published"),
    [
        ('<script type="application/ld+json">{"@graph": [{"datePublished": "2025-03-09T10:00:00Z"}]}</script>', (3, 9)),
        ('<meta property="article:published_time" content="2025-03-10">', (3, 10)),
        ('<meta name="DC.date" content="2025/3/11">', (3, 11)),
        ("<link rel=canonical href='https://example.org/2025/03/12/pumps'>", (3, 12)),
        ('<script type="application/ld+json">{"datePublished": </script>', None),
        ('<meta name="date" content="2025-02-31">', None),
        ('<meta name="description" content="2025-03-13">', None),
    ],
)
def test_a_page_says_when_it_was_published(head: str, published: tuple[int, int] | None) -> None:
    stated = read_facts(LexborHTMLParser(f"<html><head>{head}</head><body><p>Text</p></body></html>")).published

    assert stated == (None if published is None else date(2025, *published))


def test_publication_goes_before_the_last_change() -> None:
    said = '{"dateModified": "2026-01-01", "datePublished": "2024-05-06"}'
    page = f'<head><script type="application/ld+json">{said}</script></head><p>Text</p>'

    assert read_main_content(page).published == date(2024, 5, 6)


@pytest.mark.parametrize(("parents", "kept"), [([1, 1, 1], [True, True, True]), ([1, 1, 2], [True, True, False])])
def test_the_items_of_one_list_are_kept_or_left_out_together(parents: list[int], kept: list[bool]) -> None:
    """The tree holds two of three items for main content."""
    blocks = [Block(BlockKind.LIST_ITEM, 10 * at, 10 * at + 9) for at in range(3)]
    tree = (0, 0.5, -2.0, 2.0)

    chosen = choose_content(
        blocks, lambda: [[1.0], [1.0], [0.0]], words=[40] * 3, links=[1.0] * 3, parents=parents, trees=[tree]
    )

    assert chosen == kept
