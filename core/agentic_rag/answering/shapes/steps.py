"""The form of an answer that says how: the list of steps, or the sentences of a section that give instructions."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import fmean

from agentic_rag.answering.extraction.candidate_units import (
    CandidateUnit,
    Subquery,
    depends_on_previous,
    segment_passage,
)
from agentic_rag.answering.extraction.extractive import DraftSentence, ExcludedSpans, PartDraft
from agentic_rag.answering.extraction.segmented_text import Span
from agentic_rag.answering.extraction.term_matching import find_hits, holds_phrase, lower_text, mask_of, weight_of
from agentic_rag.answering.extraction.text_blocks import RankedBlock, TextBlockKind, find_blocks
from agentic_rag.answering.extraction.text_units import FENCES, UnitKind
from agentic_rag.answering.shapes.forms import (
    LONGEST_BLOCK,
    MIN_BLOCK_RATIO,
    is_excluded,
    quote_block,
    quote_span,
    ranked_blocks,
)
from agentic_rag.answering.shapes.procedure import quote_stages
from agentic_rag.retrieval.candidates import Passage

LIST_BONUS = 0.2
"""What a list is worth before a section where steps are asked for."""
MOST_STEPS = 6
"""Sentences of a paragraph that are quoted."""
MIN_STEP_RATIO = 0.95
"""A sentence beside the best one that scores this share of it says how, too, whatever its form."""
MIN_NAMED_SHARE = 0.6
"""Of the question's weight in a heading that names what is asked."""
SHORT_PARAGRAPH = 3
"""Sentences of a paragraph that is quoted whole."""
MIN_STEP_WORDS = 4
"""Words of an item, in the mean, of a list of steps."""
_OPENER = r"(?:please|always|only|also|then|and|now|next|finally|first(?:ly)?|second(?:ly)?|third(?:ly)?|lastly),? "
_NO_VERB = (
    r"is|are|was|were|has|had|it|its|this|that|these|those|they|he|she|we|you|i|there|all|both|each|many|most|some|no|"
    r"one|a|an|the|in|on|at|by|for|from|with|of|to|as"
)
_DIRECTS = re.compile(
    rf"^(?:{_OPENER})*(?:do not|don['’]t|make sure|be sure|never|let|have|keep|(?!(?:{_NO_VERB})\b)[a-z]+(?<!ed)"
    r"(?: (?:the|a|an|your|it|them|this|that|all|any|each|every|down|up|off|out|back|away|on|in|with|to|for|as|"
    r"somebody|someone|another)\b| [`\"“']))",
    re.IGNORECASE,
)
"""A verb that tells the reader to do something: without a subject, before its object."""
_ORDERS = re.compile(
    r"^(?:then|next|after (?:that|this|which)|afterwards|thereafter|finally|lastly|first(?:ly)?|second(?:ly)?|"
    r"third(?:ly)?|once|when|as soon as|before|until|if (?:that|this|it|not|the)|should|failing that|on the way)\b|"
    r"\b(?:and only )?then\b|\bafter that\b",
    re.IGNORECASE,
)
"""Words that put a step in its place."""
_CODE_LINE = re.compile(r"(?P<code>(?=[\w./-]*\d)[^\W\d_][\w./-]{0,15}): ")
"""A line about a code: "E07: the tank is empty"."""
_ACT = re.compile(
    r"\bhow (?:do|can|should|would|must|may|might|to|does)\b(?: (?:i|we|you|one|someone|people)\b)?"
    r"(?: (?:get|do|make|have|take|use|go about)\b)?(?P<act>.*)|\bhow (?:is|are) .* (?P<done>\w+)\W*$",
    re.IGNORECASE,
)
"""Where a question says what is to be done."""


def whole_steps(
    part: Subquery, place: int, passages: Sequence[Passage], draft: PartDraft, excluded: ExcludedSpans
) -> tuple[DraftSentence, ...]:
    """The list or section that says how; none where a row of a table is about what the question names."""
    if any(_is_row_of(unit, part, passages) for unit in draft.units[:1]):
        return ()
    ranked = [
        (one.score + (LIST_BONUS if one.block.kind is TextBlockKind.LIST and len(one.block.parts) > 1 else 0.0), one)
        for one in ranked_blocks(part, place, passages, draft, {TextBlockKind.LIST, TextBlockKind.SECTION})
        if not is_excluded(one, passages, excluded)
        and one.block.end - one.block.start <= LONGEST_BLOCK
        and not _is_menu(one, passages)
    ]
    if not ranked:
        return ()
    score, best = max(ranked, key=lambda one: one[0])
    if draft.units and score < MIN_BLOCK_RATIO * draft.units[0].score:
        return ()
    if best.block.kind is TextBlockKind.LIST:
        chunk = passages[best.passage].chunk
        is_procedure = names_act(part, " ".join((chunk.document_title, *chunk.heading_path)))
        stages = quote_stages(best, part, passages, place) if is_procedure else ()
        return stages or (_join_cut_list(best, passages, place),)
    told = _instructions(best, part, draft, passages)
    return (quote_block(best, passages, place) if told is None else quote_span(best, passages, place, told),)


def _is_menu(one: RankedBlock, passages: Sequence[Passage]) -> bool:
    """True for a list without numbers whose items are too short to tell what to do."""
    if one.block.kind is not TextBlockKind.LIST:
        return False
    items = [passages[one.passage].chunk.text[slice(*item)] for item in one.block.parts]
    return not any(item[0].isdigit() for item in items) and fmean(map(_count_words, items)) < MIN_STEP_WORDS


def _count_words(item: str) -> int:
    return len(item.split()) - 1


def _instructions(one: RankedBlock, part: Subquery, draft: PartDraft, passages: Sequence[Passage]) -> Span | None:
    """The sentences of a section in prose that give instructions: its first paragraph where its heading names what is
    to be done, else those around the best one. None where it holds a list or code, or no sentence of it comes close.
    """
    block, text = one.block, passages[one.passage].chunk.text
    lists = (held for held in find_blocks(text) if held.kind is TextBlockKind.LIST)
    if any(block.start <= held.start < block.end for held in lists):
        return None
    if any(fence in text[block.start : block.end] for fence in FENCES):
        return None
    near = {
        unit.start: unit.score
        for unit in draft.ranked
        if unit.passage == one.passage and block.start <= unit.start < block.end and unit.kind is UnitKind.PROSE
    }
    if block.heading is not None and names_act(part, text[slice(*block.heading)]):
        spans = _sentences(passages[one.passage], block.parts[0])
        return spans[0][0], spans[:MOST_STEPS][-1][1]
    if not near:
        return None
    best = max(near, key=lambda start: (near[start], -start))
    paragraph = next((held for held in block.parts if held[0] <= best < held[1]), block.parts[0])
    spans = _sentences(passages[one.passage], paragraph)
    return paragraph if len(spans) <= SHORT_PARAGRAPH else _directions_around(best, spans, near, text, part)


def _sentences(passage: Passage, paragraph: Span) -> list[Span]:
    reading = segment_passage(passage)
    spans = reading.sentences(reading.block(reading.block_of(paragraph[0])))[0]
    return [span for span in spans if paragraph[0] <= span[0] < paragraph[1]]


def _directions_around(best: int, spans: Sequence[Span], near: Mapping[int, float], text: str, part: Subquery) -> Span:
    """From the sentence at `best` as far as its neighbours give directions, lean on it or score as much; of a list of
    codes not beyond the one that the question names: what E03 asks for is no step for E07.
    """
    spans = _of_one_code(best, spans, text, part)
    least = MIN_STEP_RATIO * near[best]
    said = [text[slice(*span)] for span in spans]
    follows = [
        near.get(span[0], 0.0) >= least or _directs(one) or depends_on_previous(one)
        for span, one in zip(spans, said, strict=True)
    ]
    first = last = bisect_right([start for start, _ in spans], best) - 1
    while last + 1 < len(spans) and follows[last + 1] and last - first + 1 < MOST_STEPS:
        last += 1
    while first and (follows[first - 1] or depends_on_previous(said[first])) and last - first + 1 < MOST_STEPS:
        first -= 1
    return spans[first][0], spans[last][1]


def _of_one_code(best: int, spans: Sequence[Span], text: str, part: Subquery) -> Sequence[Span]:
    """The sentences from the line with a code that the one at `best` stands under to the next such line, where the
    question names that code; all of them where it does not.
    """
    starts = (start for start, _ in spans if text[start - 1 : start] in ("", "\n"))
    lines = [found for start in starts if (found := _CODE_LINE.match(text, start))]
    own = next((one for one in reversed(lines) if one.start() <= best), None)
    if own is None or not holds_phrase(part.text.lower(), own["code"].lower()):
        return spans
    after = next((one.start() for one in lines if one.start() > best), len(text))
    return [span for span in spans if own.start() <= span[0] < after]


def _directs(sentence: str) -> bool:
    return _DIRECTS.match(sentence) is not None or _ORDERS.search(sentence) is not None


def names_act(part: Subquery, heading: str) -> bool:
    """True for a heading that says what the question wants done, or, where that is not told, most of what it asks."""
    low = lower_text(heading)
    found = mask_of(low, part.terms)
    asked = _ACT.search(part.text)
    acts = [] if asked is None else find_hits(lower_text(asked["act"] or asked["done"] or ""), part.terms)
    return bool(found & min(acts)[1]) if acts else weight_of(found, part.terms) >= MIN_NAMED_SHARE


def _is_row_of(unit: CandidateUnit, part: Subquery, passages: Sequence[Passage]) -> bool:
    low = passages[unit.passage].chunk.text[unit.start : unit.end].lower()
    return unit.kind is UnitKind.TABLE_ROW and any(mark in low for mark in part.literals)


def _join_cut_list(one: RankedBlock, passages: Sequence[Passage], place: int) -> DraftSentence:
    """The quote of a list; of one that the border of its chunk cuts, with the rest of it: in the chunk beside it, or
    whole where chunks overlap.
    """
    quoted = quote_block(one, passages, place)
    chunk = passages[one.passage].chunk
    for at, passage in enumerate(passages):
        other = passage.chunk
        if other.revision_id != chunk.revision_id or abs(other.index - chunk.index) != 1:
            continue
        follows = other.index > chunk.index
        first, second = (chunk, other) if follows else (other, chunk)
        mine = one.block.end == len(chunk.text.rstrip()) if follows else not chunk.text[: one.block.start].strip()
        lists = [held for held in find_blocks(other.text) if held.kind is TextBlockKind.LIST]
        rest = [
            held
            for held in lists
            if (not other.text[: held.start].strip() if follows else held.end == len(other.text.rstrip()))
        ]
        ours = (chunk.start + one.block.start, chunk.start + one.block.end)
        wider = [
            held
            for held in lists
            if other.start + held.start <= ours[0]
            and ours[1] <= other.start + held.end
            and len(held.parts) > len(one.block.parts)
        ]
        if wider:
            return quote_block(replace(one, passage=at, block=wider[0]), passages, place)
        if mine and rest and first.end <= second.start:
            beside = quote_block(replace(one, passage=at, block=rest[0]), passages, place)
            parts = (quoted, beside) if follows else (beside, quoted)
            return replace(parts[0], text=f"{parts[0].text}\n{parts[1].text}", more_quotes=(parts[1],))
    return quoted
