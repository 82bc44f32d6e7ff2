"""PDF and DOCX made here, read back."""

from __future__ import annotations

import io
import zipfile
from random import Random

import docx
import pypdf
import pytest
from reportlab.pdfgen.canvas import Canvas
from tests.hostile import pdf_files

from agentic_rag.adapters.parsing.file_types import SourceFile
from agentic_rag.adapters.parsing.loaders import docx as docx_loader
from agentic_rag.adapters.parsing.loaders import pdf as pdf_loader
from agentic_rag.adapters.parsing.process.limits import ParserLimits
from agentic_rag.adapters.parsing.text_builder import LoadedText
from agentic_rag.documents.document import BlockKind
from agentic_rag.kernel.error_redaction import redact
from agentic_rag.kernel.errors import ParseFailed

LIMITS = ParserLimits()


def read_pdf(content: bytes, limits: ParserLimits) -> LoadedText:
    return pdf_loader.load(SourceFile(content, "a.pdf", limits))


def read_docx(content: bytes, limits: ParserLimits) -> LoadedText:
    return docx_loader.load(SourceFile(content, "a.docx", limits))


def pdf(*pages: list[str], title: str = "", bookmarks: bool = False) -> bytes:
    made = io.BytesIO()
    canvas = Canvas(made)
    canvas.setTitle(title)
    for page, lines in enumerate(pages):
        for number, line in enumerate(lines):
            if bookmarks and number == 0:
                canvas.bookmarkPage(str(page))
                canvas.addOutlineEntry(line, str(page), 0)
            canvas.drawString(50, 780 - 14 * number, line)
        canvas.showPage()
    canvas.save()
    return made.getvalue()


def with_part(content: bytes, name: str, body: bytes) -> bytes:
    """The archive with one part replaced."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as source, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as target:
        for part in source.namelist():
            if part != name:
                target.writestr(part, source.read(part))
        target.writestr(name, body)
    return made.getvalue()


def word() -> bytes:
    document = docx.Document()
    document.core_properties.title = "Property title"
    document.add_heading("Sizes", 2)
    document.add_paragraph("The first paragraph.")
    table = document.add_table(rows=2, cols=2)
    for row in range(2):
        for column in range(2):
            table.cell(row, column).text = f"{row}{column}"
    made = io.BytesIO()
    document.save(made)
    return made.getvalue()


def test_pages_stand_one_after_the_other_with_their_lines() -> None:
    content = pdf(["One line.", "2.1 A heading", "Text of it."], ["Second page."], title="The Title")

    reading = read_pdf(content, LIMITS)

    pages = ["One line.\n2.1 A heading\nText of it.", "Second page."]
    assert [reading.text[page.start : page.end] for page in reading.pages] == pages
    assert reading.text == "\n\n".join(pages)
    assert reading.title == "The Title"
    assert [(reading.text[b.start : b.end].strip(), b.level) for b in reading.blocks if b.level] == [
        ("2.1 A heading", 2)
    ]


def test_bookmarks_are_headings_and_give_the_title_that_is_missing() -> None:
    reading = read_pdf(
        pdf(["Alpha", "text"], ["Beta", "text"], ["Gamma", "text"], title="Microsoft Word - x.doc", bookmarks=True),
        LIMITS,
    )

    assert [reading.text[b.start : b.end] for b in reading.blocks if b.kind is BlockKind.HEADING] == [
        "Alpha",
        "Beta",
        "Gamma",
    ]
    assert reading.title == "Alpha"


@pytest.mark.parametrize(
    "limits", [ParserLimits(pages=1), ParserLimits(text_characters=5)], ids=["pages", "characters"]
)
def test_a_pdf_beyond_the_limits_is_too_large(limits: ParserLimits) -> None:
    with pytest.raises(ParseFailed) as refused:
        read_pdf(pdf(["One line."], ["Another."]), limits)

    assert refused.value.code == "PARSE_TOO_LARGE"


READABLE = pdf_files.stream(pdf_files.shown("Read by both."))
BY_PDFIUM = pdf_files.stream(pdf_files.shown("Read by one."), b"/Filter/Bogus")
BY_NONE = pdf_files.flate(b"x", b"/DecodeParms<</Predictor 99>>")


@pytest.mark.slow
def test_a_page_from_right_to_left_is_read_by_pypdf() -> None:
    shalom = b"<05dc05e905d505dd>"
    content = pdf_files.mapped(b"1 beginbfrange <0000><ffff><0000> endbfrange", shalom)

    text = read_pdf(content, LIMITS).text

    assert text == pypdf.PdfReader(io.BytesIO(content)).pages[0].extract_text()
    assert "םושל" in text


def test_a_file_whose_reading_ended_a_process_is_read_without_pdfium() -> None:
    content = pdf_files.pdf_of_pages(READABLE, BY_PDFIUM)

    reading = pdf_loader.load(SourceFile(content, "a.pdf", LIMITS, careful=True))

    assert reading.text == "Read by both.\n\n"
    assert reading.unread_pages == (2,)


def test_a_word_that_a_line_parts_keeps_its_hyphen_at_the_end_of_the_line() -> None:
    assert read_pdf(pdf(["Words of it are con-", "nected here."]), LIMITS).text == "Words of it are con-\nnected here."


def test_a_page_that_pypdf_cannot_read_is_read_by_pdfium() -> None:
    reading = read_pdf(pdf_files.pdf_of_pages(READABLE, BY_PDFIUM), LIMITS)

    assert reading.text == "Read by both.\n\nRead by one."
    assert reading.unread_pages == ()


def test_a_page_that_nobody_can_read_costs_the_page_and_is_told() -> None:
    reading = read_pdf(pdf_files.pdf_of_pages(READABLE, BY_NONE, READABLE), LIMITS)

    assert [reading.text[page.start : page.end] for page in reading.pages] == ["Read by both.", "", "Read by both."]
    assert reading.unread_pages == (2,)


def test_a_page_whose_fonts_name_no_letters_is_told() -> None:
    both = pypdf.PdfWriter()
    for content in (pdf_files.pdf_of_pages(READABLE, READABLE, READABLE), pdf_files.glyph_names(20)):
        both.append(io.BytesIO(content))
    made = io.BytesIO()
    both.write(made)

    assert read_pdf(made.getvalue(), LIMITS).unread_pages == (4,)


def test_a_file_of_such_pages_alone_is_damaged() -> None:
    with pytest.raises(ParseFailed) as refused:
        read_pdf(pdf_files.pdf_of_pages(BY_NONE, BY_NONE), LIMITS)

    assert refused.value.code == "PARSE_CORRUPT"


def test_a_page_whose_font_pypdf_does_not_find_keeps_its_letters() -> None:
    assert read_pdf(pdf_files.pdf({5: b"7"}), LIMITS).text == pdf_files.WORDS


def pdf_with_elements(count: int) -> bytes:
    """A PDF with a long array in an object that every reader reads, as tagged filings have."""
    return pdf_files.pdf({2: b"<</Type/Pages/Kids[3 0 R]/Count 1/Tagged[" + b"null " * count + b"]>>"})


def test_a_filing_of_many_elements_is_read() -> None:
    assert read_pdf(pdf_with_elements(250_000), LIMITS).text == pdf_files.WORDS


def test_more_elements_than_the_memory_of_the_child_bears_are_too_many_for_pypdf() -> None:
    source = SourceFile(pdf_with_elements(250_000), "a.pdf", ParserLimits(memory_bytes=16 << 20), careful=True)

    with pytest.raises(ParseFailed) as refused:
        pdf_loader.load(source)

    assert refused.value.code == "PARSE_TOO_LARGE"


@pytest.mark.parametrize(("password", "code"), [("secret", "PARSE_ENCRYPTED"), ("", None)])
def test_only_a_password_that_is_not_empty_closes_a_pdf(password: str, code: str | None) -> None:
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(pdf(["Hidden words."])))
    writer.encrypt(password, owner_password="owner", algorithm="AES-256")
    made = io.BytesIO()
    writer.write(made)

    if code is None:
        assert "Hidden words." in read_pdf(made.getvalue(), LIMITS).text
    else:
        with pytest.raises(ParseFailed) as refused:
            read_pdf(made.getvalue(), LIMITS)
        assert refused.value.code == code
        assert redact(refused.value.message) == refused.value.message, "the remedy reads like a secret"


def test_a_damaged_pdf_is_corrupt() -> None:
    with pytest.raises(ParseFailed) as refused:
        read_pdf(pdf(["One line."])[:200], LIMITS)

    assert refused.value.code == "PARSE_CORRUPT"


def test_a_word_document_keeps_headings_and_tables() -> None:
    reading = read_docx(word(), LIMITS)

    assert reading.text == "Sizes\n\nThe first paragraph.\n\n00 | 01\n10 | 11"
    assert [block.kind for block in reading.blocks] == [BlockKind.HEADING, BlockKind.PARAGRAPH, BlockKind.TABLE]
    assert reading.title == "Property title"


@pytest.mark.parametrize(
    ("part", "body", "code"),
    [
        ("word/document.xml", b'<!DOCTYPE d [<!ENTITY a "b">]><d>&a;</d>', "PARSE_CORRUPT"),
        ("word/document.xml", "<!DOCTYPE d><d/>".encode("utf-16"), "PARSE_CORRUPT"),
        ("word/document.xml", b"<w:document", "PARSE_CORRUPT"),
        ("word/document.xml", b"<d>" + b" " * (4 << 20) + b"</d>", "PARSE_TOO_LARGE"),
    ],
    ids=["entities", "entities in UTF-16", "cut", "bomb"],
)
def test_a_hostile_word_document_is_refused(part: str, body: bytes, code: str) -> None:
    with pytest.raises(ParseFailed) as refused:
        read_docx(with_part(word(), part, body), LIMITS)

    assert refused.value.code == code


@pytest.mark.parametrize(
    ("limits", "told"),
    [
        (ParserLimits(zip_bytes=100), "it unpacks to more than 100 bytes"),
        (ParserLimits(zip_part_bytes=3 << 19), "'word/document.xml' unpacks to more than 1.5 MiB"),
    ],
)
def test_a_word_document_beyond_a_limit_is_told_the_limit_itself(limits: ParserLimits, told: str) -> None:
    body = Random(7).randbytes(1 << 20).hex().encode()

    with pytest.raises(ParseFailed) as refused:
        read_docx(with_part(word(), "word/document.xml", body), limits)

    assert refused.value.message == f"the DOCX is too large: {told}"
