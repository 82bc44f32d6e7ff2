"""HTML becomes the text that a reader sees."""

from __future__ import annotations

import pytest

from agentic_rag.adapters.parsing.loaders.html import decoded, read_html
from agentic_rag.documents.document import BlockKind


def test_structure_is_kept_and_furniture_left_out() -> None:
    reading = read_html(
        """<html><head><title> The  Page </title><style>p{}</style></head><body><nav>Home</nav><script>x()</script>
        <h1>Big <em>news</em></h1><p>First<br>line &amp; more <b>bold</b>.</p><div hidden>secret</div>
        <p style="display: none">gone</p><ul><li>one<ul><li>inner</li></ul></li><li>two</li></ul>
        <table><caption>Sizes</caption><tr><th>a</th><th>b</th></tr><tr><td>1</td><td><p>2</p></td></tr></table>
        <pre>  keep
  this</pre>tail</body></html>"""
    )

    assert reading.title == "The Page"
    assert reading.text == (
        "Big news\n\nFirst\nline & more bold.\n\n- one\n- inner\n- two\n\n"
        "Sizes\na | b\n--- | ---\n1 | 2\n\nkeep\n  this\n\ntail"
    )
    assert [block.kind for block in reading.blocks] == [
        BlockKind.HEADING,
        BlockKind.PARAGRAPH,
        BlockKind.LIST_ITEM,
        BlockKind.LIST_ITEM,
        BlockKind.LIST_ITEM,
        BlockKind.TABLE,
        BlockKind.CODE,
        BlockKind.PARAGRAPH,
    ]


def test_a_page_without_a_title_takes_its_first_heading() -> None:
    assert read_html("<h2>Only this</h2><p>text</p>").title == "Only this"


def test_very_deep_nesting_is_read() -> None:
    assert "deep text" in read_html("<div>" * 3000 + "deep text").text


def test_blocks_are_exact_spans() -> None:
    reading = read_html("<h1>A</h1><p>b</p><p> </p><p>c</p>")

    assert [reading.text[block.start : block.end] for block in reading.blocks] == ["A", "b", "c"]


def test_struck_out_text_and_readings_of_ideographs_are_left_out() -> None:
    page = "<p>It costs <del>50</del><ins>40</ins> euros, <s>due in May</s> due in June.</p><ruby>漢<rt>kan</rt></ruby>"

    assert read_html(page).text == "It costs 40 euros, due in June.\n\n漢"


def test_what_a_style_strikes_out_is_left_out() -> None:
    page = (
        '<p>It costs <span style="color:red; text-decoration: line-through">50 <b>old</b> </span>40 euros.</p>'
        '<p style="TEXT-DECORATION:LINE-THROUGH"><span style="text-decoration:line-through">Due</span> in May.</p>'
        '<p style="text-decoration: underline">Due in June.</p>'
    )

    assert read_html(page).text == "It costs 40 euros.\n\nDue in June."


def test_numbers_and_letters_of_lists_are_kept() -> None:
    page = """<ol><li><p>Open it.</p><p>Wait.</p></li><li>Turn<ol type="a"><li>left</li><li>right</li></ol></li>
        <li></li><li value="7">Close</li><li>Go</li></ol><ol start="3"><li><ul><li>inner</li></ul></li></ol>
        <ol start="-1"><li>x</li><li><h2>Close</h2>y</li></ol>"""

    assert read_html(page).text.splitlines() == [
        "1. Open it.", "Wait.", "2. Turn", "a. left", "b. right", "7. Close", "8. Go", "- inner", "1. x",
        "", "2. Close", "", "y",
    ]  # fmt: skip


def test_a_term_stands_before_each_of_its_descriptions() -> None:
    page = """<dl><dt>Load</dt><dd><p>40 kg</p><p>at rest</p></dd><dd>20 kg moving</dd><dt>Why?</dt><dd>Heat.</dd>
        <dt>One</dt><dt>Two</dt><dd>Both.</dd><dt>Alone</dt></dl><p>After</p><dl><dd>No term</dd></dl>"""

    assert read_html(page).text.splitlines() == [
        "- Load: 40 kg", "at rest", "- Load: 20 kg moving", "- Why? Heat.", "- One, Two: Both.", "- Alone", "", "After",
        "", "- No term",
    ]  # fmt: skip


PROSE = "<p>The pump lifts forty litres of water a minute, and it stops by itself.</p>"


@pytest.mark.parametrize(
    "page",
    [
        f'<div class="wy-grid-for-nav"><nav>Home</nav><section>{PROSE}</section></div>',
        f'<div class="main-nav"><article>{PROSE}<a href="#">Read all about it</a></article></div>',
        f'<form id="aspnetForm"><input value="x"><div>{PROSE}</div></form>',
        f'<div id="app"></div><noscript><div class="topic">{PROSE * 5}</div></noscript>',
        f'<div style="visibility:hidden">{PROSE * 5}</div>',
        f'<div aria-hidden="true">{PROSE * 5}</div><div>Tab</div>',
        f"<header>Shop <a href='#'>About us</a></header><main>{PROSE}</main><footer>Imprint</footer>",
        f"<div class='nav dropdown'><a href='#'>A page</a> <a href='#'>Another</a></div>{PROSE}",
        f"<form><label>Search</label><input></form>{PROSE}<p hidden>gone</p><noscript>Switch it on.</noscript>",
    ],
)
def test_furniture_is_told_by_what_it_holds_and_not_by_its_name_alone(page: str) -> None:
    assert read_html(page).text.splitlines()[0] == PROSE.removeprefix("<p>").removesuffix("</p>")


def test_a_small_main_part_does_not_stand_for_the_page() -> None:
    assert "Imprint" in read_html("<p>Imprint and address of the whole house</p><main>Hi</main>").text


def test_a_page_that_only_asks_for_scripts_holds_no_text() -> None:
    assert read_html("<body><script>x()</script><noscript>Please switch JavaScript on.</noscript>").text == ""


@pytest.mark.parametrize(
    ("corner", "cell", "is_named"),
    [("", "1,204", True), ("Goods", "1,204", True), ("", "ash", True), ("Goods", "ash", False)],
)
def test_the_first_row_names_columns_of_figures_or_those_beside_an_empty_corner(
    corner: str, cell: str, is_named: bool
) -> None:
    rows = "".join(f"<tr><td>{one}</td><td>{cell}</td><td>{cell}</td></tr>" for one in ("Grain", "Wine"))

    text = read_html(f"<table><tr><td>{corner}</td><td>Planned</td><td>Actual</td></tr>{rows}</table>").text

    assert text.split("\n")[1].startswith("---") is is_named


def test_items_without_a_space_between_them_are_words_of_their_own_and_parts_of_one_word_stay_one() -> None:
    items = ("Free returns", "Other items", "34.99", "Original price", "i", "Phone", "4", ".99")
    page = "<p>" + "<!-- -->".join(f"<span>{item}</span>" for item in items) + "</p>"

    assert read_html(page).text == "Free returns Other items34.99 Original priceiPhone4.99"


def test_a_heading_that_is_a_button_is_read_and_a_button_beside_a_heading_is_not() -> None:
    page = "<h3><button>Which kit suits me?</button></h3><p>Large.</p><h3>Ports <button>Edit</button></h3><p>Oslo.</p>"

    assert read_html(page).text == "Which kit suits me?\n\nLarge.\n\nPorts\n\nOslo."


def test_pieces_of_a_page_that_were_encoded_twice_are_read_once() -> None:
    twice = "Flexbox — a ‘tool’ für alle 🙂".encode().decode("latin-1")

    assert read_html(decoded(f"<p>{twice}</p><p>Already right: für — 🙂</p>".encode())).text == (
        "Flexbox — a ‘tool’ für alle 🙂\n\nAlready right: für — 🙂"
    )


def test_signs_that_look_as_if_encoded_twice_are_kept_as_they_are_written() -> None:
    page = "<p>« voilà\u00a0» et Â» et Ã¼</p>"

    assert read_html(decoded(page.encode())).text == "« voilà » et Â» et Ã¼"
