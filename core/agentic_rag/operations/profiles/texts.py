"""The texts that a report is made of, and the places that it points to."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from uuid import UUID

from agentic_rag.documents.document import Chunk


@dataclass(frozen=True, slots=True)
class Place:
    """A span of a document's text, in code points, with the line on which it starts."""

    document_id: UUID
    source_path: str
    start: int
    end: int
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class ReportedText:
    """What the caller may read of a document. Places are those of its whole text: what no passage holds is blank."""

    document_id: UUID
    source_path: str
    url: str | None
    media_type: str
    text: str
    lines: Sequence[tuple[int, int]]
    """Where passages start, and on which line."""
    dated: datetime | None = None
    """From when its age counts, as of citations."""

    def place(self, start: int, end: int) -> Place:
        """A span of it."""
        at, line = self.lines[max(0, bisect_right(self.lines, start, key=lambda one: one[0]) - 1)]
        line += self.text.count("\n", at, start)
        return Place(self.document_id, self.source_path, start, end, line, self.text[start:end])


def join_chunks(chunks: Sequence[Chunk]) -> list[ReportedText]:
    """The texts of the documents whose passages these are, by source path. Passages may repeat each other's ends."""
    ordered = sorted(chunks, key=lambda one: (one.source_path, one.document_id, one.start, one.end))
    return [_join(list(own)) for _, own in groupby(ordered, key=lambda one: (one.source_path, one.document_id))]


def _join(own: Sequence[Chunk]) -> ReportedText:
    text = ""
    for chunk in own:
        text += "\n" * (chunk.start - len(text))
        text += chunk.text[len(text) - chunk.start :]
    first = own[0]
    lines = [(one.start, one.line_start) for one in own]
    return ReportedText(first.document_id, first.source_path, first.url, first.media_type, text, lines)
