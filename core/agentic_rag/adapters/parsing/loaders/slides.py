"""PPTX: each slide is a page; its title is a heading, its notes stand under their own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from xml.etree import ElementTree

from agentic_rag.adapters.parsing.file_types import SourceFile
from agentic_rag.adapters.parsing.loaders.tables import add_table, number_text
from agentic_rag.adapters.parsing.office.package import OFFICE, Package, open_package, relations_part, zip_parts
from agentic_rag.adapters.parsing.text.raised_text import Shift, shifted_text
from agentic_rag.adapters.parsing.text_builder import LoadedText, TextBuilder, first_heading
from agentic_rag.documents.document import BlockKind, PageSpan
from agentic_rag.kernel.text import strip_unstorable

_TEXT = f"{{{OFFICE}/drawingml/2006/main}}"
_SHOW = f"{{{OFFICE}/presentationml/2006/main}}"
_NUMBER = re.compile(r"-?\d{1,15}(?:\.\d{1,17})?(?:[eE][+-]?\d{1,2})?")
_CHART = f"{{{OFFICE}/drawingml/2006/chart}}"
_RELATION = f"{{{OFFICE}/officeDocument/2006/relationships}}id"
_PRESENTATION = "ppt/presentation.xml"
_TITLES = frozenset({"title", "ctrTitle"})
_FURNITURE = frozenset({"dt", "ftr", "sldNum", "hdr", "sldImg"})
"""Placeholders that repeat on every slide (ECMA-376 Part 1, 19.7.10)."""
_SPACE = re.compile(r"[^\S\n]+")
_DRAWING = f"{OFFICE}/drawingml/2006/main"
SAMPLE = zip_parts(
    {
        "[Content_Types].xml": f'<Types xmlns="{OFFICE}/package/2006/content-types"/>',
        _PRESENTATION: (
            f'<p:presentation xmlns:p="{OFFICE}/presentationml/2006/main" '
            f'xmlns:r="{OFFICE}/officeDocument/2006/relationships">'
            '<p:sldIdLst><p:sldId id="256" r:id="a"/></p:sldIdLst></p:presentation>'
        ),
        "ppt/_rels/presentation.xml.rels": relations_part("slide", "slides/slide1.xml"),
        "ppt/slides/slide1.xml": (
            f'<p:sld xmlns:p="{OFFICE}/presentationml/2006/main" xmlns:a="{_DRAWING}">'
            "<p:cSld><p:spTree><p:sp><p:txBody>"
            "<a:p><a:r><a:t>warm</a:t></a:r></a:p></p:txBody></p:sp></p:spTree></p:cSld></p:sld>"
        ),
    }
)


def load(source: SourceFile) -> LoadedText:
    """The slides in the order of the show, hidden ones too. Errors: `ParseFailed` codes PARSE_TOO_LARGE, PARSE_CORRUPT,
    PARSE_ENCRYPTED.
    """
    built = TextBuilder()
    pages: list[PageSpan] = []
    with open_package(source.content, source.limits, "PPTX") as package:
        named = package.title()
        slides = list(_slides(package))
        source.limits.require_pages(len(slides), "PPTX", "slides")
        for number, part in enumerate(slides, 1):
            start = built.length
            _read_slide(built, package, part)
            pages.append(PageSpan(number, start, built.length))
    text = built.text()
    return LoadedText(text, tuple(built.blocks), tuple(pages), first_heading(text, built.blocks, deepest=1) or named)


def _slides(package: Package) -> Iterator[str]:
    relations = package.relations(_PRESENTATION)
    for slide in package.tree(_PRESENTATION).iter(f"{_SHOW}sldId"):
        kind, part = relations.get(slide.get(_RELATION, ""), ("", ""))
        if kind == "slide":
            yield part


def _read_slide(built: TextBuilder, package: Package, part: str) -> None:
    shapes = [shape for shape in _shapes(package.tree(part)) if _placeholder(shape) not in _FURNITURE]
    for shape in sorted(shapes, key=lambda shape: _placeholder(shape) not in _TITLES):
        if _placeholder(shape) in _TITLES:
            built.add(BlockKind.HEADING, " ".join(" ".join(_paragraphs(shape)).split()), level=1)
        else:
            _read_shape(built, shape)
    held = [(kind, other) for kind, other in package.relations(part).values() if other in package.names]
    for other in (other for kind, other in held if kind == "diagramData"):
        _add_lines(built, [*_paragraphs(package.tree(other))])
    for other in (other for kind, other in held if kind == "chart"):
        _read_chart(built, package.tree(other))
    for other in (other for kind, other in held if kind == "notesSlide"):
        notes = [shape for shape in _shapes(package.tree(other)) if _placeholder(shape) not in _FURNITURE]
        _add_lines(built, [line for shape in notes for line in _paragraphs(shape)], heading="Notes")


def _read_chart(built: TextBuilder, chart: ElementTree.Element) -> None:
    """The figures behind a chart, as the program stored them when it drew it: a row a category, a column a series."""
    title = chart.find(f"./{_CHART}chart/{_CHART}title")
    series = list(chart.iter(f"{_CHART}ser"))
    names = [" ".join(_points(one.find(f"{_CHART}tx")).values()) for one in series]
    categories = next(filter(None, (_points(_first(one, "cat", "xVal")) for one in series)), dict[int, str]())
    columns = [_points(_first(one, "val", "yVal")) for one in series]
    places = sorted({*categories}.union(*columns))
    rows = [[categories.get(place, ""), *(column.get(place, "") for column in columns)] for place in places]
    caption = "" if title is None else " ".join(_paragraphs(title))
    add_table(built, [["", *names], *rows] if rows else [], 1, caption)


def _first(series: ElementTree.Element, *names: str) -> ElementTree.Element | None:
    return next((found for name in names if (found := series.find(f"{_CHART}{name}")) is not None), None)


def _points(held: ElementTree.Element | None) -> dict[int, str]:
    """By place: the values of the innermost level of a stored list."""
    if held is None:
        return {}
    level, code = held.find(f".//{_CHART}lvl"), held.findtext(f".//{_CHART}formatCode", "")
    return {
        int(point.get("idx", "0")): _value_text(point.findtext(f"{_CHART}v", ""), code)
        for point in (held if level is None else level).iter(f"{_CHART}pt")
    }


def _value_text(stored: str, code: str) -> str:
    text = " ".join(strip_unstorable(stored).split())
    return number_text(float(text), code) if code and _NUMBER.fullmatch(text) else text


def _add_lines(built: TextBuilder, lines: Sequence[str], heading: str = "") -> None:
    """Append paragraphs, under a heading where there are any."""
    if lines:
        built.add(BlockKind.HEADING, heading, level=2)
    for line in lines:
        built.add(BlockKind.PARAGRAPH, line)


def _shapes(slide: ElementTree.Element) -> Iterator[ElementTree.Element]:
    """Shapes and frames in drawing order, those of groups too."""
    for element in slide.iter():
        if element.tag in (f"{_SHOW}sp", f"{_SHOW}graphicFrame"):
            yield element


def _placeholder(shape: ElementTree.Element) -> str:
    held = shape.find(f".//{_SHOW}nvPr/{_SHOW}ph")
    return held.get("type", "body") if held is not None else ""


def _read_shape(built: TextBuilder, shape: ElementTree.Element) -> None:
    table = shape.find(f".//{_TEXT}tbl")
    if table is not None:
        rows = [[" ".join(_paragraphs(cell)) for cell in row.iter(f"{_TEXT}tc")] for row in table.iter(f"{_TEXT}tr")]
        properties = table.find(f"{_TEXT}tblPr")
        headed = properties is not None and properties.get("firstRow") in ("1", "true")
        add_table(built, [row for row in rows if any(row)], int(headed))
        return
    lines = list(_paragraphs(shape))
    listed = len(lines) > 1 and _placeholder(shape) in ("body", "obj", "")
    for line in lines:
        built.add(BlockKind.LIST_ITEM if listed else BlockKind.PARAGRAPH, f"- {line}" if listed else line)


def _paragraphs(shape: ElementTree.Element) -> Iterator[str]:
    for paragraph in shape.iter(f"{_TEXT}p"):
        pieces = [""]
        for piece in paragraph:
            pieces.append(_run(piece, pieces[-1]))
        line = _SPACE.sub(" ", strip_unstorable("".join(pieces))).strip()
        if line:
            yield line


def _run(piece: ElementTree.Element, before: str) -> str:
    """The text of a run, a field or a formula; that of a line break is the break."""
    if piece.tag == f"{_TEXT}br":
        return "\n"
    text = "".join(one.text or "" for one in piece.iter(f"{_TEXT}t"))
    properties = piece.find(f"{_TEXT}rPr")
    baseline = properties.get("baseline", "0") if properties is not None else "0"
    if baseline.strip("0%") == "":
        return text
    return shifted_text(text, Shift.LOWERED if baseline.startswith("-") else Shift.RAISED, before)
