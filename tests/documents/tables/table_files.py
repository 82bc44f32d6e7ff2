"""Made tables as files: PDF, DOCX, XLSX, CSV and HTML, as ordinary programs write them."""

from __future__ import annotations

import csv
import html
import io
from collections.abc import Callable, Mapping, Sequence

from docx import Document
from openpyxl import Workbook
from openpyxl.cell import Cell
from openpyxl.worksheet.worksheet import Worksheet
from reportlab.lib.pagesizes import A4
from reportlab.lib.utils import simpleSplit
from reportlab.pdfgen.canvas import Canvas

from tests.documents.tables.made_tables import MadeTable, other_table

_FONT, _SIZE, _STEP = "Helvetica", 10, 15
_LEFT, _RIGHT, _TOP = 60, 540, 780


def _tables(made: MadeTable, seed: int) -> Sequence[MadeTable]:
    return (other_table(made, seed), made) if made.look.second else (made,)


def _spans(made: MadeTable) -> list[tuple[str, int]]:
    """The groups with the number of columns that each spans."""
    return [(group, len(made.columns) // len(made.groups)) for group in made.groups]


def as_html(made: MadeTable, seed: int) -> bytes:
    parts = [f"<html><head><title>{html.escape(made.title)}</title></head><body><h1>{html.escape(made.title)}</h1>"]
    parts.append(f"<p>{made.prose[0]}</p>")
    for one in _tables(made, seed):
        head = f"<th>{one.stub}</th>" + "".join(f"<th>{name}</th>" for name in one.columns)
        if one.groups:
            spans = "".join(f'<th colspan="{span}">{group}</th>' for group, span in _spans(one))
            head = f'<th rowspan="2">{one.stub}</th>{spans}</tr><tr>' + "".join(f"<th>{n}</th>" for n in one.columns)
        rows = "".join(
            f"<tr><td>{label}</td>" + "".join(f'<td align="right">{cell}</td>' for cell in cells) + "</tr>"
            for label, cells in one.rows
        )
        parts.append(f"<table><caption>{one.caption}</caption><tr>{head}</tr>{rows}</table>")
    parts.append(f"<p>{made.prose[1]}</p></body></html>")
    return "".join(parts).encode()


def as_csv(made: MadeTable, seed: int) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, delimiter=",;"[seed % 2])
    names = [" ".join(filter(None, (made.group_of(at), name))) for at, name in enumerate(made.columns)]
    writer.writerow([made.stub or made.subject, *names])
    writer.writerows([label, *cells] for label, cells in made.rows)
    return text.getvalue().encode()


def as_docx(made: MadeTable, seed: int) -> bytes:
    document = Document()
    document.add_heading(made.title, 1)
    document.add_paragraph(made.prose[0])
    for one in _tables(made, seed):
        document.add_paragraph(one.caption)
        heads = 2 if one.groups else 1
        table = document.add_table(heads + len(one.rows), 1 + len(one.columns))
        at = 1
        for group, span in _spans(one):
            table.cell(0, at).merge(table.cell(0, at + span - 1)).text = group
            at += span
        table.cell(heads - 1, 0).text = one.stub
        for place, name in enumerate(one.columns, 1):
            table.cell(heads - 1, place).text = name
        for row, (label, cells) in enumerate(one.rows, heads):
            for place, text in enumerate((label, *cells)):
                table.cell(row, place).text = text
        document.add_paragraph("")
    document.add_paragraph(made.prose[1])
    held = io.BytesIO()
    document.save(held)
    return held.getvalue()


def as_xlsx(made: MadeTable, seed: int) -> bytes:
    book = Workbook()
    sheet = book.active
    assert isinstance(sheet, Worksheet)
    sheet.title = made.subject[:30]
    at = 1
    for one in _tables(made, seed):
        sheet.cell(at, 1, f"{one.owner}, {one.caption}")
        at += 1
        left = 2
        for group, span in _spans(one):
            sheet.cell(at, left, group)
            sheet.merge_cells(start_row=at, start_column=left, end_row=at, end_column=left + span - 1)
            left += span
        at += bool(one.groups)
        for place, text in enumerate((one.stub, *one.columns), 1):
            sheet.cell(at, place, text)
        for label, cells in one.rows:
            at += 1
            sheet.cell(at, 1, label)
            for place, text in enumerate(cells, 2):
                _fill(sheet.cell(at, place), text)
        at += 2
    held = io.BytesIO()
    book.save(held)
    return held.getvalue()


def _fill(cell: object, text: str) -> None:
    assert isinstance(cell, Cell)
    figure = text.strip("()").replace(",", "")
    if figure.isdigit():
        cell.value = -int(figure) if text.startswith("(") else int(figure)
        cell.number_format = "#,##0;(#,##0)"
    else:
        cell.value = text or None


class _Page:
    """A PDF that is written from top to bottom."""

    def __init__(self) -> None:
        self._held = io.BytesIO()
        self.canvas = Canvas(self._held, pagesize=A4)
        self.base: float = _TOP
        self.canvas.setFont(_FONT, _SIZE)

    def turn(self) -> None:
        self.canvas.showPage()
        self.canvas.setFont(_FONT, _SIZE)
        self.base = _TOP

    def prose(self, sentences: Sequence[str], width: int = _RIGHT - _LEFT) -> None:
        for line in simpleSplit(" ".join(sentences), _FONT, _SIZE, width):
            self.canvas.drawString(_LEFT, self.base, line)
            self.base -= _STEP
        self.base -= _STEP

    def content(self) -> bytes:
        self.canvas.save()
        return self._held.getvalue()


def as_pdf(made: MadeTable, seed: int) -> bytes:
    page = _Page()
    page.canvas.setFont("Helvetica-Bold", 16)
    page.canvas.drawString(_LEFT, page.base, made.title)
    page.canvas.setFont(_FONT, _SIZE)
    page.base -= 2 * _STEP
    page.prose(made.prose[:2])
    for one in _tables(made, seed):
        _draw_table(page, one)
        page.base -= 2 * _STEP
    page.prose(made.prose[2:])
    return page.content()


def _draw_table(page: _Page, made: MadeTable) -> None:
    look = made.look
    left = _LEFT
    if look.beside_text:
        top = page.base
        page.prose([*made.prose, *made.prose[::-1]], width=150)
        page.base, left = top, _LEFT + 165
    page.canvas.drawString(left, page.base, made.caption)
    page.base -= 1.6 * _STEP
    label_width = 115 if look.wrapped or look.beside_text else min(280, 480 - 58 * len(made.columns))
    width = min(70.0, (_RIGHT - left - label_width) / len(made.columns))
    edges = [left + label_width + width * (at + 1) for at in range(len(made.columns))]
    share = -(-len(made.rows) // look.pages)
    for first in range(0, len(made.rows), share):
        if first:
            page.turn()
        rows = [
            (simpleSplit(label, _FONT, _SIZE, label_width - 8), cells) for label, cells in made.rows[first:][:share]
        ]
        _draw_rows(page, made, (left, edges, width), rows, first=first)


def _draw_rows(
    page: _Page,
    made: MadeTable,
    columns: tuple[float, list[float], float],
    rows: Sequence[tuple[list[str], tuple[str, ...]]],
    *,
    first: int,
) -> None:
    left, edges, width = columns
    look, canvas, top = made.look, page.canvas, page.base + _STEP
    drawn: list[tuple[int, Callable[[], None]]] = []
    span = len(made.columns) // len(made.groups) if made.groups else 1
    for at, group in enumerate(made.groups):
        middle = (edges[at * span] - width + edges[at * span + span - 1]) / 2
        canvas.drawCentredString(middle, page.base, group)
    page.base -= _STEP * bool(made.groups)
    if made.stub:
        drawn.append((0, _text(canvas, left, page.base, made.stub, align="left")))
    for at, name in enumerate(made.columns, 1):
        parts = simpleSplit(name, _FONT, _SIZE, width - 3)
        for line, part in enumerate(parts, 1):
            drawn.append((at, _text(canvas, edges[at - 1], page.base + 11 * (len(parts) - line), part, align="right")))
    for number, (label, cells) in enumerate(rows):
        page.base -= _STEP + 3
        base = page.base
        for line, part in enumerate(label):
            drawn.append((0, _text(canvas, left, base - 11 * line, part, align="left")))
        page.base -= 11 * (len(label) - 1)
        base = page.base  # The figures stand beside the last line of the label.
        for at, cell in enumerate(cells, 1):
            if look.currency and cell and cell[0].isdigit() and first + number == 0:
                drawn.append((at, _text(canvas, edges[at - 1] - width + 12, base, "€", align="left")))
            drawn.append((at, _text(canvas, edges[at - 1], base, cell, align="right")))
        if look.ruled:
            canvas.line(left, page.base - 4, edges[-1] + 4, page.base - 4)
    for _, draw in sorted(drawn, key=lambda one: one[0]) if look.by_column else drawn:
        draw()
    if look.ruled:
        for edge in (left - 4, *(edge - width + 4 for edge in edges), edges[-1] + 4):
            canvas.line(edge, top, edge, page.base - 4)


def _text(canvas: Canvas, x: float, base: float, text: str, *, align: str) -> Callable[[], None]:
    draw = canvas.drawString if align == "left" else canvas.drawRightString
    return lambda: draw(x, base, text)


WRITERS: Mapping[str, Callable[[MadeTable, int], bytes]] = {
    "pdf": as_pdf,
    "docx": as_docx,
    "xlsx": as_xlsx,
    "csv": as_csv,
    "html": as_html,
}
