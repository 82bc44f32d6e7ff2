"""What the rules of answers know of a language other than English: one table a language."""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache


class Asked(enum.Enum):
    """What a question asks for, by its wording."""

    DOCUMENTS = "documents"
    SUMMARY = "summary"
    """The answer is a section: its pattern is that of the heading."""
    STEPS = "steps"
    REASON = "reason"
    DEFINITION = "definition"
    COMPARISON = "comparison"
    PRICE = "price"
    HOW_LONG = "how_long"
    HOW_MUCH = "how_much"
    WHEN = "when"
    WHO = "who"
    WHERE = "where"
    LIST = "list"
    WHICH = "which"
    YES_NO = "yes_no"


@dataclass(frozen=True, slots=True)
class Wording:
    """A regular expression, compiled when a text of its language is first read: most processes read none."""

    text: str
    ignores_case: bool = True

    @property
    def pattern(self) -> re.Pattern[str]:
        return _compile(self)


@lru_cache(maxsize=512)
def _compile(wording: Wording) -> re.Pattern[str]:
    return re.compile(wording.text, re.IGNORECASE if wording.ignores_case else 0)


@dataclass(frozen=True, slots=True)
class WordTable:
    """The closed classes, endings and question words of a language. Words are in lower case."""

    code: str
    """ISO 639-1."""
    marks: str
    """Characters of its texts that neither English nor another table has."""
    function_words: frozenset[str]
    """Articles, pronouns, prepositions, conjunctions, auxiliaries, and the words that phrase a question."""
    asking_stems: frozenset[str]
    """Beginnings of words that say how is asked rather than about what."""
    endings: tuple[str, ...]
    """What inflection adds to a word, longest first."""
    folds: Mapping[str, str]
    """Letters with marks that inflection adds or drops, and the letters without."""
    questions: tuple[tuple[Asked, Wording], ...]
    """How a question asks for something: the first that is found decides."""
    answers: Mapping[Asked, Wording]
    """What a sentence must have that answers such a question."""
    leaning: Wording
    """How a sentence opens that leans on the one before it."""
    negation: Wording
    months: tuple[str, ...]
    """From January on."""
    numbers: Mapping[str, str]
    """Number words and units in English, which values are read in."""
    aside: Wording
    """What makes no other statement: that it holds always."""
    has_compounds: bool = False
    """It writes compounds as one word, and nouns with a capital."""
    verb_prefixes: tuple[str, ...] = ()
    """What stands before the stem of a verb, apart or joined."""
    verb_infixes: tuple[str, ...] = ()
    """What inflection puts between prefix and stem."""
    changes: Mapping[str, str] = field(default_factory=dict[str, str])
    """Vowels that inflection changes in a stem: the reverse of `folds`."""
    definition: Wording | None = None
    """A question for a definition, with the term as the group `term`."""

    def asked_by(self, question: str) -> Asked | None:
        """What a question asks for; None where its wording leaves it open."""
        return next((asked for asked, wording in self.questions if wording.pattern.search(question)), None)

    def stem(self, word: str) -> str:
        """A word in lower case without the ending that inflection gives it."""
        for ending in self.endings:
            if word.endswith(ending) and len(word) - len(ending) >= max(SHORTEST_STEM, min(4, len(ending) + 1)):
                return word[: -len(ending)]
        return word

    def base(self, word: str) -> str:
        """The stem of a word without what inflection puts before it."""
        stem = self.stem(word)
        prefix = next((one for one in self.verb_infixes if stem.startswith(one)), "")
        return stem.removeprefix(prefix) if len(stem) - len(prefix) >= SHORTEST_STEM else stem

    def value_words(self, text: str) -> str:
        """The text with figures, number words and units as English writes them, place by place where it can: a word
        keeps its length.
        """
        swapped = _GROUPED.sub(lambda found: found[0].translate(_SWAPPED), text)
        return _WORD.sub(lambda found: self.numbers.get(found[0].lower(), found[0]).ljust(len(found[0])), swapped)

    def fold(self, word: str) -> str:
        """A word in the letters that all its inflected forms share."""
        return "".join(self.folds.get(letter, letter) for letter in word)


_SWAPPED = str.maketrans(".,", ",.")
_GROUPED = re.compile(r"(?<![\d.,])\d{1,3}(?:\.\d{3})+(?:,\d+)?(?![\d.,]*\d)|(?<![\d.,])\d+,\d+(?![\d.,]*\d)")
"""Figures with a decimal comma or full stops between thousands."""
_WORD = re.compile(r"[^\W\d_]+")

SHORTEST_STEM = 3
"""Letters that stay of a word."""


def word_set(text: str) -> frozenset[str]:
    """The words of a list written as lines."""
    return frozenset(text.split())
