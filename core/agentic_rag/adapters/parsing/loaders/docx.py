"""DOCX: checked as an archive first, then mammoth makes HTML of it, which the HTML loader reads.

Nothing outside the file is ever opened: external relationships and pictures are left out.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from typing import Protocol, cast

import mammoth  # pyright: ignore[reportMissingTypeStubs] - it ships none

from agentic_rag.adapters.parsing.file_types import SourceFile
from agentic_rag.adapters.parsing.loaders.html import read_html
from agentic_rag.adapters.parsing.office.package import OFFICE, open_package, relations_part, zip_parts
from agentic_rag.adapters.parsing.text_builder import LoadedText, first_heading
from agentic_rag.kernel.text import strip_unstorable

_NOTE_LINKS = re.compile(
    r'<sup><a href="#(?:foot|end)note-\d+"[^>]*>\[\d+\]</a></sup>|<a href="#(?:foot|end)note-ref-\d+"[^>]*>[^<]*</a>'
)
"""mammoth's links between a note and its place: they would stand inside the sentences."""
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


class _Converted(Protocol):
    """mammoth's result."""

    value: str


def load(source: SourceFile) -> LoadedText:
    """Text, headings, lists and tables of a DOCX; the title is its first top heading, else its title property.

    Raises ParseFailed: PARSE_TOO_LARGE, PARSE_CORRUPT, PARSE_ENCRYPTED.
    """
    with open_package(source.content, source.limits, "DOCX") as package:
        named = package.title()
        convert = cast(Callable[..., _Converted], mammoth.convert_to_html)  # pyright: ignore[reportUnknownMemberType]
        converted = convert(
            io.BytesIO(source.content),
            convert_image=_without_images,
            style_map=_STYLES,
            include_embedded_style_map=False,
            external_file_access=False,
        )
    reading = read_html(strip_unstorable(_NOTE_LINKS.sub("", converted.value)))
    return LoadedText(
        reading.text,
        reading.blocks,
        title=first_heading(reading.text, [*reading.blocks], deepest=1) or named or reading.title,
    )


def _without_images(image: object) -> list[object]:
    """Makes no element of a picture, so that its data are never opened."""
    return []
