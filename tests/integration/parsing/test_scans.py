"""A small scan, read by the engine in its child process, beside a page of letters; its words are found on the page."""

from __future__ import annotations

import io
from collections.abc import AsyncIterator
from contextlib import nullcontext
from pathlib import Path

import pytest
import reportlab
from PIL import Image, ImageDraw, ImageFont
from reportlab.lib.pagesizes import A6
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from agentic_rag.adapters.parsing.process.parser import ProcessParser
from agentic_rag.adapters.parsing.process.scans import ScanReader, scan_options
from agentic_rag.answering.runs.page_image import QuotedPlace
from agentic_rag.kernel.errors import Misconfigured, ParseFailed

SENTENCE = "The pump in hall four delivers 1284 litres a minute."


def picture(sentence: str, font: ImageFont.FreeTypeFont | None = None) -> Image.Image:
    """A sheet of A6 at 200 dots an inch with a sentence on it."""
    sheet = Image.new("L", (826, 1166), 255)
    ImageDraw.Draw(sheet).text((60, 300), sentence, fill=0, font=font or ImageFont.load_default(28))
    return sheet


def mixed_pdf() -> bytes:
    """A page of letters, and a scan."""
    made = io.BytesIO()
    canvas = Canvas(made, pagesize=A6)
    canvas.drawString(40, 300, "The first page has letters of its own.")
    canvas.showPage()
    canvas.drawImage(ImageReader(picture(SENTENCE)), 0, 0, *A6)
    canvas.showPage()
    canvas.save()
    return made.getvalue()


@pytest.fixture
async def parser() -> AsyncIterator[ProcessParser]:
    made = ProcessParser(children=1, scans=ScanReader(scan_options("eng")))
    yield made
    await made.aclose()


async def test_the_scanned_page_of_a_file_is_recognised_and_told_and_its_quote_marked(parser: ProcessParser) -> None:
    progress: list[None] = []
    content = mixed_pdf()

    read = await parser.parse(
        content, "mixed.pdf", None, recognising=lambda: nullcontext(lambda: progress.append(None))
    )

    assert SENTENCE in read.text
    assert "letters of its own" in read.text
    assert (read.recognised_pages, read.unread_pages, len(progress)) == ((2,), (), 1)
    image = await parser.render(content, QuotedPlace(2, "1284 litres", "delivers ", " a minute", is_recognised=True))
    (mark,) = image.lines
    assert 0 < mark.right - mark.left < A6[0] / 2
    assert abs(mark.bottom - A6[1] * (1 - 322 / 1166)) < 12


async def test_a_picture_is_read_whichever_way_it_lies(parser: ProcessParser) -> None:
    made = io.BytesIO()
    picture(SENTENCE).rotate(180).save(made, "PNG", dpi=(200, 200))

    read = await parser.parse(made.getvalue(), "note.png", None, recognising=lambda: nullcontext(lambda: None))

    assert SENTENCE in read.text
    assert (read.media_type, read.recognised_pages) == ("image/png", (1,))


async def test_without_the_engine_scans_are_told_and_pictures_are_refused() -> None:
    parser = ProcessParser(children=1)
    made = io.BytesIO()
    picture(SENTENCE).save(made, "PNG")
    try:
        read = await parser.parse(mixed_pdf(), "mixed.pdf", None, recognising=lambda: nullcontext(lambda: None))
        with pytest.raises(ParseFailed) as refused:
            await parser.parse(made.getvalue(), "note.png", None, recognising=lambda: nullcontext(lambda: None))
    finally:
        await parser.aclose()

    assert (read.recognised_pages, read.unread_pages) == ((), (2,))
    assert (refused.value.code, "`ocr`" in refused.value.message) == ("PARSE_UNSUPPORTED", True)


async def test_a_german_scan_is_read_with_its_own_letters_where_german_is_switched_on() -> None:
    sentence = "Die Prüfung der Straßenbrücke dauert fünf Tage."
    made, font = io.BytesIO(), ImageFont.truetype(str(Path(reportlab.__file__).parent / "fonts" / "Vera.ttf"), 28)
    picture(sentence, font).save(made, "PNG", dpi=(200, 200))
    german = ProcessParser(children=1, scans=ScanReader(scan_options("eng+deu")))
    try:
        read = await german.parse(made.getvalue(), "Notiz.png", None, recognising=lambda: nullcontext(lambda: None))
    finally:
        await german.aclose()

    assert sentence in read.text


def test_a_language_without_data_is_named_with_what_brings_it() -> None:
    with pytest.raises(Misconfigured, match=r"ocr=deu\+xyz.*tesseract-ocr-LANGUAGE"):
        scan_options("deu+xyz")
