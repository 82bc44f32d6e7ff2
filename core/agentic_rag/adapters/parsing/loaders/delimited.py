"""CSV and TSV: rows under the names of their columns."""

from __future__ import annotations

import csv
import io
from collections import Counter

from agentic_rag.adapters.parsing.file_types import SourceFile, extension_of
from agentic_rag.adapters.parsing.loaders.text import load as load_text
from agentic_rag.adapters.parsing.text.table_text import add_grid
from agentic_rag.adapters.parsing.text_builder import LoadedText, TextBuilder

_DELIMITERS = ",;\t|"
_LOOKED_AT = 64_000
_LINES_LOOKED_AT = 50
"""Code points and lines from the start that tell the delimiter."""

SAMPLE = b"place,degrees\nhere,21\n"


def load(source: SourceFile) -> LoadedText:
    """The rows of a table; text that is no table is read as paragraphs. Errors: `ParseFailed` code PARSE_TOO_LARGE."""
    text = source.text
    csv.field_size_limit(source.limits.text_characters)
    rows = csv.reader(io.StringIO(text), delimiter=_delimiter(text, source.name), skipinitialspace=True)
    built = TextBuilder()
    try:
        numbered = ((number, [" ".join(cell.split()) for cell in row]) for number, row in enumerate(rows, 1))
        add_grid(built, numbered, source.limits, has_merged=False)
    except csv.Error:
        return load_text(source)
    return LoadedText(built.text(), tuple(built.blocks))


def _delimiter(text: str, name: str) -> str:
    """The delimiter that the most lines hold equally often; lines before the table may hold others."""
    if extension_of(name) == "tsv":
        return "\t"
    lines = [line for line in text[:_LOOKED_AT].splitlines()[:_LINES_LOOKED_AT] if line.strip()]

    def agreement(delimiter: str) -> tuple[int, int]:
        counts = Counter(filter(None, (_outside_quotes(line, delimiter) for line in lines)))
        return max(((times, count) for count, times in counts.items()), default=(0, 0))

    return max(_DELIMITERS, key=agreement)


def _outside_quotes(line: str, delimiter: str) -> int:
    return sum(part.count(delimiter) for part in line.split('"')[::2])
