"""Office files in the strict form of Open XML (ISO/IEC 29500 Part 1), whose namespaces are other ones, read like those
in the usual form.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable
from typing import Any

import docx
import pptx
import pytest
from openpyxl import Workbook
from openpyxl.comments import Comment
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from agentic_rag.adapters.parsing.dispatch import load
from agentic_rag.adapters.parsing.process.limits import ParserLimits

_USUAL = re.compile(
    rb"http://schemas\.openxmlformats\.org/(officeDocument|\w+ml)/2006/(?!relationships/metadata/core-properties)"
)


def as_strict(content: bytes) -> bytes:
    """The same file with the namespaces of the strict form, as Office saves it."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as usual, zipfile.ZipFile(made, "w") as strict:
        for name in usual.namelist():
            part = usual.read(name)
            if name.endswith((".xml", ".rels")):
                part = _USUAL.sub(rb"http://purl.oclc.org/ooxml/\1/", part)
            strict.writestr(name, part)
    return made.getvalue()


def saved(made: Any) -> bytes:
    content = io.BytesIO()
    made.save(content)
    return content.getvalue()


def slides() -> bytes:
    made = pptx.Presentation()
    slide = made.slides.add_slide(made.slide_layouts[5])
    slide.shapes.title.text = "Ferry times"
    cells = slide.shapes.add_table(2, 2, Inches(1), Inches(1), Inches(4), Inches(1)).table
    for at, text in enumerate(("Port", "Time", "Lunna", "06:40")):
        cells.cell(at // 2, at % 2).text = text
    figures = CategoryChartData()
    figures.categories = ["May", "June"]
    figures.add_series("Passengers", (412, 530))
    slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, Inches(1), Inches(3), Inches(4), Inches(3), figures)
    slide.notes_slide.notes_text_frame.text = "Say that the winter times differ."
    return saved(made)


def letter() -> bytes:
    made = docx.Document()
    made.core_properties.title = "Harbour rules"
    made.add_heading("Mooring", 1)
    made.add_paragraph("Boats moor at the east quay.")
    made.add_paragraph("Tie two lines", style="List Number")
    made.add_paragraph("Report to the office", style="List Number")
    table = made.add_table(2, 2)
    for at, text in enumerate(("Berth", "Fee", "A4", "12 EUR")):
        table.cell(at // 2, at % 2).text = text
    return saved(made)


def workbook() -> bytes:
    made = Workbook()
    sheet = made.active
    assert sheet is not None
    sheet.title = "Fees"
    sheet.append(["Berth", "Fee", "Share"])
    sheet.append(["A4", 12.5, 0.25])
    sheet["C2"].number_format = "0%"
    sheet["B2"].comment = Comment("Raised in May", "office")
    sheet.append(["Sum", "=SUM(B2:B2)", None])
    return saved(made)


@pytest.mark.parametrize(
    ("make", "name", "word"),
    [(slides, "a.pptx", "06:40"), (letter, "a.docx", "12 EUR"), (workbook, "a.xlsx", "Raised in May")],
)
def test_the_strict_form_reads_like_the_usual_one(make: Callable[[], bytes], name: str, word: str) -> None:
    usual = load(make(), name, None, ParserLimits())[1]
    strict = load(as_strict(make()), name, None, ParserLimits())[1]

    assert word in usual.text
    assert strict == usual
