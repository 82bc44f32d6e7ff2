"""Books, mails, notebooks and JSON: text in places that a reader of their formats may pass over is read, or told as
unread.
"""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from agentic_rag.adapters.parsing.dispatch import load
from agentic_rag.adapters.parsing.office.package import zip_parts
from agentic_rag.adapters.parsing.process.limits import ParserLimits
from agentic_rag.adapters.parsing.text_builder import LoadedText
from agentic_rag.kernel.errors import ParseFailed

PROSE = "The quay was rebuilt in concrete after the storm of that year, as the harbour master says."
FACT = "The warden is Okapi of Kiel."
XHTML = "application/xhtml+xml"


def read(content: bytes | str, name: str) -> LoadedText:
    return load(content.encode() if isinstance(content, str) else content, name, None, ParserLimits())[1]


def chapter(body: str, head: str = "") -> str:
    return f"<html xmlns='http://www.w3.org/1999/xhtml'><head>{head}</head><body>{body}</body></html>"


def book(second: str, *, item: str = "", spine: str = '<itemref idref="b"/>') -> bytes:
    """A book of two chapters; `item` is the second one's in the manifest."""
    item = item or f'<item id="b" href="b.xhtml" media-type="{XHTML}"/>'
    return zip_parts(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
            '<rootfile full-path="O/b.opf"/></rootfiles></container>',
            "O/b.opf": f'<package xmlns="http://www.idpf.org/2007/opf"><manifest><item id="a" href="a.xhtml" '
            f'media-type="{XHTML}"/>{item}</manifest><spine><itemref idref="a"/>{spine}</spine></package>',
            "O/a.xhtml": chapter(f"<p>{PROSE}</p>"),
            "O/b.xhtml": second,
        }
    )


CHAPTERS = {
    "empty title": chapter(f"<p>{FACT}</p>", "<title/>"),
    "empty script": chapter(f"<p>{FACT}</p>", "<script src='a.js'/>"),
    "empty style": chapter(f"<p>{FACT}</p>", "<style type='text/css' />"),
    "empty frame": chapter(f"<iframe src='a>b'/><p>{FACT}</p>"),
    "section": chapter(f"<p><![CDATA[{FACT}]]></p>"),
    "hidden note": chapter(f"<p>Text.</p><aside epub:type='footnote' hidden='hidden'><p>{FACT}</p></aside>"),
}


@pytest.mark.parametrize("second", CHAPTERS.values(), ids=list(CHAPTERS))
def test_a_chapter_of_xhtml_is_read_whole(second: str) -> None:
    assert FACT in read(book(second), "a.epub").text


@pytest.mark.parametrize(
    ("item", "spine"),
    [
        (f'<item id="b" href="b.xhtml" media-type="{XHTML}"/>', ""),
        (f'<item id="b" href="B.xhtml" media-type="{XHTML}"/>', '<itemref idref="b"/>'),
        ('<item id="b" href="b.xhtml" media-type="application/x-dtbook+xml"/>', '<itemref idref="b"/>'),
        (
            '<item id="c" href="c.bin" media-type="application/x-own" fallback="b"/>'
            f'<item id="b" href="b.xhtml" media-type="{XHTML}"/>',
            '<itemref idref="c"/>',
        ),
    ],
    ids=["beside the reading order", "other case", "older markup", "fallback"],
)
def test_pages_of_a_book_are_read_wherever_it_names_them(item: str, spine: str) -> None:
    loaded = read(book(chapter(f"<p>{FACT}</p>"), item=item, spine=spine), "a.epub")

    assert loaded.text.count(FACT) == 1
    assert loaded.text.index(PROSE) < loaded.text.index(FACT)
    assert not loaded.unread_pages


@pytest.mark.parametrize(
    "item",
    [
        f'<item id="b" href="gone.xhtml" media-type="{XHTML}"/>',
        f'<item id="z" href="b.xhtml" media-type="{XHTML}" properties="nav"/>',
        '<item id="b" href="b.xhtml" media-type="image/jpeg"/>',
        '<item id="b" href="b.xhtml" media-type="image/jpeg" fallback="b"/>',
    ],
    ids=["missing", "unknown", "picture", "its own fallback"],
)
def test_a_chapter_that_cannot_be_read_is_told(item: str) -> None:
    loaded = read(book(chapter(f"<p>{FACT}</p>"), item=item), "a.epub")

    assert (loaded.unread_pages, loaded.parts, loaded.unit) == ((2,), 2, "file")


def multipart(subtype: str, *parts: str) -> str:
    joined = "".join(f"--B\n{part}\n" for part in parts)
    return f"Subject: Quay\nMIME-Version: 1.0\nContent-Type: multipart/{subtype}; boundary=B\n\n{joined}--B--\n"


def part(text: str, media_type: str = "text/plain") -> str:
    return f"Content-Type: {media_type}\n\n{text}"


@pytest.mark.parametrize(
    ("plain", "page"),
    [
        (f"{PROSE}\n\nIt opens at 9.", f"<p>{PROSE}</p><p>It opens at 9.</p><p>{FACT}</p>"),
        (
            f"{PROSE}\n\nIt opens at 9.",
            f"<p>{PROSE}</p><table><tr><th>Opens</th><th>Okapi</th></tr><tr><td>9</td></tr>",
        ),
        (f"{PROSE}\n\n{FACT}", f"<p>{PROSE}</p><p>It opens at 9.</p>"),
        (FACT, f"<p>{PROSE}</p><p>{PROSE} It opens at 9.</p>"),
    ],
    ids=["line of the page", "table of the page", "line of the text", "short text"],
)
def test_what_one_alternative_of_a_mail_lacks_is_read_from_the_other(plain: str, page: str) -> None:
    text = read(multipart("alternative", part(plain), part(page, "text/html")), "a.eml").text

    assert "Okapi" in text
    assert "9" in text


def test_alternatives_that_say_the_same_are_read_once() -> None:
    plain = f"{PROSE}\nSee https://example.org/berths/17 or write to quay@example.org."
    page = f"<p>{PROSE}</p><p>See <a href='https://example.org/berths/17'>berths</a> or write to us.</p>"

    text = read(multipart("alternative", part(plain), part(page, "text/html")), "a.eml").text

    assert text.count("rebuilt") == 1
    assert text.count("write to") == 1


@pytest.mark.parametrize(
    ("charset", "codec"),
    [("x-mac-roman", "mac_roman"), ("cp-850", "cp850"), ("X-CP1252", "cp1252"), ("windows-874", "cp874")],
)
def test_texts_of_mails_are_read_in_the_code_page_that_they_state(charset: str, codec: str) -> None:
    word = "ท่าเรือ" if codec == "cp874" else "Größe"
    head = f"Subject: x\nContent-Type: text/plain; charset={charset}\nContent-Transfer-Encoding: 8bit\n\n"

    assert word in read(head.encode() + f"{word}. {PROSE}".encode(codec), "a.eml").text


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def test_base64_that_breaks_off_and_of_a_whole_message_is_decoded() -> None:
    broken = f"Subject: x\nContent-Transfer-Encoding: base64\n\n{encoded(f'{FACT} {PROSE}!!')[:-3]}"
    assert FACT in read(broken, "a.eml").text

    whole = encoded(f"Subject: in\n\n{FACT}")
    held = f"Content-Type: message/rfc822\nContent-Transfer-Encoding: base64\n\n{whole}"
    assert FACT in read(multipart("mixed", part("hello"), held), "a.eml").text


def test_encrypted_texts_of_mails_are_told() -> None:
    secret = "-----BEGIN PGP MESSAGE-----\n\nhQEMA1\n-----END PGP MESSAGE-----"
    held = multipart(
        "encrypted", part("Version: 1", "application/pgp-encrypted"), part(secret, "application/octet-stream")
    )

    loaded = read(held, "a.eml")

    assert (loaded.unread_pages, loaded.parts, loaded.unit) == ((1,), 1, "file")
    assert "hQEMA1" not in loaded.text
    for content, name in ((secret, "a.txt"), (f"Subject: x\n\n{secret}", "a.eml")):
        with pytest.raises(ParseFailed) as failed:
            read(content, name)
        assert failed.value.code == "PARSE_ENCRYPTED"


def notebook(data: dict[str, Any], **cell: Any) -> str:
    output = {"output_type": "display_data", "data": data}
    return json.dumps({"cells": [{"cell_type": "code", "source": "run()", "outputs": [output], **cell}]})


NAME = {"text/plain": "<IPython.core.display.HTML object>"}
RESULTS = {
    "page beside the name of an object": NAME | {"text/html": f"<p>{FACT}</p>"},
    "styled table": {"text/plain": "<Styler at 0x7f3a>", "text/html": "<table><tr><th>Okapi</th></tr></table>"},
    "formula": {"text/plain": "<Math object>", "text/latex": "$Okapi^2$"},
    "records": {"text/plain": "<JSON object>", "application/json": {"warden": "Okapi"}},
    "table": {"text/csv": ["a,b\n", "1,Okapi\n"]},
    "drawing": {"text/plain": "<SVG object>", "image/svg+xml": "<svg><text>Okapi</text></svg>"},
    "colours": {"text/plain": "\x1b[1mOka\x1b[0mpi"},
}


@pytest.mark.parametrize("data", RESULTS.values(), ids=list(RESULTS))
def test_a_result_of_a_notebook_is_read_in_the_form_that_has_text(data: dict[str, Any]) -> None:
    loaded = read(notebook(data), "a.ipynb")

    assert "Okapi" in loaded.text
    assert not loaded.unread_pages


def test_charts_of_a_notebook_without_text_are_told() -> None:
    loaded = read(notebook({"application/vnd.plotly.v1+json": {"data": []}}), "a.ipynb")

    assert (loaded.unread_pages, loaded.unit) == ((1,), "object")


def test_json_is_read_with_the_letters_of_all_escapes_but_its_own_signs() -> None:
    text = read('{"a": "R\\u0026D for O\\u0027Hara \\u003c 5 \\u0022x\\u0022 \\u005cn"}', "a.json").text

    assert text == '{"a": "R&D for O\'Hara < 5 \\u0022x\\u0022 \\u005cn"}'
