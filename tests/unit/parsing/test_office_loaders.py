"""Spreadsheets, slides, OpenDocument, books, mails, notebooks and RTF: the text holds what the file holds."""

from __future__ import annotations

import datetime
import io
import json
from collections.abc import Callable
from email.message import EmailMessage
from itertools import pairwise
from typing import Any

import pytest
from openpyxl import Workbook
from PIL import Image
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from agentic_rag.adapters.parsing.dispatch import load
from agentic_rag.adapters.parsing.office.package import zip_parts
from agentic_rag.adapters.parsing.process.limits import ParserLimits
from agentic_rag.adapters.parsing.text_builder import LoadedText
from agentic_rag.documents.document import BlockKind
from agentic_rag.kernel.errors import ParseFailed
from agentic_rag.language.tables import format_row, header_span, split_cells

ODF = "urn:oasis:names:tc:opendocument:xmlns"


def read(content: bytes, name: str, limits: ParserLimits | None = None) -> LoadedText:
    loaded = load(content, name, None, limits or ParserLimits())[1]
    for block in loaded.blocks:
        assert loaded.text[block.start : block.end].strip() == loaded.text[block.start : block.end] != ""
    return loaded


def headings(loaded: LoadedText) -> list[str]:
    return [loaded.text[one.start : one.end] for one in loaded.blocks if one.kind is BlockKind.HEADING]


def said(loaded: LoadedText, cell: str) -> str:
    """The row that holds a cell, as an answer words it."""
    at = loaded.text.index(cell)
    start, end = loaded.text.rfind("\n", 0, at) + 1, loaded.text.find("\n", at)
    header = header_span(loaded.text, start)
    return format_row(loaded.text[start : end if end > 0 else None], loaded.text[slice(*header)] if header else None)


def saved(book: Workbook) -> bytes:
    made = io.BytesIO()
    book.save(made)
    return made.getvalue()


def budget() -> Workbook:
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.title = "Budget 2026"
    rows = (
        ["Budget of the office"],
        ["Region", "2025", None, "2026", "Share"],
        [None, "Plan", "Actual", "Plan", "of all"],
        ["North", 120, 118.5, 130, 0.125],
        ["South", 90, None, 100, 0.0875],
        [],
        ["Owner", "Jane Roe"],
        ["Approved", datetime.date(2026, 1, 5)],
    )
    for row in rows:
        sheet.append(row)
    for merged in ("A1:E1", "B2:C2"):
        sheet.merge_cells(merged)
    for row in (4, 5):
        sheet[f"E{row}"].number_format = "0.00%"
        sheet[f"D{row}"].number_format = '"$"#,##0.00'
    return book


def test_a_row_of_a_workbook_stands_under_the_names_of_its_columns() -> None:
    loaded = read(saved(budget()), "a.xlsx")

    assert headings(loaded) == ["Budget 2026", "Rows 4–5", "Rows 7–8"]
    assert (
        said(loaded, "118.5") == "North — 2025 Plan: 120; 2025 Actual: 118.5; 2026 Plan: $130.00; Share of all: 12.50%"
    )
    assert said(loaded, "8.75%") == "South — 2025 Plan: 90; 2026 Plan: $100.00; Share of all: 8.75%"
    assert said(loaded, "Jane Roe") == "Owner: Jane Roe"
    assert said(loaded, "2026-01-05") == "Approved: 2026-01-05"


def test_every_part_of_a_long_sheet_repeats_the_names_and_says_its_rows() -> None:
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(["Ticket", "Opened", "Team", "Text"])
    for number in range(2, 400):
        sheet.append([f"T-{number}", datetime.date(2026, 1, 1), None, f"what ticket {number} is about"])

    loaded = read(saved(book), "tickets.xlsx")

    ranges = [tuple(map(int, one.removeprefix("Rows ").split("–"))) for one in headings(loaded)[1:]]
    assert ranges[0][0] == 2
    assert ranges[-1][1] == 399
    assert all(last + 1 == first for (_, last), (first, _) in pairwise(ranges))
    for number in (2, 77, 399):
        assert said(loaded, f"T-{number} ") == f"T-{number} — Opened: 2026-01-01; Text: what ticket {number} is about"


def test_a_formula_without_a_stored_value_is_shown_and_never_computed() -> None:
    book = budget()
    sheet = book.active
    assert sheet is not None
    sheet.append(["Sum", "=SUM(B4:B5)"])

    assert said(read(saved(book), "a.xlsx"), "=SUM") == "Sum: =SUM(B4:B5)"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('Name;Menge;Preis\n"Müller; Sohn";3;1.234,50\n', "Müller; Sohn — Menge: 3; Preis: 1.234,50"),
        ("id,team,note\n7,core,Müller; Sohn\n", "7 — team: core; note: Müller; Sohn"),
        ("a\tb\tc\n1\t\tMüller; Sohn\n", "1 — c: Müller; Sohn"),
        ('id,note,x\n1,"Müller; Sohn\nand more",2\n', "1 — note: Müller; Sohn and more; x: 2"),
    ],
    ids=["semicolons", "commas", "tabs", "line break"],
)
def test_a_row_of_a_delimited_file_stands_under_the_names_of_its_columns(text: str, expected: str) -> None:
    assert said(read(text.encode(), "a.csv"), "Müller") == expected


def test_the_empty_corner_of_a_table_keeps_its_column() -> None:
    page = "<table><tr><th></th><th>2024</th><th>2025</th></tr><tr><th>Revenue</th><td>10</td><td></td></tr></table>"
    loaded = read(page.encode(), "a.html")

    assert [split_cells(line) for line in loaded.text.splitlines()[::2]] == [
        ["", "2024", "2025"],
        ["Revenue", "10", ""],
    ]
    assert said(loaded, "Revenue") == "Revenue — 2024: 10"


def test_spans_of_a_table_reach_every_cell_that_they_cover() -> None:
    page = """<table><tr><th rowspan=2>Plan</th><th colspan=2>Price</th></tr><tr><th>Month</th><th>Year</th></tr>
    <tr><td rowspan=2>Pro</td><td>9</td><td>90</td></tr><tr><td>10</td><td>95</td></tr></table>"""

    assert said(read(page.encode(), "a.html"), "95") == "Pro — Price Month: 10; Price Year: 95"


def test_a_table_that_claims_a_billion_cells_is_read_as_it_stands() -> None:
    row = '<tr><td colspan="999" rowspan="999">wide</td><td>b</td></tr>'

    assert len(read(f"<table>{row * 300}</table>".encode(), "a.html").text) < 200_000


def test_each_slide_is_a_page_with_its_title_points_table_and_notes() -> None:
    show: Any = Presentation()
    first = show.slides.add_slide(show.slide_layouts[1])
    first.shapes.title.text = "Launch plan"
    first.placeholders[1].text = "Freeze on 3 May\nShip on 9 May"
    first.notes_slide.notes_text_frame.text = "Say who decides."
    second = show.slides.add_slide(show.slide_layouts[5])
    second.shapes.title.text = "Costs"
    table = second.shapes.add_table(2, 2, Inches(1), Inches(1), Inches(4), Inches(1)).table
    for at, text in enumerate(("Item", "Euro", "Hall", "1200")):
        table.cell(at // 2, at % 2).text = text
    made = io.BytesIO()
    show.save(made)

    loaded = read(made.getvalue(), "a.pptx")

    assert headings(loaded) == ["Launch plan", "Notes", "Costs"]
    pages = [loaded.text[page.start : page.end] for page in loaded.pages]
    assert pages[0].strip() == "Launch plan\n\n- Freeze on 3 May\n- Ship on 9 May\n\nNotes\n\nSay who decides."
    assert pages[1].strip() == "Costs\n\nItem | Euro\n--- | ---\nHall | 1200"
    assert loaded.title == "Launch plan"


def test_a_slide_that_is_nothing_but_a_picture_is_unread() -> None:
    picture = io.BytesIO()
    Image.new("RGB", (4, 3)).save(picture, "PNG")
    show: Any = Presentation()
    for title in ("Berths", "", ""):
        slide = show.slides.add_slide(show.slide_layouts[5 if title else 6])
        if title:
            slide.shapes.title.text = title
    for slide in list(show.slides)[:2]:
        slide.shapes.add_picture(picture, 0, 0)
    made = io.BytesIO()
    show.save(made)

    assert read(made.getvalue(), "show.pptx").unread_pages == (2,)


def test_an_open_slide_that_is_nothing_but_a_picture_is_unread() -> None:
    picture = "<drawing:frame><drawing:image/></drawing:frame>"
    words = "<drawing:frame><drawing:text-box><text:p>Berths</text:p></drawing:text-box></drawing:frame>"
    pages = "".join(f"<drawing:page>{one}</drawing:page>" for one in (words + picture, picture, ""))

    assert read(open_document("presentation", pages), "show.odp").unread_pages == (2,)


def test_a_chart_of_a_slide_is_read_as_the_table_behind_it() -> None:
    show, data = Presentation(), CategoryChartData()
    data.categories = ["East", "West"]
    data.add_series("2025", (19.5, None))
    data.add_series("Share", (0.125, 0.25), number_format="0%")
    slide = show.slides.add_slide(show.slide_layouts[6])
    place = Inches(1), Inches(1), Inches(4), Inches(3)
    chart = slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, *place, data).chart
    chart.has_title = True
    chart.chart_title.text_frame.text = "Sales by region"
    made = io.BytesIO()
    show.save(made)

    loaded = read(made.getvalue(), "a.pptx")

    assert loaded.text.startswith("Sales by region\n")
    assert (said(loaded, "East"), said(loaded, "West")) == ("East — 2025: 19.5; Share: 13%", "West — Share: 25%")


@pytest.mark.parametrize(("kind", "name"), [("text", "a.odt"), ("presentation", "a.odp"), ("spreadsheet", "a.ods")])
def test_merged_cells_of_open_documents_name_each_column_and_row_that_they_cover(kind: str, name: str) -> None:
    covered = "<table:covered-table-cell/>"
    wide, high = 'table:number-columns-spanned="2"', 'table:number-rows-spanned="2"'
    rows = (
        cell("Port") + cell("Ship") + cell("Tonnes", wide) + covered,
        cell("Oslo", high) + cell("Alder") + cell("3") + cell("4"),
        covered + cell("Birch") + cell("5") + cell("6"),
        cell("Bergen") + cell("Cedar") + cell("7") + cell("8"),
        cell("Estimates", 'table:number-columns-spanned="4"') + covered * 3,
    )
    table = "".join(f"<table:table-row>{row}</table:table-row>" for row in rows)
    content = f'<table:table table:name="Ports">{table}</table:table>'
    if kind == "presentation":
        content = f"<drawing:page><drawing:frame>{content}</drawing:frame></drawing:page>"

    lines = read(open_document(kind, content), name).text.split("\n")

    assert [line for line in lines if line.count("|") > 1 and "---" not in line] == [
        "Port | Ship | Tonnes | Tonnes", "Oslo | Alder | 3 | 4", "Oslo | Birch | 5 | 6", "Bergen | Cedar | 7 | 8",
        "| Estimates |  |  |  |",
    ]  # fmt: skip


def test_merged_cells_of_a_slide_name_each_column_and_row_that_they_cover() -> None:
    show = Presentation()
    slide = show.slides.add_slide(show.slide_layouts[6])
    written = [
        ["Region", "2024", "", "2023"], ["", "Sales", "Costs", "Sales"],
        ["Overseas", "", "", ""], ["East", "12", "9", "11"], ["", "13", "8", "10"],
    ]  # fmt: skip
    table = slide.shapes.add_table(5, 4, Inches(1), Inches(1), Inches(6), Inches(3)).table
    for row, cells in enumerate(written):
        for column, cell in enumerate(cells):
            table.cell(row, column).text = cell
    for first, last in (((0, 1), (0, 2)), ((0, 0), (1, 0)), ((2, 0), (2, 3)), ((3, 0), (4, 0))):
        table.cell(*first).merge(table.cell(*last))
    made = io.BytesIO()
    show.save(made)

    lines = read(made.getvalue(), "a.pptx").text.splitlines()

    assert lines == [
        "Region | 2024 Sales | 2024 Costs | 2023 Sales", "--- | --- | --- | ---",
        "| Overseas |  |  |  |", "East | 12 | 9 | 11", "East | 13 | 8 | 10",
    ]  # fmt: skip


def many_sheets() -> bytes:
    sheets = {f"xl/worksheets/{number}.xml": "" for number in range(6000)}
    return zip_parts(sheets | {"xl/workbook.xml": "", "[Content_Types].xml": ""})


def open_document(name: str, content: str, manifest: str = "<manifest/>") -> bytes:
    names = " ".join(
        f'xmlns:{room}="{ODF}:{room}:1.0"' for room in ("office", "text", "table", "drawing", "presentation")
    )
    return zip_parts(
        {
            "mimetype": f"application/vnd.oasis.opendocument.{name}",
            "META-INF/manifest.xml": manifest,
            "content.xml": f"<office:document-content {names}><office:body><office:{name}>{content}</office:{name}>"
            "</office:body></office:document-content>",
        }
    )


def cell(text: str, more: str = "") -> str:
    return f"<table:table-cell {more}><text:p>{text}</text:p></table:table-cell>"


def test_an_open_document_text_keeps_headings_lists_and_tables() -> None:
    content = (
        '<text:h text:outline-level="2">Leave</text:h><text:p>Ask<text:s/>early<office:annotation><text:p>draft'
        "</text:p></office:annotation>.</text:p><text:list><text:list-item><text:p>by mail</text:p></text:list-item>"
        "<text:list-item><text:p>by phone</text:p></text:list-item></text:list><table:table><table:table-header-rows>"
        f"<table:table-row>{cell('Grade')}{cell('Days')}</table:table-row></table:table-header-rows>"
        f"<table:table-row>{cell('A')}{cell('30')}</table:table-row></table:table>"
    )

    loaded = read(open_document("text", content), "a.odt")

    assert (
        loaded.text
        == "Leave\n\nAsk early.\n\nComment: draft\n\n- by mail\n- by phone\n\nGrade | Days\n--- | ---\nA | 30"
    )


def test_a_text_box_inside_a_text_box_is_read_once() -> None:
    def boxed(content: str) -> str:
        return f"<text:p><drawing:frame><drawing:text-box>{content}</drawing:text-box></drawing:frame></text:p>"

    loaded = read(open_document("text", boxed("<text:p>outer</text:p>" + boxed("<text:p>inner</text:p>"))), "a.odt")

    assert loaded.text == "outer\n\ninner"


def test_an_open_document_sheet_ends_where_its_cells_end() -> None:
    blank = '<table:table-row table:number-rows-repeated="1048576"><table:table-cell/></table:table-row>'
    repeated = cell("7", 'table:number-columns-repeated="2"')
    content = (
        f'<table:table table:name="Stock"><table:table-row>{cell("Item")}{cell("May")}{cell("June")}</table:table-row>'
        f"<table:table-row>{cell('Bolt')}{repeated}</table:table-row>{blank}</table:table>"
    )

    loaded = read(open_document("spreadsheet", content), "a.ods")

    assert headings(loaded) == ["Stock", "Row 2"]
    assert said(loaded, "Bolt") == "Bolt — May: 7; June: 7"


def test_a_book_is_read_in_the_order_of_its_spine() -> None:
    book = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": '<c xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="OEBPS/b.opf"/></rootfiles></c>',
        "OEBPS/b.opf": '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/">'
        "<metadata><dc:title>Two chapters</dc:title></metadata><manifest>"
        '<item id="two" href="2.xhtml" media-type="application/xhtml+xml"/>'
        '<item id="one" href="1.xhtml" media-type="application/xhtml+xml"/></manifest>'
        '<spine><itemref idref="one"/><itemref idref="two"/></spine></package>',
        "OEBPS/1.xhtml": "<!DOCTYPE html><html><body><h1>First</h1><p>It begins.</p></body></html>",
        "OEBPS/2.xhtml": "<html><body><h1>Second</h1><p>It ends.</p></body></html>",
    }

    loaded = read(zip_parts(book), "a.epub")

    assert loaded.text == "First\n\nIt begins.\n\nSecond\n\nIt ends."
    assert loaded.title == "Two chapters"


def mail() -> EmailMessage:
    message = EmailMessage()
    message["Subject"] = "Prüfung am Freitag"
    message["From"] = "Jürgen <j@example.org>"
    message.set_content("Wir treffen uns um 9 Uhr im Saal.")
    return message


def test_a_mail_is_decoded_and_its_attachments_stand_under_their_names() -> None:
    message = mail()
    message.add_attachment(b"room,seats,floor\nSaal,40,2\n", maintype="text", subtype="csv", filename="rooms.csv")
    message.add_attachment(b"\x89PNG\r\n\x1a\n", maintype="image", subtype="png", filename="map.png")

    loaded = read(bytes(message), "a.eml")

    assert loaded.title == "Prüfung am Freitag"
    assert headings(loaded) == ["Prüfung am Freitag", "Attachment: rooms.csv", "Row 2", "Attachment: map.png"]
    assert "From: Jürgen <j@example.org>" in loaded.text
    assert "um 9 Uhr im Saal." in loaded.text
    assert said(loaded, "Saal | 40") == "Saal — seats: 40; floor: 2"
    assert loaded.text.endswith(
        "This attachment was not read: the file is a PNG image: its words are read "
        "where text recognition is switched on (the extra `ocr`)."
    )


def test_mails_inside_a_mail_are_read_and_an_endless_chain_is_refused() -> None:
    message = mail()
    for depth in range(5):
        outer = mail()
        outer.replace_header("Subject", f"around {depth}")
        outer.add_attachment(message)
        message = outer
        if depth == 1:
            assert read(bytes(message), "a.eml").text.count("9 Uhr") == 3
    with pytest.raises(ParseFailed) as refused:
        read(bytes(message), "a.eml")

    assert refused.value.code == "PARSE_TOO_LARGE"


def test_a_notebook_keeps_prose_code_and_results_apart() -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Churn\n", "\n", "We count leavers."]},
        {
            "cell_type": "code",
            "source": "left / all",
            "outputs": [{"data": {"text/plain": ["0.25"]}}, {"text": "done\n"}],
        },
    ]

    loaded = read(json.dumps({"cells": cells, "nbformat": 4}).encode(), "a.ipynb")

    assert loaded.text == "# Churn\n\nWe count leavers.\n\nleft / all\n\n0.25\n\ndone"
    assert [block.kind for block in loaded.blocks][2:] == [BlockKind.CODE] * 3
    assert loaded.title == "Churn"


def test_rich_text_is_read_in_its_code_page() -> None:
    content = rb"{\rtf1\ansi\ansicpg1252 M\'fcller owes \u8364? 5.\par\trowd a\cell b\cell\row 1\cell 2\cell\row\pard}"

    assert read(content, "a.rtf").text.startswith("Müller owes € 5.")


@pytest.mark.parametrize(
    ("make", "name", "code"),
    [
        (lambda: open_document("text", "", "<manifest><encryption-data/></manifest>"), "a.odt", "PARSE_ENCRYPTED"),
        (lambda: open_document("text", "<text:p"), "a.odt", "PARSE_CORRUPT"),
        (lambda: open_document("text", ""), "a.odt", "PARSE_NO_TEXT"),
        (lambda: saved(Workbook()), "a.xlsx", "PARSE_NO_TEXT"),
        (lambda: b"{not json", "a.ipynb", "PARSE_CORRUPT"),
        (lambda: zip_parts({"xl/workbook.xml": "<!DOCTYPE x>", "[Content_Types].xml": ""}), "a.xlsx", "PARSE_CORRUPT"),
        (lambda: zip_parts({"ppt/presentation.xml": "<a/>", "[Content_Types].xml": ""}), "a.pptx", "PARSE_NO_TEXT"),
        (many_sheets, "a.xlsx", "PARSE_TOO_LARGE"),
        (lambda: b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "Workbook".encode("utf-16-le"), "a.xls", "PARSE_UNSUPPORTED"),
    ],
    ids=["password", "cut off", "no text", "empty", "no JSON", "entities", "no slides", "6,000 sheets", "old Excel"],
)  # fmt: skip
def test_what_cannot_be_read_says_why(make: Callable[[], bytes], name: str, code: str) -> None:
    with pytest.raises(ParseFailed) as refused:
        read(make(), name)

    assert refused.value.code == code
