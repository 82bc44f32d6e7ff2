"""Renders a source as a PDF with running header, page numbers, outline, tables and charts."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from reportlab.graphics.charts.barcharts import VerticalBarChart
from reportlab.graphics.shapes import Drawing
from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle, getSampleStyleSheet
from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import (
    Flowable,
    KeepTogether,
    ListFlowable,
    SimpleDocTemplate,
    Spacer,
    TableStyle,
)
from reportlab.platypus import Paragraph as PdfParagraph
from reportlab.platypus import Table as PdfTable
from scripts.sample_corpus.blocks import Block, Bullets, Chart, Heading, Paragraph, Source, Table

MARGIN = 22 * mm
BODY_WIDTH = A4[0] - 2 * MARGIN
TEAL = colors.HexColor("#0b5563")

_sheet = getSampleStyleSheet()
BODY = ParagraphStyle("Body", parent=_sheet["BodyText"], fontSize=10, leading=14, spaceAfter=6)
CELL = ParagraphStyle("Cell", parent=BODY, fontSize=8.5, leading=11, spaceAfter=0)
CAPTION = ParagraphStyle("Caption", parent=BODY, fontName="Helvetica-Oblique", fontSize=9, textColor=TEAL)
TITLE = ParagraphStyle("Title", parent=_sheet["Title"], alignment=0, textColor=TEAL)
HEADINGS = {
    1: ParagraphStyle("H1", parent=_sheet["Heading1"], fontSize=15, textColor=TEAL, keepWithNext=1),
    2: ParagraphStyle("H2", parent=_sheet["Heading2"], fontSize=12, textColor=TEAL, keepWithNext=1),
}


class _OutlinedHeading(PdfParagraph):
    """A heading that also enters the document outline under its own text."""

    def __init__(self, heading: Heading) -> None:
        super().__init__(escape(heading.text), HEADINGS[heading.level])
        self._heading = heading

    def draw(self) -> None:
        key = f"{self._heading.level}:{self._heading.text}"
        self.canv.bookmarkPage(key)
        self.canv.addOutlineEntry(self._heading.text, key, level=self._heading.level - 1)
        super().draw()


def write_pdf(source: Source, path: Path) -> None:
    """Write the PDF; equal sources give equal bytes (reportlab's invariant mode fixes dates and ids)."""
    template = SimpleDocTemplate(
        str(path),
        pagesize=A4,
        leftMargin=MARGIN,
        rightMargin=MARGIN,
        topMargin=26 * mm,
        bottomMargin=24 * mm,
        title=source.title,
        author=source.author,
        subject=f"Issued {source.issued.isoformat()}",
        invariant=1,
    )
    story: list[Flowable] = [
        PdfParagraph(escape(source.title), TITLE),
        PdfParagraph(f"{escape(source.author)}, {source.issued.day} {source.issued:%B %Y}", CAPTION),
        Spacer(1, 4 * mm),
    ]
    story += [_flowable(block) for block in source.blocks]
    furniture = partial(_draw_furniture, title=source.title)
    template.build(story, onFirstPage=furniture, onLaterPages=furniture)


def _draw_furniture(canvas: Canvas, _template: Any, *, title: str) -> None:
    canvas.saveState()
    canvas.setFont("Helvetica", 8)
    canvas.setFillColor(colors.grey)
    canvas.drawString(MARGIN, A4[1] - 15 * mm, f"Corrand Tidal - {title}")
    canvas.drawRightString(A4[0] - MARGIN, 13 * mm, f"Page {canvas.getPageNumber()}")
    canvas.restoreState()


def _flowable(block: Block) -> Flowable:
    match block:
        case Heading():
            return _OutlinedHeading(block)
        case Paragraph(text):
            return PdfParagraph(escape(text), BODY)
        case Bullets(items):
            paragraphs = [PdfParagraph(escape(item), BODY) for item in items]
            return ListFlowable(paragraphs, bulletType="bullet", start="-")
        case Table(caption, rows):
            return KeepTogether([PdfParagraph(escape(caption), CAPTION), _grid(rows), Spacer(1, 4 * mm)])
        case Chart(caption, rows):
            return KeepTogether([_bars(rows), PdfParagraph(escape(caption), CAPTION), Spacer(1, 4 * mm)])


def _grid(rows: tuple[tuple[str, ...], ...]) -> PdfTable:
    cells = [[PdfParagraph(escape(cell), CELL) for cell in row] for row in rows]
    table = PdfTable(cells, colWidths=[BODY_WIDTH / len(rows[0])] * len(rows[0]), repeatRows=1)
    table.setStyle(
        TableStyle(
            [
                ("GRID", (0, 0), (-1, -1), 0.4, colors.grey),
                ("BACKGROUND", (0, 0), (-1, 0), colors.HexColor("#dcecef")),
                ("VALIGN", (0, 0), (-1, -1), "TOP"),
            ]
        )
    )
    return table


def _bars(rows: tuple[tuple[str, ...], ...]) -> Drawing:
    labels = [row[0] for row in rows[1:]]
    values = [float(row[1].replace(",", "")) for row in rows[1:]]
    drawing = Drawing(BODY_WIDTH, 55 * mm)
    chart = VerticalBarChart()
    chart.x, chart.y, chart.width, chart.height = 40, 20, int(BODY_WIDTH - 60), int(45 * mm)
    chart.data = [values]
    chart.categoryAxis.categoryNames = labels
    chart.categoryAxis.labels.fontSize = 8
    chart.valueAxis.valueMin = 0
    chart.valueAxis.labels.fontSize = 8
    chart.barLabels.fontSize = 7
    chart.barLabels.nudge = 7
    chart.barLabelFormat = "%g"
    chart.bars[0].fillColor = TEAL
    drawing.add(chart)
    return drawing
