"""The form of an answer to a question that says too little: the same said of several subjects, each with its own value.

"What is the limit?" has as many answers as there are things with a limit. It is no list, which asks for all of them,
and no conflict, which is about one subject.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from agentic_rag.answering.extraction.candidate_units import CandidateUnit, Subquery, quote_of
from agentic_rag.answering.extraction.contradiction import NEARLY_IDENTICAL, extract_words, jaccard_similarity
from agentic_rag.answering.extraction.extractive import DraftSentence, ExcludedSpans
from agentic_rag.answering.extraction.part_units import PartUnits
from agentic_rag.answering.extraction.reading import headings_above
from agentic_rag.answering.extraction.subquery import ASKING_WORDS, CATEGORY_NOUNS, terms_of
from agentic_rag.answering.extraction.text_units import UnitKind, format_unit
from agentic_rag.answering.extraction.typed_values import TypedValue, ValueKind, find_values
from agentic_rag.answering.plan import AnswerType
from agentic_rag.answering.shapes.question_kind import QuestionKind
from agentic_rag.language.words.word_tables import table_of
from agentic_rag.retrieval.candidates import Passage

MOST_TERMS = 3
"""Content terms of a question that may be about several things; one with more says which it means."""
MOST_READINGS = 6
MIN_SHARE = 0.7
"""Of the best unit's score, which a reading must have."""
_KINDS = frozenset({QuestionKind.VALUE, QuestionKind.FACT})
_UNITS = frozenset({UnitKind.PROSE, UnitKind.LIST_ITEM, UnitKind.TABLE_ROW})
_STATES = re.compile(r"\b(?:is|are|was|were|amounts? to|comes? to)\b", re.IGNORECASE)
_BESIDE = r"(?:based|located|situated|in|of|at|on|near|for|with|from|by|under|that|which|who|where)"
"""What follows the noun that says what a thing is."""
_GENERIC = frozenset(
    terms_of(
        "policy handbook manual guide guideline rules regulations terms conditions overview report minutes memo note "
        "contract agreement annex appendix amendment correction information general document draft version edition "
        "company employee staff data sheet introduction summary list faq question answer section chapter page "
        "january february march april june july august september october november december quarter year"
    )
)
"""Stems of words in titles and headings that say what kind of text it is, and not of what."""


@dataclass(frozen=True, slots=True)
class _Reading:
    """A unit that answers, what tells its subject from others, and the values that it states."""

    unit: CandidateUnit
    subject: frozenset[str]
    values: tuple[TypedValue, ...]
    words: frozenset[str]


def find_readings(
    part: Subquery, kind: QuestionKind, held: PartUnits, passages: Sequence[Passage], excluded: ExcludedSpans
) -> tuple[DraftSentence, ...]:
    """The readings of a question, best first, each under the title and heading that say what it is about; none where
    the question has one reading. `held` are its units; it has one part.
    """
    if kind not in _KINDS or part.literals or not part.terms or table_of(part.text) is not None:
        return ()
    if len(part.terms) - part.bits_of(ASKING_WORDS).bit_count() > MOST_TERMS:
        return ()
    things = _named_things(part, passages) if part.name_mask else {}
    found = _readings(part, held, passages, excluded, things)
    common = frozenset[str].intersection(*(one.subject for one in found)) if found else frozenset[str]()
    if len(found) < 2 or any(one.subject <= common for one in found):
        return ()
    return tuple(_sentence(one.unit, passages) for one in found[:MOST_READINGS])


def _readings(
    part: Subquery,
    held: PartUnits,
    passages: Sequence[Passage],
    excluded: ExcludedSpans,
    things: Mapping[UUID, frozenset[str]],
) -> list[_Reading]:
    """The best unit of each subject, if each states another value. None where a text is about nothing but what the
    question names: that is the one that is meant. A name has a reading for each of the `things` that it is said to be.
    """
    units = [unit for unit in held.all_units() if unit.kind in _UNITS]
    if not units:
        return []
    unsaid = (part.target_mask | part.bits_of(CATEGORY_NOUNS)) & ~(units[0].mask | units[0].context_mask)
    asked = (1 << len(part.terms)) - 1 & ~part.bits_of(ASKING_WORDS) & ~unsaid or units[0].mask
    said = frozenset(terms_of(part.text)) | _GENERIC
    found: list[_Reading] = []
    for unit in units:
        if not _holds_all(unit, asked) or (passages[unit.passage].chunk.ordinal, unit.start) in excluded:
            continue
        if found and unit.score < MIN_SHARE * found[0].unit.score:
            break
        values = _stated_values(unit, part, passages)
        if values is None:
            continue
        passage = passages[unit.passage]
        subject = _subject(passage, unit, said)
        if part.name_mask:
            subject = things.get(passage.chunk.document_id, frozenset[str]())
        if not subject:
            return []
        one = _Reading(unit, subject, values, extract_words(quote_of(unit, passages)))
        if not any(_is_same(one, other, named=bool(part.name_mask)) for other in found):
            found.append(one)
    return found


def _subject(passage: Passage, unit: CandidateUnit, said: frozenset[str]) -> frozenset[str]:
    """The terms of the title, and those of the headings with a mark, beside those of the question."""
    title, *headings = headings_above(passage, unit.start)
    below = [one for one in headings if one != title]
    return frozenset(_subject_terms(title, said)) | {f"# {term}" for term in _subject_terms(" ".join(below), said)}


def _subject_terms(text: str, said: frozenset[str]) -> list[str]:
    return [term for term in terms_of(text) if not term.isdigit() and term not in said]


def _holds_all(unit: CandidateUnit, asked: int) -> bool:
    """True when the unit with what stands above it has all that is asked about; a row of a table by itself."""
    held = unit.mask if unit.kind is UnitKind.TABLE_ROW else unit.mask | unit.context_mask
    return bool(asked) and held & asked == asked and bool(unit.mask & asked)


def _stated_values(unit: CandidateUnit, part: Subquery, passages: Sequence[Passage]) -> tuple[TypedValue, ...] | None:
    """The values of a unit beside those of the question; None where it states nothing such as is asked for."""
    text = quote_of(unit, passages)
    asked = part.text.lower()
    values = tuple(one for one in find_values(text) if text[one.start : one.end].strip(".,’'").lower() not in asked)
    subject = _STATES.split(text, maxsplit=1)
    is_bare = len(subject) > 1 and frozenset(terms_of(subject[0])) <= frozenset(terms_of(part.text))
    if part.answer_type is AnswerType.DATE:
        return values if unit.fits or is_bare or any(one.kind is not ValueKind.NAME for one in values) else None
    if part.answer_type in (AnswerType.FIGURE, AnswerType.PERSON):
        return values if unit.fits else None
    return values if is_bare else None


def _is_same(one: _Reading, other: _Reading, *, named: bool) -> bool:
    """True for units about one subject, and for units that state one value. What a name is said to be is one thing
    where two definitions have a term in common.
    """
    if named and one.subject & other.subject:
        return True
    if one.subject <= other.subject or other.subject <= one.subject:
        return True
    if any(mine.agrees(its) for mine in one.values for its in other.values):
        return True
    return not one.values and not other.values and jaccard_similarity(one.words, other.words) >= NEARLY_IDENTICAL


def _named_things(part: Subquery, passages: Sequence[Passage]) -> dict[UUID, frozenset[str]]:
    """What the documents say that the name in the question is: the terms of their defining sentences."""
    named = frozenset(term.term for at, term in enumerate(part.terms) if part.name_mask >> at & 1)
    name = r"[\s-]+".join(re.escape(one) for one in re.findall(r"[\w-]+", part.text) if named & set(terms_of(one)))
    defines = re.compile(rf"\b{name} (?:is|was) (?:an?|the|our|its) (.+?)(?: {_BESIDE}\b|[.,;:]|$)", re.IGNORECASE)
    things: dict[UUID, frozenset[str]] = {}
    for passage in passages:
        match = defines.search(passage.chunk.text)
        if match is not None:
            things.setdefault(passage.chunk.document_id, frozenset(terms_of(match[1])))
    return things


def _sentence(unit: CandidateUnit, passages: Sequence[Passage]) -> DraftSentence:
    above = [one for one in headings_above(passages[unit.passage], unit.start) if one]
    label = " › ".join(dict.fromkeys((above[0], above[-1])))
    said = f"{label} — {format_unit(quote_of(unit, passages))}"
    return DraftSentence(0, unit.passage, unit.start, unit.end, said, UnitKind.TITLED, unit.score)
