"""Each place of slides and OpenDocument files where people write: its word is in the text that is read, or is left out
on purpose.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Mapping
from typing import Any, cast

import pptx
import pytest
from lxml import etree
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from agentic_rag.adapters.parsing.dispatch import load
from agentic_rag.adapters.parsing.office.package import OFFICE, zip_parts
from agentic_rag.adapters.parsing.process.limits import ParserLimits

ODF = "urn:oasis:names:tc:opendocument:xmlns"
RELATIONS = f"{OFFICE}/officeDocument/2006/relationships"
P = f'xmlns:p="{OFFICE}/presentationml/2006/main"'
A = f'xmlns:a="{OFFICE}/drawingml/2006/main"'
MATHML = (
    '<math xmlns="http://www.w3.org/1998/Math/MathML"><msup><mi>v</mi><mn>2</mn></msup><mo>=</mo><mi>Okapi</mi></math>'
)


def text_of(content: bytes, name: str) -> str:
    return load(content, name, None, ParserLimits())[1].text


def saved(made: Any) -> bytes:
    out = io.BytesIO()
    made.save(out)
    return out.getvalue()


def changed(content: bytes, parts: Mapping[str, str], relations: Mapping[str, tuple[str, str]]) -> bytes:
    """A package with further parts, and relations to them (type, target) by the part of relations."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            held = old.read(name)
            if name in relations:
                kind, target = relations[name]
                one = f'<Relationship Id="rX" Type="{kind}" Target="{target}"/></Relationships>'
                held = held.replace(b"</Relationships>", one.encode())
            new.writestr(name, held)
        for name, part in parts.items():
            new.writestr(name, part)
    return out.getvalue()


def slides(write: Callable[[Any], object]) -> bytes:
    made = pptx.Presentation()
    slide = made.slides.add_slide(made.slide_layouts[5])
    cast(Any, slide.shapes.title).text = "The quay"
    write(slide)
    return saved(made)


def notes(slide: Any) -> None:
    slide.notes_slide.notes_text_frame.text = "Okapi"


def hide(slide: Any) -> None:
    slide._element.set("show", "0")
    slide.shapes.add_textbox(0, 0, 1, 1).text_frame.text = "Okapi"


def write_footer(slide: Any) -> None:
    for kind, text in (("ftr", "Release Okapi"), ("sldNum", "7"), ("dt", "1 May")):
        xml = (
            f'<p:sp {P} {A}><p:nvSpPr><p:cNvPr id="9" name="x"/><p:cNvSpPr/><p:nvPr><p:ph type="{kind}"/></p:nvPr>'
            f"</p:nvSpPr><p:spPr/><p:txBody><a:bodyPr/><a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:txBody></p:sp>"
        )
        slide.shapes._spTree.append(etree.fromstring(xml))


def describe(slide: Any) -> None:
    box = slide.shapes.add_textbox(0, 0, 1, 1)
    box._element.nvSpPr.cNvPr.set("descr", "The Okapi quay at dawn")


def chart(slide: Any) -> None:
    data = CategoryChartData()
    data.categories = ["North", "South"]
    data.add_series("Okapi sales", (118.5, 90))
    made = slide.shapes.add_chart(
        XL_CHART_TYPE.COLUMN_CLUSTERED, Inches(1), Inches(1), Inches(5), Inches(3), data
    ).chart
    made.has_title = True
    made.chart_title.text_frame.text = "Okapi chart"
    made.category_axis.has_title = True
    made.category_axis.axis_title.text_frame.text = "Okapi regions"


def equation(slide: Any) -> None:
    xml = (
        f'<p:sp {P} {A}><p:nvSpPr><p:cNvPr id="9" name="x"/><p:cNvSpPr/><p:nvPr/>'
        f"</p:nvSpPr><p:spPr/><p:txBody><a:bodyPr/><a:p>"
        '<mc:AlternateContent xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006">'
        '<mc:Choice Requires="a14">'
        '<a14:m xmlns:a14="http://schemas.microsoft.com/office/drawing/2010/main">'
        '<m:oMath xmlns:m="http://schemas.openxmlformats.org/'
        'officeDocument/2006/math"><m:rad><m:deg/><m:e><m:r><m:t>Okapi</m:t></m:r>'
        "</m:e></m:rad></m:oMath></a14:m></mc:Choice>"
        "<mc:Fallback><a:r><a:t>copy</a:t></a:r></mc:Fallback></mc:AlternateContent></a:p></p:txBody></p:sp>"
    )
    slide.shapes._spTree.append(etree.fromstring(xml))


def table(slide: Any) -> None:
    made = slide.shapes.add_table(2, 2, 0, 0, Inches(4), Inches(1)).table
    for at, word in enumerate(("Region", "Okapi", "South", "90")):
        made.cell(at // 2, at % 2).text = word


def grouped(slide: Any) -> None:
    slide.shapes.add_group_shape().shapes.add_textbox(0, 0, 1, 1).text_frame.text = "Okapi"


SLIDES: dict[str, tuple[Callable[[Any], object], str]] = {
    "speaker notes": (notes, "Notes\n\nOkapi"),
    "hidden slide": (hide, "Okapi"),
    "alternative text": (describe, "Picture: The Okapi quay at dawn"),
    "chart title": (chart, "Okapi chart (Okapi regions)"),
    "chart series": (chart, "Okapi sales"),
    "equation": (equation, "√Okapi"),
    "table": (table, "Region | Okapi"),
    "group": (grouped, "Okapi"),
}


@pytest.mark.parametrize(("write", "expected"), SLIDES.values(), ids=list(SLIDES))
def test_what_stands_on_a_slide_is_read(write: Callable[[Any], object], expected: str) -> None:
    text = text_of(slides(write), "a.pptx")

    assert expected in text
    assert "copy" not in text


OLD_COMMENTS = (
    f'<p:cmLst {P}><p:cm authorId="0" idx="1"><p:pos x="1" y="1"/><p:text>Okapi?</p:text></p:cm></p:cmLst>',
    f'<p:cmAuthorLst {P}><p:cmAuthor id="0" name="Jane Roe"/></p:cmAuthorLst>',
    (f"{RELATIONS}/comments", f"{RELATIONS}/commentAuthors"),
)
MODERN = "http://schemas.microsoft.com/office/2018/10/relationships"
MODERN_SPACE = f'xmlns:p188="http://schemas.microsoft.com/office/powerpoint/2018/8/main" {A}'
MODERN_COMMENTS = (
    f'<p188:cmLst {MODERN_SPACE}><p188:cm id="{{1}}" authorId="{{A}}"><p188:replyLst>'
    f'<p188:reply id="{{2}}" authorId="{{A}}"><p188:txBody>'
    "<a:bodyPr/><a:p><a:r><a:t>Okapi reply</a:t></a:r></a:p></p188:txBody></p188:reply>"
    "</p188:replyLst><p188:txBody><a:bodyPr/><a:p><a:r>"
    "<a:t>Okapi?</a:t></a:r></a:p></p188:txBody></p188:cm></p188:cmLst>",
    f'<p188:authorLst {MODERN_SPACE}><p188:author id="{{A}}" name="Jane Roe"/></p188:authorLst>',
    (f"{MODERN}/comments", f"{MODERN}/authors"),
)


def test_the_lines_below_slides_are_read_once_without_numbers_and_dates() -> None:
    def write(slide: Any) -> None:
        write_footer(slide)
        write_footer(slide)

    text = text_of(slides(write), "a.pptx")

    assert text.endswith("Header and footer\n\nRelease Okapi")
    assert text.count("Release Okapi") == 1


@pytest.mark.parametrize("written", [OLD_COMMENTS, MODERN_COMMENTS], ids=["old", "modern"])
def test_comments_on_slides_are_read_with_their_authors(written: tuple[str, str, tuple[str, str]]) -> None:
    comments, authors, (kind, author_kind) = written
    made = changed(
        slides(lambda slide: None),
        {"ppt/comments/c.xml": comments, "ppt/a.xml": authors},
        {
            "ppt/slides/_rels/slide1.xml.rels": (kind, "../comments/c.xml"),
            "ppt/_rels/presentation.xml.rels": (author_kind, "a.xml"),
        },
    )

    text = text_of(made, "a.pptx")

    assert "Comment by Jane Roe: Okapi?" in text
    assert ("Okapi reply" in text) is ("reply" in comments)


NAMES = (
    " ".join(
        f'xmlns:{short}="{ODF}:{room}:1.0"'
        for short, room in (
            ("office", "office"),
            ("text", "text"),
            ("table", "table"),
            ("draw", "drawing"),
            ("style", "style"),
            ("chart", "chart"),
            ("svg", "svg-compatible"),
            ("presentation", "presentation"),
        )
    )
    + ' xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:dc="http://purl.org/dc/elements/1.1/"'
)
CHART = (
    f"<office:document-content {NAMES}><office:body><office:chart><chart:chart>"
    f"<chart:title><text:p>Okapi chart</text:p></chart:title>"
    "<chart:plot-area><chart:axis><chart:title><text:p>Okapi euros</text:p>"
    "</chart:title></chart:axis></chart:plot-area><table:table>"
    "<table:table-header-rows><table:table-row><table:table-cell/><table:table-cell>"
    "<text:p>Okapi sales</text:p></table:table-cell>"
    "</table:table-row></table:table-header-rows><table:table-rows><table:table-row>"
    "<table:table-cell><text:p>South</text:p></table:table-cell>"
    "<table:table-cell><text:p>90</text:p></table:table-cell></table:table-row>"
    "</table:table-rows></table:table></chart:chart></office:chart>"
    "</office:body></office:document-content>"
)
NOTE = "<office:annotation><dc:creator>Jane Roe</dc:creator><text:p>Okapi?</text:p></office:annotation>"
COMMENT = "Comment by Jane Roe: Okapi?"
FRAMED = '<draw:frame><draw:object xlink:href="./Object 1"/></draw:frame>'
DESCRIBED = (
    "<draw:frame><draw:image/><svg:title>pier</svg:title><svg:desc>The Okapi quay at dawn</svg:desc></draw:frame>"
)
BOX = "<draw:frame><draw:text-box><text:p>Okapi</text:p></draw:text-box></draw:frame>"
INNER_TABLE = (
    "<table:table><table:table-header-rows><table:table-row><table:table-cell>"
    "<text:p>Okapi</text:p></table:table-cell><table:table-cell>"
    "<text:p>n</text:p></table:table-cell></table:table-row></table:table-header-rows>"
    "<table:table-row><table:table-cell><text:p>a</text:p>"
    "</table:table-cell><table:table-cell><text:p>1</text:p></table:table-cell></table:table-row></table:table>"
)


def cells(*held: str) -> str:
    return (
        f"<table:table-row>{''.join(f'<table:table-cell>{one}</table:table-cell>' for one in held)}</table:table-row>"
    )


def open_file(kind: str, content: str, held: str = "", styles: str = "") -> bytes:
    head = "<text:p>Region</text:p>", "<text:p>2025</text:p>", "<text:p>2026</text:p>"
    wrapped = {
        "text": f"<text:p>The quay.</text:p>{content}",
        "presentation": f"<draw:page>{content}</draw:page>",
        "spreadsheet": f'<table:table table:name="Plan">{cells(*head)}{content}</table:table>',
    }[kind]
    parts = {
        "mimetype": f"application/vnd.oasis.opendocument.{kind}",
        "META-INF/manifest.xml": "<manifest/>",
        "content.xml": f"<office:document-content {NAMES}><office:body><office:{kind}>{wrapped}</office:{kind}>"
        f"</office:body></office:document-content>",
        "styles.xml": f"<office:document-styles {NAMES}>{styles}</office:document-styles>",
    }
    return zip_parts(parts | ({"Object 1/content.xml": held} if held else {}))


AROUND = (
    "<office:master-styles><style:master-page><style:header><text:p>Okapi</text:p>"
    "</style:header><style:footer><text:p>Page "
    "<text:page-number>1</text:page-number></text:p></style:footer></style:master-page></office:master-styles>"
)
SOUTH = "<text:p>South</text:p>"
TEXTS: dict[str, tuple[bytes, str]] = {
    "comment": (open_file("text", f"<text:p>Here{NOTE} it is.</text:p>"), f"Here it is.\n\n{COMMENT}"),
    "comment in a list": (
        open_file("text", f"<text:list><text:list-item><text:p>Here{NOTE}</text:p></text:list-item></text:list>"),
        COMMENT,
    ),
    "comment in a table": (
        open_file("text", f"<table:table>{cells('<text:p>a</text:p>', f'<text:p>1{NOTE}</text:p>')}</table:table>"),
        f"a | 1\n\n{COMMENT}",
    ),
    "note": (
        open_file(
            "text",
            "<text:p>Here<text:note><text:note-citation>1</text:note-citation><text:note-body>"
            "<text:p>Okapi</text:p></text:note-body></text:note></text:p>",
        ),
        "Okapi",
    ),
    "formula": (open_file("text", f"<text:p>Where {FRAMED} holds.</text:p>", MATHML), "Where v² = Okapi holds."),
    "chart title": (open_file("text", f"<text:p>{FRAMED}</text:p>", CHART), "Okapi chart (Okapi euros)"),
    "chart figures": (open_file("text", f"<text:p>{FRAMED}</text:p>", CHART), "South | 90"),
    "alternative text": (open_file("text", f"<text:p>{DESCRIBED}</text:p>"), "Picture: The Okapi quay at dawn"),
    "text box": (open_file("text", f"<text:p>{BOX}</text:p>"), "Okapi"),
    "text box in a table": (
        open_file("text", f"<table:table>{cells(f'<text:p>a</text:p>{BOX}', '<text:p>1</text:p>')}</table:table>"),
        "Okapi",
    ),
    "names of a table in a table": (
        open_file("text", f"<table:table>{cells(INNER_TABLE, '<text:p>beside</text:p>')}</table:table>"),
        "Okapi | n\n--- | ---\na | 1",
    ),
    "header": (open_file("text", "", styles=AROUND), "Okapi"),
}
SHOWS: dict[str, tuple[bytes, str]] = {
    "comment": (open_file("presentation", NOTE), COMMENT),
    "chart": (open_file("presentation", FRAMED, CHART), "Okapi chart (Okapi euros)"),
    "chart figures": (open_file("presentation", FRAMED, CHART), "Okapi sales"),
    "alternative text": (open_file("presentation", DESCRIBED), "Picture: The Okapi quay at dawn"),
    "formula": (
        open_file(
            "presentation",
            f"<draw:frame><draw:text-box><text:p>So {FRAMED}</text:p></draw:text-box></draw:frame>",
            MATHML,
        ),
        "So v² = Okapi",
    ),
    "formula alone": (open_file("presentation", FRAMED, MATHML), "v² = Okapi"),
    "speaker notes": (
        open_file(
            "presentation",
            "<presentation:notes><draw:frame><draw:text-box><text:p>Okapi</text:p></draw:text-box>"
            "</draw:frame></presentation:notes>",
        ),
        "Notes\n\nOkapi",
    ),
}
SPREADS: dict[str, tuple[bytes, str]] = {
    "comment": (
        open_file("spreadsheet", cells(SOUTH, "<text:p>80</text:p>", f"{NOTE}<text:p>90</text:p>")),
        "Comment on C2 (South) by Jane Roe: Okapi?",
    ),
    "comment beside a value": (
        open_file("spreadsheet", cells(SOUTH, "<text:p>80</text:p>", f"{NOTE}<text:p>90</text:p>")),
        "South | 80 | 90",
    ),
    "text box": (open_file("spreadsheet", f"<table:shapes>{BOX}</table:shapes>{cells(SOUTH)}"), "Okapi"),
    "chart": (
        open_file("spreadsheet", f"{cells(SOUTH)}<table:shapes>{FRAMED}</table:shapes>", CHART),
        "Chart: Okapi chart (Okapi euros)",
    ),
    "chart in a cell": (open_file("spreadsheet", cells(SOUTH, FRAMED), CHART), "Chart: Okapi chart (Okapi euros)"),
    "hidden row": (
        open_file(
            "spreadsheet",
            cells(SOUTH)
            .replace("<table:table-row>", '<table:table-row table:visibility="collapse">')
            .replace("South", "Okapi"),
        ),
        "Okapi",
    ),
}


@pytest.mark.parametrize(
    ("content", "name", "expected"),
    [
        pytest.param(*held, id=f"{name} {place}")
        for name, places in (("a.odt", TEXTS), ("a.odp", SHOWS), ("a.ods", SPREADS))
        for place, (content, expected) in places.items()
        for held in [(content, name, expected)]
    ],
)
def test_what_an_open_document_shows_is_read_once(content: bytes, name: str, expected: str) -> None:
    text = text_of(content, name)

    assert expected in text
    assert text.count(expected) == 1


def test_deleted_text_and_numbers_of_pages_are_left_out_of_open_documents() -> None:
    deleted = (
        "<text:tracked-changes><text:changed-region><text:deletion><text:p>Okapi</text:p>"
        "</text:deletion></text:changed-region></text:tracked-changes>"
    )

    assert text_of(open_file("text", deleted), "a.odt") == "The quay."
    assert text_of(open_file("text", "", styles=AROUND), "a.odt").endswith("Header and footer\n\nOkapi")
