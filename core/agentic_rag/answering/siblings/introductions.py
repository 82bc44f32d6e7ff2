"""What documents say that the name in a question is: "Shawnee Hills is a village in Delaware County"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agentic_rag.answering.extraction.candidate_units import CandidateUnit, Subquery, quote_of
from agentic_rag.answering.extraction.subquery import terms_of
from agentic_rag.answering.extraction.text_units import UnitKind
from agentic_rag.answering.extraction.typed_values import ValueKind, find_values
from agentic_rag.documents.document import Chunk
from agentic_rag.language.english import FUNCTION_WORDS
from agentic_rag.language.sentences import sentence_spans
from agentic_rag.retrieval.candidates import Passage

LONGEST_INTRODUCTION = 400
"""Characters of a sentence that says what a name is."""
MIN_NAMED = 0.5
"""Of the name in the subject of a sentence that says what it is: an office beside it may stand elsewhere."""
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
_OPENERS = FUNCTION_WORDS - {"the"}
_NAME_WORD = re.compile(r"[^\W_][\w'’.-]*|&")
_JOINS = frozenset({"of", "the", "and", "to", "de", "la", "du", "von", "van", "&"})
"""Words inside a name."""


@dataclass(frozen=True, slots=True)
class AskedName:
    """The terms of all names in a question, and those of the first."""

    terms: frozenset[str]
    first: frozenset[str]


def find_name(part: Subquery) -> AskedName | None:
    """The names in a question, also one that opens it; None without any."""
    named = frozenset(term.term for at, term in enumerate(part.terms) if part.name_mask >> at & 1)
    opener = part.text.split(maxsplit=1)[0]
    if named and opener[0].isupper() and opener.lower() not in FUNCTION_WORDS:
        named |= frozenset(terms_of(opener)).intersection(term.term for term in part.terms)
    if not named:
        return None
    first = _first_name(part.text, named)
    return AskedName(named, named if len(first) < 2 else first)


def _first_name(question: str, named: frozenset[str]) -> frozenset[str]:
    """The terms of the names in a row that come first, with what joins them: "Welcome to the Show"."""
    first: list[str] = []
    for word in _NAME_WORD.findall(question):
        terms = terms_of(word)
        if terms and named.issuperset(terms):
            first += terms
        elif first and word.lower() not in _JOINS and not word[0].isupper():
            break
    return frozenset(first)


@dataclass(frozen=True, slots=True)
class Introduction:
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

    def may_be(self, other: Introduction) -> bool:
        """True where both are of one kind and nothing tells them apart."""
        return bool(self.kinds & other.kinds) and not self.is_told_from(other)

    def is_told_from(self, other: Introduction) -> bool:
        """True where the names tell the things apart, or dates and figures of which none is of both."""
        are_apart = bool(self.particulars and other.particulars) and self.particulars.isdisjoint(other.particulars)
        return are_apart or self.is_of_other_name(other)

    def is_of_other_name(self, other: Introduction) -> bool:
        """True where each subject has a term that the other lacks."""
        return bool(self.subject - other.subject) and bool(other.subject - self.subject)


def may_introduce(name: AskedName, chunk: Chunk) -> bool:
    """Whether the name stands in the title or opening as `_TITLED` has it, or enough of it before a verb by which
    `_DEFINES` says what it is. A stemmer changes no more than the last letter of what is left of a word.
    """
    begun = [one[:-1] for one in name.first]
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


def find_introduction(
    units: Sequence[CandidateUnit], name: AskedName, part: Subquery, passages: Sequence[Passage]
) -> Introduction | None:
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
        share = len(name.first.intersection(terms_of(said["subject"]))) / len(name.first)
        if share >= MIN_NAMED:
            kind = _BESIDE.split(said["thing"], maxsplit=1)[0]
            told = f"{said['subject']} {said['thing']}"
            return _make_introduction(unit, share, (_LIFE.sub(" ", said["subject"]), kind, told), said[0], asked)
    first = in_order[0]
    if passages[first.passage].chunk.start:
        return None
    quote = quote_of(first, passages)
    titled = _TITLED.match(quote) or _TITLED.match(passages[first.passage].chunk.document_title)
    if titled is not None and name.first <= frozenset(terms_of(titled["name"])) <= asked:
        return _make_introduction(first, 1.0, (titled[0], titled["kind"], titled[0]), titled[0], asked)
    return None


def opens_document(introduction: Introduction, passages: Sequence[Passage]) -> bool:
    """True for the first sentence of a document: the document is about the thing."""
    unit = introduction.unit
    chunk = passages[unit.passage].chunk
    return not chunk.start and len(sentence_spans(chunk.text[: unit.start])) == 0


def _may_be_name(subject: str, question: str) -> bool:
    """False for what opens or ends like no name, unless the question has a name that does so ("A Single Man")."""
    words = [word.strip("\"“'") for word in subject.split()]
    ends = ((words[0], _OPENERS, words[:2]), (words[-1], FUNCTION_WORDS, words[-2:]))
    return all(
        word.lower() not in none_of or (word[:1].isupper() and " ".join(two) in question) for word, none_of, two in ends
    )


def _make_introduction(
    unit: CandidateUnit, share: float, texts: tuple[str, str, str], values: str, asked: frozenset[str]
) -> Introduction:
    """`texts`: the subject, what it is said to be, and the whole; `values`: what its dates and figures stand in."""
    subject, kinds, terms = (frozenset(terms_of(text)) - asked for text in texts)
    found = (one for one in find_values(values) if one.kind in (ValueKind.DATE, ValueKind.FIGURE))
    return Introduction(unit, share, subject, kinds, terms, frozenset(one.parts for one in found))
