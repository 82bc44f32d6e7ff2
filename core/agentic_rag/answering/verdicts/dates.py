"""Questions which of two was born, founded or released earlier: the sentences about them state the dates."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from agentic_rag.answering.extraction.negation import has_negation
from agentic_rag.answering.verdicts.statements import (
    WHO,
    DecidableQuestion,
    QuotedSentence,
    SideFact,
    clean_names,
    find_subject,
    open_verdict,
    parse_choice_question,
)
from agentic_rag.language.calendar import MONTH_NAMES

BIRTH = frozenset(["born"])
DEATH = frozenset(["died"])
_FOUNDED = frozenset(["founded", "established", "formed", "incorporated", "created"])
_RELEASED = frozenset(["released", "premiered"])
_BUILT = frozenset(["built", "constructed", "erected", "completed"])
_SAME_EVENT = (BIRTH, DEATH, _FOUNDED, _RELEASED, _BUILT)
_OF_AGE = (BIRTH, _FOUNDED, _BUILT)
_EVENTS_BY_NOUN = {
    "birth": BIRTH,
    "death": DEATH,
    "forming": _FOUNDED,
    "formation": _FOUNDED,
    "founding": _FOUNDED,
    "foundation": _FOUNDED,
    "establishment": _FOUNDED,
    "release": _RELEASED,
    "opening": frozenset(["opened"]),
}

_EARLIER = frozenset(["first", "earlier", "earliest", "sooner", "before", "earlier than"])
_ELDER = frozenset(["older", "oldest", "elder", "eldest"])
_WHEN = (
    r"(?:first|earlier|earliest|sooner|later|latest|last|more recently|most recently|before|after|earlier than|"
    r"later than)"
)
_AGE = r"(?:older|oldest|elder|eldest|younger|youngest|newer|newest)"
_VERB = r"(?:[a-z]+ed|born|built)"
_ASK_EVENT = re.compile(
    rf"{WHO} (?:was|were|is|got) (?:originally )?(?:(?P<when>{_WHEN}) )?(?P<verb>{_VERB})(?: (?P<last>{_WHEN}))?$",
    re.I,
)
_ASK_ACTIVE = re.compile(rf"{WHO} (?P<verb>came out|opened|premiered|died) (?P<when>{_WHEN})$", re.I)
_ASK_AGE = re.compile(rf"{WHO} (?:is|was|are) (?:the )?(?P<age>{_AGE})(?: \w+)?$", re.I)
_WAS_EVENT = re.compile(
    rf"^(?:was|were) (?P<a>.+?) (?P<verb>{_VERB}) (?P<when>before|after|earlier than|later than) (?P<b>[^,?]+?)\s*\?*$",
    re.I,
)
_IS_AGE = re.compile(r"^(?:is|was|are) (?P<a>.+?) (?P<age>older|younger|newer) than (?P<b>[^,?]+?)\s*\?*$", re.I)
_CAME_FIRST = re.compile(
    r"^which (?:\w+ )?(?:came|happened|occurred) (?P<when>first|earlier|later|last)[,:]? "
    r"the (?P<one>\w+) of (?P<a>[^,?]+?),? or the (?P<other>\w+) of (?P<b>[^,?]+?)\s*\?*$",
    re.I,
)

_MONTH = "|".join(name.capitalize() for name in MONTH_NAMES)
_DATE_TEXT = (
    rf"(?:(?P<day>\d{{1,2}}) (?P<month>{_MONTH}),? |(?P<month2>{_MONTH}) (?:(?P<day2>\d{{1,2}}),? )?)?"
    r"(?P<year>1[0-9]\d\d|20\d\d)(?!\w)"
)
_DATE = re.compile(rf"{_DATE_TEXT}(?![-–/]\d)")
_DATE_OF_LIFE = re.compile(_DATE_TEXT)
_DASH = re.compile(r" ?[–-] ?")
_BRACKET = re.compile(r"^[\"”]?\s*\((?P<inside>[^()]*(?:\([^()]*\)[^()]*)*)\)")
_BORN_INSIDE = re.compile(rf"\bborn (?:[A-Z][\w.'’-]* )*?(?:on |in )?{_DATE_TEXT}")
_WORK_OF = re.compile(
    rf"^[\"”]?(?: ?\([^()]*\))? (?:is|was) (?:a|an|the) {_DATE_TEXT} (?:[\w'’-]+ ){{0,6}}?"
    r"(?:film|movie|album|song|single|novel|book|game|series|documentary|play|musical|opera)\b"
)
_STRAYS = re.compile(
    r"\b(?:whose|who|his|her|its|their|where|when|after|before|until|while|but|if)\b|;|\.\s|"
    r"\b(?:of|by|for|with|to|at|as|like) (?:the )?[\"“]?[A-Z]"
)
"""Words between a subject and its verb after which the verb may belong to something else."""
_FURTHER = re.compile(r"\b(?:was|were|is|are|had|has|who|which|that|whose|when|after|before|until|while)\b|;|\d")
"""Words between a verb and its date after which the date may belong to something else."""
_MOST_BETWEEN = 160
"""The most code points between a verb and its date."""


@dataclass(frozen=True, slots=True)
class DateComparison:
    """Which of two comes first; or does the first side?"""

    sides: ClassVar[int] = 2
    names: tuple[str, str]
    events: tuple[frozenset[str], frozenset[str]]
    """The verbs of each side's event."""
    label: str
    """The word for the side asked for ("Older"); empty for a yes/no question about the first side."""
    earlier: bool

    def read_side(self, side: int, source: QuotedSentence) -> SideFact | None:
        """The date of the side's event, if the sentence opens with its name and states exactly one."""
        return event_date(source, self.names[side], self.events[side])

    def verdict(self, stated: Sequence[SideFact]) -> str | None:
        """The side asked for with both dates; None when the dates may be the same."""
        begun = open_verdict(self.label, stated, wants_lower=self.earlier)
        if begun is None:
            return None
        label, told = begun
        other = 1 - told
        relation = "before" if stated[told].is_below(stated[other]) else "after"
        return (
            f"{label}: {self.names[told]} ({stated[told].text}), {relation} {self.names[other]} ({stated[other].text})."
        )


def parse_date_questions(question: str) -> tuple[DecidableQuestion, ...]:
    """The readings of a question for the earlier, later, older or younger of two; none for any other question."""
    came = _CAME_FIRST.match(question)
    if came is not None:
        events = [_EVENTS_BY_NOUN.get(came[group].lower()) for group in ("one", "other")]
        if events[0] is None or events[1] is None:
            return ()
        return _date_comparisons(
            clean_names(came["a"], came["b"]), [(events[0], events[1])], came["when"], yes_no=False
        )
    choice = parse_choice_question(question)
    if choice is None:
        return _yes_no(question)
    age = _ASK_AGE.match(choice.ask)
    if age is not None:
        return _date_comparisons(choice.sides, [(one, one) for one in _OF_AGE], age["age"], yes_no=False)
    active = _ASK_ACTIVE.match(choice.ask)
    if active is not None:
        return _date_comparisons(choice.sides, _of_both(active["verb"]), active["when"], yes_no=False)
    event = _ASK_EVENT.match(choice.ask)
    if event is None or (event["when"] is None) == (event["last"] is None):
        return ()
    return _date_comparisons(choice.sides, _of_both(event["verb"]), event["when"] or event["last"], yes_no=False)


def _yes_no(question: str) -> tuple[DecidableQuestion, ...]:
    event = _WAS_EVENT.match(question)
    if event is not None:
        return _date_comparisons(
            clean_names(event["a"], event["b"]), _of_both(event["verb"]), event["when"], yes_no=True
        )
    age = _IS_AGE.match(question)
    if age is not None:
        return _date_comparisons(
            clean_names(age["a"], age["b"]), [(one, one) for one in _OF_AGE], age["age"], yes_no=True
        )
    return ()


def _date_comparisons(
    names: tuple[str, str], events: Sequence[tuple[frozenset[str], frozenset[str]]], when: str, *, yes_no: bool
) -> tuple[DecidableQuestion, ...]:
    word = when.lower()
    earlier = word in _EARLIER or word in _ELDER
    if word in _ELDER:
        label = "Older"
    elif word in ("younger", "youngest"):
        label = "Younger"
    else:
        label = "Earlier" if earlier else "Later"
    return tuple(DateComparison(names, pair, "" if yes_no else label, earlier) for pair in events)


def _of_both(verb: str) -> list[tuple[frozenset[str], frozenset[str]]]:
    event = _event(verb)
    return [(event, event)]


def _event(verb: str) -> frozenset[str]:
    word = verb.lower()
    if word == "came out":
        return _RELEASED | {"published", "launched"}
    return next((group for group in _SAME_EVENT if word in group), frozenset([word]))


def event_date(source: QuotedSentence, name: str, event: frozenset[str]) -> SideFact | None:
    """The date of an event in a sentence about `name`; None when it states no date, several or a vague one."""
    subject = find_subject(source, name)
    if subject is None:
        return None
    found: list[SideFact] = []
    if event in (BIRTH, DEATH):
        found += _life_dates(subject.rest, birth=event is BIRTH)
    work = _WORK_OF.match(subject.rest) if "released" in event else None
    if work is not None:
        found.append(_interval(work))
    found += _verb_dates(subject.rest, event)
    if not found or any(not one.agrees(other) for one in found for other in found):
        return None
    return min(found, key=lambda one: one.high - one.low)


def _life_dates(rest: str, *, birth: bool) -> list[SideFact]:
    """Dates of birth or death in the brackets after a name."""
    bracket = _BRACKET.match(rest)
    if bracket is None:
        return []
    inside = bracket["inside"]
    if re.search(r"\b(?:c\.|ca\.|circa|about|around|or|reigned|active|fl\.|baptised|baptized)", inside):
        return []
    first = _DATE_OF_LIFE.search(inside)
    dash = None if first is None else _DASH.match(inside, first.end())
    if first is not None and dash is not None:
        last = first if birth else _DATE_OF_LIFE.match(inside, dash.end())
        return [] if last is None else [_interval(last)]
    born = _BORN_INSIDE.search(inside) if birth else None
    return [] if born is None else [_interval(born)]


def _verb_dates(rest: str, event: frozenset[str]) -> list[SideFact]:
    """The date after each of the verbs, unless it may belong to something else."""
    open_text = re.sub(r"\([^()]*\)", lambda match: " " * len(match[0]), rest)
    if has_negation(open_text):
        return []
    found: list[SideFact] = []
    for verb in re.finditer(rf"(?<![\w-])(?:{'|'.join(sorted(event))})(?![\w-])", open_text):
        if _STRAYS.search(open_text[: verb.start()]):
            break
        for date in _DATE.finditer(open_text, verb.end()):
            between = open_text[verb.end() : date.start()]
            if len(between) <= _MOST_BETWEEN and re.search(r"(?:^| )(?:in|on|since|from) $", between):
                said = between[: between.rstrip().rfind(" ") + 1]
                if not _FURTHER.search(said):
                    found.append(_interval(date))
            break
    return found


def _interval(match: re.Match[str]) -> SideFact:
    """The interval of days of a date, as ordinals of a calendar whose months all have 31."""
    day, month = match["day"] or match["day2"], match["month"] or match["month2"]
    place = 0 if month is None else MONTH_NAMES.index(month.lower())
    low = int(match["year"]) * 372 + place * 31 + (0 if day is None else int(day) - 1)
    span = 371 if month is None else 30 if day is None else 0
    shown = " ".join(part for part in (day, month, match["year"]) if part)
    return SideFact(shown, "date", Fraction(low), Fraction(low + span))
