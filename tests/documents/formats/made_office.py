"""Reports as office files, written by other programs' libraries."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from typing import Any, cast

import docx
import openpyxl
import pptx
import xlsxwriter
from odf import draw as drawing
from odf import opendocument, style, table, text  # pyright: ignore[reportMissingTypeStubs] - it ships none
from odf import presentation as shown
from pptx.util import Inches

from tests.documents.formats.made_texts import Made, page, words_of
from tests.documents.formats.wording import LANGUAGES, Report, report

_ODF = cast(Any, opendocument)
_STYLE, _TABLE, _TEXT, _DRAW, _SHOWN = (cast(Any, one) for one in (style, table, text, drawing, shown))


def word(language: str) -> Made:
    """By python-docx, with a note in the footer that is no part of the text."""
    said = report(language)
    made = docx.Document()
    made.add_heading(said.title, 1)
    for one in said.paragraphs:
        made.add_paragraph(one)
    for point in said.points:
        made.add_paragraph(point, style="List Bullet")
    grid = made.add_table(rows=0, cols=3)
    for row in said.table:
        for cell, value in zip(grid.add_row().cells, row, strict=True):
            cell.text = value
    return _saved(made), words_of(said)


def workbook(language: str) -> Made:
    """Two sheets, by openpyxl or by XlsxWriter; figures are numbers."""
    said = report(language)
    sheets = (("A", said.table), ("B", report(language, 1).table))
    expected = [cell for name, rows in sheets for cell in (name, *(cell for row in rows for cell in row))]
    return (_by_openpyxl if LANGUAGES.index(language) % 2 else _by_xlsxwriter)(sheets), expected


def _by_openpyxl(sheets: Sequence[tuple[str, Sequence[Sequence[str]]]]) -> bytes:
    made = openpyxl.Workbook()
    for number, (name, rows) in enumerate(sheets):
        sheet = made.create_sheet(name, number)
        for row in rows:
            sheet.append([_value(cell) for cell in row])
    return _saved(made)


def _by_xlsxwriter(sheets: Sequence[tuple[str, Sequence[Sequence[str]]]]) -> bytes:
    out = io.BytesIO()
    with cast(Any, xlsxwriter).Workbook(out, {"in_memory": True}) as made:
        for name, rows in sheets:
            sheet = made.add_worksheet(name)
            for number, row in enumerate(rows):
                sheet.write_row(number, 0, [_value(cell) for cell in row])
    return out.getvalue()


def _value(cell: str) -> str | int:
    return int(cell) if cell.isdigit() else cell


def slides(language: str) -> Made:
    """By python-pptx: points with notes, then a table."""
    said = report(language)
    made = pptx.Presentation()
    first = made.slides.add_slide(made.slide_layouts[1])
    cast(Any, first.shapes.title).text = said.title
    cast(Any, first.placeholders[1]).text_frame.text = "\n".join(said.points)
    cast(Any, first.notes_slide.notes_text_frame).text = said.paragraphs[0]
    second = made.slides.add_slide(made.slide_layouts[5])
    cast(Any, second.shapes.title).text = said.paragraphs[1]
    frame = second.shapes.add_table(4, 3, Inches(1), Inches(2), Inches(6), Inches(2))
    for at, row in enumerate(said.table):
        for column, cell in enumerate(row):
            frame.table.cell(at, column).text = cell
    expected = [said.title, *said.points, *said.paragraphs, *(cell for row in said.table for cell in row)]
    return _saved(made), expected


def open_text(language: str) -> Made:
    """By odfpy."""
    said = report(language)
    made = _ODF.OpenDocumentText()
    made.text.addElement(_TEXT.H(outlinelevel=1, text=said.title))
    for one in said.paragraphs:
        made.text.addElement(_TEXT.P(text=one))
    points = _TEXT.List()
    for point in said.points:
        item = _TEXT.ListItem()
        item.addElement(_TEXT.P(text=point))
        points.addElement(item)
    made.text.addElement(points)
    made.text.addElement(_open_table(said.table, "quays"))
    return _saved(made), words_of(said)


def open_sheets(language: str) -> Made:
    said = report(language)
    made = _ODF.OpenDocumentSpreadsheet()
    made.spreadsheet.addElement(_open_table(said.table, said.title))
    return _saved(made), [said.title, *(cell for row in said.table for cell in row)]


def open_slides(language: str) -> Made:
    said = report(language)
    made = _ODF.OpenDocumentPresentation()
    layout = _STYLE.PageLayout(name="plain")
    made.automaticstyles.addElement(layout)
    master = _STYLE.MasterPage(name="plain", pagelayoutname=layout)
    made.masterstyles.addElement(master)
    for number, lines in enumerate((said.paragraphs, said.points), 1):
        slide = _DRAW.Page(name=f"page{number}", masterpagename=master)
        for kind, held in (("title", [said.title]), ("outline", lines)):
            frame = _DRAW.Frame(width="20cm", height="4cm", x="1cm", y="1cm", attributes={"class": kind})
            box = _DRAW.TextBox()
            for line in held:
                box.addElement(_TEXT.P(text=line))
            frame.addElement(box)
            slide.addElement(frame)
        made.presentation.addElement(slide)
    return _saved(made), [said.title, *said.paragraphs, said.title, *said.points]


def _open_table(rows: Sequence[Sequence[str]], name: str) -> Any:
    made = _TABLE.Table(name=name)
    made.addElement(_TABLE.TableColumn(numbercolumnsrepeated=3))
    for row in rows:
        line = _TABLE.TableRow()
        for cell in row:
            kind = {"valuetype": "float", "value": cell} if cell.isdigit() else {"valuetype": "string"}
            held = _TABLE.TableCell(**kind)
            held.addElement(_TEXT.P(text=cell))
            line.addElement(held)
        made.addElement(line)
    return made


def book(language: str) -> Made:
    """Two chapters, as EPUB 3 lays them out."""
    chapters = [report(language), report(language, 1)]
    items = "".join(
        f'<item id="c{n}" href="text/c{n}.xhtml" media-type="application/xhtml+xml"/>' for n in range(len(chapters))
    )
    spine = "".join(f'<itemref idref="c{n}"/>' for n in range(len(chapters)))
    parts = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": (
            '<?xml version="1.0"?><container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">'
            '<rootfiles><rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles>'
            "</container>"
        ),
        "OEBPS/book.opf": (
            '<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" version="3.0">'
            '<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>A book</dc:title></metadata>'
            f"<manifest>{items}</manifest><spine>{spine}</spine></package>"
        ),
        **{f"OEBPS/text/c{n}.xhtml": _chapter(said) for n, said in enumerate(chapters)},
    }
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in parts.items():
            archive.writestr(name, part, zipfile.ZIP_STORED if name == "mimetype" else None)
    return out.getvalue(), [one for said in chapters for one in words_of(said)]


def _chapter(said: Report) -> str:
    return page(said).replace("<html", '<html xmlns="http://www.w3.org/1999/xhtml"', 1)


def _saved(made: Any) -> bytes:
    out = io.BytesIO()
    made.save(out)
    return out.getvalue()
