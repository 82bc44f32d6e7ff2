"""Extractive synthesis: pick, order and join the sentences that answer, each with a citation of its own."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from agentic_rag.answering.extraction.candidate_units import (
    CandidateUnit,
    Subquery,
    depends_on_previous,
    opening_unit,
    quote_of,
    segment_passage,
    unit_states_answer,
)
from agentic_rag.answering.extraction.contradiction import (
    NEARLY_IDENTICAL,
    extract_figures,
    extract_words,
    jaccard_similarity,
    order_in_time,
)
from agentic_rag.answering.extraction.disagreement import find_contradiction
from agentic_rag.answering.extraction.part_units import PartUnits
from agentic_rag.answering.extraction.term_matching import weight_of
from agentic_rag.answering.extraction.text_blocks import RankedBlock
from agentic_rag.answering.extraction.text_units import UnitKind, format_unit
from agentic_rag.answering.figures.borderless_tables import format_borderless_row, parse_borderless_row
from agentic_rag.answering.plan import AnswerType
from agentic_rag.language.tables import header_span, is_row
from agentic_rag.retrieval.candidates import Passage

MAX_SENTENCES = 2
MAX_LIST_SENTENCES = 6
MIN_SCORE_RATIO = 0.8
"""A further sentence must score at least this share of the best one's."""
FOLLOWING_CREDIT = 0.06
"""What the sentence after the best one scores more."""
MIN_LIST_SCORE_RATIO = 0.85
"""The same for a further row or item of the list that the best one is of."""
MIN_RESTATED_SHARE = 0.6
"""Of the question's weight in a sentence that may only restate it."""
MIN_SIDE_SHARE = 0.4
"""Of the question's weight in a unit that was not looked at closely, where a contradiction is looked for."""
LONGEST_HEAD = 240
"""Code points of a caption with the names of the columns, beyond which the names alone are quoted."""
MAX_NEAREST = 3
"""Passages shown with an abstention."""

VALUES = frozenset({AnswerType.FIGURE, AnswerType.DATE, AnswerType.PERSON})
"""What a sentence has to hold to answer."""

_SAID_BESIDE_FIGURES = frozenset({UnitKind.PROSE, UnitKind.LIST_ITEM, UnitKind.LABELLED})
"""What adds to rows: other rows would only be less fitting ones."""

ExcludedSpans = frozenset[tuple[int, int]]
"""(ordinal, start in the chunk) of units that a self-check refused."""


@dataclass(frozen=True, slots=True)
class DraftSentence:
    """A sentence of the answer and the span [start, end) of its passage's text that it quotes."""

    part: int
    passage: int
    start: int
    end: int
    text: str
    kind: UnitKind
    score: float
    more_quotes: tuple[DraftSentence, ...] = ()
    """The other spans that it rests on, one each."""
    is_model_text: bool = False
    """The text is a model's own words, not the quote's."""


@dataclass(frozen=True, slots=True)
class PartDraft:
    """What was found for one part: the sentences, and the units they quote, best first."""

    sentences: tuple[DraftSentence, ...]
    units: tuple[CandidateUnit, ...]
    conflicting: bool
    blocks: tuple[RankedBlock, ...] = ()
    """The lists, tables and sections in the order of the model that read them; none where they were not read."""
    ranked: tuple[CandidateUnit, ...] = ()
    """All units that come close, best first."""
    read: tuple[CandidateUnit, ...] = ()
    """All units that a model read, best first."""


def draft_part(
    part: Subquery,
    position: int,
    passages: Sequence[Passage],
    limit: int,
    excluded: ExcludedSpans = frozenset(),
    held: PartUnits | None = None,
    ranked: Sequence[CandidateUnit] | None = None,
) -> PartDraft:
    """The best sentences for one part, best first; none when no passage has a term of it. `held` are its units, where
    they are known, and `ranked` the likeliest of them, best first, where they were read: else their own scores decide.
    """
    held = PartUnits(part, position, passages) if held is None else held
    units = [
        unit
        for unit in (held.close_units() if ranked is None else ranked)
        if (passages[unit.passage].chunk.ordinal, unit.start) not in excluded and not _restates(unit, passages, part)
    ]
    stated = partial(statement_of, passages=passages)
    if not units:
        return PartDraft((), (), False)
    chosen = _choose(units, passages, part, limit)
    sides = find_contradiction(units, passages, part, stated)
    if sides is None and part.answer_type in VALUES:
        sides = find_contradiction(_units_with_value(held, passages, excluded), passages, part, stated)
    if sides is None:
        sentences: list[DraftSentence] = []
        for unit in _in_order(chosen, part.answer_type):
            opened = add_openers([unit], passages, position, excluded)
            new = [one for one in opened if not _overlaps_any(one, sentences)]
            if not sentences or len(sentences) + len(new) <= limit:
                sentences += new
        return PartDraft(tuple(sentences), tuple(chosen), False, ranked=tuple(units))
    others = [unit for unit in chosen if unit not in sides]
    chosen = [*sorted(sides, key=lambda unit: time_of(unit, passages)), *others[: max(0, limit - len(sides))]]
    return PartDraft(tuple(add_openers(chosen, passages, position, excluded)), tuple(chosen), True)


def _restates(unit: CandidateUnit, passages: Sequence[Passage], part: Subquery) -> bool:
    """True for a sentence that has no word or figure beside those of a question that asks for one."""
    if unit.kind is UnitKind.TABLE_ROW or part.answer_type is AnswerType.YES_NO:
        return False
    if weight_of(unit.mask, part.terms) < MIN_RESTATED_SHARE:
        return False
    return restates(quote_of(unit, passages), part.text)


def restates(said: str, question: str) -> bool:
    """True for a text that has no word of three letters or more and no figure beside those of the question."""
    return extract_words(said) <= extract_words(question) and extract_figures(said) <= extract_figures(question)


def add_figures(
    sentences: Sequence[DraftSentence],
    figures: Sequence[CandidateUnit],
    passages: Sequence[Passage],
    excluded: ExcludedSpans,
    *,
    conflicting: bool,
) -> tuple[DraftSentence, ...]:
    """The sentences behind the rows and sentences that state the figures asked for, but for what they quote already;
    sentences that disagree come first, or nothing would show what the conflict is.
    """
    figured = [
        sentence_of(unit, passages, 0)
        for unit in figures
        if (passages[unit.passage].chunk.ordinal, unit.start) not in excluded
    ]
    if conflicting or not figured:
        return (*sentences, *(one for one in figured if not _overlaps_any(one, sentences)))
    others = [one for one in sentences if one.kind in _SAID_BESIDE_FIGURES and not _overlaps_any(one, figured)]
    return (*figured, *others[: max(MAX_SENTENCES, MAX_LIST_SENTENCES - len(figured))])


def _overlaps_any(one: DraftSentence, others: Sequence[DraftSentence]) -> bool:
    return any(one.passage == other.passage and one.start < other.end and other.start < one.end for other in others)


def join_parts(parts: Sequence[PartDraft]) -> tuple[DraftSentence, ...]:
    """The sentences of all parts in order, nothing quoted or said twice; of those that disagree each is kept."""
    seen: set[tuple[int, int]] = set()
    result: list[DraftSentence] = []
    for part in parts:
        for sentence in part.sentences:
            said = sentence.text.rstrip(".")
            again = not part.conflicting and any(said in other.text for other in result)
            if (sentence.passage, sentence.start) not in seen and not again:
                seen.add((sentence.passage, sentence.start))
                result.append(sentence)
    return tuple(result)


def nearest_sentences(passages: Sequence[Passage], parts: Sequence[PartDraft]) -> tuple[DraftSentence, ...]:
    """What came closest when there is no answer: the drafted sentences, else the openings of the first passages."""
    drafted = join_parts(parts)[:MAX_NEAREST]
    if drafted:
        return drafted
    openings = [opening_unit(passage, place) for place, passage in enumerate(passages[:MAX_NEAREST])]
    return tuple(sentence_of(unit, passages, 0) for unit in openings if unit is not None)


def opening_sentence(passages: Sequence[Passage], place: int) -> DraftSentence | None:
    """The first quotable sentence of the passage at `place`, for a lookup's answer."""
    unit = opening_unit(passages[place], place)
    return None if unit is None else sentence_of(unit, passages, 0)


def _choose(units: list[CandidateUnit], passages: Sequence[Passage], part: Subquery, limit: int) -> list[CandidateUnit]:
    """The best unit and those that may answer as well: what follows it, others that come close, or further rows and
    items of a list.
    """
    best = units[0]
    chosen = [best]
    said = [extract_words(quote_of(best, passages))]
    for unit in _with_following(units, passages, part):
        if len(chosen) >= limit or unit.score < MIN_SCORE_RATIO * best.score:
            break
        if any(unit.passage == other.passage and _overlap(unit, other) for other in chosen):
            continue
        if _is_of_nothing_asked(unit, best, passages):
            continue
        listed = part.answer_type is AnswerType.LIST and _same_list(unit, best)
        if not listed and best.fits and not unit.fits:
            continue
        spoken = extract_words(quote_of(unit, passages))
        if not listed and any(jaccard_similarity(spoken, before) >= NEARLY_IDENTICAL for before in said):
            continue
        chosen.append(unit)
        said.append(spoken)
    return chosen


def _is_of_nothing_asked(unit: CandidateUnit, best: CandidateUnit, passages: Sequence[Passage]) -> bool:
    """True for a unit of another document than the best one where only that one has a word of the question."""
    is_of_another = passages[unit.passage].chunk.document_id != passages[best.passage].chunk.document_id
    return is_of_another and not unit.mask | unit.context_mask and bool(best.mask | best.context_mask)


def _with_following(
    units: Sequence[CandidateUnit], passages: Sequence[Passage], part: Subquery
) -> Sequence[CandidateUnit]:
    """The units after the best one; the sentence that follows it in its paragraph counts `FOLLOWING_CREDIT` more: the
    value often stands one sentence after the one that has the words of the question.
    """
    best, others = units[0], units[1:]
    following = None if part.answer_type is AnswerType.LIST else _beside(best, passages, 1)
    if following is None:
        return others
    known = next((one for one in others if (one.passage, one.start) == (following.passage, following.start)), None)
    fits = unit_states_answer(part, passages[following.passage], following.start, following.end)
    leans = depends_on_previous(quote_of(following, passages))
    if known is None and not (leans or (fits and not best.fits)):
        return others
    least = MIN_SCORE_RATIO * best.score if known is None else known.score
    credited = replace(following if known is None else known, fits=fits, score=least + FOLLOWING_CREDIT)
    rest = [one for one in others if one is not known]
    at = bisect_left([-one.score for one in rest], -credited.score)
    return [*rest[:at], credited, *rest[at:]]


def _same_list(unit: CandidateUnit, best: CandidateUnit) -> bool:
    """Rows and items of one passage that are as good as the best one."""
    return (
        unit.kind is best.kind
        and unit.kind in (UnitKind.TABLE_ROW, UnitKind.LIST_ITEM)
        and unit.passage == best.passage
        and unit.score >= MIN_LIST_SCORE_RATIO * best.score
    )


def _units_with_value(held: PartUnits, passages: Sequence[Passage], excluded: ExcludedSpans) -> list[CandidateUnit]:
    """All units of the passages that have a value of the kind asked for and speak of the question themselves, best
    first by their own score: a side may have fewer words of the question than what was looked at closely.
    """
    return [
        unit
        for unit in held.all_units(MIN_SIDE_SHARE)
        if unit.fits and (passages[unit.passage].chunk.ordinal, unit.start) not in excluded
    ]


def statement_of(unit: CandidateUnit, passages: Sequence[Passage]) -> str:
    """What a unit states: of a table row also what its columns are called."""
    return sentence_of(unit, passages, 0).text if unit.kind is UnitKind.TABLE_ROW else quote_of(unit, passages)


def time_of(unit: CandidateUnit, passages: Sequence[Passage]) -> tuple[bool, str]:
    """A key as `order_in_time` gives it."""
    chunk = passages[unit.passage].chunk
    return order_in_time(" ".join((chunk.document_title, *chunk.heading_path)), quote_of(unit, passages))


def _overlap(left: CandidateUnit, right: CandidateUnit) -> bool:
    return left.start < right.end and right.start < left.end


def _in_order(chosen: Sequence[CandidateUnit], kind: AnswerType) -> list[CandidateUnit]:
    """Best first; of a list, passages by their best unit and units of a passage as the source has them."""
    if kind is not AnswerType.LIST:
        return list(chosen)
    first: dict[int, int] = {}
    for rank, unit in enumerate(chosen):
        first.setdefault(unit.passage, rank)
    return sorted(chosen, key=lambda unit: (first[unit.passage], unit.start))


def add_openers(
    units: Sequence[CandidateUnit],
    passages: Sequence[Passage],
    part: int,
    excluded: ExcludedSpans,
    most: int | None = None,
) -> list[DraftSentence]:
    """The units as sentences; one that leans on the sentence before it brings that one along, as long as there are no
    more than `most`.
    """
    taken = {(unit.passage, unit.start) for unit in units}
    result: list[DraftSentence] = []
    for unit in units:
        room = most is None or len(taken) < most
        if room and unit.kind is UnitKind.PROSE and depends_on_previous(quote_of(unit, passages)):
            before = _beside(unit, passages, -1)
            if before is not None:
                key = (before.passage, before.start)
                if key not in taken and (passages[before.passage].chunk.ordinal, before.start) not in excluded:
                    taken.add(key)
                    result.append(sentence_of(before, passages, part))
        result.append(sentence_of(unit, passages, part))
    return result


def _beside(unit: CandidateUnit, passages: Sequence[Passage], steps: int) -> CandidateUnit | None:
    """The sentence so many places after a unit (before it, if negative) in its paragraph."""
    reading = segment_passage(passages[unit.passage])
    spans, starts = reading.sentences(reading.block(reading.block_of(unit.start)))
    place = bisect_left(starts, unit.end if steps > 0 else unit.start) + steps - (steps > 0)
    if not 0 <= place < len(spans) or reading.kind(spans[place]) is not UnitKind.PROSE:
        return None
    return replace(unit, start=spans[place][0], end=spans[place][1], kind=UnitKind.PROSE, mask=0)


def sentence_of(unit: CandidateUnit, passages: Sequence[Passage], part: int) -> DraftSentence:
    """A unit as a sentence; a row of a table with the names of its columns."""
    quote = quote_of(unit, passages)
    if unit.kind is UnitKind.TABLE_ROW:
        figured = _bare_row(unit, passages, part)
        if figured is not None:
            return figured
    header, head = None, None
    if unit.kind is UnitKind.TABLE_ROW and is_row(quote):
        passage = passages[unit.passage]
        text = passage.text_with_table_head
        span = header_span(text, len(passage.table_head) + unit.start)
        header = None if span is None else text[span[0] : span[1]].strip()
        head = None if span is None else (span[0] - len(passage.table_head), span[1] - len(passage.table_head))
    text = format_unit(quote.replace("\n", ": ", 1) if unit.kind is UnitKind.LABELLED else quote, header)
    if unit.kind is UnitKind.LABELLED or (header is None and is_row(quote)):
        text = f"{passages[unit.passage].chunk.document_title} — {text}"
    sentence = DraftSentence(part, unit.passage, unit.start, unit.end, text, unit.kind, unit.score)
    if head is None or head[0] < 0:
        return sentence
    return replace(sentence, more_quotes=(replace(sentence, start=head[0], end=head[1], kind=UnitKind.HEADING),))


def with_names(sentences: Sequence[DraftSentence], passages: Sequence[Passage]) -> tuple[DraftSentence, ...]:
    """The rows, each that goes on with a table resting also on the names of its columns in the passage before it."""
    return tuple(one if one.more_quotes else _with_names_before(one, passages) for one in sentences)


def _with_names_before(row: DraftSentence, passages: Sequence[Passage]) -> DraftSentence:
    passage = passages[row.passage]
    whole = passage.text_with_table_head
    header = header_span(whole, len(passage.table_head) + row.start)
    if header is None or header[1] > len(passage.table_head):
        return row
    said = whole[slice(*header)].strip()
    for place, one in enumerate(passages):
        at = one.chunk.text.rfind(said) if one.chunk.revision_id == passage.chunk.revision_id else -1
        if at >= 0 and one.chunk.start < passage.chunk.start:
            names = replace(row, passage=place, start=at, end=at + len(said), kind=UnitKind.HEADING)
            return replace(row, more_quotes=(names,))
    return row


def _bare_row(unit: CandidateUnit, passages: Sequence[Passage], part: int) -> DraftSentence | None:
    """A row of a table without lines, or with a section or unit above it, as a sentence that rests on the row and on
    what names its columns.
    """
    passage = passages[unit.passage]
    text, before = passage.text_with_table_head, len(passage.table_head)
    row = parse_borderless_row(text, before + unit.start, before + unit.end)
    if row is None or (is_row(text[before + unit.start : before + unit.end]) and not (row.section or row.unit)):
        return None
    said = format_unit(f"{passage.chunk.document_title} — {format_borderless_row(row, text)}")
    sentence = DraftSentence(part, unit.passage, unit.start, unit.end, said, unit.kind, unit.score)
    if row.header is None or row.header[0] < before:
        return sentence
    start = row.header[0] if row.caption is None or row.caption[0] < before else row.caption[0]
    if row.header[1] - start > LONGEST_HEAD:
        start = row.header[0]
    head = replace(sentence, start=start - before, end=row.header[1] - before, kind=UnitKind.HEADING)
    return replace(sentence, more_quotes=(head,))
