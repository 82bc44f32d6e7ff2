"""Whether rows or items are quoted and others that fit the question as well are left out: two of the twenty rows of the
place that is asked about, three of the five items of a list.

Which ones fit the quoted ones tell: a row fits that has all that one of them has of the question. Where a table goes on
in chunks that are not at hand, nobody knows what stands there.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from agentic_rag.answering.evidence.expand_context import opens_in_table
from agentic_rag.answering.extraction.candidate_units import (
    CandidateUnit,
    Subquery,
    column_names,
    is_heading_row,
    rows_below_names,
)
from agentic_rag.answering.extraction.extractive import DraftSentence, ExcludedSpans, sentence_of
from agentic_rag.answering.extraction.negation import has_negation
from agentic_rag.answering.extraction.segmented_text import Span
from agentic_rag.answering.extraction.term_matching import lower_text, mask_of
from agentic_rag.answering.extraction.text_blocks import TextBlock, TextBlockKind, find_blocks, find_tables
from agentic_rag.answering.extraction.text_units import UnitKind
from agentic_rag.answering.shapes.extreme import asks_for_extreme
from agentic_rag.answering.shapes.question_kind import QuestionKind
from agentic_rag.answering.verification.citations import all_quotes
from agentic_rag.language.words.word_table import WordTable
from agentic_rag.language.words.word_tables import table_of
from agentic_rag.retrieval.candidates import Passage

_NAMES_SEVERAL = re.compile(r"[,;] | and ")
"""Of a row or an item that may be the list that is asked for by itself."""
_ASKS_LEAVE = re.compile(r"\b(?:may|allowed|permitted)\b", re.IGNORECASE)
"""How a question asks what may be: elsewhere a rule may be a denial, and a "no" speak of something else."""
_REFUSED = re.compile(r"no|non|not\b.*|never|forbidden|prohibited", re.IGNORECASE)
LONGEST_WHOLE_TABLE = 800
"""Code points of a table at the end of a chunk that surely does not go on in the next one."""
MOST_ADDED = 20
"""Rows or items that an answer is completed by; of a longer list it is a part."""


@dataclass(frozen=True, slots=True)
class _Member:
    """A row or an item, the bits of the question's terms that it has, and whether it is quoted."""

    place: int
    span: Span
    text: str
    mask: int
    is_quoted: bool


def with_rest_of_list(
    part: Subquery,
    kind: QuestionKind,
    sentences: tuple[DraftSentence, ...],
    passages: Sequence[Passage],
    excluded: ExcludedSpans,
) -> tuple[DraftSentence, ...]:
    """The sentences, and behind them what they leave out of a table or list at hand."""
    block = _list_quoted(kind, part, sentences, passages)
    if block is None:
        return sentences
    missing = [
        one
        for one in _left_out(part, block, sentences, passages)
        if (passages[one.place].chunk.ordinal, one.span[0]) not in excluded
    ]
    if len(missing) > MOST_ADDED:
        return sentences
    home = sentences[0]
    kind_of_unit = UnitKind.TABLE_ROW if block.kind is TextBlockKind.TABLE else UnitKind.LIST_ITEM
    units = [
        CandidateUnit(one.place, *one.span, kind_of_unit, one.mask, 0, 0, 0, True, one.span, None, home.score)
        for one in missing
    ]
    return (*sentences, *(sentence_of(unit, passages, home.part) for unit in units))


def leaves_some_out(
    part: Subquery, kind: QuestionKind, sentences: Sequence[DraftSentence], passages: Sequence[Passage]
) -> bool:
    """True where a question asks for several things, the first sentence quotes rows of a table or items of a list, and
    others of them fit the question as well, or may: the table goes on elsewhere.
    """
    block = _list_quoted(kind, part, sentences, passages)
    if block is None:
        return False
    return _goes_on_elsewhere(block, sentences[0].passage, passages) or bool(
        _left_out(part, block, sentences, passages)
    )


def _list_quoted(
    kind: QuestionKind, part: Subquery, sentences: Sequence[DraftSentence], passages: Sequence[Passage]
) -> TextBlock | None:
    """The table or list that the first sentence quotes of, where several things are asked for, and not by a row or item
    that names several itself.
    """
    if kind is not QuestionKind.LIST or asks_for_extreme(part.text) or not sentences:
        return None
    home = sentences[0]
    for block in find_blocks(passages[home.passage].chunk.text):
        if block.kind is not TextBlockKind.SECTION and block.start < home.end and home.start < block.end:
            quoted = [one for one in _members(part, block, sentences, passages) if one.is_quoted]
            is_list = len(quoted) > 1 or (len(quoted) == 1 and not _NAMES_SEVERAL.search(quoted[0].text))
            return block if is_list else None
    return None


def _left_out(
    part: Subquery, block: TextBlock, sentences: Sequence[DraftSentence], passages: Sequence[Passage]
) -> list[_Member]:
    """The members that have all of the question that a quoted one has, but for the noun that is asked for; where it
    asks what may be, such as deny as that one does.
    """
    members = [*_members(part, block, sentences, passages), *_rows_elsewhere(part, block, sentences, passages)]
    table = table_of(part.text)
    asks_leave = (_ASKS_LEAVE if table is None else table.asks_leave.pattern).search(part.text) is not None
    is_table = block.kind is TextBlockKind.TABLE
    judged = [(one, asks_leave and _denies(one.text, table, is_row=is_table)) for one in members]
    wanted = {(one.mask & ~part.target_mask, denied) for one, denied in judged if one.is_quoted}
    return [
        one
        for one, denied in judged
        if not one.is_quoted and any(not mask & ~one.mask and like == denied for mask, like in wanted)
    ]


def _denies(text: str, table: WordTable | None, *, is_row: bool) -> bool:
    """True for an item that denies something, and for a row with a cell that says no or begins with not, in the
    language of the question.
    """
    if not is_row:
        return has_negation(text)
    refuses = _REFUSED if table is None else table.refused.pattern
    return any(refuses.fullmatch(cell.strip()) for cell in text.split("|")[1:])


def _members(
    part: Subquery, block: TextBlock, sentences: Sequence[DraftSentence], passages: Sequence[Passage]
) -> list[_Member]:
    """The items of a list, or the rows of a table, in the passage of the first sentence."""
    place = sentences[0].passage
    is_table = block.kind is TextBlockKind.TABLE
    spans = rows_below_names(passages[place], (block.start, block.end)) if is_table else block.parts
    return [_member(part, span, place, sentences, passages) for span in spans]


def _rows_elsewhere(
    part: Subquery, block: TextBlock, sentences: Sequence[DraftSentence], passages: Sequence[Passage]
) -> Iterator[_Member]:
    """The rows of a table in other passages of the same document: below the same names of columns."""
    home = sentences[0].passage
    if block.kind is not TextBlockKind.TABLE:
        return
    columns = column_names(passages[home], block.parts[-1][0])
    for place, passage in enumerate(passages):
        if place == home or passage.chunk.revision_id != passages[home].chunk.revision_id:
            continue
        for table in find_tables(passage.chunk.text):
            for row in rows_below_names(passage, (table.start, table.end)):
                if column_names(passage, row[0]) == columns:
                    yield _member(part, row, place, sentences, passages)


def _goes_on_elsewhere(block: TextBlock, home: int, passages: Sequence[Passage]) -> bool:
    """True where rows of a table stand, or may stand, in a chunk that is not at hand: before or after one which holds
    rows of it.
    """
    if block.kind is not TextBlockKind.TABLE:
        return False
    revision = passages[home].chunk.revision_id
    at_hand = {one.chunk.index for one in passages if one.chunk.revision_id == revision}
    columns = column_names(passages[home], block.parts[-1][0])
    tables = [
        (passage, table)
        for passage in passages
        if passage.chunk.revision_id == revision
        for table in find_tables(passage.chunk.text)
        if table.parts and column_names(passage, table.parts[-1][0]) == columns
    ]
    return any(_is_open(passage, table, at_hand, is_one_of_several=len(tables) > 1) for passage, table in tables)


def _is_open(passage: Passage, table: TextBlock, at_hand: Collection[int], *, is_one_of_several: bool) -> bool:
    """True where a table may go on in the chunk before or after, which is not at hand: one that repeats the names of
    its columns on each page begins like a table of its own.
    """
    chunk = passage.chunk
    is_begun = is_one_of_several or not is_heading_row(passage, table.start, chunk.text.find("\n", table.start))
    is_first, is_last = not chunk.text[: table.start].strip(), not chunk.text[table.end :].strip()
    if is_first and is_begun and opens_in_table(chunk) and chunk.index - 1 not in at_hand:
        return True
    is_long = is_one_of_several or table.end - table.start > LONGEST_WHOLE_TABLE
    return is_last and is_long and chunk.index + 1 not in at_hand


def _member(
    part: Subquery, span: Span, place: int, sentences: Sequence[DraftSentence], passages: Sequence[Passage]
) -> _Member:
    text = passages[place].chunk.text[slice(*span)]
    quotes = all_quotes(sentences)
    is_quoted = any(one.passage == place and one.start < span[1] and span[0] < one.end for one in quotes)
    return _Member(place, span, text, mask_of(lower_text(text), part.terms), is_quoted)
