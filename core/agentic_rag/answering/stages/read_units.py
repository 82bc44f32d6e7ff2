"""Reads the likeliest units of each part with the local model that the workspace embeds with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agentic_rag.answering.extraction.candidate_units import MIN_READING_RATIO, CandidateUnit, Subquery, best_units
from agentic_rag.answering.extraction.reading import PlacedUnit, Reading
from agentic_rag.answering.extraction.unit_ranking import MAX_READ, MIN_READ, rank_units, units_to_read
from agentic_rag.answering.ports import UnitReader
from agentic_rag.answering.run_state import RunState
from agentic_rag.language.words.word_tables import table_of
from agentic_rag.models.embedding.ports import EmbedderSource
from agentic_rag.retrieval.candidates import Passage


@dataclass(frozen=True, slots=True)
class PartReading:
    """The units of a part, best first; in how many documents those stand that come close by their own score
    (`best_units`); and `Reading.answered`, None where they were not read.
    """

    units: list[CandidateUnit]
    documents: int
    answered: float | None = None


async def read_units(
    embedders: EmbedderSource, state: RunState, asked: Sequence[tuple[Subquery, Sequence[Passage]]]
) -> list[PartReading]:
    """The units of each part, asked of these passages, best first: by their own score where no local model can read.
    The model reads English: of other languages it tells units apart by chance.
    Errors: as `EmbedderSource.of`, `SpaceMismatch`.
    """
    reader = None
    if state.space.is_local:
        reader = (await embedders.of(state.question.asked.workspace)).for_space(state.space)
    found = [
        _without_reading(best_units(query, place, passages), passages) for place, (query, passages) in enumerate(asked)
    ]
    if not isinstance(reader, UnitReader):
        return found
    most = max(MIN_READ, MAX_READ // max(1, len(asked)))
    for place, (query, passages) in enumerate(asked):
        units = units_to_read(best_units(query, place, passages, whole=True), most)
        reading = await _read(reader, query.text, units, passages)
        if reading is not None:
            ranked = rank_units(units, reading.scores)
            close = [unit for unit in ranked if unit.score >= MIN_READING_RATIO * ranked[0].score]
            found[place] = PartReading(close, found[place].documents, reading.answered)
    return found


def _without_reading(units: list[CandidateUnit], passages: Sequence[Passage]) -> PartReading:
    return PartReading(units, len({passages[unit.passage].chunk.document_id for unit in units}))


async def _read(
    reader: UnitReader, question: str, units: Sequence[CandidateUnit], passages: Sequence[Passage]
) -> Reading | None:
    if not units or table_of(question) is not None:
        return None
    return await reader.read(question, [_place_unit(unit, passages[unit.passage]) for unit in units])


def _place_unit(unit: CandidateUnit, passage: Passage) -> PlacedUnit:
    chunk = passage.chunk
    headings = [chunk.document_title, *chunk.heading_path]
    if unit.heading is not None:
        headings.append(chunk.text[slice(*unit.heading)].lstrip("# "))
    return PlacedUnit(chunk.text[unit.start : unit.end], tuple(dict.fromkeys(headings)))
