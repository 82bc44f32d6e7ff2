"""Each place of an office file where people write: its word is in the text that is read, or is left out on purpose."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Mapping
from typing import Any, cast

import docx
import openpyxl
import pptx
import pytest
import xlsxwriter
from docx.oxml import parse_xml
from openpyxl.comments import Comment
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from agentic_rag.adapters.parsing.dispatch import load
from agentic_rag.adapters.parsing.office.package import OFFICE
from agentic_rag.adapters.parsing.process.limits import ParserLimits

W = f'xmlns:w="{OFFICE}/wordprocessingml/2006/main"'
R = f'xmlns:r="{OFFICE}/officeDocument/2006/relationships"'
A = f'xmlns:a="{OFFICE}/drawingml/2006/main"'
WP = f'xmlns:wp="{OFFICE}/drawingml/2006/wordprocessingDrawing"'
MATH = f'xmlns:m="{OFFICE}/officeDocument/2006/math"'
MC = f'xmlns:mc="{OFFICE}/markup-compatibility/2006"'
WPS = 'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape"'
ODF = "urn:oasis:names:tc:opendocument:xmlns"
QUADRATIC = (
    "<m:oMath><m:r><m:t>Okapi=</m:t></m:r><m:f><m:num><m:sSup><m:e><m:r><m:t>v</m:t></m:r></m:e><m:sup><m:r><m:t>2"
    "</m:t></m:r></m:sup></m:sSup></m:num><m:den><m:r><m:t>gh</m:t></m:r></m:den></m:f></m:oMath>"
)


def text_of(content: bytes, name: str) -> str:
    return load(content, name, None, ParserLimits())[1].text


def saved(made: Any) -> bytes:
    out = io.BytesIO()
    made.save(out)
    return out.getvalue()


def changed(content: bytes, parts: Mapping[str, str], edits: Mapping[str, Callable[[str], str]] | None = None) -> bytes:
    """A package with further parts, and with others edited."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            held = old.read(name)
            edit = (edits or {}).get(name)
            new.writestr(name, edit(held.decode()) if edit else held)
        for name, part in parts.items():
            new.writestr(name, part)
    return out.getvalue()


def related(target: str, kind: str, base: str = f"{OFFICE}/officeDocument/2006/relationships") -> Callable[[str], str]:
    """Adds a relation `rX` to a part's relations."""
    one = f'<Relationship Id="rX" Type="{base}/{kind}" Target="{target}"/>'
    return lambda held: held.replace("</Relationships>", f"{one}</Relationships>")


def word(write: Callable[[Any], object]) -> bytes:
    made = docx.Document()
    made.add_paragraph("The quay was rebuilt.")
    write(made)
    return saved(made)


def raw(xml: str) -> Callable[[Any], object]:
    """Appends a paragraph with this content."""
    paragraph = f"<w:p {W} {R} {A} {WP} {MATH} {MC} {WPS}>{xml}</w:p>"
    return lambda made: made.element.body.insert(1, parse_xml(paragraph))


def said(made: Any, text: str) -> None:
    made.add_comment(made.paragraphs[0].runs, text=text, author="Jane Roe", initials="JR")


def in_cell(made: Any) -> None:
    grid = made.add_table(rows=1, cols=2)
    inner = grid.cell(0, 0).add_table(rows=2, cols=2)
    for cell, value in zip((cell for row in inner.rows for cell in row.cells), ("Okapi", "n", "a", "1"), strict=True):
        cell.text = value


def around(made: Any) -> None:
    made.sections[0].header.paragraphs[0].text = "Okapi\t4"
    made.sections[0].footer.add_table(1, 1, Inches(2)).cell(0, 0).text = "Release Okapia"


def chart_part(word: str) -> str:
    """The part that holds a chart, as python-pptx writes it."""
    with zipfile.ZipFile(io.BytesIO(with_chart(word))) as package:
        return package.read(
            next(name for name in package.namelist() if re.search(r"charts/chart[^/]*\.xml$", name))
        ).decode()


def with_chart(word: str) -> bytes:
    made = pptx.Presentation()
    slide = made.slides.add_slide(made.slide_layouts[6])
    data = CategoryChartData()
    data.categories = ["North", f"{word} South"]
    data.add_series(f"{word} sales", (118.5, 90))
    frame = slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, Inches(1), Inches(1), Inches(5), Inches(3), data)
    chart = cast(Any, frame).chart
    chart.has_title = True
    chart.chart_title.text_frame.text = f"{word} chart"
    chart.value_axis.has_title = True
    chart.value_axis.axis_title.text_frame.text = f"{word} euros"
    return saved(made)


def word_with_drawing(inner: str, part: str, kind: str, content: str) -> bytes:
    drawing = (
        f'<w:r><w:drawing><wp:inline><wp:docPr id="1" name="x"/><a:graphic><a:graphicData>'
        f"{inner}</a:graphicData></a:graphic></wp:inline></w:drawing></w:r>"
    )
    return changed(word(raw(drawing)), {f"word/{part}": content}, {"word/_rels/document.xml.rels": related(part, kind)})


BOX = "<w:txbxContent><w:p><w:r><w:t>Okapi</w:t></w:r></w:p></w:txbxContent>"
CHART = f'<c:chart xmlns:c="{OFFICE}/drawingml/2006/chart" r:id="rX"/>'
DIAGRAM = f'<dgm:relIds xmlns:dgm="{OFFICE}/drawingml/2006/diagram" r:dm="rX"/>'
DIAGRAM_DATA = (
    f'<dgm:dataModel xmlns:dgm="{OFFICE}/drawingml/2006/diagram" {A}><dgm:ptLst><dgm:pt><dgm:t><a:p><a:r><a:t>Okapi'
    "</a:t></a:r></a:p></dgm:t></dgm:pt></dgm:ptLst></dgm:dataModel>"
)
WORD_FILES: dict[str, tuple[Callable[[], bytes], str]] = {
    "comment": (lambda: word(lambda made: said(made, "Okapi?")), "Comment by Jane Roe: Okapi?"),
    "equation": (lambda: word(raw(f"<w:r><w:t>so </w:t></w:r>{QUADRATIC}")), "so Okapi=v²/gh"),
    "display equation": (lambda: word(raw(f"<m:oMathPara>{QUADRATIC}</m:oMathPara>")), "Okapi=v²/gh"),
    "chart title": (
        lambda: word_with_drawing(CHART, "c.xml", "chart", chart_part("Okapi")),
        "Okapi chart (Okapi euros)",
    ),
    "chart figures": (lambda: word_with_drawing(CHART, "c.xml", "chart", chart_part("Okapi")), "Okapi South | 90"),
    "diagram": (lambda: word_with_drawing(DIAGRAM, "d.xml", "diagramData", DIAGRAM_DATA), "Okapi"),
    "alternative text": (
        lambda: word(
            raw(
                '<w:r><w:drawing><wp:inline><wp:docPr id="1" name="x" descr="The Okapi '
                'quay at dawn"/></wp:inline></w:drawing></w:r>'
            )
        ),
        "Picture: The Okapi quay at dawn",
    ),
    "text box without a copy": (
        lambda: word(raw(f"<w:r><w:drawing><wps:wsp><wps:txbx>{BOX}</wps:txbx></wps:wsp></w:drawing></w:r>")),
        "Okapi",
    ),
    "text box with a copy": (
        lambda: word(
            raw(
                f'<w:r><mc:AlternateContent><mc:Choice Requires="wps"><w:drawing><wps:wsp>'
                f"<wps:txbx>{BOX}</wps:txbx></wps:wsp></w:drawing></mc:Choice><mc:Fallback>"
                f"<w:pict>{BOX}</w:pict></mc:Fallback></mc:AlternateContent></w:r>"
            )
        ),
        "Okapi",
    ),
    "simple field": (
        lambda: word(raw('<w:fldSimple w:instr="DOCPROPERTY x"><w:r><w:t>Okapi</w:t></w:r></w:fldSimple>')),
        "Okapi",
    ),
    "direction": (lambda: word(raw('<w:bdo w:val="rtl"><w:r><w:t>Okapi</w:t></w:r></w:bdo>')), "Okapi"),
    "words with readings": (
        lambda: word(
            raw(
                "<w:r><w:ruby><w:rt><w:r><w:t>kana</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>"
                "Okapi</w:t></w:r></w:rubyBase></w:ruby></w:r>"
            )
        ),
        "Okapi",
    ),
    "inserted text": (lambda: word(raw('<w:ins w:id="1" w:author="J"><w:r><w:t>Okapi</w:t></w:r></w:ins>')), "Okapi"),
    "box that is ticked": (
        lambda: word(
            raw(
                '<w:sdt><w:sdtPr><w14:checkbox xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml">'
                '<w14:checked w14:val="1"/></w14:checkbox></w:sdtPr><w:sdtContent><w:r>'
                "<w:t>☒</w:t></w:r></w:sdtContent></w:sdt><w:r><w:t> Okapi</w:t></w:r>"
            )
        ),
        "☒ Okapi",
    ),
    "content control": (
        lambda: word(raw("<w:sdt><w:sdtPr/><w:sdtContent><w:r><w:t>Okapi</w:t></w:r></w:sdtContent></w:sdt>")),
        "Okapi",
    ),
    "letters along a path": (
        lambda: word(
            raw(
                '<w:r><w:pict><v:shape xmlns:v="urn:schemas-microsoft-com:vml"><v:textpath string="Okapi  sale"/>'
                "</v:shape></w:pict></w:r>"
            )
        ),
        "Okapi sale",
    ),
    "names of a table in a table": (lambda: word(in_cell), "Okapi | n"),
    "header": (lambda: word(around), "Okapi"),
    "table in the footer": (lambda: word(around), "Release Okapia"),
}


@pytest.mark.parametrize(("made", "expected"), WORD_FILES.values(), ids=list(WORD_FILES))
def test_what_word_shows_is_read(made: Callable[[], bytes], expected: str) -> None:
    text = text_of(made(), "a.docx")

    assert expected in text
    assert text.startswith("The quay was rebuilt.")


@pytest.mark.parametrize("part", ["footnote", "endnote"])
def test_notes_of_word_and_equations_in_them_are_read(part: str) -> None:
    notes = (
        f'<w:{part}s {W} {MATH}><w:{part} w:id="2"><w:p><w:r><w:t>Note: </w:t></w:r>'
        f"{QUADRATIC}</w:p></w:{part}></w:{part}s>"
    )
    made = changed(
        word(raw(f'<w:r><w:{part}Reference w:id="2"/></w:r>')),
        {f"word/{part}s.xml": notes},
        {"word/_rels/document.xml.rels": related(f"{part}s.xml", f"{part}s")},
    )

    assert "Note: Okapi=v²/gh" in text_of(made, "a.docx")


LEFT_OUT_OF_WORD = {
    "deleted text": '<w:del w:id="1" w:author="J"><w:r><w:delText>Okapi</w:delText></w:r></w:del>',
    "deleted equation": f'<w:del w:id="1" w:author="J">{QUADRATIC}</w:del>',
    "text that a program guessed": '<w:r><w:drawing><wp:inline><wp:docPr id="1" name="x" descr="Okapi in grass. '
    'Description automatically generated"/></wp:inline></w:drawing></w:r>',
    "file name": '<w:r><w:drawing><wp:inline><wp:docPr id="1" name="x" descr="C:\\my files\\Okapi '
    'at dawn.png"/></wp:inline></w:drawing></w:r>',
}


@pytest.mark.parametrize("xml", LEFT_OUT_OF_WORD.values(), ids=list(LEFT_OUT_OF_WORD))
def test_what_was_deleted_or_guessed_is_left_out(xml: str) -> None:
    assert "Okapi" not in text_of(word(raw(xml)), "a.docx")


def test_numbers_of_pages_are_left_out_of_the_lines_around_them() -> None:
    def numbered(made: Any) -> None:
        header = made.sections[0].header.paragraphs[0]
        header.text = "Okapi\tPage "
        header._p.append(parse_xml(f'<w:fldSimple {W} w:instr=" PAGE "><w:r><w:t>1</w:t></w:r></w:fldSimple>'))

    assert text_of(word(numbered), "a.docx").endswith("Header and footer\n\nOkapi")


def sheet(write: Callable[[Any, Any], object]) -> bytes:
    out = io.BytesIO()
    with cast(Any, xlsxwriter).Workbook(out, {"in_memory": True}) as book:
        one = book.add_worksheet("Plan")
        for number, row in enumerate((["Region", "2025", "2026"], ["North", 118, 130], ["South", 90, 100])):
            one.write_row(number, 0, row)
        write(book, one)
    return out.getvalue()


def chart_on(book: Any, one: Any, *, alone: bool = False) -> None:
    chart = book.add_chart({"type": "column"})
    chart.add_series({"name": "=Plan!$B$1", "values": "=Plan!$B$2:$B$3", "categories": "=Plan!$A$2:$A$3"})
    chart.set_title({"name": "Okapi chart"})
    chart.set_y_axis({"name": "Okapi euros"})
    if alone:
        book.add_chartsheet("Shown").set_chart(chart)
    else:
        one.insert_chart("E2", chart)


def hidden(book: Any, one: Any) -> None:
    book.add_worksheet("Archive").hide()
    book.get_worksheet_by_name("Archive").write("A1", "Okapi")
    one.write("A4", "Okapia")
    one.set_row(3, None, None, {"hidden": True})
    one.write("D1", "Okapium")
    one.set_column("D:D", None, None, {"hidden": True})


SHEETS: dict[str, tuple[Callable[[Any, Any], object], str]] = {
    "comment": (
        lambda book, one: one.write_comment("C3", "Okapi later", {"author": "Jane Roe"}),
        "Comment on C3 (South) by Jane Roe: Okapi later",
    ),
    "text box": (lambda book, one: one.insert_textbox("E2", "Okapi box"), "Okapi box"),
    "chart": (chart_on, "Chart: Okapi chart (Okapi euros)"),
    "chart on a sheet of its own": (
        lambda book, one: chart_on(book, one, alone=True),
        "Shown\n\nDrawings\n\nChart: Okapi chart",
    ),
    "hidden sheet": (hidden, "Archive\n\nOkapi"),
    "hidden row": (hidden, "Okapia"),
    "hidden column": (hidden, "Okapium"),
    "rich text": (
        lambda book, one: one.write_rich_string("E1", "an ", book.add_format({"bold": True}), "Okapi", " here"),
        "an Okapi here",
    ),
    "link": (lambda book, one: one.write_url("E1", "https://example.org", string="Okapi"), "Okapi"),
}


@pytest.mark.parametrize(("write", "expected"), SHEETS.values(), ids=list(SHEETS))
def test_what_stands_on_a_sheet_is_read(write: Callable[[Any, Any], object], expected: str) -> None:
    assert expected in text_of(sheet(write), "a.xlsx")


def test_threaded_comments_and_their_replies_are_read_once() -> None:
    base = "http://schemas.microsoft.com/office/2017/10/relationships"
    space = 'xmlns="http://schemas.microsoft.com/office/spreadsheetml/2018/threadedcomments"'
    made = openpyxl.Workbook()
    one = cast(Any, made.active)
    one.append(["Region", "2025"])
    one.append(["South", 90])
    one["B2"].comment = Comment("[Threaded comment]\n\nComment:\n    Okapi first", "tc={1}")
    content = changed(
        saved(made),
        {
            "xl/threadedComments/t.xml": f'<ThreadedComments {space}><threadedComment ref="B2" personId="p1" id="1">'
            "<text>Okapi first"
            '</text></threadedComment><threadedComment ref="B2" personId="p2" id="2" '
            'parentId="1"><text>Okapi second</text>'
            "</threadedComment></ThreadedComments>",
            "xl/persons/person.xml": f'<personList {space}><person displayName="Jane Roe" id="p1"/><person '
            'displayName="Max" id="p2"/></personList>',
        },
        {
            "xl/worksheets/_rels/sheet1.xml.rels": related("../threadedComments/t.xml", "threadedComment", base),
            "xl/_rels/workbook.xml.rels": related("persons/person.xml", "person", base),
        },
    )

    text = text_of(content, "a.xlsx")

    assert text.count("Okapi first") == 1
    assert "Comment on B2 (South) by Jane Roe: Okapi first" in text
    assert "Comment on B2 (South) by Max: Okapi second" in text
    assert "South | 90" in text
