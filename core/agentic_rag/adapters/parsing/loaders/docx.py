"""DOCX: checked as an archive first, its paragraphs counted as Word counts them and what Word shows beside them written
out, then mammoth makes HTML of it (of its styles it gets names and lists alone), which the HTML loader reads.

Nothing outside the file is ever opened. Pictures are counted, never opened.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from typing import Any, cast
from xml.etree import ElementTree

import mammoth  # pyright: ignore[reportMissingTypeStubs] - it ships none

from agentic_rag.adapters.parsing.file_types import SourceFile
from agentic_rag.adapters.parsing.held_files import HeldFiles
from agentic_rag.adapters.parsing.loaders.html import read_html
from agentic_rag.adapters.parsing.office.embedded import read_embedded
from agentic_rag.adapters.parsing.office.package import OFFICE, Package, open_package, relations_part, zip_parts
from agentic_rag.adapters.parsing.office.paragraph_numbers import ParagraphNumbers
from agentic_rag.adapters.parsing.office.pictures import drawn_pictures
from agentic_rag.adapters.parsing.office.word_extras import WordExtras, page_lines, write_inline
from agentic_rag.adapters.parsing.text.page_walker import NUMBER_ATTRIBUTE
from agentic_rag.adapters.parsing.text_builder import LoadedText, TextBuilder, first_heading
from agentic_rag.adapters.parsing.unread import OBJECT, PICTURE, none_of, with_unread
from agentic_rag.kernel.text import strip_unstorable

_NOTE_LINKS = re.compile(
    r'<sup><a href="#(?:foot|end)note-\d+"[^>]*>\[\d+\]</a></sup>|<a href="#(?:foot|end)note-ref-\d+"[^>]*>[^<]*</a>'
)
"""mammoth's links between a note and its place: they would stand inside the sentences."""
_CHECKBOX = re.compile(r"<input\b([^>]*)>")
_CHECKED, _UNCHECKED = "☒", "☐"
_MAIN = "word/document.xml"
_ALTERNATIVES = b"AlternateContent"
_NOTES = ("footnotes", "endnotes")
_OPEN, _CLOSE = "\ufdd0", "\ufdd1"
"""Around the number of a paragraph: no characters, which no text holds."""
_LABELLED_ITEM = re.compile(rf'<li>{_OPEN}([^"{_CLOSE}]*){_CLOSE} ')
_MARKS = re.compile(rf"{_OPEN}{_CLOSE} |[{_OPEN}{_CLOSE}]")
_STYLES = "p[style-name='Title'] => h1:fresh\np[style-name='Subtitle'] => p:fresh"

SAMPLE = zip_parts(
    {
        "[Content_Types].xml": f'<Types xmlns="{OFFICE}/package/2006/content-types"/>',
        "_rels/.rels": relations_part("officeDocument", "word/document.xml"),
        "word/document.xml": (
            f'<w:document xmlns:w="{OFFICE}/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>warm</w:t></w:r></w:p>'
            "</w:body></w:document>"
        ),
    }
)


def load(source: SourceFile) -> LoadedText:
    """Text, headings, lists and tables of a DOCX; the title is its first top heading, else its title property. Files in
    it stand behind its text; large pictures and objects of other programs are told as unread.

    Raises ParseFailed: PARSE_TOO_LARGE, PARSE_CORRUPT, PARSE_ENCRYPTED.
    """
    with open_package(source.content, source.limits, "DOCX") as package:
        named = package.title()
        main = next((part for kind, part in package.relations("").values() if kind == "officeDocument"), _MAIN)
        reading = _read_text(_readable(package, main, source.content))
        title = first_heading(reading.text, [*reading.blocks], deepest=1) or named or reading.title
        built = TextBuilder()
        built.append(reading)
        built.add_section("Header and footer", page_lines(package, main))
        held = HeldFiles(source, built, "file", is_aside=True)
        objects = read_embedded(held, package, main)
        pictures = _count_pictures(package, main)
    return with_unread(held.finish(title), none_of(pictures, PICTURE), none_of(objects, OBJECT))


def _read_text(content: bytes) -> LoadedText:
    convert = cast(Callable[..., Any], mammoth.convert_to_html)  # pyright: ignore[reportUnknownMemberType]
    converted = convert(
        io.BytesIO(content),
        convert_image=_without_images,
        style_map=_STYLES,
        include_embedded_style_map=False,
        external_file_access=False,
    )
    page = _LABELLED_ITEM.sub(rf'<li {NUMBER_ATTRIBUTE}="\1">', _NOTE_LINKS.sub("", converted.value))
    page = _CHECKBOX.sub(lambda box: _CHECKED if "checked=" in box[1] else _UNCHECKED, page)
    return read_html(strip_unstorable(_MARKS.sub("", page)))


def _count_pictures(package: Package, main: str) -> int:
    """How many large pictures the text shows; those above and below the pages are logos."""
    if not any(kind == "image" for kind, _ in package.relations(main).values()):
        return 0
    return len(drawn_pictures(package.tree(main)))


def _readable(package: Package, main: str, content: bytes) -> bytes:
    """The package as mammoth reads all of it: with the number of each counted paragraph as a text at its start, between
    marks, and with what Word shows beside the text.
    """
    if main not in package.names:
        return content
    changed: dict[str, bytes] = {}
    for kind, part in package.relations(main).values():
        if kind in _NOTES and part in package.names and write_inline(notes := package.tree(part)):
            changed[part] = ElementTree.tostring(notes)
    document = package.tree(main)
    word = document.tag.partition("}")[0] + "}"
    # Numbers first: those in text boxes are counted where the boxes are anchored.
    steps = (_write_numbers(package, main, document), write_inline(document))
    if any((*steps, WordExtras(package, main, word).write_into(document))):
        changed[main] = ElementTree.tostring(document)
    styles = next((part for kind, part in package.relations(main).values() if kind == "styles"), "")
    if styles in package.names and _ALTERNATIVES not in (held := package.read(styles)):
        changed[styles] = _named_styles(ElementTree.fromstring(held))  # noqa: S314 - parts with entities were refused
    return package.with_parts(changed) if changed else content


def _named_styles(styles: ElementTree.Element) -> bytes:
    """Of styles what mammoth reads: their names, and which list a style for lists belongs to. How they look is most of
    an ordinary file, and mammoth needs a quarter of a second for it.
    """
    word = styles.tag.partition("}")[0] + "}"
    named = ElementTree.Element(styles.tag)
    for style in styles.iterfind(f"{word}style"):
        kept = ElementTree.SubElement(named, style.tag, style.attrib)
        kept.extend(style.iterfind(f"{word}name"))
        if (numbered := style.find(f"{word}pPr/{word}numPr")) is not None:
            ElementTree.SubElement(kept, f"{word}pPr").append(numbered)
    return ElementTree.tostring(named)


def _write_numbers(package: Package, main: str, document: ElementTree.Element) -> bool:
    """Write the number of each counted paragraph as a text at its start; whether there are any."""
    parts = dict(package.relations(main).values())
    numbering, styles = (parts.get(name, "") for name in ("numbering", "styles"))
    if numbering not in package.names:
        return False
    numbers = ParagraphNumbers(package.tree(numbering), package.tree(styles) if styles in package.names else None)
    word = document.tag.partition("}")[0] + "}"
    labelled = False
    for paragraph, label in numbers.labels(document):
        labelled = True
        run = ElementTree.Element(f"{word}r")
        ElementTree.SubElement(run, f"{word}t").text = f"{_OPEN}{label}{_CLOSE} "
        # The first element holds the paragraph's properties.
        paragraph.insert(1, run)
    return labelled


def _without_images(image: object) -> list[object]:
    """Makes no element of a picture, so that its data are never opened."""
    return []
