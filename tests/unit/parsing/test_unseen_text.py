"""What a page has in its file and shows nobody is told, and is quoted by no answer; whatever its share of the page is,
where no script could show it.
"""

from __future__ import annotations

from collections.abc import Callable
from time import process_time

import pytest

from agentic_rag.adapters.parsing.file_types import SourceFile
from agentic_rag.adapters.parsing.loaders.html import load, read_main_content, read_whole
from agentic_rag.adapters.parsing.process.limits import ParserLimits
from agentic_rag.adapters.parsing.text_builder import LoadedText
from agentic_rag.documents.document import BlockKind

SHOWN = "<p>The pump lifts forty litres of water a minute, and it stops by itself when the tank is full.</p>"
UNSEEN = "The pump costs ninety euros."

NEVER = {
    "off the screen": f"<div style='position:absolute; left:-9999px'>{UNSEEN}</div>",
    "above the screen": f"<div style='position:fixed;top:-999em'>{UNSEEN}</div>",
    "indented away": f"<p style='TEXT-INDENT : -9999px'>{UNSEEN}</p>",
    "cut to nothing": f"<p style='position:absolute;clip:rect(0 0 0 0)'>{UNSEEN}</p>",
    "cut by its shape": f"<p style='clip-path:inset(50%)'>{UNSEEN}</p>",
    "letters without size": f"<p style='font-size:0'>{UNSEEN}</p>",
    "a font without size": f"<p style='font: 0/0 serif'>{UNSEEN}</p>",
    "letters without size around": f"<div style='font-size:0px'><ul><li>{UNSEEN}</li></ul></div>",
    "white on white": f"<p style='color:#FFF; background:#ffffff'>{UNSEEN}</p>",
    "nearly white on white": f"<p style='color:#fdfdfd'>{UNSEEN}</p>",
    "white by an old element": f"<font color='White'>{UNSEEN}</font>",
    "red on red around": f"<table><tr><td bgcolor='red'><p style='color:rgb(255, 0, 0)'>{UNSEEN}</p></td></tr></table>",
    "without colour": f"<p style='color:transparent'>{UNSEEN}</p>",
    "colour of no strength": f"<p style='color:rgba(9, 9, 9, 0.0)'>{UNSEEN}</p>",
    "faded": f"<p style='opacity:0'>{UNSEEN}</p>",
    "drawn to nothing": f"<p style='transform:scale(0)'>{UNSEEN}</p>",
    "off the screen by a class": f"<style>.q{{position:absolute;left:-9999px}}</style><p class='q'>{UNSEEN}</p>",
    "off the screen by a place": f"<style>#a > .q{{text-indent:-999em}}</style><p id=a><b class=q>{UNSEEN}</b></p>",
    "no size by a class": f"<style>.q{{font-size:0}}</style><p class='q'>{UNSEEN}</p>",
}  # fmt: skip
UNTIL_A_SCRIPT = {
    "not displayed": f"<p style='display:/**/none'>{UNSEEN}</p>",
    "not displayed, in other letters": f"<p style='d\\69splay:none'>{UNSEEN}</p>",
    "collapsed": f"<p style='visibility:collapse'>{UNSEEN}</p>",
    "of no height": f"<div style='height:0;overflow:hidden'>{UNSEEN}</div>",
    "kept from listeners": f"<p aria-hidden='TRUE'>{UNSEEN}</p>",
    "until a button": f"<p popover>{UNSEEN}</p>",
    "by a class": f"<style>p.q{{display:none}}</style><p class='a q'>{UNSEEN}</p>",
    "by an id": f"<style>@media all{{a{{color:red}}}} #q{{color:red;display:none}}</style><p id='q'>{UNSEEN}</p>",
    "by a place": f"<style>div .q p{{display:none}}</style><div><div class='q'><p>{UNSEEN}</p></div></div>",
}
SEEN = {
    "letters of a size within": f"<div style='font-size:0px'><p style='font-size:13px'>{UNSEEN}</p></div>",
    "a size by a class within": f"<style>.b{{color:red}}</style><div style='font-size:0'><p class=b>{UNSEEN}</p></div>",
    "white on black": f"<div style='background:#000'><p style='color:white'>{UNSEEN}</p></div>",
    "white on what a sheet says": f"<link rel=stylesheet href=a><header><p style='color:#fff'>{UNSEEN}</p></header>",
    "white on a picture": f"<p style='color:#fff;background:#fff;background-image:url(a)'>{UNSEEN}</p>",
    "a drawn colour": f"<p style='color:transparent;background-clip:text;background-image:url(a)'>{UNSEEN}</p>",
    "a link in white words": f"<p style='color:white'><a href='/a'>{UNSEEN}</a></p>",
    "faded until a script": f"<script>x()</script><p style='opacity:0'>{UNSEEN}</p>",
    "placed beside its lines": f"<p style='position:absolute;left:-20px;text-indent:-2em'>{UNSEEN}</p>",
    "beside an unplaced part": f"<p style='left:-9999px'>{UNSEEN}</p>",
    "shown by another rule": f"<style>.q{{display:none}}.q.on{{display:block}}</style><p class='q on'>{UNSEEN}</p>",
    "shown by another class": f"<style>.q{{display:none}}.w{{display:block}}</style><p class='q w'>{UNSEEN}</p>",
    "cut until a script": f"<script>x()</script><style>.q{{clip-path:inset(50%)}}</style><p class=q>{UNSEEN}</p>",
    "by a class until a script": f"<script>x()</script><style>.q{{display:none}}</style><p class='q'>{UNSEEN}</p>",
    "hidden from printers": f"<style>@media print{{.q{{display:none}}}}</style><p class='q'>{UNSEEN}</p>",
    "a class of another element": f"<style>div.q{{display:none}}</style><p class='q'>{UNSEEN}</p>",
    "a folded part of its own": f"<details><summary>Price</summary><p>{UNSEEN}</p></details>",
    "low and scrolled": f"<div style='height:90px;overflow:hidden'>{UNSEEN}</div>",
}  # fmt: skip


def main_text(page: LoadedText) -> str:
    asides = (one.start for one in page.blocks if one.kind is BlockKind.ASIDE)
    return page.text[: min(asides, default=None)]


def read(read_page: Callable[[str], LoadedText], part: str) -> LoadedText:
    return read_page(
        f"<html><head><title>Pumps</title></head><body><h1>Pumps</h1>{SHOWN * 9}{part}{SHOWN}</body></html>"
    )


EACH_WAY = pytest.mark.parametrize("read_page", [read_main_content, read_whole])


@EACH_WAY
@pytest.mark.parametrize("part", [*NEVER.values(), *UNTIL_A_SCRIPT.values()], ids=[*NEVER, *UNTIL_A_SCRIPT])
def test_what_nobody_sees_is_told_and_not_quoted(read_page: Callable[[str], LoadedText], part: str) -> None:
    page = read(read_page, part)

    assert UNSEEN not in main_text(page)
    assert UNSEEN in page.text
    assert main_text(page).count("forty litres") == 10


@EACH_WAY
@pytest.mark.parametrize("part", NEVER.values(), ids=NEVER)
def test_no_share_of_a_page_makes_read_what_no_script_shows(read_page: Callable[[str], LoadedText], part: str) -> None:
    page = read(read_page, part.replace(UNSEEN, f"{UNSEEN} " * 200))

    assert UNSEEN not in main_text(page)


@EACH_WAY
@pytest.mark.parametrize("part", SEEN.values(), ids=SEEN)
def test_what_people_see_is_read_however_it_is_styled(read_page: Callable[[str], LoadedText], part: str) -> None:
    assert UNSEEN in main_text(read(read_page, part))


@EACH_WAY
@pytest.mark.parametrize(
    "part",
    [
        f'<script type="application/ld+json">{{"@type": "Product", "description": "{UNSEEN}"}}</script>',
        f'<meta name="description" content="{UNSEEN}"><meta property="og:description" content="{UNSEEN}">',
        f'<div itemscope itemtype="https://schema.org/Product"><meta itemprop="description" content="{UNSEEN}"></div>',
        f'<img src="data:text/html,{UNSEEN}" alt="{UNSEEN}" title="{UNSEEN}"><a aria-label="{UNSEEN}"></a>',
        f'<style>p::after{{content:"{UNSEEN}"}}</style><template><p>{UNSEEN}</p></template>',
    ],
    ids=["JSON-LD", "meta", "microdata", "attributes", "content of styles"],
)
def test_what_a_page_says_to_machines_is_no_text_of_it(read_page: Callable[[str], LoadedText], part: str) -> None:
    assert UNSEEN not in main_text(read(read_page, part))


@pytest.mark.parametrize("is_web_page", [True, False])
@pytest.mark.parametrize("mark", ["", "\ufeff", "\n"])
def test_xhtml_is_read_by_its_own_rules_wherever_it_comes_from(is_web_page: bool, mark: str) -> None:
    """Its empty elements took the whole page for a title or a script."""
    page = (
        f'{mark}<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title/><script src="a.js"/>'
        f"</head><body>{SHOWN}<div/><p><![CDATA[5 < 6 & 7]]></p></body></html>"
    )

    loaded = load(SourceFile(page.encode(), "page.html", ParserLimits(), is_web_page=is_web_page))

    assert loaded.text.splitlines() == [SHOWN.removeprefix("<p>").removesuffix("</p>"), "", "5 < 6 & 7"]


@EACH_WAY
@pytest.mark.parametrize("part", ["<noframes>{}</noframes>", "<noembed>{}</noembed>", "<title>{}</title>"])
def test_what_only_other_programs_would_show_is_not_read(read_page: Callable[[str], LoadedText], part: str) -> None:
    assert UNSEEN not in main_text(read(read_page, part.format(UNSEEN)))


@pytest.mark.parametrize(
    "page",
    [
        f"<style>{''.join(f'.a{number}{{display:none}}' for number in range(50_000))}</style>{SHOWN}",
        f"<style>{','.join(f'p ~ p ~ p.x{number}' for number in range(1_000))}{{display:none}}</style>{SHOWN * 2_000}",
        f"<style>{'{' * 1_000_000}</style>{SHOWN}",
        f"<style>{'a' * 1_000_000}</style>{SHOWN}",
        f"<style>{'a ' * 500_000}{{display:none}}</style>{SHOWN}",
        f"<style>{'div ' * 40}.q{{display:none}}</style>{'<div>' * 900}{SHOWN}",
        f"<p style='overflow:hidden;width:{'0' * 1_000_000}x'></p>{SHOWN}",
        f"<p style='color:rgb(1{' ' * 1_000_000}x'></p>{SHOWN}",
        f"<p style='{'/*' * 500_000}'></p>{SHOWN}",
    ],
    ids=["rules", "places", "braces", "no rule", "parts", "deep parts", "zeros", "spaces", "comments"],
)
def test_styles_without_end_take_no_longer_than_their_length(page: str) -> None:
    began = process_time()

    found = read_whole(page)

    assert process_time() - began < 5
    assert "forty litres" in main_text(found)
