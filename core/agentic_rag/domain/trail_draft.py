"""An answer of several hops: a sentence of each passage that leads to the next.

The passage that answers the last hop resembles the question little, so it is read by itself, for what the passages
before it leave open.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agentic_rag.domain.documents import Chunk
from agentic_rag.domain.evidence import Passage
from agentic_rag.domain.passage_units import PartQuery, Unit, best_units
from agentic_rag.domain.retrieval import Candidate, Retriever
from agentic_rag.domain.synthesis import Excluded, PartDraft, with_openers
from agentic_rag.domain.term_match import weight_of

MOST_PASSAGES = 3
"""As many hops as retrieval follows."""

HOP_CHANCE = 0.1
"""What trails must make of a passage (the graph arm's raw figure) for it to be a hop. With 0.05 to 0.12 the gold answer
stood in 72 / 71 / 38–40 % of the extracts on hotpotqa, hotpotqa-dev100 and musique, while 37–43 % of the questions of
clapnq and 12–24 % of those of pubmedqa, which need one passage, got a sentence of another.
"""

OPEN_GAIN = 1.0
"""What a sentence gains for the weight of the terms that no sentence before it holds."""

FIT_GAIN = 0.2
"""What it gains for holding a figure, date or name where one is asked for."""


def trail_of(found: Sequence[tuple[Chunk, Candidate]]) -> tuple[int, ...]:
    """The ordinals of the first passage found and of those of other documents that it leads to; none without such."""
    first = found[:MOST_PASSAGES]
    hops = [
        chunk.ordinal
        for chunk, candidate in first[1:]
        if chunk.document_id != first[0][0].document_id
        and any(arm.retriever is Retriever.GRAPH and arm.raw >= HOP_CHANCE for arm in candidate.arms)
    ]
    return (first[0][0].ordinal, *hops) if hops else ()


def draft_trail(
    part: PartQuery, trail: Sequence[int], passages: Sequence[Passage], excluded: Excluded = frozenset()
) -> PartDraft:
    """The best sentence of each passage of the trail (by ordinals), in its order; its support is that of all of them
    together.
    """
    places = {passage.chunk.ordinal: place for place, passage in enumerate(passages)}
    chosen: list[Unit] = []
    covered = 0
    for place in (places[ordinal] for ordinal in trail if ordinal in places):
        unit = _best_of(part, place, passages[place], covered, excluded)
        if unit is not None:
            chosen.append(unit)
            covered |= unit.mask | unit.context
    if not chosen:
        return PartDraft((), (), False)
    return PartDraft(tuple(with_openers(chosen, passages, 0, excluded)), (_together(chosen),), False)


def _best_of(part: PartQuery, place: int, passage: Passage, covered: int, excluded: Excluded) -> Unit | None:
    def worth(unit: Unit) -> float:
        more = weight_of(unit.mask & ~covered, part.terms)
        return unit.score + OPEN_GAIN * more + FIT_GAIN * unit.fits

    units = [
        unit
        for unit in best_units(part, 0, [replace(passage, parts=(0,))])
        if (passage.chunk.ordinal, unit.start) not in excluded
    ]
    if not units:
        return None
    return replace(max(units, key=lambda unit: (round(worth(unit), 6), -unit.start)), passage=place)


def _together(units: Sequence[Unit]) -> Unit:
    """One unit that has what all have: a trail answers as a whole."""
    whole = units[0]
    for unit in units[1:]:
        whole = replace(
            whole,
            mask=whole.mask | unit.mask,
            context=whole.context | unit.context,
            near=whole.near | unit.near,
            passage_mask=whole.passage_mask | unit.passage_mask,
            fits=whole.fits or unit.fits,
        )
    return whole
