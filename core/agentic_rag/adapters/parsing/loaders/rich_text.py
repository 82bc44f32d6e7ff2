"""RTF by striprtf: the paragraphs of the text."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import groupby
from typing import cast

import striprtf.striprtf

from agentic_rag.adapters.parsing.file_types import SourceFile
from agentic_rag.adapters.parsing.loaders.tables import add_table
from agentic_rag.adapters.parsing.text.raised_text import Shift, shifted_text
from agentic_rag.adapters.parsing.text_builder import LoadedText, TextBuilder
from agentic_rag.documents.document import BlockKind
from agentic_rag.kernel.text import strip_unstorable

_SHIFTED = re.compile(r"(.?)(\{?)((?:\\[a-z]+-?\d*)*)\\(super|sub)(?![a-z])((?:\\[a-z]+-?\d*)*) ?([^\\{}\r\n]{1,12})")
SAMPLE = rb"{\rtf1\ansi warm\par}"


def load(source: SourceFile) -> LoadedText:
    """The text of an RTF file, a paragraph a line; pictures and styles are left out."""
    strip = cast(Callable[..., str], striprtf.striprtf.rtf_to_text)  # pyright: ignore[reportUnknownMemberType]
    text = strip(_SHIFTED.sub(_write_shift, source.content.decode("latin-1")), errors="replace")
    built = TextBuilder()
    for in_table, lines in groupby(strip_unstorable(text).splitlines(), lambda line: line.endswith("|")):
        if in_table:
            add_table(built, [[" ".join(cell.split()) for cell in line[:-1].split("|")] for line in lines], 0)
            continue
        for line in lines:
            built.add(BlockKind.PARAGRAPH, " ".join(line.split()))
    return LoadedText(built.text(), tuple(built.blocks))


def _write_shift(found: re.Match[str]) -> str:
    """Raised or lowered letters as RTF's own characters of Unicode (RTF 1.9.1, `\\uN`)."""
    before, brace, left, shift, right, letters = found.groups()
    shown = shifted_text(letters, Shift.RAISED if shift == "super" else Shift.LOWERED, before)
    if not shown.isascii():
        shown = "{\\uc0" + "".join(f"\\u{ord(letter)} " for letter in shown) + "}"
    controls = left + right
    return f"{before}{brace}{controls}{' ' if controls else ''}{shown}"
