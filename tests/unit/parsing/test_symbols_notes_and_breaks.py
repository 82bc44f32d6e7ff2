"""Letters of symbol fonts, results of fields within fields, breaks of pages and notes: nothing of them changes or parts
the words of a sentence.
"""

from __future__ import annotations

import docx
import pytest
from docx.oxml import parse_xml
from tests.unit.parsing.test_places_in_office_files import W, saved
from tests.unit.parsing.test_places_in_slides_and_open_files import open_file

from agentic_rag.adapters.parsing.dispatch import load
from agentic_rag.adapters.parsing.process.limits import ParserLimits


def text_of(content: bytes, name: str) -> str:
    return load(content, name, None, ParserLimits())[1].text


def run(text: str) -> str:
    return f"<w:r><w:t xml:space='preserve'>{text}</w:t></w:r>"


def field(instruction: str, result: str) -> str:
    def mark(kind: str) -> str:
        return f"<w:r><w:fldChar w:fldCharType='{kind}'/></w:r>"

    return f"{mark('begin')}{instruction}{mark('separate')}{result}{mark('end')}"


def code(text: str) -> str:
    return f"<w:r><w:instrText>{text}</w:instrText></w:r>"


RATE = field(code(" IF ") + field(code(" MERGEFIELD Country "), run("DE")) + code(' = DE "19 %" "0 %" '), run("19 %"))
PARAGRAPHS = {
    "symbols": (
        "<w:r><w:rPr><w:rFonts w:ascii='Symbol' w:hAnsi='Symbol'/></w:rPr><w:t>\uf0a3</w:t></w:r>" + run(" 5 mg"),
        "≤ 5 mg",
    ),
    "symbols without a font": (run("\uf0b1 5 mg"), "± 5 mg"),
    "a field in the instruction of another": (run("The rate is ") + RATE + run("."), "The rate is 19 %."),
    "a field in the result of another": (
        field(code(" REF a "), run("see ") + field(code(" PAGEREF a "), run("page 7"))), "see page 7"
    ),
    "a break of the page": (run("End of part one.") + "<w:r><w:br w:type='page'/></w:r>" + run("Part two."),
        "End of part one.\nPart two."),
    "a tab of alignment": (run("Berth") + "<w:r><w:ptab w:alignment='right'/></w:r>" + run("Fee"), "Berth Fee"),
}  # fmt: skip


@pytest.mark.parametrize(("content", "expected"), PARAGRAPHS.values(), ids=list(PARAGRAPHS))
def test_a_paragraph_of_word_is_read_as_it_is_shown(content: str, expected: str) -> None:
    document = docx.Document()
    document.element.body.insert(0, parse_xml(f"<w:p {W}>{content}</w:p>"))

    assert text_of(saved(document), "a.docx") == expected


FONTS = (
    r"{\fonttbl{\f0 Arial;}{\f1\fnil\fcharset238 Arial CE;}{\f2\fnil\fcharset2 Symbol;}"
    r"{\f3\fnil\fcharset204 Arial;}{\f4\fnil\fcharset2 Wingdings;}}"
)
LINES = {
    "a font of another code page": (r"\f1 Za\'bf\'f3\'b3\'e6 \f3\'d1\'f7\'b8\'f2", "Zażółć Счёт"),
    "a font without a code page": (r"\f0 Stra\'dfe", "Straße"),
    "a byte": (r"Dose {\f2\'a3}5 mg", "Dose ≤5 mg"),
    "a letter": (r"Angle {\f2 a}.", "Angle α."),
    "a place": (r"Dose {\f2\u-3919\'b1}5 mg", "Dose ±5 mg"),
    "a field": (r'Dose {\field{\*\fldinst {SYMBOL 179 \\f "Symbol" \\s 11}}{\fldrslt{\f2\fs22}}}5 mg', "Dose ≥5 mg"),
    "a tick": (r"{\f4\'fe} agreed", "🗹 agreed"),
    "an unknown sign": (r"{\f4\'e7\'1f} agreed", None),
    "the next group": (r"{\f2\'b1\plain a} and a", "±a and a"),
    "text in a font of its own": (r"Before {\f1 the dose is 5 mg;} after.", "Before the dose is 5 mg; after."),
    "a number": (r"{\pntext\f0 3.\tab}Open the doors.", "3. Open the doors."),
}


@pytest.mark.parametrize(("content", "expected"), LINES.values(), ids=list(LINES))
def test_a_line_of_rich_text_is_read_in_its_fonts(content: str, expected: str | None) -> None:
    text = text_of(rf"{{\rtf1\ansi\ansicpg1252\deff0{FONTS}\f0 {content}\par}}".encode(), "a.rtf")

    assert text == expected if expected else text.endswith("agreed")


def test_rich_text_that_breaks_off_in_its_fonts_is_read() -> None:
    assert text_of(rb"{\rtf1\ansi Open the doors.{\fonttbl{\f2\fcharset2 Symbol;", "a.rtf") == "Open the doors."


def test_a_note_stands_behind_the_sentence_that_it_is_about() -> None:
    note = (
        "<text:note text:note-class='footnote'><text:note-citation>1</text:note-citation><text:note-body><text:p>"
        "Without the tax.</text:p></text:note-body></text:note>"
    )
    made = open_file("text", f"<text:p>The fee is forty euros{note} a month.</text:p><text:p>It is due.</text:p>")

    assert text_of(made, "a.odt").endswith("The fee is forty euros a month.\n\nWithout the tax.\n\nIt is due.")


@pytest.mark.parametrize("cell", [False, True])
def test_notes_in_frames_and_comments_in_notes_are_read_once(cell: bool) -> None:
    def note(content: str) -> str:
        return f"<text:note><text:note-body><text:p>{content}</text:p></text:note-body></text:note>"

    def frame(content: str) -> str:
        return f"<draw:frame><draw:text-box><text:p>{content}</text:p></draw:text-box></draw:frame>"

    comment = "<office:annotation><text:p>Is it?</text:p></office:annotation>"
    first, second = note("Without the tax." + comment + frame("Of 2026.")), frame("Forty" + note("Euros."))
    paragraph = f"<text:p>The fee{first} is{second}.</text:p>"
    row = f"<table:table-row><table:table-cell>{paragraph}</table:table-cell></table:table-row>"

    text = text_of(open_file("text", f"<table:table>{row}</table:table>" if cell else paragraph), "a.odt")

    assert text.split("\n\n")[1:] == [
        "The fee is.", "Forty", "Euros.", "Without the tax.", "Of 2026.", "Comment: Is it?",
    ]  # fmt: skip


def test_rows_behind_many_blank_ones_keep_their_numbers() -> None:
    def cells(*texts: str) -> str:
        return "".join(f"<table:table-cell><text:p>{text}</text:p></table:table-cell>" for text in texts)

    blank = '<table:table-row table:number-rows-repeated="5000"><table:table-cell/></table:table-row>'
    made = open_file("spreadsheet", f"{blank}<table:table-row>{cells('South', '7')}</table:table-row>")

    assert "Row 5002\n\nSouth | 7" in text_of(made, "a.ods")
