"""An answer of several hops: the sentences of the passages that lead to one another that are likeliest to hold it.

The passage that answers the last hop resembles the question little, so sentences are not chosen by their score alone,
but by what they add, whether they hold what is asked for, and whether they speak of what stands by the asking word.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from agentic_rag.domain.answer_fit import holds_place
from agentic_rag.domain.documents import Chunk
from agentic_rag.domain.evidence import Passage
from agentic_rag.domain.part_queries import terms_of
from agentic_rag.domain.passage_units import PartQuery, Unit, best_units, other_units
from agentic_rag.domain.retrieval import Candidate, Retriever
from agentic_rag.domain.synthesis import Excluded, PartDraft, with_openers
from agentic_rag.domain.term_match import weight_of

MOST_PASSAGES = 3
"""As many hops as retrieval follows."""

READ_PASSAGES = 4
"""Passages whose sentences may be chosen: the trail's and the best beside it."""

CLOSE_PASSAGE = 0.7
"""Of the first passage's score: one beside the trail with less says something of another subject."""

MOST_SENTENCES = 3

HOP_CHANCE = 0.05
"""What trails must make of a passage (the graph arm's raw figure) for it to be a hop. With 0.1 / 0.05 / 0.02 the gold
answer stood in the extracts for 35 / 38 / 38 % of the questions of musique and 69 / 69 / 74 % of hotpotqa, while 33 /
41 / 57 % of those of clapnq, which need one passage, were read as several hops (at equal token recall).
"""

FOCUS_TERMS = 3
"""Content terms beside the asking word that say what is asked."""

_ASKING = re.compile(r"\b(?:who|whom|whose|what|when|where|why|which|how)\b", re.IGNORECASE)
_OPENS_WITHIN = 12
"""Code points from the start in which an asking word opens the question."""


@dataclass(frozen=True, slots=True)
class SentenceWeights:
    """The linear score of a sentence for a question of several hops. Fitted so that a softmax over the sentences of the
    first passages puts its weight on those with the gold answer, on hotpotqa, hotpotqa-dev100 and musique (114
    questions), then rounded. Share of questions whose gold answer stands in the three sentences chosen, the set itself
    left out of the fitting: 82 / 80 / 43 %; the three best by score alone 46 / 60 / 15 %.
    """

    score: float = 0.2
    """By itself, as in `passage_units`."""
    open_share: float = 0.5
    """Weight of the terms that it holds and no best sentence of a passage before."""
    fits: float = 1.5
    """It holds a figure, date, name or place where one is asked for."""
    fits_later: float = 1.3
    """The same, when its passage is not the first."""
    first: float = 0.75
    """It opens its passage."""
    focus: float = 2.3
    """The share of the terms beside the asking word that it holds."""
    context: float = -1.4
    """Weight of the terms that its title and headings hold."""
    outside: float = -0.9
    """Its passage is not of the trail."""
    rank: float = -0.8
    """Passages before its own."""


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
    part: PartQuery,
    trail: Sequence[int],
    passages: Sequence[Passage],
    excluded: Excluded = frozenset(),
    weights: SentenceWeights = SentenceWeights(),
) -> PartDraft:
    """The likeliest sentences for the answer, of two passages at least, in the order of the passages; their support is
    that of all of them and of the trail's passages together. None when no passage of the trail speaks of the question.
    """
    ranked, leading = _ranked(part, frozenset(trail), passages, excluded, weights)
    if not leading:
        return PartDraft((), (), False)
    chosen = ranked[:MOST_SENTENCES]
    if len({unit.passage for unit in chosen}) == 1:
        elsewhere = [unit for unit in ranked if unit.passage != chosen[0].passage]
        chosen = [*chosen[: MOST_SENTENCES - 1], *elsewhere[:1]]
    chosen.sort(key=lambda unit: (unit.passage, unit.start))
    sentences = with_openers(chosen, passages, 0, excluded, MOST_SENTENCES)
    return PartDraft(tuple(sentences), (_together([*leading, *chosen]),), False)


def _ranked(
    part: PartQuery, trail: frozenset[int], passages: Sequence[Passage], excluded: Excluded, weights: SentenceWeights
) -> tuple[list[Unit], list[Unit]]:
    """The sentences of the first passages, likeliest first, ties by passage, then offset; and the best by score of each
    passage of the trail.
    """
    focus = focus_of(part)
    worth: list[tuple[float, Unit]] = []
    leading: list[Unit] = []
    covered = 0
    for place, passage in enumerate(passages[:READ_PASSAGES]):
        on_trail = passage.chunk.ordinal in trail
        if not on_trail and passage.candidate.score < CLOSE_PASSAGE * passages[0].candidate.score:
            continue
        alone = [replace(passage, parts=(0,))]
        matching = best_units(part, 0, alone)
        for unit in (*matching, *other_units(part, passage, matching)):
            if (passage.chunk.ordinal, unit.start) in excluded:
                continue
            fits = unit.fits and holds_place(passage.chunk.text[unit.start : unit.end], part.answer_type, part.text)
            value = (
                weights.score * unit.score
                + weights.open_share * weight_of(unit.mask & ~covered, part.terms)
                + weights.fits * fits
                + weights.fits_later * (fits and place > 0)
                + weights.first * (unit.start == 0)
                + weights.focus * (unit.mask & focus).bit_count() / max(1, focus.bit_count())
                + weights.context * weight_of(unit.context, part.terms)
                + weights.outside * (not on_trail)
                + weights.rank * place
            )
            worth.append((round(value, 6), replace(unit, passage=place)))
        for unit in matching[:1]:
            covered |= unit.mask | unit.context
            if on_trail:
                leading.append(replace(unit, passage=place))
    worth.sort(key=lambda one: (-one[0], one[1].passage, one[1].start))
    return [unit for _, unit in worth], leading


def focus_of(part: PartQuery) -> int:
    """The bits of the terms that stand by the asking word: behind it, before it where it ends the question."""
    words = list(_ASKING.finditer(part.text))
    if not words:
        return 0
    word = words[0] if words[0].start() < _OPENS_WITHIN else words[-1]
    asked = [term.term for term in part.terms]
    near = [term for term in terms_of(part.text[word.end() :]) if term in asked][:FOCUS_TERMS]
    if len(near) < 2:
        near += [term for term in terms_of(part.text[: word.start()]) if term in asked][-FOCUS_TERMS:]
    return sum(1 << place for place, term in enumerate(asked) if term in near)


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
