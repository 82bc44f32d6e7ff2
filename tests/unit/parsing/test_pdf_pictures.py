"""Pages of a PDF whose words are drawn in pictures or as curves: they are told as unread."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest
from PIL import Image
from reportlab.lib.pagesizes import A4
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from agentic_rag.adapters.parsing.file_types import SourceFile
from agentic_rag.adapters.parsing.loaders import pdf as pdf_loader
from agentic_rag.adapters.parsing.process.limits import ParserLimits

WIDTH, HEIGHT = A4
Draw = Callable[[Canvas], None]


def unread(*pages: Draw) -> tuple[int, ...]:
    """The unread pages of a file with a written page before and behind the given ones."""
    made = io.BytesIO()
    canvas = Canvas(made, pagesize=A4)
    for draw in (written, *pages, written):
        draw(canvas)
        canvas.showPage()
    canvas.save()
    return pdf_loader.load(SourceFile(made.getvalue(), "a.pdf", ParserLimits())).unread_pages


def written(canvas: Canvas) -> None:
    for line in range(6):
        canvas.drawString(50, 700 - 14 * line, f"line {line} of the contract lies between its parties")


def picture(canvas: Canvas, mode: str = "L", share: float = 1.0, is_nested: bool = False) -> None:
    """A picture over a share of the page, from its top; also inside a form object."""
    if is_nested:
        canvas.beginForm("held")
    image = ImageReader(Image.new(mode, (60, 80), 1 if mode == "1" else 200))
    canvas.drawImage(image, 0, (1 - share) * HEIGHT, WIDTH, share * HEIGHT)
    if is_nested:
        canvas.endForm()
        canvas.doForm("held")


def stamp(canvas: Canvas) -> None:
    canvas.drawString(400, 20, "ACME-000123 Page 2 of 3")


def curves(canvas: Canvas, count: int) -> None:
    for number in range(count):
        canvas.bezier(50, 700 - number, 60, 710 - number, 70, 690 - number, 80, 700 - number)


def words(canvas: Canvas, is_invisible: bool) -> None:
    text = canvas.beginText(50, 700)
    text.setTextRenderMode(3 if is_invisible else 0)
    text.textLine("The lease ends on 3 May 2027.")
    canvas.drawText(text)


@pytest.mark.parametrize("is_nested", [False, True])
@pytest.mark.parametrize("mode", ["L", "RGB", "1"])
def test_a_page_that_is_a_picture_is_unread(mode: str, is_nested: bool) -> None:
    assert unread(lambda canvas: picture(canvas, mode, is_nested=is_nested)) == (2,)


@pytest.mark.parametrize("turn", [0, 90, 180, 270])
def test_a_scan_with_a_stamp_is_unread(turn: int) -> None:
    def scan(canvas: Canvas) -> None:
        canvas.setPageRotation(turn)
        picture(canvas, "RGB")
        stamp(canvas)

    assert unread(scan) == (2,)


def test_a_page_of_words_as_curves_is_unread() -> None:
    assert unread(lambda canvas: curves(canvas, 400)) == (2,)


@pytest.mark.parametrize("mode", ["L", "1"])
@pytest.mark.parametrize("is_invisible", [False, True])
def test_words_of_recognition_are_read(mode: str, is_invisible: bool) -> None:
    def recognised(canvas: Canvas) -> None:
        words(canvas, is_invisible)
        picture(canvas, mode)

    assert unread(recognised) == ()


def test_pages_that_say_nothing_are_no_unread_ones() -> None:
    assert (
        unread(lambda canvas: None, lambda canvas: picture(canvas, share=0.2), lambda canvas: curves(canvas, 12)) == ()
    )


def test_a_cover_with_its_title_is_read() -> None:
    def cover(canvas: Canvas) -> None:
        picture(canvas, "RGB")
        canvas.drawString(50, 700, "Annual report 2026")

    assert unread(cover) == ()
