"""The quotable units of retrieved passages, and the parts of questions that they may answer."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from agentic_rag.answering.extraction.answer_type_match import states_answer
from agentic_rag.answering.extraction.segmented_text import SegmentedText, Span, segment_text
from agentic_rag.answering.extraction.term_matching import QuestionTerm, lower_text, mask_of, weight_of
from agentic_rag.answering.extraction.text_units import QUOTABLE, UnitKind
from agentic_rag.answering.plan import AnswerType
from agentic_rag.language.tables import (
    RULE_ROW,
    caption_span,
    header_span,
    is_blank,
    is_header,
    is_page_foot,
    is_row,
    pair_cells,
    row_spans,
)
from agentic_rag.language.words.word_tables import table_of
from agentic_rag.retrieval.candidates import Passage

MIN_PASSAGE_RATIO = 0.65
"""Passages whose fused score is below this share of the first passage's are skipped."""
MIN_READING_RATIO = 0.8
"""Paragraphs and units that cannot reach this share of the best unit's score are skipped."""
_VALUES = frozenset({AnswerType.FIGURE, AnswerType.DATE, AnswerType.PERSON})
CONTEXT_CREDIT = 0.75
"""Weight of a term in the title, a heading or the table's header; a term in the sentence itself weighs 1."""


@dataclass(frozen=True, slots=True)
class Subquery:
    """A part of the question as synthesis needs it. `marks` are the figures and identifiers it names, lower case;
    `names` are the bits of the terms that it writes as names, `asked` that of the noun it asks for.
    """

    text: str
    terms: tuple[QuestionTerm, ...]
    answer_type: AnswerType
    literals: tuple[str, ...] = ()
    name_mask: int = 0
    target_mask: int = 0
    earlier_names: tuple[str, ...] = ()
    """Names that an earlier part found, lower case: evidence for this one must name one of them."""

    def bits_of(self, words: Collection[str]) -> int:
        """The bits of the terms among these words."""
        return sum(1 << place for place, term in enumerate(self.terms) if term.term in words)


@dataclass(frozen=True, slots=True)
class CandidateUnit:
    """A quotable unit: [start, end) of its passage's text, the terms it covers itself (`mask`), those of title,
    headings and table header (`context`), of the sentences beside it (`near`), and of the whole passage.
    """

    passage: int
    start: int
    end: int
    kind: UnitKind
    mask: int
    context_mask: int
    near_mask: int
    passage_mask: int
    fits: bool
    """It has the figure, date or name that is asked for."""
    near_span: Span
    """Where the unit stands with the sentences beside it."""
    heading: Span | None
    score: float
    odds: float | None = None
    """That it answers, as a logarithm; None where it was not judged."""


def segment_passage(passage: Passage) -> SegmentedText:
    """The segmentation of a passage's text."""
    return segment_text(passage.chunk.text, passage.chunk.start > 0)


def passages_of_part(
    position: int, passages: Sequence[Passage], least: float = MIN_PASSAGE_RATIO
) -> Iterator[tuple[int, Passage, float]]:
    """The passages that a part is answered from: place, passage, and its score relative to the part's best one."""
    # A passage that several parts found carries the best of their scores, which says little about this part.
    top = max((passage.candidate.score for passage in passages if passage.parts == (position,)), default=0.0)
    for place, passage in enumerate(passages):
        if position in passage.parts and passage.candidate.score >= least * top:
            yield place, passage, min(1.0, passage.candidate.score / top) if top > 0 else 1.0


def unit_states_answer(part: Subquery, passage: Passage, start: int, end: int) -> bool:
    """True when [start, end) of a passage has what a part asks for (`states_answer`)."""
    text = passage.chunk.text[start:end]
    if not is_row(text):
        return states_answer(text, part.answer_type, part.text)
    columns = column_names(passage, start)
    return not _lacks_cell(part, columns, text) and states_answer(text, part.answer_type, part.text, columns)


def _lacks_cell(part: Subquery, columns: str, row: str) -> bool:
    """True where the columns of what is asked for are empty in a row: of those named by its noun the ones that hold the
    most of the question. Where a value is asked for without a noun ("after how long"), all columns that the question
    names but for those whose cells it names too.
    """
    if not part.target_mask and part.answer_type not in _VALUES:
        return False
    named = [
        (mask_of(lower_text(name), part.terms), "" if is_blank(cell) else cell)
        for name, cell in pair_cells(row, columns)
    ]
    if not part.target_mask:
        cells = [cell for mask, cell in named if mask and not mask_of(lower_text(cell), part.terms)]
        return bool(cells) and not any(cells)
    asked = [(weight_of(mask, part.terms), cell) for mask, cell in named if mask & part.target_mask]
    most = max((weight for weight, _ in asked), default=0.0)
    return bool(asked) and not any(cell for weight, cell in asked if weight == most)


def is_heading_row(passage: Passage, start: int, end: int) -> bool:
    """True for the header of a table, and for a page's foot."""
    above, whole = len(passage.table_head), passage.text_with_table_head
    return is_header(whole, above + start, above + end) or is_page_foot(passage.chunk.text, start, end)


def rows_below_names(passage: Passage, span: Span) -> list[Span]:
    """The rows of a table without those that name its columns; none where a line of the span is no row."""
    text = passage.chunk.text
    lines = row_spans(text, [span])
    if not all(is_row(text[slice(*line)]) for line in lines):
        return []
    return [line for line in lines if not (RULE_ROW.match(text[slice(*line)]) or is_heading_row(passage, *line))]


def column_names(passage: Passage, row_start: int) -> str:
    """The caption and the header of the table row that begins there; empty without a header."""
    whole = passage.text_with_table_head
    header = header_span(whole, len(passage.table_head) + row_start)
    if header is None:
        return ""
    caption = caption_span(whole, header[0])
    return whole[slice((header if caption is None else caption)[0], header[1])]


def quotable_units(passage: Passage, position: int) -> Iterator[CandidateUnit]:
    """The quotable units of a passage in reading order, weighed by no question."""
    reading = segment_passage(passage)
    for place in range(len(reading.ends)):
        for span in reading.sentences(reading.block(place))[0]:
            kind = reading.kind(span)
            if kind in QUOTABLE:
                yield CandidateUnit(position, *span, kind, 0, 0, 0, 0, False, span, None, 0.0)


def opening_unit(passage: Passage, position: int) -> CandidateUnit | None:
    """The first quotable unit of a passage: what a reader is shown when nothing matches."""
    return next(quotable_units(passage, position), None)


def other_units(part: Subquery, passage: Passage, known: Sequence[CandidateUnit]) -> list[CandidateUnit]:
    """The quotable sentences of a passage that are not among the units `known`, in reading order, scored 0."""
    reading = segment_passage(passage)
    found: list[CandidateUnit] = []
    for place in range(len(reading.ends)):
        for start, end in reading.sentences(reading.block(place))[0]:
            kind = reading.kind((start, end))
            if kind not in QUOTABLE or any(unit.start <= start < unit.end for unit in known):
                continue
            if kind is UnitKind.TABLE_ROW and is_row(reading.text[start:end]) and is_heading_row(passage, start, end):
                continue
            fits = unit_states_answer(part, passage, start, end)
            found.append(CandidateUnit(0, start, end, kind, 0, 0, 0, 0, fits, (start, end), None, 0.0))
    return found


def depends_on_previous(sentence: str) -> bool:
    """True when a sentence leans on the one before it."""
    table = table_of(sentence)
    return (_DANGLING if table is None else table.leaning.pattern).match(sentence) is not None


_DANGLING = re.compile(
    r"^(?:It|Its|This|These|They|Their|Those|He|She|His|Her|Such|However|Therefore|Thus|But|Also|Otherwise|Instead|"
    r"In addition|Moreover|Furthermore|Hence|So|Then|Both|The (?:former|latter|same)|"
    r"(?:For|To|With|From|By|Of|In|On|At|After|Before|Until) (?:them|it|this|that|these|those|him|her))\b"
)


def quote_of(unit: CandidateUnit, passages: Sequence[Passage]) -> str:
    """What a unit says."""
    return passages[unit.passage].chunk.text[unit.start : unit.end]
