"""What is struck out does not hold any more, and is not read as if it did."""

from __future__ import annotations

import io

import docx
import pptx
import pytest
from pptx.util import Inches

from agentic_rag.adapters.parsing.dispatch import load
from agentic_rag.adapters.parsing.office.package import zip_parts
from agentic_rag.adapters.parsing.process.limits import ParserLimits

NAMES = "urn:oasis:names:tc:opendocument:xmlns"
LINE_THROUGH = '<style:text-properties style:text-line-through-style="{}"/>'


def text_of(content: bytes, name: str) -> str:
    return load(content, name, None, ParserLimits())[1].text


def slide() -> bytes:
    made = pptx.Presentation()
    frame = made.slides.add_slide(made.slide_layouts[6]).shapes.add_textbox(*[Inches(1)] * 4).text_frame
    for text, strike in (("The fee is ", None), ("40 euros ", "sngStrike"), ("50 ", "dblStrike"), ("35 ", "noStrike")):
        run = frame.paragraphs[0].add_run()
        run.text = text
        if strike:
            run._r.get_or_add_rPr().set("strike", strike)
    out = io.BytesIO()
    made.save(out)
    return out.getvalue()


def word() -> bytes:
    made = docx.Document()
    paragraph = made.add_paragraph("The fee is ")
    paragraph.add_run("40 euros ").font.strike = True
    paragraph.add_run("35")
    out = io.BytesIO()
    made.save(out)
    return out.getvalue()


def open_text(body: str) -> bytes:
    """With the styles `gone` and `kept`."""
    spaces = " ".join(f'xmlns:{room}="{NAMES}:{room}:1.0"' for room in ("office", "style", "text"))
    styles = "".join(
        f'<style:style style:name="{name}" style:family="text">{LINE_THROUGH.format(line)}</style:style>'
        for name, line in (("gone", "solid"), ("kept", "none"))
    )
    content = (
        f"<office:document-content {spaces}><office:automatic-styles>{styles}</office:automatic-styles><office:body>"
        f"<office:text>{body}</office:text></office:body></office:document-content>"
    )
    return zip_parts(
        {
            "mimetype": "application/vnd.oasis.opendocument.text",
            "META-INF/manifest.xml": "<manifest/>",
            "content.xml": content,
        }
    )


def rich(text: str) -> bytes:
    return rf"{{\rtf1\ansi {text}\par}}".encode()


SPANS = (
    '<text:p>The fee is <text:span text:style-name="gone">40 <text:span>euros</text:span> </text:span>'
    '<text:span text:style-name="kept">35</text:span></text:p>'
)
OF_ITS_PARAGRAPH = '<text:p text:style-name="gone">The fee is <text:span text:style-name="kept">35</text:span></text:p>'


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (slide(), "a.pptx"),
        (word(), "a.docx"),
        (open_text(SPANS), "a.odt"),
        (open_text(OF_ITS_PARAGRAPH), "a.odt"),
        (rich(r"The fee is {\rtlch\fcs1 \af0 \strike\insrsid9 40 {\b euros} }35"), "a.rtf"),
        (rich(r"The fee is {\b\striked1 40 euros }35"), "a.rtf"),
        (rich(r"The fee is \strike 40 euros \strike0 35"), "a.rtf"),
        (rich(r"The fee is {\strike0 35}"), "a.rtf"),
    ],
    ids=["PPTX", "DOCX", "ODT", "ODT paragraph", "RTF group", "RTF twice", "RTF run", "RTF not struck"],
)
def test_struck_out_text_is_left_out(content: bytes, name: str) -> None:
    assert text_of(content, name).split() == ["The", "fee", "is", "35"]


def test_struck_out_rtf_takes_nothing_else_along() -> None:
    ended = text_of(rich(r"One. {\strike two \strike0 three} four."), "a.rtf")
    across = text_of(rich(r"One. \strike two\par three \strike0 four."), "a.rtf")
    braced = text_of(rich(r"One. \strike two {\b three} four."), "a.rtf")

    assert ended == "One. three four."
    assert across == "One.\n\nfour."
    assert braced == "One. two three four."
