"""DOCX: checked as an archive first, then mammoth makes HTML of it, which the HTML loader reads.

Nothing outside the file is ever opened: external relationships and pictures are left out.
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Callable
from typing import Protocol, cast
from xml.etree import ElementTree
from xml.parsers.expat import ExpatError

import mammoth  # pyright: ignore[reportMissingTypeStubs] - it ships none

from agentic_rag.adapters.parsing.file_types import SourceFile
from agentic_rag.adapters.parsing.loaders.html import read_html
from agentic_rag.adapters.parsing.process.limits import ParserLimits
from agentic_rag.adapters.parsing.text_builder import LoadedText, first_heading, tidy_title
from agentic_rag.kernel.errors import ParseFailed
from agentic_rag.kernel.formatting import format_bytes
from agentic_rag.kernel.text import strip_unstorable

_MEBIBYTE = 1 << 20
_DECLARES = re.compile(rb"<\0?!\0?(?:D\0?O\0?C\0?T\0?Y\0?P\0?E|E\0?N\0?T\0?I\0?T\0?Y)")
"""Office Open XML forbids document type declarations (ECMA-376 Part 2, 7.2.3); only attacks carry them. Also as
UTF-16.
"""
_NOTE_LINKS = re.compile(
    r'<sup><a href="#(?:foot|end)note-\d+"[^>]*>\[\d+\]</a></sup>|<a href="#(?:foot|end)note-ref-\d+"[^>]*>[^<]*</a>'
)
"""mammoth's links between a note and its place: they would stand inside the sentences."""
_TITLE_TAG = "{http://purl.org/dc/elements/1.1/}title"
_STYLES = "p[style-name='Title'] => h1:fresh\np[style-name='Subtitle'] => p:fresh"


_OFFICE = "http://schemas.openxmlformats.org"
_SAMPLE_PARTS = {
    "[Content_Types].xml": f'<Types xmlns="{_OFFICE}/package/2006/content-types"/>',
    "_rels/.rels": (
        f'<Relationships xmlns="{_OFFICE}/package/2006/relationships"><Relationship Id="a" Target="word/document.xml" '
        f'Type="{_OFFICE}/officeDocument/2006/relationships/officeDocument"/></Relationships>'
    ),
    "word/document.xml": (
        f'<w:document xmlns:w="{_OFFICE}/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>warm</w:t></w:r></w:p>'
        "</w:body></w:document>"
    ),
}


def _sample() -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in _SAMPLE_PARTS.items():
            archive.writestr(name, part)
    return made.getvalue()


SAMPLE = _sample()


class _Converted(Protocol):
    """mammoth's result."""

    value: str


def load(source: SourceFile) -> LoadedText:
    """Text, headings, lists and tables of a DOCX; the title is its first top heading, else its title property.

    Raises ParseFailed: PARSE_TOO_LARGE, PARSE_CORRUPT, PARSE_ENCRYPTED.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(source.content)) as archive:
            _check(archive, source.limits)
            named = _title(archive)
        convert = cast(Callable[..., _Converted], mammoth.convert_to_html)  # pyright: ignore[reportUnknownMemberType]
        converted = convert(
            io.BytesIO(source.content),
            convert_image=_without_images,
            style_map=_STYLES,
            include_embedded_style_map=False,
            external_file_access=False,
        )
    except (
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        NotImplementedError,
        KeyError,
        ExpatError,
        ElementTree.ParseError,
    ) as error:
        raise ParseFailed(f"the DOCX is damaged: {error}", code="PARSE_CORRUPT") from error
    reading = read_html(strip_unstorable(_NOTE_LINKS.sub("", converted.value)))
    return LoadedText(
        reading.text,
        reading.blocks,
        title=first_heading(reading.text, [*reading.blocks], deepest=1) or named or reading.title,
    )


def _without_images(image: object) -> list[object]:
    """Makes no element of a picture, so that its data are never opened."""
    return []


def _check(archive: zipfile.ZipFile, limits: ParserLimits) -> None:
    parts = archive.infolist()
    if len(parts) > limits.zip_entries:
        raise _too_large(f"it has {len(parts)} parts, {limits.zip_entries} can be read")
    if sum(part.file_size for part in parts) > limits.zip_bytes:
        raise _too_large(f"it unpacks to more than {format_bytes(limits.zip_bytes)}")
    for part in parts:
        if part.flag_bits & 1:
            raise ParseFailed("the DOCX is encrypted: save it without a password", code="PARSE_ENCRYPTED")
        if part.file_size > _MEBIBYTE and part.file_size > limits.zip_ratio * max(part.compress_size, 1):
            raise _too_large(
                f"{part.filename!r} unpacks to {part.file_size // max(part.compress_size, 1)} times its size"
            )
        if not part.filename.endswith((".xml", ".rels")):
            continue
        if part.file_size > limits.zip_part_bytes:
            raise _too_large(f"{part.filename!r} unpacks to more than {format_bytes(limits.zip_part_bytes)}")
        if _DECLARES.search(archive.read(part)):
            raise ParseFailed(f"{part.filename!r} declares XML entities, which DOCX forbids", code="PARSE_CORRUPT")


def _too_large(why: str) -> ParseFailed:
    return ParseFailed(f"the DOCX is too large: {why}", code="PARSE_TOO_LARGE")


def _title(archive: zipfile.ZipFile) -> str | None:
    if "docProps/core.xml" not in archive.namelist():
        return None
    # Safe: parts with entity declarations were refused.
    found = ElementTree.fromstring(archive.read("docProps/core.xml")).find(_TITLE_TAG)  # noqa: S314
    return tidy_title(found.text) if found is not None else None
