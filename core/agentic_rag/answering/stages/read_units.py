"""Reads the likeliest units of each part with the local model that the workspace embeds with."""

from __future__ import annotations

from collections.abc import Sequence

from agentic_rag.answering.extraction.candidate_units import CandidateUnit, Subquery, best_units
from agentic_rag.answering.extraction.unit_ranking import MAX_READ, MIN_READ, rank_units
from agentic_rag.answering.run_state import RunState
from agentic_rag.models.embedding.ports import EmbedderSource, UnitReader
from agentic_rag.retrieval.candidates import Passage


async def read_units(
    embedders: EmbedderSource, state: RunState, asked: Sequence[tuple[Subquery, Sequence[Passage]]]
) -> list[list[CandidateUnit]]:
    """The units of each part, asked of these passages, best first: by their own score where no local model can read.
    Errors: as `EmbedderSource.of`, `SpaceMismatch`.
    """
    reader = None
    if state.space.is_local:
        reader = (await embedders.of(state.question.asked.workspace)).for_space(state.space)
    units = [best_units(query, place, passages) for place, (query, passages) in enumerate(asked)]
    if not isinstance(reader, UnitReader):
        return units
    most = max(MIN_READ, MAX_READ // max(1, len(units)))
    return [
        rank_units(some, await _read(reader, query.text, some[:most], passages))
        for (query, passages), some in zip(asked, units, strict=True)
    ]


async def _read(
    reader: UnitReader, question: str, units: Sequence[CandidateUnit], passages: Sequence[Passage]
) -> Sequence[float]:
    if len(units) < 2:
        return ()
    texts = [passages[unit.passage].chunk.text[unit.start : unit.end] for unit in units]
    return await reader.read(question, texts) or ()
