"""One row for each place of a file where words may stand that are no plain text: they are read, or the document says
that it was not read whole, or it is refused. A row that is silent fails.
"""

from __future__ import annotations

import base64
import enum
import functools
import io
from collections.abc import Callable
from typing import Any

import docx
import openpyxl
import pptx
import pytest
from docx.oxml import parse_xml
from docx.shared import Cm
from PIL import Image, ImageDraw, ImageFilter
from pptx.util import Cm as SlideCm
from pypdf import PdfReader, PdfWriter
from pypdf.generic import BooleanObject, DecodedStreamObject, DictionaryObject, NameObject
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas
from tests.unit.parsing.test_places_in_office_files import W, changed, hidden, raw, related, saved, sheet, word
from tests.unit.parsing.test_places_in_slides_and_open_files import SOUTH, cells, open_file

from agentic_rag.adapters.parsing.dispatch import load
from agentic_rag.adapters.parsing.office.package import zip_parts
from agentic_rag.adapters.parsing.process.limits import ParserLimits
from agentic_rag.kernel.errors import ParseFailed

PROSE = "The quay was rebuilt in concrete after the storm of that year, as the harbour master says."
LINES = [f"Berth {number} is let to Okapi Lines until May 20{number:02}." for number in range(10, 19)]
SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="400" height="200"><text>Okapi</text></svg>'


class Outcome(enum.Enum):
    READ = "the word stands in the text"
    TOLD = "the document says that it was not read whole"
    REFUSED = "the file has failed, with a code"
    LEFT_OUT = "the word is not in the text on purpose"
    WHOLE = "nothing is said to be missing"


def outcomes(content: bytes, name: str) -> set[Outcome]:
    try:
        loaded = load(content, name, None, ParserLimits())[1]
    except ParseFailed:
        return {Outcome.REFUSED}
    found = Outcome.READ if "Okapi" in loaded.text else Outcome.LEFT_OUT
    return {found, Outcome.TOLD if loaded.unread_pages else Outcome.WHOLE}


@functools.cache
def lettered(*, is_dark: bool = False, is_noisy: bool = False, mode: str = "RGB") -> Image.Image:
    """A picture of nine lines of words; noisy as a scan is."""
    paper, ink = ("black", "white") if is_dark else ("white", "black")
    made = Image.new("RGB", (1200, 640), paper)
    for number, line in enumerate(LINES):
        ImageDraw.Draw(made).text((60, 40 + 64 * number), line, fill=ink, font_size=30)
    if is_noisy:
        grain = Image.effect_noise(made.size, 30).convert("RGB")
        made = Image.blend(made.rotate(0.6, fillcolor=paper), grain, 0.12).filter(ImageFilter.GaussianBlur(0.8))
    return made.convert(mode)


@functools.cache
def photograph() -> Image.Image:
    """Soft colours with grain and edges, as grass and stone have."""
    coarse = Image.effect_noise((60, 40), 90).resize((1200, 800), Image.Resampling.BICUBIC)
    fine = Image.effect_noise((600, 400), 60).resize((1200, 800))
    return Image.merge("RGB", (Image.blend(coarse, fine, 0.5), coarse, Image.blend(coarse, fine, 0.2)))


def logo() -> Image.Image:
    made = Image.new("RGB", (1200, 640), "white")
    ImageDraw.Draw(made).ellipse((200, 60, 700, 560), fill="green")
    ImageDraw.Draw(made).text((720, 250), "ACME", fill="black", font_size=120)
    return made


def bars() -> Image.Image:
    made = Image.new("RGB", (1200, 640), "white")
    for number in range(12):
        ImageDraw.Draw(made).rectangle((80 + 90 * number, 600 - 40 * number, 140 + 90 * number, 600), fill="blue")
        ImageDraw.Draw(made).line((40, 50 * number, 1180, 50 * number), fill="grey")
    return made


def page(image: Image.Image, *lines: str, is_behind: bool = False) -> bytes:
    """A PDF page with a text and a picture of 16 × 8.5 cm; `lines` stand over it, unseen where it is a scan's text."""
    made = io.BytesIO()
    canvas = Canvas(made)
    canvas.drawString(60, 780, PROSE)
    canvas.drawImage(ImageReader(image), 60, 400, 454, 242)
    text = canvas.beginText(82, 400 + 242 - 26)
    text.setTextRenderMode(3 if is_behind else 0)
    text.setFont("Helvetica", 11.4, 24.2)
    for line in lines:
        text.textLine(line)
    canvas.drawText(text)
    canvas.showPage()
    canvas.save()
    return made.getvalue()


def encoded(image: Image.Image, form: str = "PNG") -> io.BytesIO:
    made = io.BytesIO()
    image.save(made, form)
    made.seek(0)
    return made


def slide(image: Image.Image, form: str = "PNG", width: float = 16) -> bytes:
    show: Any = pptx.Presentation()
    made = show.slides.add_slide(show.slide_layouts[5])
    made.shapes.title.text = "Berths"
    made.shapes.add_textbox(0, 0, SlideCm(20), SlideCm(2)).text_frame.text = PROSE
    made.shapes.add_picture(encoded(image, form), 0, SlideCm(5), SlideCm(width))
    return saved(show)


def film() -> bytes:
    show: Any = pptx.Presentation()
    made = show.slides.add_slide(show.slide_layouts[5])
    made.shapes.title.text = "Berths"
    made.shapes.add_textbox(0, 0, SlideCm(20), SlideCm(2)).text_frame.text = PROSE
    made.shapes.add_movie(io.BytesIO(b"ftypmp42"), 0, 0, SlideCm(3), SlideCm(3))
    return saved(show)


def open_slide(image: Image.Image) -> bytes:
    frame = (
        '<draw:frame svg:width="16cm" svg:height="8.5cm"><draw:image xlink:href="Pictures/a.png"/></draw:frame>'
        f"<draw:frame><draw:text-box><text:p>{PROSE}</text:p></draw:text-box></draw:frame>"
    )
    return changed(open_file("presentation", frame), {"Pictures/a.png": encoded(image).read()})  # type: ignore[dict-item]


def form_of_a_program() -> bytes:
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(page(logo()))))
    form = DecodedStreamObject()
    form.set_data(b'<xdp:xdp xmlns:xdp="http://ns.adobe.com/xdp/"><field><value>Okapi</value></field></xdp:xdp>')
    held = writer._add_object(form)
    fields = {NameObject("/XFA"): held, NameObject("/Fields"): writer._add_object(DictionaryObject())}
    writer._root_object[NameObject("/AcroForm")] = DictionaryObject(fields)
    writer._root_object[NameObject("/NeedsRendering")] = BooleanObject(True)
    made = io.BytesIO()
    writer.write(made)
    return made.getvalue()


def very_hidden(book: Any, one: Any) -> None:
    book.add_worksheet("Archive").very_hidden()
    book.get_worksheet_by_name("Archive").write("A1", "Okapi")


def formula_without_value() -> bytes:
    book = openpyxl.Workbook()
    one: Any = book.active
    one.append(["Region", "Okapi rate"])
    one.append(["South", "=SUM(C2:C9)"])
    return saved(book)


def deleted_row(made: Any) -> None:
    table = made.add_table(rows=2, cols=1)
    table.cell(0, 0).text, table.cell(1, 0).text = "kept", "Okapi"
    table.rows[1]._tr.get_or_add_trPr().append(parse_xml(f'<w:del {W} w:id="5" w:author="J"/>'))


def word_drawing() -> bytes:
    blip = (
        '<w:r><w:drawing><wp:inline><wp:extent cx="5000000" cy="2500000"/><wp:docPr id="1" name="x"/><a:graphic>'
        '<a:graphicData><a:blip><a:extLst><a:ext><asvg:svgBlip r:embed="rX" '
        'xmlns:asvg="http://schemas.microsoft.com/office/drawing/2016/SVG/main"/></a:ext></a:extLst></a:blip>'
        "</a:graphicData></a:graphic></wp:inline></w:drawing></w:r>"
    )
    relations = {"word/_rels/document.xml.rels": related("media/a.svg", "image")}
    return changed(word(raw(blip)), {"word/media/a.svg": SVG}, relations)


def book(picture: str) -> bytes:
    return zip_parts(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
            '<rootfile full-path="b.opf"/></rootfiles></container>',
            "b.opf": '<package xmlns="http://www.idpf.org/2007/opf"><manifest><item id="a" href="a.xhtml" '
            'media-type="application/xhtml+xml"/></manifest><spine><itemref idref="a"/></spine></package>',
            "a.xhtml": f"<html><body><p>{PROSE}</p>{picture}</body></html>",
            "a.svg": SVG,
        }
    )


def curved() -> str:
    return f'<svg width="600" height="400">{"<path d=M0,0L9,9></path>" * 400}</svg>'


def html(inner: str) -> bytes:
    return f"<html><body><p>{PROSE}</p>{inner}</body></html>".encode()


def rich(inner: bytes) -> bytes:
    return b"{\\rtf1\\ansi " + PROSE.encode() + inner + b"\\par}"


READ, TOLD, REFUSED, LEFT_OUT, WHOLE = Outcome.READ, Outcome.TOLD, Outcome.REFUSED, Outcome.LEFT_OUT, Outcome.WHOLE
SVG_ADDRESS = f"data:image/svg+xml;base64,{base64.b64encode(SVG.encode()).decode()}"
CHANGED_CELL = (
    "<table:tracked-changes><table:cell-content-change><table:previous><table:change-track-table-cell><text:p>Okapi"
    "</text:p></table:change-track-table-cell></table:previous></table:cell-content-change></table:tracked-changes>"
)
MOVED = '<w:moveFrom w:id="1" w:author="J"><w:r><w:t>Okapi</w:t></w:r></w:moveFrom>'

ROWS: dict[str, tuple[Callable[[], bytes], str, set[Outcome]]] = {
    "PDF: picture of words": (lambda: page(lettered()), "a.pdf", {TOLD}),
    "PDF: scan of words": (lambda: page(lettered(is_noisy=True, mode="L")), "a.pdf", {TOLD}),
    "PDF: black and white scan": (lambda: page(lettered(mode="1")), "a.pdf", {TOLD}),
    "PDF: light words on dark": (lambda: page(lettered(is_dark=True)), "a.pdf", {TOLD}),
    "PDF: scan with its recognised words": (
        lambda: page(lettered(), *LINES, is_behind=True),
        "a.pdf",
        {READ, WHOLE},
    ),
    "PDF: words over a picture": (lambda: page(bars(), *LINES), "a.pdf", {READ, WHOLE}),
    "PDF: photograph": (lambda: page(Image.open(encoded(photograph(), "JPEG"))), "a.pdf", {LEFT_OUT, WHOLE}),
    "PDF: logo": (lambda: page(logo()), "a.pdf", {LEFT_OUT, WHOLE}),
    "PDF: bars without labels": (lambda: page(bars()), "a.pdf", {LEFT_OUT, WHOLE}),
    "PDF: form that a program draws": (form_of_a_program, "a.pdf", {REFUSED}),
    "PPTX: picture of words": (lambda: slide(lettered()), "a.pptx", {TOLD}),
    "PPTX: JPEG of words": (lambda: slide(lettered(), "JPEG"), "a.pptx", {TOLD}),
    "PPTX: grey JPEG of words": (lambda: slide(lettered(mode="L"), "JPEG"), "a.pptx", {TOLD}),
    "PPTX: picture with a palette": (lambda: slide(lettered(mode="P")), "a.pptx", {TOLD}),
    "PPTX: picture that is partly clear": (lambda: slide(lettered(mode="RGBA")), "a.pptx", {TOLD}),
    "PPTX: picture of another kind": (lambda: slide(lettered(), "BMP"), "a.pptx", {TOLD}),
    "PPTX: photograph": (lambda: slide(photograph(), "JPEG"), "a.pptx", {LEFT_OUT, WHOLE}),
    "PPTX: logo": (lambda: slide(logo()), "a.pptx", {LEFT_OUT, WHOLE}),
    "PPTX: small picture": (lambda: slide(lettered(), width=5), "a.pptx", {LEFT_OUT, WHOLE}),
    "PPTX: film": (film, "a.pptx", {TOLD}),
    "ODP: picture of words": (lambda: open_slide(lettered()), "a.odp", {TOLD}),
    "ODP: photograph": (lambda: open_slide(photograph()), "a.odp", {LEFT_OUT, WHOLE}),
    "HTML: labels of a drawing": (lambda: html(SVG), "a.html", {READ, WHOLE}),
    "HTML: drawing in an address": (lambda: html(f'<img src="{SVG_ADDRESS}">'), "a.html", {READ, WHOLE}),
    "HTML: drawing of curves": (lambda: html(curved()), "a.html", {TOLD}),
    "HTML: icon": (lambda: html('<svg width="16"><title>Okapi</title><path/></svg>'), "a.html", {LEFT_OUT, WHOLE}),
    "SVG": (lambda: SVG.replace("Okapi", "The Okapi stands at the quay").encode(), "a.svg", {READ, WHOLE}),
    "EPUB: labels of a drawing": (lambda: book(SVG), "a.epub", {READ, WHOLE}),
    "EPUB: drawing in a file": (lambda: book('<img src="a.svg"/>'), "a.epub", {READ, WHOLE}),
    "DOCX: labels of a drawing": (word_drawing, "a.docx", {READ}),
    "DOCX: text moved away": (lambda: word(raw(MOVED)), "a.docx", {LEFT_OUT, WHOLE}),
    "DOCX: deleted row": (lambda: word(deleted_row), "a.docx", {LEFT_OUT, WHOLE}),
    "RTF: deleted text": (
        lambda: rich(rb"{\cf1\deleted\revauthdel1\revdttmdel5 Okapi {\b Okapi}} stands."),
        "a.rtf",
        {LEFT_OUT, WHOLE},
    ),
    "RTF: object and its result": (
        lambda: rich(rb"{\object\objemb{\*\objdata 0105}{\result \pard Okapi}}"),
        "a.rtf",
        {READ, TOLD},
    ),
    "RTF: object without a result": (lambda: rich(rb"{\object\objemb{\*\objdata 0105}}"), "a.rtf", {TOLD}),
    "ODS: changed cells as they were": (
        lambda: open_file("spreadsheet", CHANGED_CELL + cells(SOUTH)),
        "a.ods",
        {LEFT_OUT, WHOLE},
    ),
    "XLSX: hidden sheet, row and column": (lambda: sheet(hidden), "a.xlsx", {READ, WHOLE}),
    "XLSX: very hidden sheet": (lambda: sheet(very_hidden), "a.xlsx", {READ, WHOLE}),
    "XLSX: protected sheet": (
        lambda: sheet(lambda book, one: (one.write("D1", "Okapi"), one.protect("secret"))),
        "a.xlsx",
        {READ, WHOLE},
    ),
    "XLSX: formula without a value": (formula_without_value, "a.xlsx", {READ, WHOLE}),
    "XLSX: header of printed pages": (
        lambda: sheet(lambda book, one: one.set_header('&L&"Arial,Bold"&12Okapi plan&RPage &P of &N')),
        "a.xlsx",
        {READ, WHOLE},
    ),
    "XLSX: hint of a cell": (
        lambda: sheet(
            lambda book, one: one.data_validation(
                "B2", {"validate": "any", "input_title": "Okapi", "input_message": "Only whole ones"}
            )
        ),
        "a.xlsx",
        {READ, WHOLE},
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize(("made", "name", "expected"), ROWS.values(), ids=list(ROWS))
def test_words_are_read_or_the_document_says_what_it_lacks(
    made: Callable[[], bytes], name: str, expected: set[Outcome]
) -> None:
    assert expected <= outcomes(made(), name)


def test_numbers_of_printed_pages_are_no_text() -> None:
    content = sheet(lambda book, one: one.set_footer("&CPage &P of &N"))

    assert "Page" not in load(content, "a.xlsx", None, ParserLimits())[1].text


@pytest.mark.slow
def test_each_picture_of_words_counts_once() -> None:
    made = io.BytesIO()
    canvas = Canvas(made)
    for _ in range(3):
        canvas.drawString(60, 780, PROSE)
        canvas.drawImage(ImageReader(lettered()), 60, 400, 454, 242)
        canvas.drawImage(ImageReader(encoded(photograph(), "JPEG")), 60, 100, 454, 242)
        canvas.showPage()
    canvas.save()

    loaded = load(made.getvalue(), "a.pdf", None, ParserLimits())[1]

    assert (loaded.unread_pages, loaded.parts, loaded.unit) == ((1, 2, 3), 3, "picture")


def test_a_picture_of_words_in_word_stays_told() -> None:
    document: Any = docx.Document()
    document.add_paragraph(PROSE)
    document.add_paragraph().add_run().add_picture(encoded(lettered()), Cm(16))

    assert Outcome.TOLD in outcomes(saved(document), "a.docx")
