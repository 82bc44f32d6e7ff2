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
    "off the screen with what is in it": f"<div style='position:absolute;left:-9999px'><p><a>{UNSEEN}</a></p></div>",
    "off the right of the screen": f"<div style='position:fixed;right:-999px'>{UNSEEN}</div>",
    "above the screen": f"<div style='position:fixed;top:-999em'>{UNSEEN}</div>",
    "off the screen beside a script": f"<script>x()</script><p style='position:absolute;left:-9999px'>{UNSEEN}</p>",
    "cut to nothing": f"<p style='position:absolute;clip:rect(0 0 0 0)'>{UNSEEN}</p>",
    "cut to a point": f"<p style='position:absolute;clip:rect( 1px, 1px, 1px, 1px )'>{UNSEEN}</p>",
    "letters without size": f"<p style='font-size:0'>{UNSEEN}</p>",
    "letters without size around": f"<div style='font-size:0px'><ul><li>{UNSEEN}</li></ul></div>",
    "letters without size beside a sheet": f"<style>a{{color:red}}</style><p style='font-size:0'>{UNSEEN}</p>",
    "white on white": f"<p style='color:#FFF; background:#ffffff'>{UNSEEN}</p>",
    "red on red": f"<p style='color:rgb(255, 0, 0);background-color:red'>{UNSEEN}</p>",
    "faded": f"<p style='opacity:0'>{UNSEEN}</p>",
}  # fmt: skip
UNTIL_A_SCRIPT = {
    "not displayed": f"<p style='display: none'>{UNSEEN}</p>",
    "not visible": f"<p style='VISIBILITY:hidden'>{UNSEEN}</p>",
    "hidden": f"<p hidden>{UNSEEN}</p>",
    "kept from listeners": f"<p aria-hidden='true'>{UNSEEN}</p>",
}
BY_A_SHEET = {
    "a class": f"<style>p.q{{display:none}}</style><p class='a q'>{UNSEEN}</p>",
    "for printers": f"<style media=print>.q{{display:none}}</style><p class=q>{UNSEEN}</p>",
    "without scripts": f"<noscript><style>.q{{display:none}}</style></noscript><p class=q>{UNSEEN}</p>",
    "shown by a width": "<style>.hidden{display:none}@media (min-width:768px){.md\\:block{display:block}}</style>"
    f"<p class='hidden md:block'>{UNSEEN}</p>",
    "shown by a box": "<style>.panel{display:none} #t:checked ~ div{display:block}</style>"
    f"<input type=checkbox id=t checked><div class=panel>{UNSEEN}</div>",
    "shown by an address": "<style>section{display:none} section:target{display:block}</style>"
    f"<section id=a>{UNSEEN}</section>",
    "rules in a rule": f"<style>.note{{color:red; p{{display:none}}}}</style><p>{UNSEEN}</p>",
    "shown by what overflows": "<style>.q{height:0;overflow:hidden} .w{overflow:visible}</style>"
    f"<p class='q w'>{UNSEEN}</p>",
    "shown by all": f"<style>.q{{display:none}} .w{{all:revert}}</style><p class='q w'>{UNSEEN}</p>",
    "no selector": f"<style>.2col .b{{display:none}}</style><p class=b>{UNSEEN}</p>",
    "a place": "<style>.panel{position:absolute;left:-9999px} @media (min-width:800px){.panel{left:0}}</style>"
    f"<div class=panel>{UNSEEN}</div>",
    "no gaps": "<style>.row{font-size:0} .row a{font-size:16px}</style>"
    f"<div class=row><a href=/x>{UNSEEN}</a></div>",
    "no gaps, by itself": "<style>.row a{font-size:16px}</style>"
    f"<div class=row style='font-size:0'><a href=/x>{UNSEEN}</a></div>",
    "for listeners": "<style>.sr-only{position:absolute;clip:rect(0,0,0,0)}</style>"
    f"<p><span class=sr-only>{UNSEEN}</span><span aria-hidden=true>{UNSEEN}</span></p>",
}  # fmt: skip
SEEN = {
    "far below": f"<p style='position:absolute;top:1021px;left:108px;white-space:nowrap'>{UNSEEN}</p>",
    "far to the right": f"<div style='position:absolute;left:950px;top:10px'>{UNSEEN}</div>",
    "below its part": f"<div style='position:absolute;bottom:-1021px'>{UNSEEN}</div>",
    "centred": f"<p style='position:absolute;left:-9999px;right:-9999px;margin:auto'>{UNSEEN}</p>",
    "stretched": f"<p style='position:absolute;left:-9999px;right:0'>{UNSEEN}</p>",
    "wide": f"<p style='position:absolute;left:-9999px;width:12000px'>{UNSEEN}</p>",
    "with a wide margin": f"<p style='position:absolute;left:-9999px;margin:0 9999px'>{UNSEEN}</p>",
    "a place without a unit, which is none": f"<p style='position:absolute;left:-9999'>{UNSEEN}</p>",
    "brought back": f"<p style='position:absolute;left:-9999px;transform:translateX(9999px)'>{UNSEEN}</p>",
    "fixed within": f"<p style='position:absolute;left:-9999px'><b style='position:fixed;left:0'>{UNSEEN}</b></p>",
    "a slide": f"<script>x()</script><div style='position:absolute;left:-1920px'>{UNSEEN}</div>",
    "a long hanging line": f"<p style='text-indent:-950px'>{UNSEEN}</p>",
    "an indented part of a line": f"<span style='text-indent:-9999px'>{UNSEEN}</span>",
    "placed beside its lines": f"<p style='position:absolute;left:-20px;text-indent:-2em'>{UNSEEN}</p>",
    "beside an unplaced part": f"<p style='left:-9999px'>{UNSEEN}</p>",
    "half cut": f"<p style='clip-path:inset(50% 0 0 0)'>{UNSEEN}</p>",
    "not cut": f"<p style='position:absolute;clip:rect(0,auto,auto,0)'>{UNSEEN}</p>",
    "for listeners": f"<p><b style='position:absolute;clip:rect(0,0,0,0)'>{UNSEEN}</b><i aria-hidden=true>90 €</i></p>",
    "for listeners, last": f"<p><i aria-hidden=true>€</i> <b style='position:fixed;left:-9999px'>{UNSEEN}</b></p>",
    "letters of a size within": f"<div style='font-size:0px'><p style='font-size:13px'>{UNSEEN}</p></div>",
    "letters of an old size within": f"<div style='font-size:0'><p><font size=4>{UNSEEN}</font></p></div>",
    "a table, which has its size": f"<div style='font-size:0'><table><tr><td>{UNSEEN}</td></tr></table></div>",
    "a size said twice": f"<p style='font-size:13px!important;font-size:0'>{UNSEEN}</p>",
    "white on black": f"<div style='background:#000'><p style='color:white'>{UNSEEN}</p></div>",
    "white on a picture": f"<p style='color:#fff;background:#fff;background-image:url(a)'>{UNSEEN}</p>",
    "white on a picture behind": f"<table><tr><td background=a><font color=white>{UNSEEN}</font></td></tr></table>",
    "white beside its box": f"<p style='color:#fff;background:#fff;height:0'>{UNSEEN}</p>",
    "white on what is said outside": f"<style>@import url(site.css);</style><p style='color:#fff'>{UNSEEN}</p>",
    "white in the dark": f"<meta name=color-scheme content=dark><p style='color:#fff'>{UNSEEN}</p>",
    "white over a part": f"<img src=d.jpg><p style='position:relative;top:-90px;color:#fff'>{UNSEEN}</p>",
    "white and marked": f"<p style='color:#fff;background:#fff'><mark>{UNSEEN}</mark></p>",
    "a little black": f"<p style='color:#000;background:rgba(0,0,0,.05)'>{UNSEEN}</p>",
    "a little black in eight digits": f"<p style='color:#000;background:#0000000d'>{UNSEEN}</p>",
    "a little white": f"<p style='color:#fff;background-color:rgba(255,255,255,.1)'>{UNSEEN}</p>",
    "a drawn colour": f"<p style='color:transparent;background-clip:text'>{UNSEEN}</p>",
    "a link in white words": f"<p style='color:white;background:white'><a href='/a'>{UNSEEN}</a></p>",
    "faded until a script": f"<script>x()</script><p style='opacity:0'>{UNSEEN}</p>",
    "faded until a word of a script": f"<img onload='x()'><p style='opacity:0'>{UNSEEN}</p>",
    "shortened": "<table><tr><td style='max-width:0;overflow:hidden;text-overflow:ellipsis'>"
    f"{UNSEEN}</td></tr></table>",
    "as wide as there is room": f"<div style='flex:1;width:0;overflow:hidden'>{UNSEEN}</div>",
    "as high as it is wide": f"<div style='height:0;padding-bottom:56%;overflow:hidden'>{UNSEEN}</div>",
    "drawn to nothing until a mouse": f"<p style='transform:scale(0)'>{UNSEEN}</p>",
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
@pytest.mark.parametrize("part", [*SEEN.values(), *BY_A_SHEET.values()], ids=[*SEEN, *BY_A_SHEET])
def test_what_people_see_is_read_however_it_is_styled(read_page: Callable[[str], LoadedText], part: str) -> None:
    assert UNSEEN in main_text(read(read_page, part))


@EACH_WAY
@pytest.mark.parametrize("body", ["bgcolor=#000 text=#fff", "background=stars.gif text=white"])
def test_a_page_with_white_letters_is_read(read_page: Callable[[str], LoadedText], body: str) -> None:
    page = read_page(f"<html><body {body}><h1>Pumps</h1><font color=white>{SHOWN * 9}</font></body></html>")

    assert main_text(page).count("forty litres") == 9


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
        f"<style>{'{' * 500_000}{'}' * 500_000}</style>{SHOWN}",
        f"<style>{','.join(f'p ~ p ~ p.x{number}' for number in range(1_000))}{{display:none}}</style>{SHOWN * 2_000}",
        f"<p style='position:absolute;clip:rect(0{' ' * 100_000}0{' ' * 100_000}0{' ' * 100_000}0x'></p>{SHOWN}",
        f"<p style='position:absolute;clip:rect({'0 ' * 130}x'></p>{SHOWN}",
        f"<p style='position:absolute;left:-9px;width:{'0' * 1_000_000}x'></p>{SHOWN}",
        f"<p style='background:red;color:rgb(1{' ' * 1_000_000}x'></p>{SHOWN}",
        f"<p style='{'/*' * 500_000}'></p>{SHOWN}",
        f"<p style='{'a:b;' * 25_000}'></p>{SHOWN}",
        f"<p>{' on' * 300_000}{' ' * 100_000}</p>{SHOWN}",
        f"<div>{'<div style=font-size:0><b>a</b>' * 900}{'</div>' * 900}{'<b>a</b>' * 20_000}</div>{SHOWN}",
        f"<div>{'<b style=position:fixed;left:-9999px>a</b>' * 20_000}</div>{SHOWN}",
    ],
    ids=["braces", "places", "clip", "short clip", "zeros", "spaces", "comments", "style", "words", "within", "row"],
)
def test_styles_without_end_take_no_longer_than_their_length(page: str) -> None:
    began = process_time()

    found = read_whole(page)

    assert process_time() - began < 5
    assert "forty litres" in main_text(found)
