"""What a model that reads units of text beside a question is given, and what it finds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agentic_rag.answering.extraction.candidate_units import CandidateUnit, segment_passage
from agentic_rag.language.programming import names_above
from agentic_rag.language.tables import header_span, is_row, split_names
from agentic_rag.retrieval.candidates import Passage


@dataclass(frozen=True, slots=True)
class PlacedUnit:
    """The text of a unit with the title and the headings that it stands under, outermost first (those of a table's row
    end with the names of its columns), and with the sentence before it in its paragraph.
    """

    text: str
    headings: tuple[str, ...] = ()
    before: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """`scores` say of each unit how well it answers, in [-1, 1]; they compare the units of one question. The others
    compare questions: `unmatched` is what the token of the question counts that the units miss most, in the unit that
    misses least.
    """

    scores: tuple[float, ...]
    unmatched: float


@dataclass(frozen=True, slots=True)
class ReadSigns:
    """What reading says of a question as a whole: `Reading.unmatched`, and how far the best unit's score lies above the
    best of another document; and the odds, as a logarithm, that the likeliest unit answers.
    """

    unmatched: float
    apart: float
    odds: float


MOST_APART = 0.2
"""Where one document alone was read."""


def find_read_signs(
    units: Sequence[CandidateUnit], reading: Reading, odds: Sequence[float], passages: Sequence[Passage]
) -> ReadSigns:
    """The signs of a reading of these units."""
    documents = [passages[unit.passage].chunk.document_id for unit in units]
    best, document = max(zip(reading.scores, documents, strict=True), key=lambda one: one[0])
    others = [score for score, other in zip(reading.scores, documents, strict=True) if other != document]
    return ReadSigns(reading.unmatched, best - max(others) if others else MOST_APART, max(odds))


def headings_above(passage: Passage, at: int) -> tuple[str, ...]:
    """What stands above an offset of a passage's text, outermost first: title, headings of the chunk, the nearest one
    in it, and the names that a setting stands under.
    """
    chunk, reading = passage.chunk, segment_passage(passage)
    inside = (chunk.text[slice(*one)].strip("#* \n") for one in reading.headings(reading.block_of(at)))
    return (chunk.document_title, *chunk.heading_path, *inside, *names_above(chunk.text, at))


def place_unit(unit: CandidateUnit, passage: Passage) -> PlacedUnit:
    """A unit of a passage as it is read."""
    chunk = passage.chunk
    text = chunk.text[unit.start : unit.end]
    above = list(headings_above(passage, unit.start))
    if is_row(text):
        whole = passage.text_with_table_head
        header = header_span(whole, len(passage.table_head) + unit.start)
        if header is not None:
            above.append(" ".join(split_names(whole[slice(*header)])))
    before = chunk.text[unit.near_span[0] : unit.start].strip()
    return PlacedUnit(text, tuple(dict.fromkeys(one for one in above if one)), before)
