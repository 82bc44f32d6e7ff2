"""The pages of a PDF, and the pictures of a picture file as pages, drawn for an engine or for people.

A picture file becomes a PDF of one page in memory, so that one way of drawing and marking serves both.
"""

from __future__ import annotations

import io
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, cast

import pypdfium2  # pyright: ignore[reportMissingTypeStubs] - it ships none

from agentic_rag.adapters.parsing.file_types import PICTURES, picture_type
from agentic_rag.adapters.parsing.lettering import Grey
from agentic_rag.adapters.parsing.pdf.pdfium import open_document
from agentic_rag.adapters.parsing.scans.tesseract import Scan
from agentic_rag.kernel.errors import ParseFailed

pdfium = cast(Any, pypdfium2)

_DOTS_AN_INCH = 300
_MOST_PIXELS = 12_000_000
"""An A4 page at 300 dots an inch has 8.7 million; a larger one is drawn coarser."""
_MOST_OF_FILE = 60_000_000
"""Pixels of a picture file: A2 at 300 dots an inch, and what cameras give."""
_SHOWN_PIXELS = 4_000_000
_LEAST_STATED, _SCREEN, _SMALL = 120, 96, 1_500_000
"""Fewer dots an inch are what programs write who know none. A picture of more pixels than the last is then taken for a
page of A4, a smaller one for what a screen shows.
"""
_A4_INCHES = 11.69


def prepare() -> None:
    """Load what opens pictures. Errors: `ImportError` where the extra `ocr` is not installed."""
    from PIL import Image

    Image.init()
    for form in PICTURES.values():
        written = io.BytesIO()
        Image.new("RGB", (8, 8), "white").save(written, form.program)
        with page_of(written.getvalue(), 1) as page:
            draw(page)


def count_pictures(content: bytes) -> int:
    """How many pages a picture file has: the pictures of a TIFF, else one."""
    with _open(content) as image:
        return int(getattr(image, "n_frames", 1)) if image.format == "TIFF" else 1


@contextmanager
def page_of(content: bytes, number: int, *, in_colour: bool = False) -> Generator[Any]:
    """A page, from 1, of a PDF or a picture file, as PDFium's. Errors: `ParseFailed`, those of Pillow and PDFium."""
    document: Any = (
        open_document(content) if picture_type(content) is None else _picture_page(content, number, in_colour)
    )
    if document is None:
        raise ParseFailed("the PDF cannot be opened", code="PARSE_CORRUPT")
    try:
        yield document[number - 1 if picture_type(content) is None else 0]
    finally:
        document.close()


def draw(page: Any) -> Scan:
    """A page as an engine looks at it."""
    width, height = page.get_size()
    scale = min(_DOTS_AN_INCH / 72, (_MOST_PIXELS / max(1.0, width * height)) ** 0.5)
    bitmap = page.render(scale=scale, grayscale=True, may_draw_forms=False, draw_annots=False)
    pixels = cast(Grey, bitmap.to_numpy()).reshape(bitmap.height, -1)[:, : bitmap.width]
    return Scan(pixels, 72 * scale)


@contextmanager
def _open(content: bytes) -> Generator[Any]:
    from PIL import Image, UnidentifiedImageError

    Image.MAX_IMAGE_PIXELS = None
    forms = [form.program for form in PICTURES.values()]
    try:
        opened = Image.open(io.BytesIO(content), formats=forms)
    except UnidentifiedImageError as error:
        raise ParseFailed("the picture is damaged: export it again", code="PARSE_CORRUPT") from error
    with opened as image:
        if image.width * image.height > _MOST_OF_FILE:
            raise ParseFailed(
                f"the picture has {image.width} × {image.height} pixels; {_MOST_OF_FILE:,} can be read",
                code="PARSE_TOO_LARGE",
            )
        yield image


def _picture_page(content: bytes, number: int, in_colour: bool) -> Any:
    """A PDF of one page that shows a picture of a file."""
    from PIL import ImageOps

    with _open(content) as image:
        if number > 1:
            image.seek(number - 1)
            if image.width * image.height > _MOST_OF_FILE:
                raise ParseFailed("the picture has too many pixels", code="PARSE_TOO_LARGE")
        dots = _dots_an_inch(image)
        inches = image.width / dots, image.height / dots
        most = _SHOWN_PIXELS if in_colour else _MOST_PIXELS
        share = min(1.0, (most / (image.width * image.height)) ** 0.5)
        size = max(1, round(image.width * share)), max(1, round(image.height * share))
        image.draft("RGB" if in_colour else "L", size)
        turned = ImageOps.exif_transpose(_on_paper(image, "RGB" if in_colour else "L"))
        if (turned.width > turned.height) != (inches[0] > inches[1]):
            inches = inches[1], inches[0]
        turned.thumbnail((max(size), max(size)))
        document: Any = pdfium.PdfDocument.new()
        page = document.new_page(inches[0] * 72, inches[1] * 72)
        shown = pdfium.PdfImage.new(document)
        shown.set_bitmap(pdfium.PdfBitmap.from_pil(turned))
        shown.set_matrix(pdfium.PdfMatrix().scale(inches[0] * 72, inches[1] * 72))
        page.insert_obj(shown)
        page.gen_content()
        return document


def _on_paper(image: Any, mode: str) -> Any:
    """The picture in `mode`, what is transparent over white."""
    from PIL import Image

    if "A" not in image.getbands() and "transparency" not in image.info:
        return image.convert(mode)
    layer = image.convert("RGBA")
    paper = Image.new("RGBA", layer.size, "white")
    paper.alpha_composite(layer)
    return paper.convert(mode)


def _dots_an_inch(image: Any) -> float:
    across, down = cast(tuple[float, float], image.info.get("dpi", (0, 0)))
    dots = float(min(across, down))
    if dots >= _LEAST_STATED:
        return dots
    return max(image.width, image.height) / _A4_INCHES if image.width * image.height > _SMALL else _SCREEN
