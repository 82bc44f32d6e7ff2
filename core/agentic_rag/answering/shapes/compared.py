"""The rows of one table that a comparison names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from agentic_rag.answering.extraction.candidate_units import Subquery
from agentic_rag.answering.extraction.extractive import DraftSentence, ExcludedSpans, PartDraft
from agentic_rag.answering.extraction.reading import headings_above
from agentic_rag.answering.extraction.segmented_text import Span
from agentic_rag.answering.extraction.term_matching import holds_phrase, lower_text, mask_of
from agentic_rag.answering.extraction.text_blocks import RankedBlock, TextBlock, find_tables
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
    """The rows of a table whose first cells the question names, where it names two of one table at least, and the table
    names the noun that it asks for: "a pail of the grease used in C1 and C2" is no column of a table of campaigns.
    """
    score = draft.units[0].score if draft.units else 0.0
    for at, passage in enumerate(passages):
        text = passage.chunk.text
        for block in find_tables(text):
            if part.target_mask & ~_named_by_table(part, passage, block):
                continue
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


def name_sides(asked: Sequence[tuple[Subquery, Sequence[Passage]]], drafts: Sequence[PartDraft]) -> list[PartDraft]:
    """The drafts of the sides of a comparison, each sentence that names no side behind the nearest heading above it,
    or the title where there is none, if that names its side: "Nacelle mass 62 tonnes" of one data sheet and "Nacelle
    mass 118 tonnes" of another. Where a part has no words of its own, nothing tells the sides apart.
    """
    terms = [frozenset(term.term for term in part.terms) for part, _ in asked]
    common = terms[0].intersection(*terms[1:])
    if any(not one - common for one in terms):
        return list(drafts)
    sides = [(part, part.bits_of(one - common)) for (part, _), one in zip(asked, terms, strict=True)]
    named: list[PartDraft] = []
    for draft in drafts:
        place = draft.sentences[0].part if draft.sentences else 0
        sentences = tuple(_behind_side(one, sides[place], sides, asked[place][1]) for one in draft.sentences)
        named.append(replace(draft, sentences=sentences))
    return named


def _behind_side(
    sentence: DraftSentence,
    side: tuple[Subquery, int],
    sides: Sequence[tuple[Subquery, int]],
    passages: Sequence[Passage],
) -> DraftSentence:
    low = lower_text(sentence.text)
    if "\n" in low or sentence.more_quotes or any(mask_of(low, part.terms) & bits for part, bits in sides):
        return sentence
    nearest = headings_above(passages[sentence.passage], sentence.start)[-1]
    part, bits = side
    if bits & ~mask_of(lower_text(nearest), part.terms):
        return sentence
    return replace(sentence, text=f"{nearest} — {sentence.text}", kind=UnitKind.TITLED)


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


def _named_by_table(part: Subquery, passage: Passage, block: TextBlock) -> int:
    """The bits of the terms in a table and in what stands above it."""
    text = passage.chunk.text
    said = (
        *headings_above(passage, block.start),
        *(text[slice(*span)] for span in (block.caption, block.lead) if span),
    )
    return mask_of(lower_text("\n".join((*said, text[block.start : block.end]))), part.terms)


def _names(question: str, name: str) -> bool:
    if len(name) > SHORT_NAME:
        name, question = name.lower(), question.lower()
    return holds_phrase(question, name)
