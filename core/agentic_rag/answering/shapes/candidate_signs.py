"""What speaks for and against a candidate answer, for the trained choice among them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass

from agentic_rag.answering.extraction.candidate_units import Subquery, segment_passage
from agentic_rag.answering.extraction.extractive import DraftSentence, PartDraft
from agentic_rag.answering.extraction.reading import headings_above
from agentic_rag.answering.extraction.term_matching import lower_text, mask_of, weight_of
from agentic_rag.answering.extraction.text_blocks import TextBlockKind
from agentic_rag.answering.extraction.text_units import UnitKind
from agentic_rag.answering.shapes.candidates import CandidateAnswer
from agentic_rag.answering.shapes.question_kind import QuestionKind
from agentic_rag.retrieval.candidates import Passage

FAR = 0.6
"""How far below the best unit a sentence lies that did not come close."""
NEAR = 0.1
WIDE, SHARP = 0.15, 0.05
"""Over how much of a difference in score the weight of a unit falls to a third."""
_KINDS = tuple(QuestionKind)
_BLOCKS = (None, TextBlockKind.SECTION, TextBlockKind.LIST, TextBlockKind.TABLE)

Place = tuple[int, int]
"""A passage and where a unit begins in it."""


@dataclass(frozen=True, slots=True)
class CandidateSigns:
    """The signs in the order in which the trees of the choice number them."""

    kind: int
    is_draft: bool
    rank: int
    before: int
    after: int
    block: int
    has_lead: bool
    quotes: int
    sentences: int
    characters: float
    """As a logarithm."""
    first_gap: float
    """How far the best unit within lies below the best of all; the next ones are of its sentences."""
    mean_gap: float
    last_gap: float
    near: int
    """Units within that come near the best of all."""
    near_share: float
    held_wide: float
    """The share of the weight of all units, which falls with their distance to the best one."""
    held_sharp: float
    dense: float
    """That weight by sentence."""
    left: float
    """The weight of the best unit that is left out."""
    fits: bool
    """A unit within has the figure, date or name that is asked for."""
    terms: float
    """What of the question's weight the text holds; with what stands above it; in its headings; in the nearest."""
    all_terms: float
    heading_terms: float
    nearest_terms: float
    passage: float
    """The passage's fused score, relative to the first one's."""
    is_proposed: bool


@dataclass(frozen=True, slots=True)
class _ReadPart:
    """A part with how far each unit that was read lies below the best one, and which have what is asked for."""

    kind: QuestionKind
    part: Subquery
    passages: Sequence[Passage]
    gaps: dict[Place, float]
    fitting: frozenset[Place]
    top_passage: float


def find_signs(
    kind: QuestionKind, part: Subquery, passages: Sequence[Passage], draft: PartDraft, found: Sequence[CandidateAnswer]
) -> list[tuple[float, ...]]:
    """The signs of each candidate; the first is the draft."""
    best = draft.read[0].score
    gaps = {(unit.passage, unit.start): min(best - unit.score, FAR) for unit in draft.read}
    fitting = frozenset((unit.passage, unit.start) for unit in draft.read if unit.fits)
    top = max((passage.candidate.score for passage in passages), default=0.0) or 1.0
    read = _ReadPart(kind, part, passages, gaps, fitting, top)
    return [astuple(_signs_of(read, one, is_draft=not at)) for at, one in enumerate(found)]


def _signs_of(read: _ReadPart, one: CandidateAnswer, *, is_draft: bool) -> CandidateSigns:
    quotes, passages, gaps, terms = one.quotes, read.passages, read.gaps, read.part.terms
    inside = [at for at in gaps if any(_holds(quote, at) for quote in quotes)]
    count = max(1, len(inside), sum(_count_sentences(quote, passages[quote.passage]) for quote in quotes))
    known = sorted(gaps[at] for at in inside)
    every = [*known, *[FAR] * (count - len(known))]
    near = sum(gap < NEAR for gap in known)
    first = passages[quotes[0].passage]
    said = "\n".join(passages[quote.passage].chunk.text[quote.start : quote.end] for quote in quotes)
    title, *above = headings_above(first, quotes[0].start)
    own, headed, titled = (mask_of(lower_text(text), terms) for text in (said, " ".join(above), title))
    return CandidateSigns(
        kind=_KINDS.index(read.kind),
        is_draft=is_draft,
        rank=one.rank,
        before=one.before,
        after=one.after,
        block=_BLOCKS.index(one.block and one.block.kind),
        has_lead=one.block is not None and one.block.kind is TextBlockKind.LIST and one.block.lead is not None,
        quotes=len(quotes),
        sentences=count,
        characters=math.log(len(said) + 30),
        first_gap=every[0],
        mean_gap=sum(every) / count,
        last_gap=every[-1],
        near=near,
        near_share=near / count,
        held_wide=_weight(known, WIDE) / _weight(gaps.values(), WIDE),
        held_sharp=_weight(known, SHARP) / _weight(gaps.values(), SHARP),
        dense=_weight(every, WIDE) / count,
        left=_weight((min((gap for at, gap in gaps.items() if at not in inside), default=FAR),), NEAR),
        fits=not read.fitting.isdisjoint(inside),
        terms=weight_of(own, terms),
        all_terms=weight_of(own | headed | titled, terms),
        heading_terms=weight_of(headed, terms),
        nearest_terms=weight_of(mask_of(lower_text(above[-1]), terms), terms) if above else 0.0,
        passage=first.candidate.score / read.top_passage,
        is_proposed=one.is_proposed,
    )


def _holds(quote: DraftSentence, at: Place) -> bool:
    return quote.passage == at[0] and quote.start <= at[1] < quote.end


def _weight(gaps: Iterable[float], width: float) -> float:
    return sum(math.exp(-gap / width) for gap in gaps)


def _count_sentences(quote: DraftSentence, passage: Passage) -> int:
    """The sentences, items and rows that begin in a quote."""
    reading = segment_passage(passage)
    places = range(reading.block_of(quote.start), reading.block_of(quote.end - 1) + 1)
    spans = {span for place in places for span in reading.sentences(reading.block(place))[0]}
    return sum(quote.start <= span[0] < quote.end and reading.kind(span) is not UnitKind.HEADING for span in spans)
