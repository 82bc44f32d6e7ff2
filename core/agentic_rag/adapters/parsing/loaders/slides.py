"""PPTX: each slide is a page; its title is a heading, its notes and comments stand under their own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from xml.etree import ElementTree

from agentic_rag.adapters.parsing.file_types import SourceFile
from agentic_rag.adapters.parsing.held_files import HeldFiles
from agentic_rag.adapters.parsing.office.comments import slide_comments
from agentic_rag.adapters.parsing.office.drawing_text import (
    alternative_texts,
    chart_data,
    paragraphs,
    shown_elements,
)
from agentic_rag.adapters.parsing.office.embedded import read_embedded
from agentic_rag.adapters.parsing.office.package import OFFICE, Package, open_package, relations_part, zip_parts
from agentic_rag.adapters.parsing.office.pictures import drawing_lines, lacks_words, shows_large_picture, slide_pictures
from agentic_rag.adapters.parsing.text.table_text import add_table, count_names
from agentic_rag.adapters.parsing.text_builder import LoadedText, TextBuilder, first_heading
from agentic_rag.adapters.parsing.unread import OBJECT, PAGE, PICTURE, UnreadParts, none_of, with_unread
from agentic_rag.documents.document import BlockKind, PageSpan

_TEXT = f"{{{OFFICE}/drawingml/2006/main}}"
_SHOW = f"{{{OFFICE}/presentationml/2006/main}}"
_RELATION = f"{{{OFFICE}/officeDocument/2006/relationships}}id"
_PRESENTATION = "ppt/presentation.xml"
_TITLES = frozenset({"title", "ctrTitle"})
_FURNITURE = frozenset({"dt", "ftr", "sldNum", "hdr", "sldImg"})
"""Placeholders that repeat on every slide (ECMA-376 Part 1, 19.7.10)."""
_LINES = frozenset({"ftr", "hdr"})
"""Those of them that people write; the same text stands on most slides."""
_RECORDINGS = frozenset({"audio", "video", "media"})
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
    """The slides in the order of the show, hidden ones too; one that is nothing but pictures, or a title and a large
    picture, is unread; large pictures beside other words are told where they show words. Files embedded in slides stand
    behind the last one.

    Errors: `ParseFailed` codes PARSE_TOO_LARGE, PARSE_CORRUPT, PARSE_ENCRYPTED.
    """
    built = TextBuilder()
    pages: list[PageSpan] = []
    drawn: list[int] = []
    pictures: dict[str, float] = {}
    with open_package(source.content, source.limits, "PPTX") as package:
        named = package.title()
        slides = list(_slides(package))
        source.limits.require_pages(len(slides), "PPTX", "slides")
        for number, part in enumerate(slides, 1):
            start, first = built.length, len(built.blocks)
            _read_slide(built, package, part)
            pages.append(PageSpan(number, start, built.length))
            titled = all(block.kind is BlockKind.HEADING for block in built.blocks[first:])
            has_picture = titled and any(kind == "image" for kind, _ in package.relations(part).values())
            if has_picture and (built.length == start or shows_large_picture(package.tree(part))):
                drawn.append(number)
            else:
                pictures |= _large_pictures(package, part)
        lettered = sum(lacks_words(package.read(one), width) for one, width in pictures.items())
        if built.length:
            built.add_section("Header and footer", _page_lines(package, slides))
        title = first_heading(built.text(), built.blocks, deepest=1) or named
        held = HeldFiles(source, built, "file", is_aside=True)
        objects = sum(read_embedded(held, package, part) for part in slides) + len(_recordings(package, slides))
    loaded = replace(held.finish(title), pages=tuple(pages))
    return with_unread(
        loaded, UnreadParts(drawn, len(pages), PAGE), none_of(lettered, PICTURE), none_of(objects, OBJECT)
    )


def _recordings(package: Package, slides: Sequence[str]) -> set[str]:
    """Sound and film that slides hold."""
    return {
        other
        for part in slides
        for kind, other in package.relations(part).values()
        if kind in _RECORDINGS and other in package.names
    }


def _large_pictures(package: Package, part: str) -> dict[str, float]:
    """The large pictures of a slide that the package holds, with their widths."""
    targets = package.relations(part)
    shown = slide_pictures(package.tree(part)).items() if any(kind == "image" for kind, _ in targets.values()) else ()
    held = {targets[one][1]: width for one, width in shown if one in targets}
    return {one: width for one, width in held.items() if one in package.names}


def _slides(package: Package) -> Iterator[str]:
    relations = package.relations(_PRESENTATION)
    for slide in package.tree(_PRESENTATION).iter(f"{_SHOW}sldId"):
        kind, part = relations.get(slide.get(_RELATION, ""), ("", ""))
        if kind == "slide":
            yield part


def _read_slide(built: TextBuilder, package: Package, part: str) -> None:
    slide = package.tree(part)
    shapes = [shape for shape in _shapes(slide) if _placeholder(shape) not in _FURNITURE]
    for shape in sorted(shapes, key=lambda shape: _placeholder(shape) not in _TITLES):
        if _placeholder(shape) in _TITLES:
            built.add(BlockKind.HEADING, " ".join(" ".join(paragraphs(shape)).split()), level=1)
        else:
            _read_shape(built, shape)
    held = [(kind, other) for kind, other in package.relations(part).values() if other in package.names]
    for other in (other for kind, other in held if kind == "diagramData"):
        built.add_section("", paragraphs(package.tree(other)))
    for other in (other for kind, other in held if kind in ("chart", "chartEx")):
        chart = chart_data(package.tree(other))
        add_table(built, chart.rows, 1, chart.caption)
    built.add_section("", drawing_lines(package, part))
    built.add_section("", alternative_texts(slide))
    for other in (other for kind, other in held if kind == "notesSlide"):
        notes = [shape for shape in _shapes(package.tree(other)) if _placeholder(shape) not in _FURNITURE]
        built.add_section("Notes", [line for shape in notes for line in paragraphs(shape)], level=2)
    built.add_section("Comments", slide_comments(package, _PRESENTATION, part), level=2)


def _page_lines(package: Package, slides: Sequence[str]) -> list[str]:
    """What stands above and below the slides and their notes, each text once."""
    notes = (other for part in slides for kind, other in package.relations(part).values() if kind == "notesSlide")
    parts = [*slides, *(one for one in notes if one in package.names)]
    shapes = [shape for part in parts for shape in _shapes(package.tree(part)) if _placeholder(shape) in _LINES]
    lines = (line for shape in shapes for line in paragraphs(shape) if any(map(str.isalpha, line)))
    return [*dict.fromkeys(lines)]


def _shapes(slide: ElementTree.Element) -> Iterator[ElementTree.Element]:
    """Shapes and frames in drawing order, those of groups too."""
    for element in shown_elements(slide):
        if element.tag in (f"{_SHOW}sp", f"{_SHOW}graphicFrame"):
            yield element


def _placeholder(shape: ElementTree.Element) -> str:
    held = shape.find(f".//{_SHOW}nvPr/{_SHOW}ph")
    return held.get("type", "body") if held is not None else ""


def _table_rows(table: ElementTree.Element) -> list[list[str]]:
    """The rows with text. A merged cell stands in each that it covers, unless it is all of its row."""
    rows: list[list[str]] = []
    for row in table.iter(f"{_TEXT}tr"):
        cells = list(row.iter(f"{_TEXT}tc"))
        read = [" ".join(paragraphs(cell)) for cell in cells]
        is_one_cell = all(_is_set(cell, "hMerge") for cell in cells[1:])
        for at, cell in enumerate(cells):
            if _is_set(cell, "vMerge") and rows and at < len(rows[-1]):
                read[at] = rows[-1][at]
            elif _is_set(cell, "hMerge") and at and not is_one_cell:
                read[at] = read[at - 1]
        rows.append(read)
    return [row for row in rows if any(row)]


def _name_rows(table: ElementTree.Element, rows: Sequence[Sequence[str]]) -> int:
    """How many rows name the columns, where the table says that its first does: two where a merged name of it spans
    several of the second.
    """
    properties, first = table.find(f"{_TEXT}tblPr"), table.find(f"{_TEXT}tr")
    if properties is None or not _is_set(properties, "firstRow") or first is None:
        return 0
    spans = any(_is_set(cell, "hMerge") for cell in first.iter(f"{_TEXT}tc"))
    return max(1, count_names(rows)) if spans else 1


def _is_set(element: ElementTree.Element, attribute: str) -> bool:
    return element.get(attribute) in ("1", "true")


def _read_shape(built: TextBuilder, shape: ElementTree.Element) -> None:
    table = shape.find(f".//{_TEXT}tbl")
    if table is not None:
        rows = _table_rows(table)
        add_table(built, rows, _name_rows(table, rows))
        return
    lines = list(paragraphs(shape))
    listed = len(lines) > 1 and _placeholder(shape) in ("body", "obj", "")
    for line in lines:
        built.add(BlockKind.LIST_ITEM if listed else BlockKind.PARAGRAPH, f"- {line}" if listed else line)
