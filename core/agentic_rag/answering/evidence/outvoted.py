"""Finds pages of the web, and texts that are too old, whose claim at least two independent sources contradict with one
value; and old claims that newer texts repeat.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from agentic_rag.answering.extraction.candidate_units import CandidateUnit, Subquery
from agentic_rag.answering.extraction.contradiction import Statement, asks_for_date, read_statement
from agentic_rag.answering.extraction.extractive import MIN_SIDE_SHARE, ExcludedSpans, statement_of
from agentic_rag.answering.extraction.negation import is_negative
from agentic_rag.answering.extraction.part_units import PartUnits
from agentic_rag.answering.extraction.term_matching import weight_of
from agentic_rag.answering.extraction.text_units import UnitKind
from agentic_rag.answering.extraction.typed_values import TypedValue, ValueKind, find_values
from agentic_rag.answering.plan import AnswerType
from agentic_rag.language.tokenizer import tokenize
from agentic_rag.retrieval.candidates import Passage
from agentic_rag.web.page_paths import page_host

MIN_VOICES = 2
"""Independent sources that state one value before a page with another one is left out."""
MIN_WITNESS_SHARE = 0.5
"""Of the question's weight in a sentence that may contradict another."""
MIN_COVERED = 0.8
"""Of what a claim has of the question beside names, in a sentence that contradicts it."""
MOST_WITNESSES = 8
"""Sentences of one source, best first, that may contradict others."""

_KINDS = {
    AnswerType.FIGURE: frozenset({ValueKind.FIGURE, ValueKind.TIME}),
    AnswerType.DATE: frozenset({ValueKind.DATE, ValueKind.TIME}),
    AnswerType.PERSON: frozenset({ValueKind.NAME}),
}
_ANY = frozenset({ValueKind.NAME, ValueKind.FIGURE, ValueKind.TIME})


@dataclass(frozen=True, slots=True)
class Outvoted:
    """Places of passages to leave out, and sentences to leave out of others: their pages state the agreed value too."""

    places: frozenset[int] = frozenset()
    spans: ExcludedSpans = frozenset()
    repeated: ExcludedSpans = frozenset()
    """Sentences of old texts whose values a new one, which is not outvoted, states of the same, and no other value:
    quoting that one is enough.
    """


@dataclass(frozen=True, slots=True)
class _Claim:
    """A sentence about what is asked: its source, the question's terms in it, the question's names in it and in the
    whole passage with its titles, and the values that may answer.
    """

    source: str
    unit: CandidateUnit
    mask: int
    names: frozenset[str]
    known_names: frozenset[str]
    said: Statement
    values: tuple[TypedValue, ...]


@dataclass(frozen=True, slots=True)
class PassageAges:
    """Places of passages by what a workspace wants of the age of their texts; one without a date is neither."""

    old: frozenset[int] = frozenset()
    new: frozenset[int] = frozenset()


def find_outvoted(part: Subquery, passages: Sequence[Passage], ages: PassageAges = PassageAges()) -> Outvoted:
    """What web pages claim and at least two independent sources contradict: they say of the same what the page says,
    with one value on which they agree and another than the page's.

    A site is one source however many pages it has; so is a document of the workspace's own. Nothing is compared
    without pages and three sources. What is too old, a page or not, is contradicted by two new sources alike, which old
    ones do not contradict; one new source leaves it as it is.
    """
    hosts = [page_host(one.chunk.source_path, one.chunk.url) for one in passages]
    sources = [host or str(one.chunk.document_id) for host, one in zip(hosts, passages, strict=True)]
    may_be_outvoted = (any(hosts) or bool(ages.old)) and len(set(sources)) > MIN_VOICES
    if not may_be_outvoted and not (ages.old and ages.new):
        return Outvoted()
    claims = _claims(part, passages, sources)
    told = _find_contradicted(part, passages, hosts, sources, claims, ages) if may_be_outvoted else Outvoted()
    return replace(told, repeated=_find_repeated(part, passages, claims, ages, told))


def _find_contradicted(
    part: Subquery,
    passages: Sequence[Passage],
    hosts: Sequence[str | None],
    sources: Sequence[str],
    claims: Sequence[_Claim],
    ages: PassageAges,
) -> Outvoted:
    """`hosts` of the passages that are pages; `sources`: that host, or the document."""
    new = [one for one in claims if one.unit.passage in ages.new]
    spans: set[tuple[int, int]] = set()
    contested: set[str] = set()
    backing: set[str] = set()
    for claim in claims:
        place = claim.unit.passage
        if hosts[place] is None and place not in ages.old:
            continue
        agreed = _agreed_against(claim, claims if hosts[place] is not None else new, part)
        if place in ages.new and _agreed_by(claim, new):
            # Old sources take nothing from what two new ones state.
            agreed = _agreed_against(claim, new, part)
        if any(_backs(claim, value, witness) for value, witness in agreed):
            backing.add(claim.source)
        if _is_contradicted(claim, agreed, part):
            contested.add(claim.source)
            spans.add((passages[place].chunk.ordinal, claim.unit.start))
    alone = contested - backing
    judged = ages.old | {place for place, host in enumerate(hosts) if host is not None}
    places = frozenset(place for place in judged if sources[place] in alone)
    return Outvoted(places, frozenset(spans))


def _find_repeated(
    part: Subquery, passages: Sequence[Passage], claims: Sequence[_Claim], ages: PassageAges, told: Outvoted
) -> ExcludedSpans:
    new = [
        one
        for one in claims
        if one.unit.passage in ages.new - told.places
        and (passages[one.unit.passage].chunk.ordinal, one.unit.start) not in told.spans
    ]
    return frozenset(
        (passages[one.unit.passage].chunk.ordinal, one.unit.start)
        for one in claims
        if one.unit.passage in ages.old and any(_repeats(other, one, part) for other in new)
    )


def _repeats(newer: _Claim, claim: _Claim, part: Subquery) -> bool:
    """True where the newer claim has the question's words and the values of the other, and no rival of them."""
    if not claim.values or not _covers(newer, claim, part) or not claim.names <= newer.names:
        return False
    if is_negative(newer.said.text) != is_negative(claim.said.text):
        return False
    return all(
        any(one.agrees(other) for other in newer.values) and not _rivals_beside(newer, one, claim)
        for one in claim.values
    )


def _claims(part: Subquery, passages: Sequence[Passage], sources: Sequence[str]) -> list[_Claim]:
    """The sentences of all passages that speak of the question themselves, best first."""
    everywhere = [Passage(one.chunk, one.candidate, (0,), one.origin, one.table_head) for one in passages]
    kinds = _KINDS.get(part.answer_type, _ANY)
    if asks_for_date(part.text):
        kinds |= {ValueKind.DATE}
    asked = find_values(part.text)
    names = frozenset(word for one in asked if one.kind is ValueKind.NAME for word in tokenize(_words_of(one)))
    # What is asked may be true: a value that the question names answers it.
    may_answer = part.answer_type is AnswerType.YES_NO
    words = frozenset(tokenize(part.text))
    claims: list[_Claim] = []
    for unit in PartUnits(part, 0, everywhere).all_units():
        mask = unit.mask | (unit.context_mask if unit.kind is UnitKind.TABLE_ROW else 0)
        if weight_of(mask, part.terms) < MIN_SIDE_SHARE:
            continue
        chunk = passages[unit.passage].chunk
        said = read_statement(statement_of(unit, everywhere))
        values = tuple(
            one
            for one in said.values
            if one.kind in kinds
            and (may_answer or not (any(one.agrees(other) for other in asked) or _is_of(one, words)))
        )
        known = " ".join((chunk.document_title, *chunk.heading_path, chunk.text))
        held = names.intersection(tokenize(said.text)), names.intersection(tokenize(known))
        claims.append(_Claim(sources[unit.passage], unit, mask, *held, said, values))
    return claims


def _words_of(name: TypedValue) -> str:
    return " ".join(map(str, name.parts))


def _is_of(value: TypedValue, words: frozenset[str]) -> bool:
    """True for a name whose words the question has."""
    return value.kind is ValueKind.NAME and words.issuperset(tokenize(_words_of(value)))


def _agreed_against(claim: _Claim, claims: Sequence[_Claim], part: Subquery) -> list[tuple[TypedValue, _Claim]]:
    """The values that sentences of at least two other sources state of what the claim speaks of, each with its
    sentences. A sentence with a second value in the same place agrees with nobody.
    """
    told: list[tuple[TypedValue, _Claim]] = []
    read: dict[str, int] = {}
    for one in claims:
        if one.source == claim.source or read.get(one.source, 0) >= MOST_WITNESSES or not _covers(one, claim, part):
            continue
        read[one.source] = read.get(one.source, 0) + 1
        if not is_negative(one.said.text):
            told += [(value, one) for value in one.values if not _rivals_beside(one, value, one)]
    return [
        (value, one)
        for value, one in told
        if len({other.source for same, other in told if value.agrees(same)} | {one.source}) >= MIN_VOICES
    ]


def _agreed_by(claim: _Claim, new: Sequence[_Claim]) -> bool:
    """Whether another new source states a value of the claim."""
    return not is_negative(claim.said.text) and any(
        one.source != claim.source and any(value.agrees(other) for value in claim.values for other in one.values)
        for one in new
    )


def _covers(witness: _Claim, claim: _Claim, part: Subquery) -> bool:
    """True for a sentence that has of the question what the claim has, in a text that has its names."""
    if not claim.names <= witness.known_names or weight_of(witness.mask, part.terms) < MIN_WITNESS_SHARE:
        return False
    said = claim.mask & ~part.name_mask
    return weight_of(witness.mask & said, part.terms) >= MIN_COVERED * weight_of(said, part.terms)


def _is_contradicted(claim: _Claim, agreed: Sequence[tuple[TypedValue, _Claim]], part: Subquery) -> bool:
    """True where the claim has another value in the place of an agreed one, has another and none that is agreed, or
    denies one.
    """
    if not agreed:
        return False
    if is_negative(claim.said.text) and any(one.agrees(value) for one in claim.values for value, _ in agreed):
        return True
    own = [one for one in claim.values if not any(one.agrees(value) for value, _ in agreed)]
    if part.answer_type is not AnswerType.LIST and any(
        any(one in own for one in _rivals_beside(claim, value, witness)) for value, witness in agreed
    ):
        return True
    return len(own) == len(claim.values) and any(one.is_rival(value) for one in own for value, _ in agreed)


def _backs(claim: _Claim, value: TypedValue, witness: _Claim) -> bool:
    """True for a claim that states the value, and no other one in its place alone."""
    same = [one for one in claim.values if one.agrees(value)]
    if not same or is_negative(claim.said.text):
        return False
    place = _word_before(witness.said, value)
    return not _rivals_beside(claim, value, witness) or any(_word_before(claim.said, one) == place for one in same)


def _rivals_beside(claim: _Claim, value: TypedValue, witness: _Claim) -> list[TypedValue]:
    """Other values of a claim that follow the word that the value follows in the witness."""
    place = _word_before(witness.said, value)
    return [one for one in claim.values if one.is_rival(value) and _word_before(claim.said, one) == place]


def _word_before(said: Statement, value: TypedValue) -> str | None:
    return next((word for at, word in reversed(said.words) if at < value.start), None)
