"""Raised and lowered letters: a power or the mark of a note never becomes a part of the number before it."""

import io

import pytest
from docx import Document
from pptx import Presentation
from pptx.util import Inches
from reportlab.pdfgen.canvas import Canvas
from tests.unit.parsing.test_office_loaders import ODF, read

from agentic_rag.adapters.parsing.loaders.html import read_html
from agentic_rag.adapters.parsing.office.package import zip_parts


@pytest.mark.parametrize(
    ("marked", "plain"),
    [
        ("10<sup>6</sup> m<sup>3</sup>/h", "10⁶ m³/h"),
        ("5 × 10<sup>&minus;9</sup>", "5 × 10⁻⁹"),
        ("40<sup>1</sup> euros", "40¹ euros"),
        ("40<sup>1,2</sup> euros", "40^(1,2) euros"),
        ("10<sup>2n</sup> and 10<sup>n</sup>", "10²ⁿ and 10ⁿ"),
        ("10<sup>1/2</sup>", "10^(1/2)"),
        ("e<sup>−x2</sup>", "e^(−x2)"),
        ("40<sup><a href='#n'>[1]</a></sup><sup>[b],[12]</sup> euros", "40 euros"),
        ("the 3<sup>rd</sup> floor, Name<sup>TM</sup>, page*<sup>*</sup>", "the 3rd floor, NameTM, page**"),
        ("<sup>1 Only for members.</sup>", "1 Only for members."),
        ("H<sub>2</sub>O, CO<sub>2</sub>, x<sub>i</sub>", "H2O, CO2, xi"),
        ("101<sub>2</sub> is 5<sub>10</sub>", "101₂ is 5₁₀"),
        ("10<sup> </sup>6<sup></sup>", "10 6"),
        ("a<sup>2<sup>3</sup></sup>", "a²³"),
    ],
)
def test_html(marked: str, plain: str) -> None:
    assert read_html(f"<p>{marked}</p>").text == plain
    assert read_html(f"<h1>{marked}</h1>").text == plain
    assert read_html(f"<table><tr><td>{marked}</td><td>x</td></tr></table>").text == f"{plain} | x"


def test_marks_inside_marks_are_read_however_deep() -> None:
    assert read_html("<p>" + "<sup>" * 3000 + "2").text.strip("^()") in ("2", "²")


def test_docx() -> None:
    document, made = Document(), io.BytesIO()
    paragraph = document.add_paragraph("Flow is 10")
    paragraph.add_run("6").font.superscript = True
    paragraph.add_run(" of CO")
    paragraph.add_run("2").font.subscript = True
    document.save(made)

    assert read(made.getvalue(), "a.docx").text == "Flow is 10⁶ of CO2"


def test_slides() -> None:
    deck, made = Presentation(), io.BytesIO()
    box = deck.slides.add_slide(deck.slide_layouts[6]).shapes.add_textbox(Inches(1), Inches(1), Inches(3), Inches(1))
    paragraph = box.text_frame.paragraphs[0]
    for text, baseline in (("Flow is 10", None), ("6", "30000"), (" of 101", None), ("2", "-25000")):
        run = paragraph.add_run()
        run.text = text
        if baseline:
            run.font._element.set("baseline", baseline)
    deck.save(made)

    assert read(made.getvalue(), "a.pptx").text == "Flow is 10⁶ of 101₂"


def test_open_document() -> None:
    names = " ".join(f'xmlns:{room}="{ODF}:{room}:1.0"' for room in ("office", "text", "style"))
    content = (
        f"<office:document-content {names}><office:automatic-styles>"
        '<style:style style:name="T1"><style:text-properties style:text-position="super 58%"/></style:style>'
        '<style:style style:name="T2"><style:text-properties style:text-position="-33% 58%"/></style:style>'
        "</office:automatic-styles><office:body><office:text><text:p>Flow is 10"
        '<text:span text:style-name="T1">6</text:span> of 101<text:span text:style-name="T2">2</text:span></text:p>'
        "</office:text></office:body></office:document-content>"
    )
    parts = {"mimetype": "application/vnd.oasis.opendocument.text", "META-INF/manifest.xml": "<m/>"}

    assert read(zip_parts({**parts, "content.xml": content}), "a.odt").text == "Flow is 10⁶ of 101₂"


@pytest.mark.parametrize("rotation", [0, 90, 270])
def test_pdf(rotation: int) -> None:
    made = io.BytesIO()
    canvas = Canvas(made)
    canvas.setPageRotation(rotation)
    canvas.translate(300, 400)
    canvas.rotate(rotation)
    text = canvas.beginText(-100, 0)
    for piece, size, rise in (
        ("Flow is 10", 12, 0), ("6", 7, 5), (" m", 12, 0), ("3", 7, 5), ("/h of CO", 12, 0), ("2", 7, -3),
        (", 5 × 10", 12, 0), ("-12", 7, 5), (", 2", 12, 0), ("06", 12, 0), (" and 1", 12, 0), ("2", 12, 1),
        (".", 12, 0),
    ):  # fmt: skip
        text.setFont("Helvetica", size)
        text.setRise(rise)
        text.textOut(piece)
    canvas.drawText(text)
    canvas.save()

    assert read(made.getvalue(), "a.pdf").text == "Flow is 10⁶ m³/h of CO2, 5 × 10⁻¹², 206 and 12."


def test_rich_text() -> None:
    content = (
        rb"{\rtf1\ansi Flow is 10{\super 6} of 10{\fs20\super\b 2}, 101{\sub 2} and 10\super 3\nosupersub  m.\par}"
    )

    assert read(content, "a.rtf").text == "Flow is 10⁶ of 10², 101₂ and 10³ m."
