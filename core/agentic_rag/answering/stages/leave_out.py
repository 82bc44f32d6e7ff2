"""Leaves out of the evidence what independent sources contradict."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from agentic_rag.answering.evidence.outvoted import Outvoted, find_outvoted
from agentic_rag.answering.run_state import Retrieved, RunState
from agentic_rag.retrieval.candidates import Passage
from agentic_rag.retrieval.selection import OUTVOTED


def leave_out_outvoted(state: RunState) -> RunState:
    """The state without passages of web pages whose claim about a part of the question at least two independent sources
    contradict; single sentences of other pages are excluded as those that a self-check refused.
    """
    found = state.retrieved
    told = [find_outvoted(part.query, found.passages) for part in found.parts]
    places = frozenset[int]().union(*(one.places for one in told))
    spans = frozenset[tuple[int, int]]().union(*(one.spans for one in told))
    if not spans:
        return state
    checked = replace(state.checked, excluded=state.checked.excluded | spans)
    return replace(state, checked=checked, retrieved=_without(found, places) if places else found)


def keep_believed(passages: Sequence[Passage], outvoted: Outvoted) -> list[Passage]:
    """The passages that are not outvoted."""
    return [one for place, one in enumerate(passages) if place not in outvoted.places]


def _without(found: Retrieved, places: Collection[int]) -> Retrieved:
    kept = [place for place in range(len(found.passages)) if place not in places]
    moved = {place: at for at, place in enumerate(kept)}
    dropped = {found.passages[place].chunk for place in places}
    ordinals, ids = {one.ordinal for one in dropped}, {one.chunk_id for one in dropped}
    figures = tuple(replace(one, passage=moved[one.passage]) for one in found.figures if one.passage in moved)
    return replace(
        found,
        passages=tuple(found.passages[place] for place in kept),
        figures=figures,
        is_exact=found.is_exact and bool(figures),
        path=() if ordinals.intersection(found.path) else found.path,
        candidates=tuple(
            replace(one, dropped_because=OUTVOTED) if one.chunk_id in ids else one for one in found.candidates
        ),
    )
