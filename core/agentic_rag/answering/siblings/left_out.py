"""Whether rows or items are quoted and others that fit the question as well are left out: two of the twenty rows of the
place that is asked about, three of the five items of a list.

Which ones fit the quoted ones tell: a row fits that has all that one of them has of the question. Where a table goes on
in chunks that are not at hand, nobody knows what stands there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agentic_rag.answering.evidence.expand_context import opens_in_table
from agentic_rag.answering.extraction.candidate_units import Subquery, column_names, rows_below_names
from agentic_rag.answering.extraction.extractive import DraftSentence
from agentic_rag.answering.extraction.segmented_text import Span
from agentic_rag.answering.extraction.term_matching import lower_text, mask_of
from agentic_rag.answering.extraction.text_blocks import TextBlock, TextBlockKind, find_blocks, find_tables
from agentic_rag.answering.shapes.extreme import LONGEST_WHOLE_TABLE, asks_for_extreme
from agentic_rag.answering.shapes.question_kind import QuestionKind
from agentic_rag.answering.verification.citations import all_quotes
from agentic_rag.retrieval.candidates import Passage

_NAMES_SEVERAL = re.compile(r"[^,;]+[,;] |[^;]+ and ")
"""Of a row or an item that may be the list that is asked for by itself."""


@dataclass(frozen=True, slots=True)
class _Member:
    """A row or an item, the bits of the question's terms that it has, and whether it is quoted."""

    text: str
    mask: int
    is_quoted: bool


def leaves_some_out(
    part: Subquery, kind: QuestionKind, sentences: Sequence[DraftSentence], passages: Sequence[Passage]
) -> bool:
    """True where a question asks for several things, the first sentence quotes rows of a table or items of a list, and
    others of them fit the question as well, or may: the table goes on elsewhere.
    """
    if kind is not QuestionKind.LIST or asks_for_extreme(part.text) or not sentences:
        return False
    quotes, home = all_quotes(sentences), sentences[0]
    return any(
        _lacks_some(part, block, home.passage, quotes, passages)
        for block in find_blocks(passages[home.passage].chunk.text)
        if block.kind is not TextBlockKind.SECTION and block.start < home.end and home.start < block.end
    )


def _lacks_some(
    part: Subquery, block: TextBlock, place: int, quotes: Sequence[DraftSentence], passages: Sequence[Passage]
) -> bool:
    """The same of one table or list."""
    is_table = block.kind is TextBlockKind.TABLE
    spans = rows_below_names(passages[place], (block.start, block.end)) if is_table else block.parts
    members = [_member(part, span, place, quotes, passages) for span in spans]
    quoted = [one for one in members if one.is_quoted]
    if not quoted or (len(quoted) == 1 and _NAMES_SEVERAL.search(quoted[0].text)):
        return False
    if is_table:
        if _goes_on_elsewhere(block, place, passages):
            return True
        members += _rows_elsewhere(part, column_names(passages[place], spans[-1][0]), place, quotes, passages)
    wanted = [one.mask & ~part.target_mask for one in quoted]
    return any(not mask & ~one.mask for mask in wanted for one in members if not one.is_quoted)


def _rows_elsewhere(
    part: Subquery, columns: str, place: int, quotes: Sequence[DraftSentence], passages: Sequence[Passage]
) -> Iterator[_Member]:
    """The rows below the same names of columns in other passages of the same document."""
    for at, passage in enumerate(passages):
        if at == place or passage.chunk.revision_id != passages[place].chunk.revision_id:
            continue
        for table in find_tables(passage.chunk.text):
            for row in rows_below_names(passage, (table.start, table.end)):
                if column_names(passage, row[0]) == columns:
                    yield _member(part, row, at, quotes, passages)


def _goes_on_elsewhere(table: TextBlock, place: int, passages: Sequence[Passage]) -> bool:
    """True where rows of a table stand, or may stand, in a chunk before or after that is not at hand."""
    chunk = passages[place].chunk
    at_hand = {one.chunk.index for one in passages if one.chunk.revision_id == chunk.revision_id}
    if not chunk.text[: table.start].strip() and opens_in_table(chunk) and chunk.index - 1 not in at_hand:
        return True
    is_last = not chunk.text[table.end :].strip()
    return is_last and chunk.index + 1 not in at_hand and table.end - table.start > LONGEST_WHOLE_TABLE


def _member(
    part: Subquery, span: Span, place: int, quotes: Sequence[DraftSentence], passages: Sequence[Passage]
) -> _Member:
    text = passages[place].chunk.text[slice(*span)]
    is_quoted = any(one.passage == place and one.start < span[1] and span[0] < one.end for one in quotes)
    return _Member(text, mask_of(lower_text(text), part.terms), is_quoted)
