"""Finds the antecedent of an anaphor: turn by turn, newest first; in a turn, the subject of its question first."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from agentic_rag.answering.query.anaphora import Anaphor, AnaphorKind
from agentic_rag.answering.query.mentions import (
    ReferentKind,
    TextMention,
    asks_where,
    asks_who,
    find_answer_names,
    find_question_names,
    find_topic,
    head_of,
    is_plural,
    kind_of_noun,
    owner_of,
    target_noun,
)

MAX_TURNS = 3
"""The newest turns in which an antecedent is searched for."""

MAX_NAMES = 4
"""The most names of an answer that replace "they"."""

_DATE_NOUNS = frozenset(["year", "date", "day", "month", "quarter", "time", "period"])
_YEAR = re.compile(r"(?<![\w.,£$€])(?:1[5-9]|20)\d\d(?![\w.,]?\d)")
_PLACE_BEFORE = re.compile(r"\b(?:in|at|on|near|of|from|to)(?: the)? $", re.IGNORECASE)
_LINKS = r"(?:of|for|in|at|on|to|from|by|with|this|that|these|those)\b"
_PEOPLES = re.compile(r"(?:an|ese|ish)$")
_SHE = frozenset(("she", "her", "hers", "herself"))
_WOMEN = re.compile(
    r"\b(?:wife|mother|daughter|sister|queen|actress|woman|widow|girlfriend|aunt|niece)\b", re.IGNORECASE
)
_MEN = re.compile(r"\b(?:husband|father|son|brother|king|actor|man|widower|uncle|nephew)\b", re.IGNORECASE)


@dataclass(slots=True)
class ConversationTurn:
    """A turn whose question stands alone. Its names are found at first use."""

    question: str
    answer: str
    _question_names: list[TextMention] | None = field(default=None, init=False)
    _answer_names: list[TextMention] | None = field(default=None, init=False)

    @property
    def question_names(self) -> list[TextMention]:
        """The names in the question."""
        if self._question_names is None:
            self._question_names = find_question_names(self.question)
        return self._question_names

    @property
    def answer_names(self) -> list[TextMention]:
        """The names in the answer that the question does not have."""
        if self._answer_names is None:
            self._answer_names = find_answer_names(self.answer, self.question)
        return self._answer_names

    @property
    def topic(self) -> TextMention | None:
        """The noun phrase that the question is about."""
        return find_topic(self.question)


def find_antecedent(word: str, reference: Anaphor, turns: Sequence[ConversationTurn]) -> str | None:
    """The antecedent of `word`; None when no mention agrees with it."""
    for turn in reversed(turns[-MAX_TURNS:]):
        found = _FINDERS[reference.kind](word.lower(), reference, turn)
        if found is not None:
            return found
    return None


def _first(mentions: Iterable[TextMention | None], agrees: Callable[[TextMention], bool]) -> str | None:
    return next((one.text for one in mentions if one is not None and agrees(one)), None)


def _person(word: str, _: Anaphor, turn: ConversationTurn) -> str | None:
    names = (*turn.question_names, *turn.answer_names)
    if asks_who(turn.question) and turn.topic is not None:
        # "Who is the director of …?": the answer names the person, unless the question tells the other sex.
        other_sex = (_MEN if word in _SHE else _WOMEN).search(turn.question)
        names = turn.question_names if other_sex else (*turn.answer_names, *turn.question_names)
    return (
        _first(names, lambda one: one.kind is ReferentKind.PERSON)
        or _first(names, lambda one: one.kind is None and _may_be_person(one.text))
        or _first((turn.topic,), lambda one: one.kind is ReferentKind.PERSON)
    )


def _may_be_person(name: str) -> bool:
    words = name.split(" ")
    if len(words) == 1 and _PEOPLES.search(name):
        return False
    return len(words) <= 4 and " and " not in name and all(word[:1].isupper() and word.isalpha() for word in words)


def _thing(_: str, reference: Anaphor, turn: ConversationTurn) -> str | None:
    topic = turn.topic
    noun = target_noun(turn.question)
    if noun is not None and not is_plural(noun):
        kind = kind_of_noun(noun) or ReferentKind.THING
        named = (
            None
            if kind is ReferentKind.PERSON
            else _first(turn.answer_names, lambda one: one.kind is kind and not one.plural)
        )
        if named is not None:
            return named
    if topic is not None and not topic.plural:
        owner = owner_of(topic.text) if reference.possessive else None
        if owner is not None or topic.kind is ReferentKind.THING:
            return owner or topic.text
        if topic.kind is not ReferentKind.PERSON:
            return (
                _first(turn.answer_names, lambda one: one.kind in (topic.kind, None) and not one.plural) or topic.text
            )

    def agrees(one: TextMention) -> bool:
        return one.kind is not ReferentKind.PERSON and not one.plural

    return _first(turn.question_names, agrees) or _first(
        turn.answer_names,
        lambda one: (
            agrees(one) and one.kind is not None and (one.kind is not ReferentKind.PLACE or asks_where(turn.question))
        ),
    )


def _group(_: str, __: Anaphor, turn: ConversationTurn) -> str | None:
    noun = target_noun(turn.question)
    if noun is not None and is_plural(noun):
        found = [one.text for one in turn.answer_names if one.kind is (kind_of_noun(noun) or ReferentKind.THING)][
            :MAX_NAMES
        ]
        if found:
            return found[0] if len(found) == 1 else f"{', '.join(found[:-1])} and {found[-1]}"
    if turn.topic is not None and turn.topic.plural:
        return turn.topic.text
    names = (*turn.question_names, *turn.answer_names)
    return (
        _first(names, lambda one: one.plural)
        or _first(names, lambda one: one.kind is ReferentKind.ORGANISATION)
        or _first(names, lambda one: one.kind is ReferentKind.PERSON)
        or _first(turn.question_names, lambda one: one.kind is not ReferentKind.PLACE)
    )


def _place(_: str, __: Anaphor, turn: ConversationTurn) -> str | None:
    names = (
        (*turn.answer_names, *turn.question_names)
        if asks_where(turn.question)
        else (*turn.question_names, *turn.answer_names)
    )
    return (
        _first(names, lambda one: one.kind is ReferentKind.PLACE)
        or _first((turn.topic,), lambda one: one.kind is ReferentKind.PLACE)
        or _first(
            turn.question_names,
            lambda one: one.kind is not ReferentKind.PERSON and bool(_PLACE_BEFORE.search(turn.question[: one.start])),
        )
        or _first(names, lambda one: one.kind in (ReferentKind.ORGANISATION, None))
    )


def _find_noun(word: str, reference: Anaphor, turn: ConversationTurn) -> str | None:
    noun = reference.noun
    if noun in _DATE_NOUNS:
        years = _YEAR.findall(turn.answer[:400]) or _YEAR.findall(turn.question)
        return years[0] if noun != "quarter" and len(set(years)) == 1 else None
    topic = turn.topic
    if topic is not None and _same_noun(head_of(topic.text), noun):
        named = (
            _first(turn.answer_names, lambda one: one.kind is topic.kind)
            if topic.kind is not ReferentKind.THING
            else None
        )
        return named or topic.text
    names = (*turn.question_names, *turn.answer_names)
    kind = kind_of_noun(noun)
    if kind is ReferentKind.PLACE:
        return _place("", reference, turn)
    if kind is not None:
        return _first(names, lambda one: one.kind is kind) or _first(
            names, lambda one: one.kind is None and (kind is not ReferentKind.PERSON or _may_be_person(one.text))
        )
    if is_plural(noun):
        return None
    holding = re.search(
        rf"\b(?:the|a|an) (?:(?!{_LINKS})[\w-]+ ){{0,3}}{re.escape(noun)}\b", turn.question, re.IGNORECASE
    )
    if holding is not None:
        rest = re.match(r" (?:of|for|at|in) [^?.!,]{1,60}", turn.question[holding.end() :])
        return re.sub(r"^an? ", "the ", holding.group() + (rest.group() if rest else ""), flags=re.IGNORECASE)
    return None if word.startswith("this") else _first(names, lambda one: one.kind is ReferentKind.THING)


def _same_noun(one: str, other: str) -> bool:
    return one.removesuffix("s") == other.removesuffix("s")


def _no_antecedent(_: str, __: Anaphor, ___: ConversationTurn) -> str | None:
    return None


_FINDERS: dict[AnaphorKind, Callable[[str, Anaphor, ConversationTurn], str | None]] = {
    AnaphorKind.PERSON: _person,
    AnaphorKind.THING: _thing,
    AnaphorKind.GROUP: _group,
    AnaphorKind.PLACE: _place,
    AnaphorKind.NAMED: _find_noun,
    AnaphorKind.MATTER: _no_antecedent,
}
