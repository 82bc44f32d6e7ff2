"""The pixels of a PNG or JPEG, by PDFium: it draws a page that is the picture. PDF holds them as they are."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any, cast

from pypdfium2 import PdfDocument, PdfiumError  # pyright: ignore[reportMissingTypeStubs]

from agentic_rag.adapters.parsing.lettering import Grey
from agentic_rag.adapters.parsing.pictures import jpeg_frame

_PNG = b"\x89PNG\r\n\x1a\n"
_JPEG_SPACES = {1: "DeviceGray", 3: "DeviceRGB", 4: "DeviceCMYK"}
"""By the number of colours of a point."""
_OVER_WHITE = "{ 4 1 roll" + " 3 index mul 3 index 1 exch sub add 3 1 roll" * 3 + " 4 -1 roll pop }"
_GREY_OVER_WHITE = "{ dup 3 1 roll mul exch 1 exch sub add }"
"""Functions of colours and opacity: the colours on white paper."""
_MOST_PIXELS = 3_000_000


def grey_pixels(picture: bytes, width_cm: float, dots_an_inch: int) -> Grey | None:
    """A picture as it is shown at this width; None where it is of another kind, interlaced, or damaged."""
    image = _jpeg_object(picture) if picture.startswith(b"\xff\xd8") else _png_object(picture)
    if image is None:
        return None
    width, height, stream = image
    wide = max(1, min(round(width_cm / 2.54 * dots_an_inch), width))
    high = max(1, round(wide * height / width))
    if wide * high > _MOST_PIXELS:
        return None
    try:
        document: Any = PdfDocument(_page(wide, high, stream))
        bitmap = document[0].render(scale=1, grayscale=True)
        pixels = cast(Grey, bitmap.to_numpy()).reshape(high, -1)[:, :wide].copy()
        document.close()
    except (PdfiumError, ValueError):
        return None
    return pixels


def _page(width: int, height: int, image: bytes) -> bytes:
    drawn = f"q {width} 0 0 {height} 0 0 cm /I Do Q".encode()
    return b"\n".join(
        (
            b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj",
            f"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 {width} {height}]/Contents 4 0 R".encode()
            + b"/Resources<</XObject<</I 5 0 R>>>>>>endobj",
            f"4 0 obj<</Length {len(drawn)}>>stream\n".encode() + drawn + b"\nendstream endobj",
            b"5 0 obj" + image,
            b"trailer<</Root 1 0 R/Size 9>>\n%%EOF\n",
        )
    )


def _stream(width: int, height: int, entries: str, data: bytes) -> bytes:
    head = f"<</Type/XObject/Subtype/Image/Width {width}/Height {height}{entries}/Length {len(data)}>>stream\n"
    return head.encode() + data + b"\nendstream endobj"


def _jpeg_object(picture: bytes) -> tuple[int, int, bytes] | None:
    frame = jpeg_frame(picture)
    space = _JPEG_SPACES.get(0 if frame is None else frame[2])
    if frame is None or space is None or 0 in frame:
        return None
    width, height, _ = frame
    stream = _stream(width, height, f"/BitsPerComponent 8/ColorSpace/{space}/Filter/DCTDecode", picture)
    return width, height, stream


def _png_object(picture: bytes) -> tuple[int, int, bytes] | None:
    """RFC 2083: the parts IHDR, PLTE and IDAT; PDF has the same filters (ISO 32000-1, 7.4.4.4)."""
    if not picture.startswith(_PNG) or len(picture) < 33:
        return None
    width, height, depth, kind, _, _, interlaced = struct.unpack(">IIBBBBB", picture[16:29])
    parts = [*_png_parts(picture)]
    palette = next((data for name, data in parts if name == b"PLTE"), b"")
    colours = {
        0: (1, "/DeviceGray", ""),
        2: (3, "/DeviceRGB", ""),
        3: (1, f"[/Indexed/DeviceRGB {len(palette) // 3 - 1}<{palette.hex()}>]", ""),
        4: (2, "[/DeviceN[/Y/A]/DeviceGray 6 0 R]", _function(2, 1, _GREY_OVER_WHITE)),
        6: (4, "[/DeviceN[/R/G/B/A]/DeviceRGB 6 0 R]", _function(4, 3, _OVER_WHITE)),
    }.get(kind)
    if colours is None or interlaced or not width or not height:
        return None
    count, space, function = colours
    entries = (
        f"/BitsPerComponent {depth}/ColorSpace{space}/Filter/FlateDecode"
        f"/DecodeParms<</Predictor 15/Colors {count}/BitsPerComponent {depth}/Columns {width}>>"
    )
    data = b"".join(data for name, data in parts if name == b"IDAT")
    return width, height, _stream(width, height, entries, data) + function.encode()


def _function(inputs: int, outputs: int, code: str) -> str:
    return (
        f"\n6 0 obj<</FunctionType 4/Domain[{' 0 1' * inputs}]/Range[{' 0 1' * outputs}]/Length {len(code)}>>stream\n"
        f"{code}\nendstream endobj"
    )


def _png_parts(picture: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = len(_PNG)
    while at + 8 <= len(picture):
        length = int.from_bytes(picture[at : at + 4])
        yield picture[at + 4 : at + 8], picture[at + 8 : at + 8 + length]
        at += length + 12
