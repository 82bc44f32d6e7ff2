"""Each place of pages, books, mails, calendars, tables, notebooks and RTF where people write: its word is in the
text that is read, or is left out on purpose.
"""

from __future__ import annotations

import json
from email.message import EmailMessage

import pytest

from agentic_rag.adapters.parsing.dispatch import load
from agentic_rag.adapters.parsing.office.package import zip_parts
from agentic_rag.adapters.parsing.process.limits import ParserLimits

SHOWN = "<p>The quay was rebuilt in concrete after the storm of that year, as the harbour master says.</p>"
MATH = "<math><mfrac><msup><mi>v</mi><mn>2</mn></msup><mi>gh</mi></mfrac><mo>=</mo><mi>Okapi</mi></math>"


def text_of(content: str | bytes, name: str) -> str:
    return load(content.encode() if isinstance(content, str) else content, name, None, ParserLimits())[1].text


PAGES = {
    "details": ("<details><summary>More</summary><p>Okapi</p></details>", "Okapi"),
    "caption of a table": ("<table><caption>Okapi</caption><tr><td>a</td><td>1</td></tr></table>", "Okapi"),
    "caption of a figure": ("<figure><img src=x><figcaption>Okapi</figcaption></figure>", "Okapi"),
    "formula": (f"<p>where {MATH} holds</p>", "where v²/gh = Okapi holds"),
    "formula in a cell": (f"<table><tr><td>law</td><td>{MATH}</td></tr></table>", "law | v²/gh = Okapi"),
    "formula beside its picture": (
        f'<p>where <span style="display: none">{MATH}</span><img alt="{{\\displaystyle v^{{2}} of Okapi}}"> holds</p>',
        "where v²/gh = Okapi holds",
    ),
    "formula with its source": (
        "<p><math><semantics><mrow><mi>Okapi</mi></mrow><annotation>\\TeX</annotation></semantics></math></p>",
        "\n\nOkapi",
    ),
    "sign in a cell": ('<table><tr><td>open</td><td><img alt="Okapi"></td></tr></table>', "open | Okapi"),
    "names of a table in a table": (
        "<table><tr><td><table><tr><th>Okapi</th><th>n</th></tr><tr><td>a</td><td>"
        "1</td></tr></table></td></tr></table>",
        "Okapi | n\n--- | ---\na | 1",
    ),
    "label of a drawing": ("<p>Plan:</p><svg><text>Okapi</text></svg>", "Plan:\n\nDrawing: Okapi"),
    "drawing in a cell": ("<table><tr><td>plan</td><td><svg><text>Okapi</text></svg></td></tr></table>", "Okapi"),
    "drawing in an address": (
        "<img src='data:image/svg+xml;utf8,%3Csvg%3E%3Ctext%3EOkapi%3C/text%3E%3C/svg%3E'>",
        "Drawing: Okapi",
    ),
    "note": ('<aside role="doc-footnote"><p>Okapi</p></aside>', "Okapi"),
    "quotation": ("<blockquote>Okapi</blockquote>", "Okapi"),
    "preformatted": ("<pre>Okapi</pre>", "Okapi"),
    "terms": ("<dl><dt>Okapi</dt><dd>an animal</dd></dl>", "Okapi: an animal"),
}


@pytest.mark.parametrize(("page", "expected"), PAGES.values(), ids=list(PAGES))
def test_what_a_page_shows_is_read(page: str, expected: str) -> None:
    assert expected in text_of(f"<html><body>{SHOWN}{page}</body></html>", "a.html")


@pytest.mark.parametrize(
    "page",
    [
        "<noscript>Okapi</noscript>",
        '<button aria-label="Okapi">x</button>',
        '<p aria-label="Okapi">x</p>',
        '<p title="Okapi">x</p>',
        "<select><option>Okapi</select>",
        "<svg><title>Okapi</title><defs><text>Okapi</text></defs><path d='M0 0'/></svg>",
        '<svg style="display: none"><text>Okapi</text></svg>',
        "<template><p>Okapi</template>",
        '<img alt="Okapi">',
        '<img alt="Okapi at dawn.png">',
        '<img alt="The Okapi quay at dawn">',
    ],
)
def test_what_a_page_does_not_show_as_text_is_left_out(page: str) -> None:
    assert "Okapi" not in text_of(f"<html><body>{SHOWN}{page}</body></html>", "a.html")


def test_formulas_and_alternative_texts_of_books_are_read() -> None:
    chapter = (
        f'<html xmlns="http://www.w3.org/1999/xhtml"><body><p>where {MATH} holds</p>'
        f'<img alt="The Okapi quay at dawn"/></body></html>'
    )
    book = zip_parts(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
            '<rootfile full-path="b.opf"/></rootfiles></container>',
            "b.opf": '<package xmlns="http://www.idpf.org/2007/opf"><manifest><item id="a" href="a.xhtml" '
            'media-type="application/xhtml+xml"/></manifest><spine><itemref idref="a"/></spine></package>',
            "a.xhtml": chapter,
        }
    )

    text = text_of(book, "a.epub")

    assert "where v²/gh = Okapi holds" in text
    assert "Picture: The Okapi quay at dawn" in text


FORMULAS = {
    "matrix": (
        "<mtable><mtr><mtd><mi>a</mi></mtd><mtd><mi>b</mi></mtd></mtr><mtr><mtd>"
        "<mi>c</mi></mtd><mtd><mi>d</mi></mtd></mtr></mtable>",
        "[a, b; c, d]",
    ),
    "sum": (
        "<munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi>"
        "</munderover><msub><mi>x</mi><mi>i</mi></msub>",
        "∑_(i = 1)ⁿx_i",
    ),
    "root": ("<mroot><mrow><mi>x</mi><mo>+</mo><mn>1</mn></mrow><mn>3</mn></mroot>", "³√(x + 1)"),
    "fraction": ("<mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mn>2</mn></mfrac>", "(a + b)/2"),
    "brackets": ('<mfenced open="[" close="]"><mi>a</mi><mi>b</mi></mfenced>', "[a, b]"),
    "invisible": ("<mi>a</mi><mo>\u2062</mo><mi>b</mi>", "ab"),
    "prime": ("<msup><mi>f</mi><mo>′</mo></msup>", "f′"),
    "deep": ("<mrow>" * 300 + "<mi>x</mi>" + "</mrow>" * 300, ""),
}


@pytest.mark.parametrize(("formula", "expected"), FORMULAS.values(), ids=list(FORMULAS))
def test_formulas_are_written_on_a_line(formula: str, expected: str) -> None:
    text = text_of(f"<html><body>{SHOWN}<p>so <math>{formula}</math>.</p></body></html>", "a.html")

    assert text.endswith(f"so {expected}.")


def mail(*, plain: str = "", html: str = "", calendar: str = "") -> EmailMessage:
    made = EmailMessage()
    made["Subject"] = "Quay"
    made.set_content(plain)
    if html:
        made.add_alternative(html, subtype="html")
    if calendar:
        made.add_alternative(calendar, subtype="calendar")
    return made


EVENT = (
    "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nSUMMARY:Okapi\r\nDTSTART;TZID=Europe/Oslo:20260105T093000\r\n"
    "END:VEVENT\r\nEND:VCALENDAR\r\n"
)
LONG = "<p>Okapi stands on the page that the sender wrote and the plain text lacks altogether.</p>"


def test_of_alternatives_the_one_that_says_most_is_read() -> None:
    assert "Okapi" in text_of(mail(plain="Your program cannot show this.", html=LONG).as_bytes(), "a.eml")
    same = text_of(
        mail(plain="Okapi as plain text, all of it.", html="<p>Okapi as <b>plain</b> text, all of it.</p>").as_bytes(),
        "a.eml",
    )
    assert same.count("Okapi") == 1


def test_an_invitation_is_read_beside_the_text_of_its_mail() -> None:
    text = text_of(mail(plain="Please come.", html="<p>Please come.</p>", calendar=EVENT).as_bytes(), "a.eml")

    assert text.count("Please come.") == 1
    assert "Okapi\n\nStart: 2026-01-05 09:30 (Europe/Oslo)" in text


def test_texts_behind_an_attachment_are_no_part_of_it_and_wrapped_parts_are_read() -> None:
    made = mail(plain="First Okapi.")
    made.add_attachment("attached words", filename="note.txt")
    made.add_attachment("Okapi at the end.", disposition="inline")
    text = text_of(made.as_bytes(), "a.eml")
    assert text.index("Okapi at the end.") < text.index("Attachment: note.txt")

    outer = EmailMessage()
    outer["Subject"] = "Signed"
    outer.make_mixed()
    outer.attach(made)
    del made["Subject"]
    assert "attached words" in text_of(outer.as_bytes(), "a.eml")


def test_entries_of_calendars_and_contacts_are_read_as_people_see_them() -> None:
    calendar = (
        "BEGIN:VCALENDAR\nX-WR-CALNAME:Harbour\nBEGIN:VTIMEZONE\nTZID:Europe/Oslo\nEND:VTIMEZONE\nBEGIN:"
        "VEVENT\nUID:17@x\nSUMMARY:Okapi\\, "
        'the\n  launch\nDTSTART;VALUE=DATE:20260105\nDTEND:20260106T100000Z\nATTENDEE;CN="Roe, '
        'Jane":mailto:jane@example.org\n'
        "DESCRIPTION:one\\ntwo\nBEGIN:VALARM\nDESCRIPTION:Reminder\nEND:VALARM\nEND:VEVENT\nEND:VCALENDAR\n"
    )
    text = text_of(calendar, "a.ics")
    assert text == (
        "Calendar: Harbour\n\nOkapi, the launch\n\nStart: 2026-01-05\nEnd: 2026-01-06 10:00 UTC\n"
        "Attendee: Roe, Jane <jane@example.org>\nDescription: one two"
    )

    contacts = (
        "BEGIN:VCARD\r\nVERSION:2.1\r\nFN:Jane Okapi\r\nTEL;WORK;VOICE:+47 1\r\nitem1.ADR;TYPE=home:;;Qu"
        "ay 5;Oslo;;0150;Norway\r\n"
        "NOTE;ENCODING=QUOTED-PRINTABLE;CHARSET=utf-8:M=C3=BCller=\r\n=20and more\r\nPHOTO;ENCODING=b:AA"
        "AA\r\nEND:VCARD\r\n"
    )
    text = text_of(contacts, "a.vcf")
    assert text.startswith("Jane Okapi\n\nTelephone")
    assert "Address (home): Quay 5, Oslo, 0150, Norway" in text
    assert "Note: Müller and more" in text
    assert "AAAA" not in text


def test_records_with_nested_lists_are_read() -> None:
    record = json.dumps({"id": 1, "parts": [{"name": "Okapi", "sizes": [[1, 2], [3]]}, ["Okapia"]]})

    text = text_of(f"{record}\n{record}\n", "a.jsonl")

    assert text.count("Okapia") == 2


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ("Report, of the office\nRegion;2025;2026;Share\nNorth;1,5;2;3\nOkapi;4;5;6\n", "Okapi | 4 | 5 | 6"),
        (
            "Made;2026-01-05\nBy;Okapi\nRegion;2025;2026;Share\nNorth;1;2;3\nSouth;4;5;6\n",
            "By: Okapi\n\nRows 4–5\n\nRegion | 2025",
        ),
        (
            "Region;2025\nNorth;1\nSouth;2\nWest;3\n\nPort;Okapi\nOslo;4\nBergen;5\nMoss;6\n",
            "Port | Okapi\n--- | ---\nOslo | 4",
        ),
    ],
    ids=["lines before the table", "keys before the table", "second table"],
)
def test_lines_before_a_table_and_further_tables_of_a_delimited_file_keep_their_names(
    table: str, expected: str
) -> None:
    assert expected in text_of(table, "a.csv")


RTF = {
    "note": (r"Here{\footnote \pard\plain {\super\chftn} Okapi}.", "Okapi"),
    "comment": (r"Here{\*\atnid JR}{\*\atnauthor Jane}{\*\annotation\pard Okapi}.", "Comment: Okapi"),
    "text box": (r"Here{\shp{\*\shpinst\shpleft0{\sp{\sn a}{\sv 1}}{\shptxt \pard Okapi\par}}}.", "Okapi"),
    "header": (r"{\header \pard Okapi\par}Here.", "Okapi"),
    "field": (r"Here {\field{\*\fldinst DOCPROPERTY x}{\fldrslt Okapi}}.", "Here Okapi."),
    "link": (r'Here {\field{\*\fldinst HYPERLINK "http://example.org"}{\fldrslt Okapi}}.', "Okapi"),
    "table": (r"{\trowd\cellx1\cellx2 Region\cell Okapi\cell\row}{\trowd South\cell 90\cell\row}", "Region | Okapi"),
}


@pytest.mark.parametrize(("content", "expected"), RTF.values(), ids=list(RTF))
def test_what_rtf_shows_is_read(content: str, expected: str) -> None:
    text = text_of(rf"{{\rtf1\ansi {content}\par}}", "a.rtf")

    assert expected in text
    assert text.count("Okapi") == 1


def test_results_of_a_notebook_are_read_or_told() -> None:
    outputs = [
        {
            "data": {
                "text/html": "<table><tr><th>Region</th><th>Okapi</th></tr><tr><td>South</td><td>90</td></tr></table>"
            }
        },
        {"data": {"text/markdown": "**Okapia**"}},
        {"output_type": "error", "ename": "OkapiError", "evalue": "no quay", "traceback": ["x"]},
        {"text": "y" * 5_000},
    ]
    notebook = json.dumps({"cells": [{"cell_type": "code", "source": "run()", "outputs": outputs}]})

    text = text_of(notebook, "a.ipynb")

    assert "Region | Okapi" in text
    assert "Okapia" in text
    assert "OkapiError: no quay" in text
    assert "1000 signs, is not read" in text
