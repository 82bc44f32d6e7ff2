"""What verdicts are made of: the quotes they rest on, what a quote states of one side, and a question that can be
decided by rule.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol


@dataclass(frozen=True, slots=True)
class QuotedSentence:
    """A quoted sentence and the title of its document."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class SideFact:
    """What a sentence states of one side: an interval [low, high] of days or of figures in a unit, or only a value
    (`unit`), and how it is said.
    """

    text: str
    unit: str = ""
    low: Fraction = Fraction(0)
    high: Fraction = Fraction(0)

    def agrees(self, other: SideFact) -> bool:
        """True when both may be said of one thing."""
        return self.unit == other.unit and self.low <= other.high and other.low <= self.high

    def is_below(self, other: SideFact) -> bool:
        """True when it is less or earlier beyond doubt, in the same unit."""
        return self.unit == other.unit and self.high < other.low


def open_verdict(label: str, stated: Sequence[SideFact], *, wants_lower: bool) -> tuple[str, int] | None:
    """How a verdict on two begins, and which it names first: the one that is asked for behind its `label`; without a
    label the first one, behind yes when it is the one. None when neither is below the other beyond doubt.
    """
    first, second = stated
    if first.is_below(second):
        wanted = 0 if wants_lower else 1
    elif second.is_below(first):
        wanted = 1 if wants_lower else 0
    else:
        return None
    return (label, wanted) if label else ("Yes" if wanted == 0 else "No", 0)


class DecidableQuestion(Protocol):
    """A question that a rule decides from one sentence for each side."""

    @property
    def sides(self) -> int:
        """How many sides it has."""
        ...

    def read_side(self, side: int, source: QuotedSentence) -> SideFact | None:
        """What the sentence states of a side; None when it does not beyond doubt."""
        ...

    def verdict(self, stated: Sequence[SideFact]) -> str | None:
        """The verdict on what is stated of each side, in order; None when that decides nothing."""
        ...


_WORD = re.compile(r"[^\W_]+(?:['’.&-][^\W_]+)*")
_ARTICLES = frozenset(["the", "a", "an"])
_OPENS_PREDICATE = re.compile(
    r"[\"”»'’]?\s*(?:[(,–—]|(?:is|are|was|were|has|have|had|originally|first|opened|formed|began|premiered|debuted|"
    r"died|of(?= [$€£¥\d])|consists|contains|rose|fell|grew|totaled|totalled|reached|stands|covers)\b)"
)
_NO_NAME = frozenset(["of", "in", "on", "at", "for", "by", "to", "from", "with", "and", "or", "as", "s"])
MOST_EXTRA = 3
"""Words that may stand in a full name beside those of the name asked for."""


@dataclass(frozen=True, slots=True)
class SentenceSubject:
    """The opening of a sentence that names its subject."""

    beside: str
    """What stands there beside the name, lower case."""
    rest: str
    """The sentence behind it."""


def find_subject(source: QuotedSentence, name: str) -> SentenceSubject | None:
    """How the sentence opens when it opens with this name and says something of it. Further words within the name, or
    before it, are allowed when the document's title is the name: "Adeline Virginia Woolf" in "Virginia Woolf".
    """
    wanted = _without_article(name)
    if not wanted:
        return None
    titled = _without_article(source.title.split("(")[0]) == wanted
    extra: list[str] = []
    place = 0
    for match in _WORD.finditer(source.text):
        word = match[0].lower()
        if word == wanted[place]:
            place += 1
            if place == len(wanted):
                rest = source.text[match.end() :]
                return SentenceSubject(" ".join(extra), rest) if _OPENS_PREDICATE.match(rest) else None
        elif place or extra or word not in _ARTICLES:
            extra.append(word)
            if not titled or len(extra) > MOST_EXTRA or word in _NO_NAME:
                return None
    return None


def _without_article(name: str) -> list[str]:
    words = words_of(name)
    return words[1:] if len(words) > 1 and words[0] in _ARTICLES else words


def words_of(text: str) -> list[str]:
    """The words of a text in lower case."""
    return [match[0].lower() for match in _WORD.finditer(text)]


WHO = r"^(?:who|which|what)(?: [\w'’-]+){0,4}?"
"""How a question for one of two begins: "which of the two films"."""
_NOISE = re.compile(r"^(?:(?:the|a|an|both|either) )?(?:[a-z]+ ){0,2}(?=[\"“A-Z0-9])")
_SIDES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"^(?P<ask>(?:who|which|what)\b[^,:?]*)[,:]\s*(?P<a>[^,?:]+?),? or (?P<b>[^,?:]+?)\s*\?*$",
        r"^(?P<ask>(?:who|which|what)\b[^,:?]*?),? (?:out of|between) (?P<a>[^,?:]+?) (?:and|or) "
        r"(?P<b>[^,?:]+?)\s*\?*$",
        r"^(?:between|out of) (?P<a>[^,?:]+?) and (?P<b>[^,?:]+?), (?P<ask>(?:who|which|what)\b[^,:?]*?)\s*\?*$",
    )
)
_JOINS = re.compile(r"\b(?:and|or)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ChoiceQuestion:
    """A question which of two is meant, and how it asks."""

    ask: str
    sides: tuple[str, str]


def parse_choice_question(question: str) -> ChoiceQuestion | None:
    """The two sides of "Which is …, A or B?"; None for another form, or when it is doubtful where a side ends."""
    for form in _SIDES:
        match = form.match(question)
        if match is not None:
            return (
                None
                if _JOINS.search(match["b"])
                else ChoiceQuestion(match["ask"].strip(), clean_names(match["a"], match["b"]))
            )
    return None


def clean_names(first: str, second: str) -> tuple[str, str]:
    """Two sides as names, without an article or what they are: "the film Always"."""
    return _NOISE.sub("", first.strip(' "“”')), _NOISE.sub("", second.strip(' "“”'))
