"""Parts of a verdict: a quoted sentence, the fact it states about one side, and a question that a rule can decide."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Protocol


@dataclass(frozen=True, slots=True)
class QuotedSentence:
    """A quoted sentence and the title of its document."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class SideFact:
    """A sentence's fact about one side: an interval [low, high] of days or of figures in a unit, or only a value
    (`unit`). `text` is the fact in words.
    """

    text: str
    unit: str = ""
    low: Fraction = Fraction(0)
    high: Fraction = Fraction(0)

    def agrees(self, other: SideFact) -> bool:
        """True when both facts may hold for one thing."""
        return self.unit == other.unit and self.low <= other.high and other.low <= self.high

    def is_below(self, other: SideFact) -> bool:
        """True when the fact is certainly less or earlier, in the same unit."""
        return self.unit == other.unit and self.high < other.low


def open_verdict(label: str, stated: Sequence[SideFact], *, wants_lower: bool) -> tuple[str, int] | None:
    """The first word of a verdict on two sides, and the side it names first. With a `label` that is the side asked for;
    without one it is the first side, after Yes or No. None when neither side is certainly below the other.
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
    """A question that a rule can decide from one sentence for each side."""

    sides: ClassVar[int]

    def read_side(self, side: int, source: QuotedSentence) -> SideFact | None:
        """The sentence's fact about a side; None when it does not state one for certain."""
        ...

    def verdict(self, stated: Sequence[SideFact]) -> str | None:
        """The verdict on the facts of all sides, in order; None when they decide nothing."""
        ...


_WORD = re.compile(r"[^\W_]+(?:['’.&-][^\W_]+)*")
_ARTICLES = frozenset(["the", "a", "an"])
_OPENS_PREDICATE = re.compile(
    r"[\"”»'’]?\s*(?:[(,–—]|(?:is|are|was|were|has|have|had|originally|first|opened|formed|began|premiered|debuted|"
    r"died|of(?= [$€£¥\d])|consists|contains|rose|fell|grew|totaled|totalled|reached|stands|covers)\b)"
)
_NO_NAME = frozenset(["of", "in", "on", "at", "for", "by", "to", "from", "with", "and", "or", "as", "s"])
MOST_EXTRA = 3
"""Further words that a full name may have."""


@dataclass(frozen=True, slots=True)
class SentenceSubject:
    """The opening of a sentence that names its subject."""

    beside: str
    """The further words there, lower case."""
    rest: str
    """The rest of the sentence."""


def find_subject(source: QuotedSentence, name: str) -> SentenceSubject | None:
    """The opening of a sentence that begins with this name and a predicate; None for any other sentence. Further words
    within or before the name are allowed when the document's title is the name: "Adeline Virginia Woolf" in "Virginia
    Woolf".
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
"""The beginning of a question that asks for one of two: "which of the two films"."""
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
    """A question that asks for one of two sides; `ask` is its wording without them."""

    ask: str
    sides: tuple[str, str]


def parse_choice_question(question: str) -> ChoiceQuestion | None:
    """The two sides of "Which is …, A or B?"; None for another form, or when the end of a side is doubtful."""
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
    """Two sides as names, without article and category: "Always" for "the film Always"."""
    return _NOISE.sub("", first.strip(' "“”')), _NOISE.sub("", second.strip(' "“”'))
