"""The form of an answer to a question whose name several things bear: for each what its documents say, and what it is.

Each document tells what the name stands for in it: "Shawnee Hills is a village in Delaware County". Where two of them
tell of different things, the question has an answer for each.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from uuid import UUID

from agentic_rag.answering.extraction.candidate_units import CandidateUnit, Subquery, quote_of
from agentic_rag.answering.extraction.contradiction import contradicts, is_changed_copy, jaccard_similarity
from agentic_rag.answering.extraction.extractive import DraftSentence, ExcludedSpans
from agentic_rag.answering.extraction.part_units import PartUnits
from agentic_rag.answering.extraction.subquery import terms_of
from agentic_rag.answering.extraction.term_matching import weight_of
from agentic_rag.answering.extraction.text_units import UnitKind, format_unit
from agentic_rag.answering.shapes.question_kind import QuestionKind
from agentic_rag.answering.siblings.asked_act import asks_what_it_is, leaves_words, tells_act
from agentic_rag.answering.siblings.introductions import (
    AskedName,
    Introduction,
    find_introduction,
    find_name,
    may_introduce,
    opens_document,
)
from agentic_rag.language.words.word_tables import table_of
from agentic_rag.retrieval.candidates import Passage

MOST_BEARERS = 6
MIN_SAME = 0.5
"""Jaccard of what two texts say that a name is, from which they speak of one thing."""
MIN_COPIED = 0.7
"""Jaccard of the words of two passages from which one is a copy of the other."""
_KINDS = frozenset({QuestionKind.VALUE, QuestionKind.FACT})
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class _Telling:
    """A document that introduces the name, with its units, best first, and all its words."""

    introduction: Introduction
    units: Sequence[CandidateUnit]
    words: frozenset[str]

    def is_of_same(self, other: _Telling) -> bool:
        """True where both introduce one thing: in much the same words, or one is a copy of the other; of things with
        names of their own only where their dates and figures are the same.
        """
        mine, its = self.introduction, other.introduction
        if mine.may_be(its):
            return True
        alike = jaccard_similarity(mine.terms, its.terms) >= MIN_SAME
        if not (alike or jaccard_similarity(self.words, other.words) >= MIN_COPIED):
            return False
        return not mine.is_of_other_name(its) or (bool(mine.particulars) and mine.particulars == its.particulars)


_Side = tuple[_Telling, CandidateUnit]
"""A document and the unit of it that answers."""


@dataclass(frozen=True, slots=True)
class Bearers:
    """An answer for each thing of a name; `is_conflicting` where texts about one of them contradict each other."""

    sentences: tuple[DraftSentence, ...] = ()
    is_conflicting: bool = False


def find_bearers(
    part: Subquery, kind: QuestionKind, held: PartUnits, passages: Sequence[Passage], excluded: ExcludedSpans
) -> Bearers:
    """What answers for each thing that bears the name in the question, best document first; nothing where fewer than
    two have what is asked for, unless texts about one contradict each other. `held` are the units of the only part.
    """
    things = _find_things(part, kind, held, passages, excluded)
    answered = [sides for one in things if (sides := _sides(one, part, passages))]
    answered = [one for one in answered if _answers(one[0], [other[0] for other in answered if other is not one], part)]
    is_conflicting = any(len(sides) > 1 for sides in answered) or any(
        _is_defined_otherwise(one[0], other[0], part, passages) for one, other in combinations(answered, 2)
    )
    if len(answered) < 2 and not is_conflicting:
        return Bearers()
    told = [_sentence(*side, passages) for sides in answered[:MOST_BEARERS] for side in sides]
    return Bearers(tuple(told), is_conflicting)


def find_sole_bearer(
    part: Subquery, kind: QuestionKind, passages: Sequence[Passage], excluded: ExcludedSpans
) -> DraftSentence | None:
    """What answers about the only thing that bears the name in the question, of a document that opens with it;
    None where no sentence tells what is asked, with all words of the question.
    """
    things = _find_things(part, kind, None, passages, excluded)
    if len(things) != 1:
        return None
    sides = _sides(things[0], part, passages)
    if not sides:
        return None
    telling, unit = sides[0]
    opening = telling.introduction
    is_told = tells_act(part, unit, quote_of(unit, passages)) and not leaves_words(part, unit.mask | opening.unit.mask)
    return _sentence(telling, unit, passages) if is_told and opens_document(opening, passages) else None


def is_of_other_documents(
    part: Subquery, kind: QuestionKind, passages: Sequence[Passage], quoted: Collection[int]
) -> bool:
    """True where it is asked what the name is, documents open with that, and none of the passages at the positions
    `quoted` is of one of them: those may tell of something else.
    """
    if not asks_what_it_is(part):
        return False
    opened = {
        passages[telling.introduction.unit.passage].chunk.document_id
        for thing in _find_things(part, kind, None, passages, frozenset())
        for telling in thing
        if telling.introduction.share == 1 and opens_document(telling.introduction, passages)
    }
    return bool(opened) and opened.isdisjoint(passages[place].chunk.document_id for place in quoted)


def _find_things(
    part: Subquery,
    kind: QuestionKind,
    held: PartUnits | None,
    passages: Sequence[Passage],
    excluded: ExcludedSpans,
) -> list[list[_Telling]]:
    """The documents that introduce the name in the question, by what they tell of; nothing where `held`, the units of
    the only part, are given and fewer than two do.
    """
    name = find_name(part)
    if kind not in _KINDS or name is None or table_of(part.text) is not None:
        return []
    places = _places_with_name(name, passages, 1 if held is None else 2)
    if not places:
        return []
    made = (PartUnits(part, 0, passages) if held is None else held).all_units(places=places)
    units = [unit for unit in made if (passages[unit.passage].chunk.ordinal, unit.start) not in excluded]
    return _bearers(part, name, units, passages)


def _places_with_name(name: AskedName, passages: Sequence[Passage], least: int) -> frozenset[int]:
    """The positions of the passages of documents that may have the whole name and introduce it, where there are at
    `least` so many: to make the units of all passages and to take their words apart would be a tenth of an answer. A
    stemmer changes no more than the last letter of what is left of a word.
    """
    texts: dict[UUID, str] = {}
    introducing = set[UUID]()
    begun = [one[:-1] for one in name.terms]
    for passage in passages:
        chunk = passage.chunk
        texts[chunk.document_id] = f"{texts.get(chunk.document_id, chunk.document_title)} {chunk.text}".lower()
        if chunk.document_id not in introducing and may_introduce(name, chunk):
            introducing.add(chunk.document_id)
    having = {document for document in introducing if all(one in texts[document] for one in begun)}
    is_enough = len(having) >= least
    return frozenset(at for at, one in enumerate(passages) if is_enough and one.chunk.document_id in having)


def _bearers(
    part: Subquery, name: AskedName, units: Sequence[CandidateUnit], passages: Sequence[Passage]
) -> list[list[_Telling]]:
    """The documents that have the whole name and introduce it, with as much of it as any, by what they tell of."""
    found: list[_Telling] = []
    for own in _by_document(units, passages):
        text = " ".join(passages[place].chunk.text for place in dict.fromkeys(unit.passage for unit in own))
        title = passages[own[0].passage].chunk.document_title
        if not name.terms <= frozenset(terms_of(f"{title} {text}")):
            continue
        introduction = find_introduction(own, name, part, passages)
        if introduction is not None:
            found.append(_Telling(introduction, own, frozenset(_WORD.findall(text.lower()))))
    most = max((one.introduction.share for one in found), default=0.0)
    bearers: list[list[_Telling]] = []
    for telling in found:
        if telling.introduction.share < most:
            continue
        same = next((one for one in bearers if one[0].is_of_same(telling)), None)
        if same is None:
            bearers.append([telling])
        else:
            same.append(telling)
    return bearers


def _by_document(units: Sequence[CandidateUnit], passages: Sequence[Passage]) -> Iterator[list[CandidateUnit]]:
    """The units of each document, best first; documents in the order of their passages."""
    for document in dict.fromkeys(passage.chunk.document_id for passage in passages):
        own = [unit for unit in units if passages[unit.passage].chunk.document_id == document]
        if own:
            yield own


def _sides(tellings: Sequence[_Telling], part: Subquery, passages: Sequence[Passage]) -> list[_Side]:
    """What answers best about one thing, and the best sentence of another document that contradicts it."""
    answers = [(telling, unit) for telling in tellings for unit in telling.units if unit.fits]
    # The document is about the thing: a sentence of it need not name it again.
    asked = ~part.name_mask
    answers.sort(
        key=lambda one: (
            not tells_act(part, one[1], quote_of(one[1], passages)),
            -weight_of(one[1].mask & asked, part.terms),
            -one[1].score,
        )
    )
    for telling, unit in answers[1:]:
        if telling is not answers[0][0] and _contradict(answers[0][1], unit, part, passages):
            return [answers[0], (telling, unit)]
    return answers[:1]


def _answers(one: _Side, others: Sequence[_Side], part: Subquery) -> bool:
    """False for what lacks the noun that is asked for where another one has it, and only what is said of the name tells
    the two apart: a second text about one thing may call it something else.
    """
    return not part.target_mask & ~one[1].mask or all(
        one[0].introduction.is_told_from(other[0].introduction) for other in others if other[1].mask & part.target_mask
    )


def _contradict(one: CandidateUnit, other: CandidateUnit, part: Subquery, passages: Sequence[Passage]) -> bool:
    """True for two sentences of which one says of the same thing what the other does not."""
    left, right = quote_of(one, passages), quote_of(other, passages)
    return contradicts(left, right, part.answer_type, about_dates=True) or is_changed_copy(left, right)


def _is_defined_otherwise(one: _Side, other: _Side, part: Subquery, passages: Sequence[Passage]) -> bool:
    """True for two answers that are what the documents say the name is, of one name, which contradict each other."""
    introductions = [telling.introduction for telling, _ in (one, other)]
    if introductions[0].is_of_other_name(introductions[1]):
        return False
    both = all(telling.introduction.unit is unit for telling, unit in (one, other))
    return both and _contradict(one[1], other[1], part, passages)


def _sentence(telling: _Telling, unit: CandidateUnit, passages: Sequence[Passage]) -> DraftSentence:
    """What answers, behind what says of which thing."""
    introduction = telling.introduction.unit
    said = format_unit(quote_of(unit, passages))
    sentence = DraftSentence(0, unit.passage, unit.start, unit.end, said, UnitKind.TITLED, unit.score)
    if introduction is unit:
        return sentence
    opening = replace(sentence, passage=introduction.passage, start=introduction.start, end=introduction.end)
    return replace(sentence, text=f"{format_unit(quote_of(introduction, passages))} {said}", more_quotes=(opening,))
