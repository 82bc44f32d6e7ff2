"""DOCX: the numbers that Word counts stand before headings and list items."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any, cast

import pytest
from docx import Document
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from agentic_rag.adapters.parsing.dispatch import load
from agentic_rag.adapters.parsing.process.limits import ParserLimits

LEGAL = (("decimal", "%1."), ("decimal", "%1.%2"), ("lowerLetter", "(%3)"))


class Counted:
    """A document whose lists are counted as stated."""

    def __init__(self) -> None:
        self.made = Document()
        self._numbering = cast(Any, self.made.part).numbering_part.element

    def way(self, way: int, levels: Sequence[tuple[str, str]]) -> None:
        """A way of counting."""
        shown = "".join(
            f'<w:lvl w:ilvl="{at}"><w:start w:val="1"/><w:numFmt w:val="{kind}"/><w:lvlText w:val="{text}"/></w:lvl>'
            for at, (kind, text) in enumerate(levels)
        )
        self._numbering.insert(
            0, parse_xml(f'<w:abstractNum {nsdecls("w")} w:abstractNumId="{way}">{shown}</w:abstractNum>')
        )

    def list(self, number: int, way: int, inner: str = "") -> None:
        """A list that is counted in a way."""
        self._numbering.append(
            parse_xml(f'<w:num {nsdecls("w")} w:numId="{number}"><w:abstractNumId w:val="{way}"/>{inner}</w:num>')
        )

    def add(self, text: str, number: int | None = None, level: int = 0, style: str | None = None) -> None:
        paragraph = self.made.add_paragraph(text, style=style)
        if number is not None:
            properties = cast(Any, paragraph)._p.get_or_add_pPr()
            properties.append(
                parse_xml(f'<w:numPr {nsdecls("w")}><w:ilvl w:val="{level}"/><w:numId w:val="{number}"/></w:numPr>')
            )

    def number_style(self, style: str, number: int) -> None:
        properties = cast(Any, self.made.styles[style]).element.get_or_add_pPr()
        properties.append(parse_xml(f'<w:numPr {nsdecls("w")}><w:numId w:val="{number}"/></w:numPr>'))

    def lines(self) -> list[str]:
        out = io.BytesIO()
        self.made.save(out)
        text = load(out.getvalue(), "a.docx", None, ParserLimits())[1].text
        return [line for line in text.split("\n") if line]


def test_headings_are_numbered_through_their_styles() -> None:
    counted = Counted()
    counted.way(90, LEGAL)
    levels = list(counted._numbering.iter("{http://schemas.openxmlformats.org/wordprocessingml/2006/main}lvl"))
    for level, style in zip(levels, ("Heading1", "Heading2"), strict=False):
        level.append(parse_xml(f'<w:pStyle {nsdecls("w")} w:val="{style}"/>'))
    counted.list(90, 90)
    counted.number_style("Heading 1", 90)
    counted.number_style("Heading 2", 90)
    for text, style in (
        ("Aim", "Heading 1"), ("Terms", "Heading 1"), ("Who", "Heading 2"), ("Scope", "Heading 2"),
        ("Costs", "Heading 1"), ("Fees", "Heading 2"),
    ):  # fmt: skip
        counted.add(text, style=style)
        counted.add(f"About {text.lower()}.")

    assert counted.lines()[::2] == ["1. Aim", "2. Terms", "2.1 Who", "2.2 Scope", "3. Costs", "3.1 Fees"]


def test_list_items_have_the_numbers_that_word_shows_also_after_other_text() -> None:
    counted = Counted()
    counted.way(91, LEGAL)
    counted.list(91, 91)
    counted.add("Tenant", 91)
    counted.add("pays rent", 91, 1)
    counted.add("in money", 91, 2)
    counted.add("in kind", 91, 2)
    counted.add("A remark.")
    counted.add("keeps order", 91, 1)
    counted.add("by day", 91, 2)

    assert counted.lines() == [
        "1. Tenant", "1.1 pays rent", "(a) in money", "(b) in kind", "A remark.", "1.2 keeps order", "(a) by day",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "shown"),
    [
        ("upperRoman", ["I.", "II."]),
        ("upperLetter", ["A.", "B."]),
        ("decimalZero", ["01.", "02."]),
        ("japaneseCounting", ["1.", "2."]),
        ("bullet", ["-", "-"]),
    ],
)
def test_formats_of_numbers(kind: str, shown: list[str]) -> None:
    counted = Counted()
    counted.way(92, ((kind, "%1."),))
    counted.list(92, 92)
    counted.add("one", 92)
    counted.add("two", 92)

    assert counted.lines() == [f"{shown[0]} one", f"{shown[1]} two"]


def test_a_list_may_begin_anew_and_a_paragraph_may_leave_its_styles_list() -> None:
    counted = Counted()
    counted.way(93, LEGAL)
    counted.list(93, 93)
    counted.list(94, 93, '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="7"/></w:lvlOverride>')
    counted.number_style("List Paragraph", 93)
    counted.add("one", style="List Paragraph")
    counted.add("two", style="List Paragraph")
    counted.add("seven", 94)
    counted.add("none", 0, style="List Paragraph")

    assert counted.lines() == ["1. one", "2. two", "7. seven", "none"]


@pytest.mark.slow
def test_damaged_numbering_costs_the_numbers_only() -> None:
    counted = Counted()
    counted.list(95, 4711)
    counted.way(96, (("decimal", "%1.%9"),))
    counted.list(96, 96)
    counted.add("no way of counting", 95)
    counted.add("no such list", 4712)
    counted.add("no such level", 96, 7)
    counted.list(97, 96, '<w:lvlOverride w:ilvl="x"><w:startOverride w:val="99999999"/></w:lvlOverride>')
    counted.add("one", 96)

    assert counted.lines()[-1] == "1. one"
    assert len(counted.lines()) == 4


def test_of_styles_what_they_are_called_and_count_is_read_and_how_they_look_is_not() -> None:
    made = Counted()
    made.way(70, LEGAL)
    made.list(7, 70)
    made.number_style("List Number", 7)
    made.add("Scope", style="Heading 1")
    made.add("First", style="List Number")
    heading = next(style for style in made.made.styles if style.name == "Heading 1")
    cast(Any, heading).element.styleId = "X1"
    made.made.paragraphs[0].style = heading
    out = io.BytesIO()
    made.made.save(out)

    text = load(out.getvalue(), "a.docx", None, ParserLimits())[1]

    assert [block.kind.value for block in text.blocks][:1] == ["heading"]
    assert text.text.split() == ["Scope", "1.", "First"]
