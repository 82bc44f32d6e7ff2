"""The rows of one table that a comparison names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from agentic_rag.answering.extraction.candidate_units import Subquery
from agentic_rag.answering.extraction.extractive import DraftSentence, ExcludedSpans, PartDraft
from agentic_rag.answering.extraction.segmented_text import Span
from agentic_rag.answering.extraction.term_matching import holds_phrase
from agentic_rag.answering.extraction.text_blocks import RankedBlock, find_tables
from agentic_rag.answering.extraction.text_units import UnitKind
from agentic_rag.answering.shapes.forms import quote_row
from agentic_rag.language.tables import split_cells, split_names
from agentic_rag.retrieval.candidates import Passage

MAX_ROWS = 4
SHORT_NAME = 2
"""Letters of a name that must be written as in the table: "level A" is no article."""
_MARKS = re.compile(r"[*_`]")


def compared_rows(
    part: Subquery, place: int, passages: Sequence[Passage], draft: PartDraft, excluded: ExcludedSpans
) -> tuple[DraftSentence, ...]:
    """The rows of a table whose first cells the question names, where it names two of one table at least."""
    score = draft.units[0].score if draft.units else 0.0
    for at, passage in enumerate(passages):
        text = passage.chunk.text
        for block in find_tables(text):
            named = _named(part.text, [(row, text[slice(*row)]) for row in block.parts])
            free = [row for row in named if (passage.chunk.ordinal, row[0]) not in excluded]
            if 1 < len(free) <= MAX_ROWS and len(free) < len(block.parts):
                return tuple(quote_row(RankedBlock(at, block, 0, 0, score), passages, place, row) for row in free)
    return ()


def row_of_each_issue(
    part: Subquery, place: int, passages: Sequence[Passage], draft: PartDraft, excluded: ExcludedSpans
) -> tuple[DraftSentence, ...]:
    """The best row with the same row of the other documents that have its table."""
    if not draft.ranked or draft.ranked[0].kind is not UnitKind.TABLE_ROW:
        return ()
    best = draft.ranked[0]
    found: dict[UUID, DraftSentence] = {}
    wanted: tuple[str, list[str]] | None = None
    order = [best.passage, *(at for at in range(len(passages)) if at != best.passage)]
    for at in order:
        chunk = passages[at].chunk
        for block in find_tables(chunk.text):
            if block.lead is None or chunk.document_id in found:
                continue
            columns = split_names(chunk.text[slice(*block.lead)])
            for row in block.parts:
                name = _MARKS.sub("", split_cells(chunk.text[slice(*row)])[0])
                if at == best.passage and row[0] == best.start:
                    wanted = (name, columns)
                if wanted == (name, columns) and (chunk.ordinal, row[0]) not in excluded:
                    one = RankedBlock(at, block, 0, 0, best.score)
                    quoted = quote_row(one, passages, place, row)
                    found[chunk.document_id] = replace(
                        quoted, text=f"{chunk.document_title} — {quoted.text}", kind=UnitKind.TABLE_ROW
                    )
    return tuple(found.values()) if 1 < len(found) <= MAX_ROWS else ()


def _named(question: str, rows: Sequence[tuple[Span, str]]) -> list[Span]:
    """The rows whose first cells the question names; one whose name it says within a longer one only is not."""
    found = [(row, name) for row, text in rows if _names(question, name := _MARKS.sub("", split_cells(text)[0]))]
    rest = question
    named: list[Span] = []
    for row, name in sorted(found, key=lambda one: -len(one[1])):
        if _names(rest, name):
            named.append(row)
            rest = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", " ", rest, count=1, flags=re.IGNORECASE)
    return sorted(named)


def _names(question: str, name: str) -> bool:
    if len(name) > SHORT_NAME:
        name, question = name.lower(), question.lower()
    return holds_phrase(question, name)
