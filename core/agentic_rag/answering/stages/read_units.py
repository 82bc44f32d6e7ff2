"""Reads the likeliest units of each part beside the question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agentic_rag.answering.extraction.candidate_units import MIN_READING_RATIO, CandidateUnit, Subquery
from agentic_rag.answering.extraction.extractive import DraftSentence
from agentic_rag.answering.extraction.part_units import PartUnits
from agentic_rag.answering.extraction.reading import (
    PlacedUnit,
    ReadSigns,
    find_read_signs,
    headings_above,
    place_unit,
)
from agentic_rag.answering.extraction.term_matching import weight_of
from agentic_rag.answering.extraction.text_blocks import RankedBlock, TextBlockKind
from agentic_rag.answering.extraction.unit_ranking import (
    JUDGED,
    MAX_READ,
    MIN_READ,
    clip_odds,
    rank_judged,
    rank_units,
    units_to_read,
    with_odds,
)
from agentic_rag.answering.ports import UnitReader
from agentic_rag.answering.shapes.question_kind import QuestionKind
from agentic_rag.answering.shapes.rank_blocks import rank_blocks, rank_read_blocks
from agentic_rag.answering.shapes.study import prefer_findings
from agentic_rag.answering.verification.citations import quotes_of
from agentic_rag.language.words.word_tables import table_of
from agentic_rag.retrieval.candidates import Passage

MAX_BLOCKS_READ = 16
LONGEST_READ = 500
"""Characters of a block: its heading and its first items or sentences."""
MIN_TOLD, MIN_TOLD_ODDS = 0.9, 1.0
"""On folders that the reader never saw, units with odds from 1 to 2 that hold so much of their question answer 69 % of
such questions, paths 31 % of theirs.
"""
_BLOCKS_READ = frozenset({QuestionKind.STEPS, QuestionKind.LIST})


@dataclass(frozen=True, slots=True)
class PartReading:
    """The units of a part; the likeliest of them, best first; and in how many documents those stand that come close by
    their own score (`close_units`).
    """

    held: PartUnits
    units: list[CandidateUnit]
    documents: int
    signs: ReadSigns | None = None
    """None where they were not read."""
    blocks: tuple[RankedBlock, ...] = ()
    """Lists, tables and sections, best first, where they were read."""
    read: tuple[CandidateUnit, ...] = ()
    """All units that were read, best first."""


async def read_units(
    reader: UnitReader | None,
    asked: Sequence[tuple[Subquery, Sequence[Passage]]],
    kinds: Sequence[QuestionKind],
) -> list[PartReading]:
    """The units of each part, asked of these passages, best first: by their own score where there is no reader.
    It reads English: of other languages it tells units apart by chance.
    """
    found = [
        _without_reading(PartUnits(query, place, passages), query, kinds[place], passages)
        for place, (query, passages) in enumerate(asked)
    ]
    if reader is None:
        return found
    most = max(MIN_READ, MAX_READ // max(1, len(asked)))
    for place, (query, passages) in enumerate(asked):
        if table_of(query.text) is not None:
            continue
        held = found[place].held
        every = held.all_units()
        preferred = prefer_findings(query, kinds[place], every, passages)
        units = units_to_read(preferred, most)
        if not units:
            continue
        reading = await reader.read(query.text, [place_unit(unit, passages[unit.passage]) for unit in units])
        first = rank_units(units, reading.scores)
        likely = [place_unit(unit, passages[unit.passage]) for unit in first[:JUDGED]]
        odds = clip_odds(await reader.judge(query.text, likely))
        # Neither likeness nor odds tell what a study found from what it sought.
        ranked = rank_judged(first, odds) if preferred == every else with_odds(first, odds)
        close = [unit for unit in ranked if unit.score >= MIN_READING_RATIO * ranked[0].score]
        blocks = await _read_blocks(reader, query, place, passages) if kinds[place] in _BLOCKS_READ else ()
        signs = find_read_signs(units, reading, odds, passages)
        found[place] = PartReading(held, close, found[place].documents, signs, blocks, tuple(ranked))
    return found


def odds_of(reading: PartReading, sentences: Sequence[DraftSentence]) -> float | None:
    """The best odds of the judged units that the sentences quote; of them all the least where they quote none."""
    judged = [(unit, unit.odds) for unit in reading.read if unit.odds is not None]
    quotes = [one for sentence in sentences for one in quotes_of(sentence)]
    held = [
        odds
        for unit, odds in judged
        if any(one.passage == unit.passage and one.start <= unit.start < one.end for one in quotes)
    ]
    return max(held, default=min((odds for _, odds in judged), default=None))


def is_told_by_one(question: Subquery, readings: Sequence[PartReading]) -> bool:
    """True where a unit that likely answers holds nearly all of the question, with its title and headings: no path of
    passages leads to more.
    """
    return any(
        unit.odds is not None
        and unit.odds >= MIN_TOLD_ODDS
        and weight_of(unit.mask | unit.context_mask, question.terms) >= MIN_TOLD
        for reading in readings
        for unit in reading.read
    )


async def _read_blocks(
    reader: UnitReader, part: Subquery, place: int, passages: Sequence[Passage]
) -> tuple[RankedBlock, ...]:
    """The likeliest lists, tables and sections, each read from its heading on."""
    blocks = rank_blocks(part, place, passages, frozenset(TextBlockKind), whole=True)[:MAX_BLOCKS_READ]
    if not blocks:
        return ()
    reading = await reader.read(part.text, [_place_block(one, passages[one.passage]) for one in blocks])
    return tuple(rank_read_blocks(blocks, reading.scores))


def _place_block(one: RankedBlock, passage: Passage) -> PlacedUnit:
    chunk, block = passage.chunk, one.block
    spans = [span for span in (block.heading, block.caption, block.lead) if span is not None]
    text = "\n".join(chunk.text[slice(*span)].lstrip("# ") for span in (*spans, (block.start, block.end)))
    return PlacedUnit(text[:LONGEST_READ], tuple(dict.fromkeys(headings_above(passage, block.start))))


def _without_reading(held: PartUnits, part: Subquery, kind: QuestionKind, passages: Sequence[Passage]) -> PartReading:
    units = prefer_findings(part, kind, held.close_units(), passages)
    return PartReading(held, units, len({passages[unit.passage].chunk.document_id for unit in units}))
