"""The form of an answer to a question whose name several things bear: for each what its documents say, and what it is.

Each document tells what the name stands for in it: "Shawnee Hills is a village in Delaware County". Where two of them
tell of different things, the question has an answer for each.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
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
from agentic_rag.answering.extraction.typed_values import ValueKind, find_values
from agentic_rag.answering.shapes.question_kind import QuestionKind
from agentic_rag.documents.document import Chunk
from agentic_rag.language.english import FUNCTION_WORDS
from agentic_rag.language.words.word_tables import table_of
from agentic_rag.retrieval.candidates import Passage

MOST_BEARERS = 6
MIN_SAME = 0.5
"""Jaccard of what two texts say that a name is, from which they speak of one thing."""
MIN_COPIED = 0.7
"""Jaccard of the words of two passages from which one is a copy of the other."""
LONGEST_INTRODUCTION = 400
"""Characters of a sentence that says what a name is."""
MIN_NAMED = 0.5
"""Of the name in the subject of a sentence that says what it is: an office beside it may stand elsewhere."""
_KINDS = frozenset({QuestionKind.VALUE, QuestionKind.FACT})
_DEFINES = re.compile(
    r"(?P<subject>\S.{1,200}?)\s(?:is|was|are|were)\s(?:(?:also|now|currently|still) )?"
    r"(?P<thing>(?:an?|the|one of|another)\s.{3,160})",
    re.IGNORECASE | re.DOTALL,
)
_LONGEST_SUBJECT = 201
"""Characters of the subject in `_DEFINES`."""
_DEFINING_VERB = re.compile(
    r"\s(?:is|was|are|were)\s(?:(?:also|now|currently|still) )?(?:an?|the|one of|another)(?=\s)", re.IGNORECASE
)
"""The verb of `_DEFINES` with what opens the thing."""
_BESIDE = re.compile(
    r"[.,;:(]| (?:based|located|situated|in|of|at|on|near|for|with|from|by|under|that|which|who|where|made|built|"
    r"released|written|directed|born|best|known)\b",
    re.IGNORECASE,
)
"""What follows the noun that says what a thing is."""
_TITLED = re.compile(r"(?P<name>[^\n()]{2,80}) \((?! |[^\W\d_]+ \d{1,2}\))(?P<kind>[^()\n]*[^\W\d_]{3}[^()\n]*)\)")
"""A name with what tells it from others in brackets: Adriatic (1811 ship). "(season 1)" is a part of one thing."""
_BRACKET = re.compile(r" \((?! )")
_LIFE = re.compile(r"\([^()]*(?:\bborn\b|[–-])[^()]*\)")
"""Dates of life behind a name."""
_WORD = re.compile(r"[^\W_]+")
_OPENERS = FUNCTION_WORDS - {"the"}


@dataclass(frozen=True, slots=True)
class _Introduction:
    """A sentence that says what the name is in its document: how much of the name its subject has, the terms beside
    the question's of the subject without dates of life, of what it is said to be and of the whole, and its dates and
    figures.
    """

    unit: CandidateUnit
    share: float
    subject: frozenset[str]
    kinds: frozenset[str]
    terms: frozenset[str]
    particulars: frozenset[tuple[str | float | None, ...]]

    def may_be(self, other: _Introduction) -> bool:
        """True where both are of one kind and nothing tells them apart."""
        return bool(self.kinds & other.kinds) and not self.is_told_from(other)

    def is_told_from(self, other: _Introduction) -> bool:
        """True where the names tell the things apart, or dates and figures of which none is of both."""
        are_apart = bool(self.particulars and other.particulars) and self.particulars.isdisjoint(other.particulars)
        return are_apart or self.is_of_other_name(other)

    def is_of_other_name(self, other: _Introduction) -> bool:
        """True where each subject has a term that the other lacks."""
        return bool(self.subject - other.subject) and bool(other.subject - self.subject)


@dataclass(frozen=True, slots=True)
class _Telling:
    """A document that introduces the name, with its units, best first, and all its words."""

    introduction: _Introduction
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
    names = _names(part)
    if kind not in _KINDS or not names or table_of(part.text) is not None:
        return Bearers()
    places = _places_with_name(names, passages)
    if not places:
        return Bearers()
    units = [
        unit
        for unit in held.all_units(places=places)
        if (passages[unit.passage].chunk.ordinal, unit.start) not in excluded
    ]
    answered = [sides for one in _bearers(part, names, units, passages) if (sides := _sides(one, part, passages))]
    answered = [one for one in answered if _answers(one[0], [other[0] for other in answered if other is not one], part)]
    is_conflicting = any(len(sides) > 1 for sides in answered) or any(
        _is_defined_otherwise(one[0], other[0], part, passages) for one, other in combinations(answered, 2)
    )
    if len(answered) < 2 and not is_conflicting:
        return Bearers()
    told = [_sentence(*side, passages) for sides in answered[:MOST_BEARERS] for side in sides]
    return Bearers(tuple(told), is_conflicting)


def _names(part: Subquery) -> frozenset[str]:
    """The terms of the name in a question, also of one that opens it."""
    named = frozenset(term.term for at, term in enumerate(part.terms) if part.name_mask >> at & 1)
    opener = part.text.split(maxsplit=1)[0]
    if named and opener[0].isupper() and opener.lower() not in FUNCTION_WORDS:
        named |= frozenset(terms_of(opener)).intersection(term.term for term in part.terms)
    return named


def _places_with_name(names: frozenset[str], passages: Sequence[Passage]) -> frozenset[int]:
    """The positions of the passages of documents that may have the whole name and introduce it, where there are two of
    them: to make the units of all passages and to take their words apart would be a tenth of an answer. A stemmer
    changes no more than the last letter of what is left of a word.
    """
    texts: dict[UUID, str] = {}
    introducing = set[UUID]()
    begun = [name[:-1] for name in names]
    for passage in passages:
        chunk = passage.chunk
        texts[chunk.document_id] = f"{texts.get(chunk.document_id, chunk.document_title)} {chunk.text}".lower()
        if chunk.document_id not in introducing and _may_introduce(begun, chunk):
            introducing.add(chunk.document_id)
    having = {document for document in introducing if all(one in texts[document] for one in begun)}
    is_several = len(having) > 1
    return frozenset(at for at, one in enumerate(passages) if is_several and one.chunk.document_id in having)


def _may_introduce(begun: Sequence[str], chunk: Chunk) -> bool:
    """Whether the name stands in the title or opening as `_TITLED` has it, or enough of it before a verb by which
    `_DEFINES` says what it is.
    """
    text = chunk.text
    opening = "" if chunk.start else f"{chunk.document_title}\n{text[:_LONGEST_SUBJECT]}"
    for said in _BRACKET.finditer(opening):
        before = opening[max(0, said.start() - _LONGEST_SUBJECT) : said.start()].lower()
        if all(one in before for one in begun):
            return True
    for said in _DEFINING_VERB.finditer(text):
        before = text[max(0, said.start() - _LONGEST_SUBJECT) : said.start()].lower()
        if sum(one in before for one in begun) >= MIN_NAMED * len(begun):
            return True
    return False


def _bearers(
    part: Subquery, names: frozenset[str], units: Sequence[CandidateUnit], passages: Sequence[Passage]
) -> list[list[_Telling]]:
    """The documents that have the whole name and introduce it, with as much of it as any, by what they tell of."""
    found: list[_Telling] = []
    for own in _by_document(units, passages):
        text = " ".join(passages[place].chunk.text for place in dict.fromkeys(unit.passage for unit in own))
        title = passages[own[0].passage].chunk.document_title
        if not names <= frozenset(terms_of(f"{title} {text}")):
            continue
        introduction = _introduction(own, names, part, passages)
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


def _introduction(
    units: Sequence[CandidateUnit], names: frozenset[str], part: Subquery, passages: Sequence[Passage]
) -> _Introduction | None:
    """The first sentence of a document that says what the name is; the one that it opens with where that or the title
    has it with what tells its bearers apart in brackets.
    """
    asked = frozenset(terms_of(part.text))
    in_order = sorted(units, key=lambda one: (passages[one.passage].chunk.start, one.start))
    for unit in in_order:
        if unit.kind is not UnitKind.PROSE or unit.end - unit.start > LONGEST_INTRODUCTION:
            continue
        said = _DEFINES.match(quote_of(unit, passages))
        if said is None or not _may_be_name(said["subject"], part.text):
            continue
        share = len(names.intersection(terms_of(said["subject"]))) / len(names)
        if share >= MIN_NAMED:
            kind = _BESIDE.split(said["thing"], maxsplit=1)[0]
            told = f"{said['subject']} {said['thing']}"
            return _make_introduction(unit, share, (_LIFE.sub(" ", said["subject"]), kind, told), said[0], asked)
    first = in_order[0]
    titled = _TITLED.match(quote_of(first, passages)) or _TITLED.match(passages[first.passage].chunk.document_title)
    if (
        passages[first.passage].chunk.start
        or titled is None
        or not names <= frozenset(terms_of(titled["name"])) <= asked
    ):
        return None
    return _make_introduction(first, 1.0, (titled[0], titled["kind"], titled[0]), titled[0], asked)


def _may_be_name(subject: str, question: str) -> bool:
    """False for what opens or ends like no name, unless the question has a name that does so ("A Single Man")."""
    words = [word.strip("\"“'") for word in subject.split()]
    ends = ((words[0], _OPENERS, words[:2]), (words[-1], FUNCTION_WORDS, words[-2:]))
    return all(
        word.lower() not in none_of or (word[:1].isupper() and " ".join(two) in question) for word, none_of, two in ends
    )


def _make_introduction(
    unit: CandidateUnit, share: float, texts: tuple[str, str, str], values: str, asked: frozenset[str]
) -> _Introduction:
    """`texts`: the subject, what it is said to be, and the whole; `values`: what its dates and figures stand in."""
    subject, kinds, terms = (frozenset(terms_of(text)) - asked for text in texts)
    found = (one for one in find_values(values) if one.kind in (ValueKind.DATE, ValueKind.FIGURE))
    return _Introduction(unit, share, subject, kinds, terms, frozenset(one.parts for one in found))


def _sides(tellings: Sequence[_Telling], part: Subquery, passages: Sequence[Passage]) -> list[_Side]:
    """What answers best about one thing, and the best sentence of another document that contradicts it."""
    answers = [(telling, unit) for telling in tellings for unit in telling.units if unit.fits]
    # The document is about the thing: a sentence of it need not name it again.
    asked = ~part.name_mask
    answers.sort(key=lambda one: (-weight_of(one[1].mask & asked, part.terms), -one[1].score))
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
