"""RTF by striprtf: the paragraphs of the text."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from typing import cast

import striprtf.striprtf

from agentic_rag.adapters.parsing.file_types import SourceFile
from agentic_rag.adapters.parsing.loaders.tables import add_table
from agentic_rag.adapters.parsing.text_builder import LoadedText, TextBuilder
from agentic_rag.documents.document import BlockKind
from agentic_rag.kernel.text import strip_unstorable

SAMPLE = rb"{\rtf1\ansi warm\par}"


def load(source: SourceFile) -> LoadedText:
    """The text of an RTF file, a paragraph a line; pictures and styles are left out."""
    strip = cast(Callable[..., str], striprtf.striprtf.rtf_to_text)  # pyright: ignore[reportUnknownMemberType]
    text = strip(source.content.decode("latin-1"), errors="replace")
    built = TextBuilder()
    for in_table, lines in groupby(strip_unstorable(text).splitlines(), lambda line: line.endswith("|")):
        if in_table:
            add_table(built, [[" ".join(cell.split()) for cell in line[:-1].split("|")] for line in lines], 0)
            continue
        for line in lines:
            built.add(BlockKind.PARAGRAPH, " ".join(line.split()))
    return LoadedText(built.text(), tuple(built.blocks))
