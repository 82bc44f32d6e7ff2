"""The row of a table that has the most or the least of what a question asks for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agentic_rag.answering.evidence.expand_context import opens_in_table
from agentic_rag.answering.extraction.candidate_units import Subquery
from agentic_rag.answering.extraction.extractive import DraftSentence, ExcludedSpans, PartDraft
from agentic_rag.answering.extraction.segmented_text import Span
from agentic_rag.answering.extraction.subquery import terms_of
from agentic_rag.answering.extraction.term_matching import lower_text, mask_of, weight_of
from agentic_rag.answering.extraction.text_blocks import RankedBlock, TextBlock, TextBlockKind
from agentic_rag.answering.extraction.typed_values import ValueKind, find_values
from agentic_rag.answering.shapes.forms import quote_row
from agentic_rag.answering.shapes.rank_blocks import rank_blocks
from agentic_rag.language.tables import fit_cells, is_row, split_names
from agentic_rag.retrieval.candidates import Passage

MAX_TIED = 3
"""Rows of the same figure."""
MIN_TABLE_SHARE = 0.15
"""Of the question's weight in a table with its heading, columns and title."""
LONGEST_WHOLE_TABLE = 1200
"""Code points of a table at the end of a chunk that surely does not go on in the next one; a longer one may be cut."""
_PRICE = r"price|cost|fee|rate|rent|charge|amount|salary|[£$€]"
_TIME = r"time|duration|length|long|within|reply|wait|days|nights|hours|weeks|months|years|minutes"
_SIZE = r"size|volume|capacity|area|number|weight|members|people|places"
_AGE = r"year|built|since|founded|date|age"
_MARK = r"score|result|rating|mark|grade|points|share|quality"
_WORDS: tuple[tuple[str, int, str], ...] = (
    ("hottest|warmest", 1, r"temperature|°"),
    ("coldest|coolest", -1, r"temperature|°"),
    ("cheapest", -1, _PRICE),
    ("dearest|priciest|costliest|most expensive", 1, _PRICE),
    ("least expensive", -1, _PRICE),
    ("longest", 1, _TIME),
    ("shortest|soonest|quickest|fastest", -1, _TIME),
    ("slowest", 1, _TIME),
    ("oldest|earliest", -1, _AGE),
    ("newest|youngest", 1, _AGE),
    ("heaviest", 1, r"weight|mass|load"),
    ("lightest", -1, r"weight|mass|load"),
    ("worst", -1, _MARK),
    ("best", 1, _MARK),
    ("biggest|largest|greatest", 1, _SIZE),
    ("smallest|tiniest", -1, _SIZE),
    ("highest|(?<!at )most|maximum", 1, ""),
    ("lowest|fewest|(?<!at )least|minimum", -1, ""),
)
"""Superlatives, whether they mean the greatest figure, and what the column is called that they speak of."""
_SUPERLATIVES = tuple(
    (re.compile(rf"\b(?:{words})\b", re.IGNORECASE), sign, re.compile(column, re.IGNORECASE) if column else None)
    for words, sign, column in _WORDS
)
_BOUND = re.compile(
    r"\b(?:(?:below|beneath|under|above|over|beyond|than|exceed\w*|reach\w*|at) (?:(?:the|a|any|its|their) )?"
    r"|(?:its|their|his|her|our|your|my) )(?:minimum|maximum)\b",
    re.IGNORECASE,
)
"""A bound that things have, not the thing with the most or the least: "below their minimum stock"."""
_WHICH = re.compile(r"which ([\w-]+)", re.IGNORECASE)
_NUMBER = re.compile(r"[−-]?\d+(?:[.,]\d+)*")


@dataclass(frozen=True, slots=True)
class _Extreme:
    """Whether the greatest or the least is asked for, and how its column is called; None where the question says."""

    sign: int
    column: re.Pattern[str] | None


def extreme_row(
    part: Subquery, place: int, passages: Sequence[Passage], draft: PartDraft, excluded: ExcludedSpans
) -> tuple[DraftSentence, ...]:
    """The row with the greatest or the least figure of a column, where the question asks for it by a superlative."""
    asked = _asked(part.text)
    if asked is None:
        return ()
    for one in rank_blocks(part, place, passages, {TextBlockKind.TABLE}):
        held = one.mask | one.above_mask
        if one.block.lead is None or weight_of(held, part.terms) < MIN_TABLE_SHARE:
            continue
        if things_asked_for(part) & ~held or _is_part_of_a_table(one, passages):
            continue
        text, ordinal = passages[one.passage].chunk.text, passages[one.passage].chunk.ordinal
        rows = _extreme_rows(text, one.block, part, asked)
        if 0 < len(rows) <= MAX_TIED and not any((ordinal, row[0]) in excluded for row in rows):
            return tuple(quote_row(one, passages, place, row) for row in rows)
    return ()


def _is_part_of_a_table(one: RankedBlock, passages: Sequence[Passage]) -> bool:
    """True where rows of the table stand in the chunk before or after: another one of them may be the extreme. Where
    the chunk after is not at hand a table is whole that leaves room in its own.
    """
    chunk = passages[one.passage].chunk
    if not chunk.text[: one.block.start].strip() and opens_in_table(chunk):
        return True
    if chunk.text[one.block.end :].strip():
        return False
    after = [
        other.chunk.text
        for other in passages
        if other.chunk.revision_id == chunk.revision_id and other.chunk.index == chunk.index + 1
    ]
    if after:
        return is_row(after[0].split("\n", 1)[0].strip())
    return one.block.end - one.block.start > LONGEST_WHOLE_TABLE


def asks_for_extreme(question: str) -> bool:
    """True for a question for the most or the least of something."""
    return _asked(question) is not None


def things_asked_for(part: Subquery) -> int:
    """The bits of the noun that names what has the most: "which company …"."""
    if part.target_mask:
        return part.target_mask
    which = _WHICH.match(part.text)
    return 0 if which is None else part.bits_of(terms_of(which[1]))


def _asked(question: str) -> _Extreme | None:
    said = _BOUND.sub(" ", question)
    for pattern, sign, column in _SUPERLATIVES:
        if pattern.search(said):
            return _Extreme(sign, column)
    return None


def _extreme_rows(text: str, block: TextBlock, part: Subquery, asked: _Extreme) -> list[Span]:
    """The rows with the extreme of the column that the question means; none where it means no column for sure."""
    names = split_names(text[slice(*block.lead)]) if block.lead is not None else []
    rows = [(row, fit_cells(text[slice(*row)], len(names))) for row in block.parts]
    if any(len(cells) != len(names) for _, cells in rows):
        return []
    meant: list[tuple[float, list[tuple[float, Span]]]] = []
    for at, name in enumerate(names):
        figures = [(figure, row) for row, cells in rows if (figure := _figure(cells[at])) is not None]
        if not at or len(figures) < 2:
            continue
        worth = weight_of(mask_of(lower_text(name), part.terms), part.terms)
        if asked.column is not None and asked.column.search(name):
            worth += 1.0
        if worth:
            meant.append((worth, figures))
    if not meant:
        return []
    most = max(worth for worth, _ in meant)
    columns = [figures for worth, figures in meant if worth == most]
    if len(columns) != 1:
        return []
    extreme = max(asked.sign * figure for figure, _ in columns[0])
    return [row for figure, row in columns[0] if asked.sign * figure == extreme]


def _figure(cell: str) -> float | None:
    """The figure of a cell: of a length of time in seconds, of anything else as it is written."""
    values = [one for one in find_values(cell) if one.kind is ValueKind.FIGURE]
    if values and values[0].parts[0] in ("duration", "months"):
        kind, amount = values[0].parts[:2]
        seconds = 1.0 if kind == "duration" else 2_629_800.0
        return amount * seconds if isinstance(amount, float) else None
    number = _NUMBER.search(cell)
    if number is None:
        return None
    plain = number[0].replace("−", "-")
    plain = re.sub(r",(?=\d{3}\b)", "", plain).replace(",", ".")
    return float(plain) if plain.count(".") < 2 else None
