"""What pages of a PDF say beside their text: running lines, filled forms."""

from __future__ import annotations

import io

import pytest
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas
from tests.hostile.pdf_files import encrypted, pdf, stream

from agentic_rag.adapters.parsing.file_types import SourceFile
from agentic_rag.adapters.parsing.loaders import pdf as pdf_loader
from agentic_rag.adapters.parsing.pdf.form_values import FilledField, place_fields
from agentic_rag.adapters.parsing.pdf.page_words import PageLine, Word
from agentic_rag.adapters.parsing.pdf.pypdf_pages import PypdfPages
from agentic_rag.adapters.parsing.process.limits import ParserLimits
from agentic_rag.adapters.parsing.text_builder import LoadedText
from agentic_rag.documents.chunk_pieces import split_pieces
from agentic_rag.documents.document import BlockKind, ParsedDocument
from agentic_rag.kernel.errors import ParseFailed


def read(content: bytes) -> LoadedText:
    return pdf_loader.load(SourceFile(content, "a.pdf", ParserLimits()))


def report(pages: int, header_at: int = 800) -> bytes:
    """Pages of eight lines between a header and a number; a sentence goes on from each page to the next."""
    made = io.BytesIO()
    canvas = Canvas(made, pagesize=A4)
    for page in range(1, pages + 1):
        canvas.drawString(50, header_at, "Harbour office, annual report")
        for line in range(8):
            canvas.drawString(50, 700 - 14 * line, f"line {line} of part {page * 37 % 11} lies between cranes and")
        canvas.drawString(290, 30, f"Page {page} of {pages}")
        canvas.showPage()
    canvas.save()
    return made.getvalue()


def test_a_file_without_pages_is_not_taken_for_the_encrypted_one_before_it() -> None:
    with pytest.raises(ParseFailed) as refused:
        read(encrypted("user", "owner", "AES-256"))

    assert refused.value.code == "PARSE_ENCRYPTED"
    assert read(pdf({2: b"<</Type/Pages/Kids[]/Count 0>>"})).text == ""


def test_headers_footers_and_page_numbers_stand_behind_the_pages_and_in_no_chunk() -> None:
    reading = read(report(4))

    running = next(block for block in reading.blocks if block.kind is BlockKind.RUNNING)
    moved = reading.text[running.start : running.end].split("\n")
    assert moved.count("Harbour office, annual report") == 3
    assert [line for line in moved if line.startswith("Page")] == [f"Page {page} of 4" for page in range(1, 5)]
    assert reading.text.count("Harbour office, annual report") == 4
    assert running.end == len(reading.text)
    parsed = ParsedDocument(reading.text, reading.blocks, reading.pages, None, "application/pdf", "p", "1")
    assert max(piece.end for piece in split_pieces(parsed, 500, len)) < running.start


def test_the_first_lines_of_too_few_pages_are_no_running_lines() -> None:
    assert [block.kind for block in read(report(2)).blocks if block.kind is BlockKind.RUNNING] == []


def test_a_line_that_begins_the_text_of_every_page_is_none() -> None:
    reading = read(report(4, header_at=714))

    first = [reading.text[page.start : page.end].split("\n")[0] for page in reading.pages]
    assert first == ["Harbour office, annual report"] * 4


def form() -> bytes:
    made = io.BytesIO()
    canvas = Canvas(made, pagesize=A4)
    canvas.drawString(50, 700, "First name:")
    canvas.acroForm.textfield(name="first", value="Ada", x=130, y=695, width=100, height=18)
    canvas.drawString(300, 700, "Last name:")
    canvas.acroForm.textfield(name="last", value="Byron", x=380, y=695, width=100, height=18)
    canvas.drawString(50, 660, "Remarks")
    canvas.acroForm.textfield(name="remarks", value="arrives late", x=50, y=630, width=300, height=18)
    canvas.acroForm.checkbox(name="member", checked=True, x=50, y=600, size=12)
    canvas.drawString(70, 602, "is a member")
    canvas.acroForm.checkbox(name="guest", checked=False, x=50, y=580, size=12)
    canvas.drawString(70, 582, "is a guest")
    canvas.acroForm.textfield(name="secret", value="hunter2", x=50, y=540, fieldFlags="password", width=90, height=18)
    canvas.save()
    return made.getvalue()


def test_what_a_form_was_filled_with_stands_beside_its_labels() -> None:
    assert read(form()).text.split("\n") == [
        "First name: Ada Last name: Byron",
        "Remarks",
        "arrives late",
        "☒ is a member",
        "is a guest",
    ]


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        (FilledField("x", 100, 95, 150, 110), ["Name: x", "Place:"]),
        (FilledField("x", 10, 95, 40, 110), ["x Name:", "Place:"]),
        (FilledField("x", 50, 40, 150, 55), ["Name:", "Place:", "x"]),
        (FilledField("x", 400, 150, 500, 165), ["Name:", "Place:", "x"]),
    ],
)
def test_a_field_stands_beside_or_below_the_label_nearest_to_it(field: FilledField, expected: list[str]) -> None:
    lines = [PageLine("Name:", [Word("Name:", 50, 90, 100)]), PageLine("Place:", [Word("Place:", 50, 90, 70)])]

    assert [line.text for line in place_fields(lines, [field])] == expected


def with_contents(entries: list[str], headings: list[str]) -> bytes:
    """A page of entries, and one page for each heading."""
    made = io.BytesIO()
    canvas = Canvas(made, pagesize=A4)
    for line, entry in enumerate(entries):
        canvas.drawString(50, 700 - 20 * line, entry)
    canvas.showPage()
    for heading in headings:
        canvas.drawString(50, 700, heading)
        canvas.drawString(50, 660, "The crane is inspected before each shift, and the log is signed.")
        canvas.showPage()
    canvas.save()
    return made.getvalue()


def test_a_table_of_contents_is_in_no_chunk_and_a_list_of_prices_is() -> None:
    names = ["Purpose", "Scope", "Inspection of cranes", "Records"]
    entries = [f"{at}. {name} {'.' * 40} {at + 1}" for at, name in enumerate(names, start=1)]

    contents = read(with_contents(entries, [name.upper() for name in names]))
    prices = read(
        with_contents([f"{name} {'.' * 40} {at}" for at, name in enumerate(["Soup", "Bread", "Tea", "Pie"])], names)
    )

    running = [contents.text[one.start : one.end] for one in contents.blocks if one.kind is BlockKind.RUNNING]
    assert "\n".join(running).split("\n") == entries
    assert all(one.kind is not BlockKind.RUNNING for one in prices.blocks)


@pytest.mark.slow
def test_the_second_reader_takes_as_many_elements_as_the_memory_bears() -> None:
    # One more than pypdf takes by itself, at which ordinary tagged filings ended.
    spaced = pdf({4: stream(b"BT /F 12 Tf 40 700 Td [(Rivers) " + b"0 " * 100_000 + b"(flow)] TJ ET")})

    enough, few = PypdfPages(spaced, ParserLimits()), PypdfPages(spaced, ParserLimits(element_bytes=1 << 20))

    assert (enough.text(0), enough.failure) == ("Riversflow", None)
    assert few.text(0) is None
    assert few.failure is not None
    assert few.failure.code == "PARSE_TOO_LARGE"
