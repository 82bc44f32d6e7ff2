"""Leaves out of the evidence what independent sources contradict, what newer texts repeat or replace, and rows of other
sizes than the question names.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from agentic_rag.answering.answer import date_of
from agentic_rag.answering.evidence.numbered_names import rows_of_other_size
from agentic_rag.answering.evidence.outvoted import Outvoted, PassageAges, find_outvoted
from agentic_rag.answering.lazy_snapshot import LazySnapshot
from agentic_rag.answering.run_state import Retrieved, RunState
from agentic_rag.documents.document import SpanRequest
from agentic_rag.retrieval.candidates import Passage
from agentic_rag.retrieval.selection import OUTVOTED


async def leave_out_outvoted(state: RunState, reads: LazySnapshot) -> RunState:
    """The state without passages whose claim about a part of the question at least two independent sources contradict,
    as `find_outvoted` tells; single sentences of other passages are excluded as those that a self-check refused, and so
    are those of old texts that new ones repeat, where the workspace's profile wants new ones, and rows of other sizes.
    """
    found = state.retrieved
    ages = await _read_ages(state, reads)
    told = [find_outvoted(part.query, found.passages, ages) for part in found.parts]
    places = frozenset[int]().union(*(one.places for one in told))
    spans = frozenset[tuple[int, int]]().union(*(one.spans for one in told))
    spans = spans.union(rows_of_other_size(state.question.text, found.passages), *(one.repeated for one in told))
    if not spans:
        return state
    checked = replace(state.checked, excluded=state.checked.excluded | spans)
    return replace(state, checked=checked, retrieved=_without(found, places) if places else found)


async def _read_ages(state: RunState, reads: LazySnapshot) -> PassageAges:
    """Which passages are as new as the workspace's profile wants; none of either kind where it wants no age, and of an
    earlier version.
    """
    not_before = state.options.gate.not_before
    if not_before is None or state.question.asked.as_of is not None or not state.retrieved.passages:
        return PassageAges()
    chunks = [one.chunk for one in state.retrieved.passages]
    snapshot = await reads.snapshot()
    spans = await snapshot.documents.revision_spans(
        [SpanRequest(one.revision_id, one.start, one.end) for one in chunks]
    )
    days = [None if one is None else date_of(one.published, one.read_at) for one in spans]
    new = frozenset(place for place, day in enumerate(days) if day is not None and day.date() >= not_before)
    old = frozenset(place for place, day in enumerate(days) if day is not None and day.date() < not_before)
    return PassageAges(old, new)


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
