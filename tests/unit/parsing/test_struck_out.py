"""What is struck out does not hold any more, and is not read as if it did."""

from __future__ import annotations

import io
import time

import docx
import pptx
import pytest
import xlsxwriter
from pptx.util import Inches

from agentic_rag.adapters.parsing.dispatch import load
from agentic_rag.adapters.parsing.loaders.markdown import read_markdown
from agentic_rag.adapters.parsing.office.package import zip_parts
from agentic_rag.adapters.parsing.process.limits import ParserLimits
from agentic_rag.documents.document import BlockKind

NAMES = "urn:oasis:names:tc:opendocument:xmlns"
LINE_THROUGH = '<style:text-properties style:text-line-through-style="{}"/>'


def text_of(content: bytes, name: str) -> str:
    return load(content, name, None, ParserLimits())[1].text


def slide() -> bytes:
    made = pptx.Presentation()
    frame = made.slides.add_slide(made.slide_layouts[6]).shapes.add_textbox(*[Inches(1)] * 4).text_frame
    for text, strike in (("The fee is ", None), ("40 euros ", "sngStrike"), ("50 ", "dblStrike"), ("35 ", "noStrike")):
        run = frame.paragraphs[0].add_run()
        run.text = text
        if strike:
            run._r.get_or_add_rPr().set("strike", strike)
    out = io.BytesIO()
    made.save(out)
    return out.getvalue()


def word() -> bytes:
    made = docx.Document()
    paragraph = made.add_paragraph("The fee is ")
    paragraph.add_run("40 euros ").font.strike = True
    paragraph.add_run("35")
    out = io.BytesIO()
    made.save(out)
    return out.getvalue()


def open_text(body: str) -> bytes:
    """With the styles `gone` and `kept`."""
    spaces = " ".join(f'xmlns:{room}="{NAMES}:{room}:1.0"' for room in ("office", "style", "text"))
    styles = "".join(
        f'<style:style style:name="{name}" style:family="text">{LINE_THROUGH.format(line)}</style:style>'
        for name, line in (("gone", "solid"), ("kept", "none"))
    )
    content = (
        f"<office:document-content {spaces}><office:automatic-styles>{styles}</office:automatic-styles><office:body>"
        f"<office:text>{body}</office:text></office:body></office:document-content>"
    )
    return zip_parts(
        {
            "mimetype": "application/vnd.oasis.opendocument.text",
            "META-INF/manifest.xml": "<manifest/>",
            "content.xml": content,
        }
    )


def rich(text: str) -> bytes:
    return rf"{{\rtf1\ansi {text}\par}}".encode()


def sheet() -> bytes:
    """A struck cell, a struck run, a struck cell of which a run is shown again, and a struck number."""
    out = io.BytesIO()
    book = xlsxwriter.Workbook(out)
    page = book.add_worksheet("Fees")
    gone, shown = book.add_format({"font_strikeout": True}), book.add_format({"bold": True})
    page.write_row(0, 0, ["Fee", "Euros", "Note"])
    page.write(1, 0, "The fee")
    page.write_rich_string(1, 1, gone, "40 ", shown, "is ")
    page.write_rich_string(1, 2, "40 ", shown, "35", gone)
    page.write(2, 0, "void", gone)
    page.write(2, 1, 40, gone)
    page.write_formula(3, 1, "=B3", gone)
    book.close()
    return out.getvalue()


def open_sheet(columns: str, cells: str) -> bytes:
    """A row of cells; `gone` strikes out, `kept` shows again."""
    spaces = " ".join(f'xmlns:{room}="{NAMES}:{room}:1.0"' for room in ("office", "style", "text", "table"))
    styles = "".join(
        f'<style:style style:name="{name}" style:family="table-cell">{LINE_THROUGH.format(line)}</style:style>'
        for name, line in (("gone", "solid"), ("kept", "none"))
    )
    rows = f"<table:table-row>{cells}</table:table-row>"
    content = (
        f"<office:document-content {spaces}><office:automatic-styles>{styles}</office:automatic-styles><office:body>"
        f'<office:spreadsheet><table:table table:name="Fees">{columns}{rows}</table:table></office:spreadsheet>'
        "</office:body></office:document-content>"
    )
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    return zip_parts({"mimetype": kind, "META-INF/manifest.xml": "<manifest/>", "content.xml": content})


def cell(text: str, style: str = "", **more: str) -> str:
    named = f' table:style-name="{style}"' if style else ""
    said = "".join(f' {name.replace("_", ":", 1).replace("_", "-")}="{value}"' for name, value in more.items())
    return f"<table:table-cell{named}{said}><text:p>{text}</text:p></table:table-cell>"


SHOWN_AGAIN = '40 <text:span text:style-name="kept">is</text:span>'
OWN = cell("The fee") + cell(SHOWN_AGAIN, "gone") + cell("40", "gone", office_value="40", office_value_type="float")
BY_COLUMN = (
    '<table:table-column table:number-columns-repeated="2"/><table:table-column table:default-cell-style-name="gone"/>'
)
REPEATED = cell("The fee", table_number_columns_repeated="1") + cell("is") + cell("40") + cell("35", "kept")


SPANS = (
    '<text:p>The fee is <text:span text:style-name="gone">40 <text:span>euros</text:span> </text:span>'
    '<text:span text:style-name="kept">35</text:span></text:p>'
)
OF_ITS_PARAGRAPH = '<text:p text:style-name="gone">The fee is <text:span text:style-name="kept">35</text:span></text:p>'


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (slide(), "a.pptx"),
        (word(), "a.docx"),
        (open_text(SPANS), "a.odt"),
        (open_text(OF_ITS_PARAGRAPH), "a.odt"),
        (rich(r"The fee is {\rtlch\fcs1 \af0 \strike\insrsid9 40 {\b euros} }35"), "a.rtf"),
        (rich(r"The fee is {\b\striked1 40 euros }35"), "a.rtf"),
        (rich(r"The fee is \strike 40 euros \strike0 35"), "a.rtf"),
        (rich(r"The fee is {\strike0 35}"), "a.rtf"),
    ],
    ids=["PPTX", "DOCX", "ODT", "ODT paragraph", "RTF group", "RTF twice", "RTF run", "RTF not struck"],
)
def test_struck_out_text_is_left_out(content: bytes, name: str) -> None:
    assert text_of(content, name).split() == ["The", "fee", "is", "35"]


def test_struck_out_cells_and_runs_of_a_workbook_are_left_out() -> None:
    parts = text_of(sheet(), "a.xlsx").split("\n\n")

    assert parts == ["Fees", "Row 2", "Fee | Euros | Note\n--- | --- | ---\nThe fee | is | 35"]


@pytest.mark.parametrize(
    ("columns", "cells", "left"), [("", OWN, "The fee is"), (BY_COLUMN, REPEATED, "The fee is 35")]
)
def test_struck_out_cells_of_an_open_sheet_are_left_out(columns: str, cells: str, left: str) -> None:
    text = text_of(open_sheet(columns, cells), "a.ods").partition("\n\n")[2]

    assert " ".join(text.replace("|", " ").split()) == f"Row 1 {left}"


@pytest.mark.parametrize("is_inside", [False, True])
def test_the_comment_of_a_struck_out_cell_is_none_of_what_is_struck_out(is_inside: bool) -> None:
    """As in workbooks, where it stands in a part of its own."""
    comment = "<office:annotation><text:p>35 since May</text:p></office:annotation>"
    struck = cell("40", "gone").replace("<text:p>", f"<text:p>{comment}" if is_inside else f"{comment}<text:p>")
    text = text_of(open_sheet("", cell("The fee") + struck), "a.ods")

    assert "40" not in text
    assert "35 since May" in text.partition("Comments")[2]


@pytest.mark.parametrize(
    ("source", "left"),
    [
        ("The fee is ~~40~~ 35 euros.", "The fee is 35 euros."),
        ("~~The fee is 40.~~ It is 35.", "It is 35."),
        ("Fees: 40~~0~~, 35.", "Fees: 40, 35."),
        ("The fee ~~was\n40~~ is\n35.", "The fee \nis\n35."),
        ("- ~~40~~\n- 35", "- \n- 35"),
        ("| A | B |\n|---|---|\n| ~~40~~ | 35 |", "| A | B |\n|---|---|\n| | 35 |"),
        ("| A | B |\n|---|---|\n| ~~40 | 35~~ |", None),
        ("Use `~~x~~` here, and ``a ` ~~b~~``.", None),
        ("```\n~~40~~\n```\n\n~~~\n~~40~~\n~~~", None),
        ("    ~~40~~ in code", None),
        ("Escaped \\~~40\\~~, ~40~ and ~~~40~~~ stay.", None),
        ("About ~~ 40 ~~ and ~~ 35.", None),
        ("Opened ~~40.\n\nAnd never~~ in its paragraph.", None),
        (r"The cost is $$c(n)=40~~\text{euros if}~~n>3$$ per item.", None),
        ("For $a~~b~~c$ see \\(a~~b~~c\\) and \\\\[a~~b~~c\\\\].", None),
        ("$$\nf = 1 ~~\\text{if}~~ x > 0\n$$", None),
        ("\\begin{align}\na~~b~~c\n\\end{align}", None),
        ("From $40 to ~~$45~~ $50.", "From $40 to $50."),
        (
            "<pre>\nrm ~~a~~ b\n\ncp ~~c~~ d\n</pre>\n\nIs ~~40~~ 35.",
            "<pre>\nrm ~~a~~ b\n\ncp ~~c~~ d\n</pre>\n\nIs 35.",
        ),
        ("```html\n<pre>\n```\n\nIs ~~40~~ 35.", "```html\n<pre>\n```\n\nIs 35."),
        (
            "- x\n\n      cp ~~a~~ b\n\n      mv ~~c~~ d\n\n  Is ~~40~~ 35.",
            "- x\n\n      cp ~~a~~ b\n\n      mv ~~c~~ d\n\n  Is 35.",
        ),
        ("[Fees](/a/~~b~~c) at https://example.org/~~x/~~y, <https://e.org/~~x~~y>.", None),
        ('<a href="/~~x~~y">Fees</a>', None),
        ("[fees]: /a/~~b~~c", None),
        ("~~https://old.example~~ https://new.example", "https://new.example"),
        ("Fig.~~1 and Tab.~~2 of x=~~a+~~b.", None),
    ],
)
def test_struck_out_markdown_is_left_out(source: str, left: str | None) -> None:
    assert text_of(source.encode(), "a.md") == (source if left is None else left)


@pytest.mark.parametrize(
    "source", ["~~a~~ ```\nrest\nmore", "~~one.~~ 1. Two", "~~x~~ # no heading", "~~x~~- y", "~~x~~     b\nfoo"]
)
def test_what_is_left_of_a_paragraph_is_one_whatever_its_line_begins_with(source: str) -> None:
    read = read_markdown(source + "\n\nNext")

    assert [block.kind for block in read.blocks] == [BlockKind.PARAGRAPH] * 2
    assert read.text[read.blocks[1].start : read.blocks[1].end] == "Next"


@pytest.mark.parametrize("source", ["~~Old~~\n---", "## ~~Old~~", "~~Old~~"])
def test_a_block_that_is_struck_out_as_a_whole_is_none(source: str) -> None:
    assert [block.kind for block in read_markdown(source + "\n\nNext").blocks] == [BlockKind.PARAGRAPH]


@pytest.mark.parametrize(
    "mark", ["~~a\n", "`~~a ", "$~~a ", "$$~~a\n", "\\(~~a ", "\\[~~a ", "<pre> ~~a", "](~~a", "\n\n      ~~a"]
)
def test_marks_among_others_are_read_in_linear_time(mark: str) -> None:
    source = f"- a\n{mark * 20_000}"

    began = time.process_time()
    read_markdown(source)
    assert time.process_time() - began < 5


def test_marks_without_an_end_are_read_in_linear_time() -> None:
    source = "~~a " * 50_000

    began = time.process_time()
    assert text_of(source.encode(), "a.md") == source
    assert time.process_time() - began < 5


def test_struck_out_rtf_takes_nothing_else_along() -> None:
    ended = text_of(rich(r"One. {\strike two \strike0 three} four."), "a.rtf")
    across = text_of(rich(r"One. \strike two\par three \strike0 four."), "a.rtf")
    braced = text_of(rich(r"One. \strike two {\b three} four."), "a.rtf")

    assert ended == "One. three four."
    assert across == "One.\n\nfour."
    assert braced == "One. two three four."
