"""Quotes on PDF pages: marked where their letters stand, and nowhere else."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Sequence

import pytest
from reportlab.pdfgen.canvas import Canvas

from agentic_rag.adapters.parsing.pdf.render import png, render
from agentic_rag.answering.runs.page_image import PageImage, QuotedPlace
from agentic_rag.kernel.errors import ParseFailed

LINES = ("The pump is closed in winter.", "The valve opens at 3 bar.", "The pump is closed in winter.", "It is blue.")

MARK = bytes((255, 214, 64))


def page(lines: Sequence[str] = LINES, rotation: int = 0, encrypt: str | None = None) -> bytes:
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=(300, 200), encrypt=encrypt)
    canvas.setPageRotation(rotation)
    for number, line in enumerate(lines):
        canvas.drawString(20, 170 - 20 * number, line)
    canvas.showPage()
    canvas.save()
    return out.getvalue()


def bases(image: PageImage) -> list[int]:
    """The rows of `LINES` that marks lie on."""
    return [round((170 - (one.bottom + 2.5)) / 20) for one in image.lines]


def test_the_line_of_a_quote_is_marked() -> None:
    image = render(page(), QuotedPlace(1, "The valve opens at 3 bar."))

    assert bases(image) == [1]
    assert image.lines[0].left == pytest.approx(20, abs=1.5)
    assert 0.1 < image.first < 0.3


@pytest.mark.parametrize(("turned", "size"), [(0, 12), (0, 30), (90, 12), (-90, 12)])
def test_a_mark_is_as_high_as_the_size_of_its_letters_and_a_fifth_of_it_below_their_baseline(
    turned: int, size: int
) -> None:
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=(300, 200))
    canvas.setFont("Helvetica", size)
    canvas.translate(100, 100)
    canvas.rotate(turned)
    canvas.drawString(0, 0, "closed")
    canvas.showPage()
    canvas.save()

    lines = render(out.getvalue(), QuotedPlace(1, "closed")).lines

    sides = {(one.left - 100, one.right - 100) if turned else (one.bottom - 100, one.top - 100) for one in lines}
    wanted = (-0.8 * size, 0.2 * size) if turned == 90 else (-0.2 * size, 0.8 * size)
    assert [*sides] == [pytest.approx(wanted, abs=0.01)]


def test_what_is_drawn_is_the_mark() -> None:
    image = render(page(), QuotedPlace(1, "The valve opens at 3 bar."))
    width, height = struct.unpack(">II", image.png[16:24])
    length = struct.unpack(">I", image.png[33:37])[0]
    rows = zlib.decompress(image.png[41 : 41 + length])
    stride = 3 * width + 1
    marked = [
        (x, y) for y in range(height) for x in range(width) if rows[(at := y * stride + 3 * x + 1) : at + 3] == MARK
    ]
    scale = width / 300

    (line,) = image.lines
    drawn = [min(x for x, _ in marked), min(y for _, y in marked), max(x for x, _ in marked), max(y for _, y in marked)]
    box = [line.left * scale, (200 - line.top) * scale, line.right * scale, (200 - line.bottom) * scale]
    assert drawn == pytest.approx(box, abs=1.5)


def test_a_quote_over_two_lines_has_a_mark_on_each() -> None:
    assert bases(render(page(), QuotedPlace(1, "opens at 3 bar.\nThe pump is closed in winter.\nIt"))) == [1, 2, 3]


def test_a_quote_that_stands_twice_is_told_apart_by_the_text_beside_it() -> None:
    text = "\n".join(LINES)
    second = text.rindex(LINES[0])

    assert bases(render(page(), QuotedPlace(1, LINES[0], "", text[len(LINES[0]) :]))) == [0]
    assert bases(render(page(), QuotedPlace(1, LINES[0], text[:second], text[second + len(LINES[0]) :]))) == [2]


@pytest.mark.parametrize(
    "place",
    [
        QuotedPlace(1, LINES[0]),
        QuotedPlace(1, "The valve opens at 4 bar."),
        QuotedPlace(1, "The valve", "Quite another text before. ", " and quite another behind."),
        QuotedPlace(1, "The valve opens", "", " at 3 bar. The valve opens at 3 bar."),
        QuotedPlace(1, "|"),
        QuotedPlace(1, ""),
    ],
    ids=[
        "twice, and nothing beside",
        "other letters",
        "another place",
        "one of two is written otherwise",
        "bar",
        "empty",
    ],
)
def test_where_the_place_is_not_sure_nothing_is_marked(place: QuotedPlace) -> None:
    image = render(page(), place)

    assert (image.lines, image.first) == ((), 0.0)
    assert image.png == render(page(), QuotedPlace(1, "")).png


def test_blanks_bars_and_hyphens_are_no_letters() -> None:
    image = render(
        page(["Rated power 1,200 kW", "a turn-", "table of steel"]), QuotedPlace(1, "| Rated power | 1,200 kW |")
    )

    assert bases(image) == [0]
    assert bases(render(page(["a turn-", "table of steel"]), QuotedPlace(1, "turntable of"))) == [0, 1]


@pytest.mark.parametrize(("rotation", "first"), [(0, 0.15), (90, 0.0), (180, 0.6), (270, 0.2)])
def test_a_turned_page_is_marked_where_it_is_looked_at(rotation: int, first: float) -> None:
    image = render(page(rotation=rotation), QuotedPlace(1, "The valve opens at 3 bar."))

    assert len(image.lines) == 1
    assert first <= image.first <= first + 0.25


def test_the_marked_pixels_are_those_of_the_line() -> None:
    marked, plain = (pixels(render(page(), QuotedPlace(1, quote)).png) for quote in ("It is blue.", ""))

    changed = [at for at, (one, other) in enumerate(zip(marked, plain, strict=True)) if one != other]
    rows = {at / len(plain) for at in changed}
    assert changed
    assert all(0.38 <= row <= 0.48 for row in rows)


def test_a_page_that_is_not_there_and_a_file_that_is_none_are_told() -> None:
    for content, number in ((page(), 2), (page(), 0), (b"no PDF", 1)):
        with pytest.raises(ParseFailed) as refused:
            render(content, QuotedPlace(number, "x"))
        assert refused.value.code == "PARSE_CORRUPT"
    with pytest.raises(ParseFailed) as closed:
        render(page(encrypt="secret"), QuotedPlace(1, "x"))
    assert closed.value.code == "PARSE_ENCRYPTED"


def test_rows_of_pixels_become_a_png() -> None:
    image = png(2, 2, 8, bytes([1, 2, 3, 4, 5, 6, 0, 0, 7, 8, 9, 10, 11, 12, 0, 0]))

    assert struct.unpack(">II", image[16:24]) == (2, 2)
    assert pixels(image) == [bytes([0, 1, 2, 3, 4, 5, 6]), bytes([0, 7, 8, 9, 10, 11, 12])]


def pixels(image: bytes) -> list[bytes]:
    """The rows of a PNG of one data chunk, each with its filter byte."""
    width, height = struct.unpack(">II", image[16:24])
    (length,) = struct.unpack(">I", image[33:37])
    assert image[37:41] == b"IDAT"
    data = zlib.decompress(image[41 : 41 + length])
    return [data[at : at + 3 * width + 1] for at in range(0, height * (3 * width + 1), 3 * width + 1)]
