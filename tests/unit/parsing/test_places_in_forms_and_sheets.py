"""Text that stands in a form, in the drawing of an annotation, in merged cells, in the number format or the attributes
of a cell, or in a folded part of a page is read, or told as left out.
"""

from __future__ import annotations

import io
from typing import Any

import docx
import pytest
import xlsxwriter
from docx.oxml import parse_xml
from pypdf import PdfReader, PdfWriter
from pypdf.generic import ArrayObject, DecodedStreamObject, DictionaryObject, NameObject, NumberObject, TextStringObject
from reportlab.pdfgen.canvas import Canvas
from tests.unit.parsing.test_places_in_office_files import W, saved
from tests.unit.parsing.test_places_in_slides_and_open_files import open_file

from agentic_rag.adapters.parsing.dispatch import load
from agentic_rag.adapters.parsing.process.limits import ParserLimits
from agentic_rag.adapters.parsing.text_builder import LoadedText
from agentic_rag.documents.document import BlockKind, without_asides
from agentic_rag.kernel.errors import ParseFailed

PROSE = "The quay was rebuilt in concrete after the storm of that year, as the harbour master says."
FACT = "The warden is Okapi of Kiel, says the plan."


def read(content: bytes | str, name: str) -> LoadedText:
    return load(content.encode() if isinstance(content, str) else content, name, None, ParserLimits())[1]


SHOWN = {
    "field": "<label>Warden <input value='Okapi'></label>",
    "field that is fixed": "<input type='number' readonly value='Okapi'>",
    "area": "<textarea>Okapi</textarea>",
    "choice": "<select><option>a</option><option selected>Okapi</option></select>",
    "frame": "<iframe srcdoc='&lt;p&gt;Okapi&lt;/p&gt;'></iframe>",
    "open dialog": "<dialog open><p>Okapi</p></dialog>",
    "shadow": "<div><template shadowrootmode='open'><p>Okapi</p></template></div>",
}
FOLDED = {
    "dialog": f"<dialog><p>{FACT}</p></dialog>",
    "template": f"<template><p>{FACT}</p></template>",
    "without scripts": f"<noscript><p>{FACT}</p></noscript>",
    "navigation": f"<nav><p>{FACT}</p></nav>",
    "navigation by its role": f"<div role='navigation'><p>{FACT}</p></div>",
}


@pytest.mark.parametrize("part", SHOWN.values(), ids=list(SHOWN))
def test_what_the_controls_of_a_saved_page_show_is_read(part: str) -> None:
    loaded = read(f"<html><body><p>{PROSE}</p><div>{part}</div></body></html>", "a.html")

    assert without_asides(loaded.text, loaded.blocks).count("Okapi") == 1


@pytest.mark.parametrize("part", FOLDED.values(), ids=list(FOLDED))
def test_folded_parts_of_a_saved_page_are_told(part: str) -> None:
    loaded = read(f"<html><body><p>{PROSE}</p>{part}</body></html>", "a.html")

    asides = [loaded.text[one.start : one.end] for one in loaded.blocks if one.kind is BlockKind.ASIDE]
    assert asides == [FACT]


def annotated(kind: str, **entries: Any) -> PdfWriter:
    """A page with an annotation that draws FACT."""
    made = io.BytesIO()
    canvas = Canvas(made)
    canvas.drawString(60, 700, PROSE)
    canvas.drawString(60, 520, "Received:")
    canvas.save()
    writer = PdfWriter(clone_from=PdfReader(made))
    page = writer.pages[0]
    drawing = DecodedStreamObject()
    drawing.set_data(f"BT /F1 12 Tf 2 15 Td ({FACT}) Tj ET".encode())
    box = ArrayObject([NumberObject(one) for one in (0, 0, 300, 40)])
    drawing.update(
        {
            NameObject("/Subtype"): NameObject("/Form"),
            NameObject("/BBox"): box,
            NameObject("/Resources"): page["/Resources"],
        }
    )
    note = DictionaryObject(
        {
            NameObject("/Subtype"): NameObject(kind),
            NameObject("/Rect"): ArrayObject([NumberObject(one) for one in (130, 505, 430, 545)]),
            NameObject("/F"): NumberObject(4),
            NameObject("/AP"): DictionaryObject({NameObject("/N"): writer._add_object(drawing)}),
        }
        | {NameObject(f"/{name}"): value for name, value in entries.items()}
    )
    page[NameObject("/Annots")] = ArrayObject([writer._add_object(note)])
    return writer


def written(writer: PdfWriter) -> bytes:
    made = io.BytesIO()
    writer.write(made)
    return made.getvalue()


@pytest.mark.parametrize("kind", ["/Stamp", "/FreeText", "/Watermark", "/Square"])
def test_a_text_that_only_an_annotation_draws_is_read_beside_its_label(kind: str) -> None:
    assert f"Received: {FACT}" in read(written(annotated(kind)), "a.pdf").text


def test_what_a_signature_shows_is_read() -> None:
    writer = annotated("/Widget", FT=NameObject("/Sig"), T=TextStringObject("s"))
    fields = ArrayObject([writer.pages[0]["/Annots"][0].indirect_reference])  # type: ignore[index]
    writer._root_object[NameObject("/AcroForm")] = DictionaryObject({NameObject("/Fields"): fields})

    assert FACT in read(written(writer), "a.pdf").text


def test_an_annotation_with_a_text_of_its_own_is_read_once() -> None:
    assert read(written(annotated("/Stamp", Contents=TextStringObject(FACT))), "a.pdf").text.count("Okapi") == 1


def test_a_page_that_asks_to_wait_for_a_form_is_refused() -> None:
    made = io.BytesIO()
    canvas = Canvas(made)
    canvas.drawString(60, 700, "Please wait... If this message is not eventually replaced, your viewer cannot show it.")
    canvas.save()
    writer = PdfWriter(clone_from=PdfReader(made))
    form = DecodedStreamObject()
    form.set_data(b'<xdp:xdp xmlns:xdp="http://ns.adobe.com/xdp/"></xdp:xdp>')
    entries = {NameObject("/XFA"): writer._add_object(form), NameObject("/Fields"): ArrayObject()}
    writer._root_object[NameObject("/AcroForm")] = DictionaryObject(entries)

    with pytest.raises(ParseFailed) as failed:
        read(written(writer), "a.pdf")
    assert failed.value.code == "PARSE_UNSUPPORTED"


def sheet(*rows: tuple[Any, str]) -> str:
    """The text of a sheet of labels and values with their number formats; a value that begins with "=" is a formula."""
    made = io.BytesIO()
    book = xlsxwriter.Workbook(made)
    one = book.add_worksheet("Berths")
    one.write_row(0, 0, ["Region", "Value"])
    for number, (value, code) in enumerate(rows, 1):
        one.write(number, 0, f"Berth {number}")
        one.write(number, 1, value, book.add_format({"num_format": code}) if code else None)
    book.close()
    return read(made.getvalue(), "a.xlsx").text


@pytest.mark.parametrize(
    ("value", "code", "expected"),
    [
        (7, '#,##0.0 "kg"', "7 kg"),
        (7, '0" km/h"', "7 km/h"),
        (3, '"Q"0', "Q3"),
        (5, '0.0"%"', "5%"),
        (0.05, "0.0%", "5.0%"),
        (5, '#,##0.00 "EUR"', "5.00 EUR"),
        (12345, '0.0,"k"', "12345"),
        (-5, '0" up";0" down"', "-5"),
        (1500, '[>=1000]0.0," t";0" kg"', "1500"),
    ],
)
def test_a_number_is_read_with_the_unit_of_its_format(value: float, code: str, expected: str) -> None:
    assert sheet((value, code), (1, "")).splitlines()[-2] == f"Berth 1 | {expected}"


def test_results_that_nobody_calculated_are_read_as_formulas() -> None:
    made = io.BytesIO()
    book = xlsxwriter.Workbook(made)
    one = book.add_worksheet("Berths")
    one.write_row(0, 0, ["Region", "Rate", "Total"])
    for row, value in ((1, 0), (2, 14)):
        one.write_row(row, 0, [f"Berth {row}", 0])
        one.write_formula(row, 2, f"=B{row + 1}*2", None, value)
    book.close()

    text = read(made.getvalue(), "a.xlsx").text

    assert "Berth 1 | 0 | =B2*2" in text
    assert "Berth 2 | 0 | 14" in text


CELL = "<table:table-cell"
ROW = "<table:table-row>{}</table:table-row>"


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        (f"{CELL} office:value-type='string' office:string-value='Okapi'/>", "Okapi"),
        (f"{CELL} office:value-type='float' office:value='7.5'/>", "7.5"),
        (f"{CELL} office:value-type='percentage' office:value='0.075'/>", "7.50%"),
        (f"{CELL} office:value-type='date' office:date-value='2026-01-05'/>", "2026-01-05"),
        (f"{CELL} table:formula='of:=SUM([.B2:.B9])'/>", "=SUM([.B2:.B9])"),
    ],
)
def test_values_of_open_sheets_are_read_where_they_have_no_text(cell: str, expected: str) -> None:
    label = f"{CELL}><text:p>South</text:p></table:table-cell>"
    made = open_file("spreadsheet", ROW.format(label + cell))

    assert f"South | {expected}" in read(made, "a.ods").text


@pytest.mark.parametrize("place", ["header-first", "footer-first"])
def test_lines_around_the_first_page_of_an_open_text_are_read(place: str) -> None:
    page = f"<style:master-page><style:{place}><text:p>{FACT}</text:p></style:{place}></style:master-page>"
    made = open_file("text", "", styles=f"<office:master-styles>{page}</office:master-styles>")

    assert FACT in read(made, "a.odt").text


def test_the_first_row_of_an_open_table_without_marked_names_is_read_as_names_of_figures() -> None:
    def row(*texts: str) -> str:
        return ROW.format("".join(f"{CELL}><text:p>{one}</text:p></table:table-cell>" for one in texts))

    rows = row("Region", "Sales", "Costs") + row("South", "90", "40") + row("North", "70", "30")
    made = open_file("text", f"<text:p>{PROSE}</text:p><table:table>{rows}</table:table>")

    assert "Region | Sales | Costs\n--- | --- | ---\nSouth | 90 | 40" in read(made, "a.odt").text


def test_what_was_chosen_in_an_old_form_of_word_is_read() -> None:
    made = docx.Document()
    paragraph: Any = made.add_paragraph("Warden: ")
    entries = "".join(f"<w:listEntry w:val='{one}'/>" for one in ("Gnu", "Okapi"))
    field = f"<w:ffData><w:ddList><w:result w:val='1'/>{entries}</w:ddList></w:ffData>"
    for inner in (
        f"<w:fldChar w:fldCharType='begin'>{field}</w:fldChar>",
        "<w:instrText> FORMDROPDOWN </w:instrText>",
        "<w:fldChar w:fldCharType='end'/>",
    ):
        paragraph._p.append(parse_xml(f"<w:r {W}>{inner}</w:r>"))

    text = read(saved(made), "a.docx").text

    assert "Warden: Okapi" in text
    assert "Gnu" not in text


def rich(body: str) -> str:
    return read(rf"{{\rtf1\ansi {body}\pard {PROSE}\par}}", "a.rtf").text


def test_merged_cells_of_rich_text_stand_in_each_column_and_row_that_they_cover() -> None:
    text = rich(
        r"\trowd\clmgf\cellx1\clmrg\cellx2\cellx3 Sales\cell\cell Rate\cell\row"
        r"\trowd\clvmgf\cellx1\cellx2\cellx3 North\cell 5\cell 6\cell\row"
        r"\trowd\clvmrg\cellx1\cellx2\cellx3 \cell 7\cell 8\cell\row"
        r"\trowd\clvmrg\cellx1\cellx2\cellx3 \cell 9\cell 10\cell\row"
    )

    assert "Sales | Sales | Rate\n--- | --- | ---\nNorth | 5 | 6\nNorth | 7 | 8\nNorth | 9 | 10" in text


def test_a_cell_that_fills_its_row_is_read_once() -> None:
    row = r"\trowd\clmgf\cellx1\clmrg\cellx2\clmrg\cellx3 Okapi\cell\cell\cell\row"
    assert rich(row + r"\trowd\cellx1\cellx2\cellx3 a\cell b\cell c\cell\row").count("Okapi") == 1


def test_what_was_chosen_in_a_form_of_rich_text_is_read() -> None:
    choices = r"{\*\ffl Gnu}{\*\ffl Okapi}"
    field = rf"{{\field{{\*\fldinst FORMDROPDOWN {{\*\formfield{{\fftype2\ffres1{choices}}}}}}}{{\fldrslt }}}}\par "

    text = rich(f"Warden: {field}")

    assert "Warden: Okapi" in text
    assert "Gnu" not in text
