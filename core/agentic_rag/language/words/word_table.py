"""What the rules of answers know of a language other than English: one table a language."""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import takewhile

from agentic_rag.language.stemming import stem_of


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


_NEVER = Wording(r"(?!)")
_END = r"(?![a-zß-ÿ])"
WEIGHT = Wording(
    rf"\d ?(?:mg|g|kg|t|gramm|kilogramm|tonnen?|grammes?|tonnes?|gramos?|toneladas?|キロ|グラム|トン){_END}"
)
POWER = Wording(rf"\d ?(?:w|kw|mw|ps|ch|cv|watt|watts|vatios?|ワット){_END}")
WARMTH = Wording(r"\d ?(?:°|℃|grad|degrés?|grados?|度)")
LOUDNESS = Wording(rf"\d ?(?:db|dezibel|décibels?|decibelios?|デシベル){_END}")
LENGTH = Wording(
    rf"\d ?(?:[\"″]|(?:[mcdk]?m|in|ft|inch(?:es)?|feet|foot|yards?|miles?){_END})|"
    r"\b(?:[mcdk]m|\w*met(?:er|re)[ns]?|\w*mètres?|\w*metros?|inch(?:es)?|feet|foot)\b"
)
"""Values in the units of a measure."""


@dataclass(frozen=True, slots=True, eq=False)
class WordTable:
    """The closed classes, endings and question words of a language. Words are in lower case. What a table leaves out is
    not known of its language: the rule that needs it stays off.
    """

    code: str
    """ISO 639-1."""
    stemmer: str = ""
    """Snowball's algorithm: its stems are indexed beside the words."""
    has_ideographs: bool = False
    """Its single characters are words: they are indexed beside the pairs."""
    has_kana: bool = False
    """Its function words are written in kana, most others are not."""
    marks: str = ""
    """Characters of its texts that neither English nor another table has."""
    letters: str = ""
    """What it writes beside a to z: a text with others is rather in another language."""
    function_words: frozenset[str] = frozenset()
    """Articles, pronouns, prepositions, conjunctions, auxiliaries, and the words that phrase a question."""
    unspaced_function_words: Wording = _NEVER
    """The same where no spaces stand between words, without those that are parts of others."""
    asking_stems: frozenset[str] = frozenset()
    """Beginnings of words that say how is asked rather than about what."""
    endings: tuple[str, ...] = ()
    """What inflection adds to a word, longest first; without them the stemmer is asked."""
    folds: Mapping[str, str] = field(default_factory=dict[str, str])
    """Letters with marks that inflection adds or drops, and the letters without."""
    questions: tuple[tuple[Asked, Wording], ...] = ()
    """How a question asks for something: the first that is found decides."""
    answers: Mapping[Asked, Wording] = field(default_factory=dict[Asked, Wording])
    """What a sentence must have that answers such a question."""
    leaning: Wording = _NEVER
    """How a sentence opens that leans on the one before it."""
    negation: Wording = _NEVER
    was: Wording = _NEVER
    """How a question asks what was."""
    planned: Wording = _NEVER
    """How a sentence says what is planned."""
    months: tuple[str, ...] = ()
    """From January on, as they are read in a text of any language."""
    numbers: Mapping[str, str] = field(default_factory=dict[str, str])
    """Number words, units and other months in English, which values are read in."""
    has_decimal_comma: bool = True
    groups_by_space: bool = False
    """It writes a space between thousands."""
    conditions: Wording | None = None
    """What opens a condition or an exception."""
    limits: Wording = _NEVER
    """What tells, beside punctuation and figures, that a denial has a limit, an exception or an alternative."""
    asks_which: Wording = _NEVER
    """How a question begins that asks which thing, person or place it is."""
    asks_leave: Wording = _NEVER
    """How a question asks what may be."""
    refused: Wording = _NEVER
    """The whole cell of a table that says no."""
    more_days: Wording = _NEVER
    """What speaks of more days of the week than those that are named."""
    aside: Wording = _NEVER
    """What makes no other statement: that it holds always."""
    has_compounds: bool = False
    """It writes compounds as one word, and a single capital tells no name."""
    word_prefixes: tuple[str, ...] = ()
    """Articles and prepositions that are written as one word with a noun."""
    verb_prefixes: tuple[str, ...] = ()
    """What stands before the stem of a verb, apart or joined."""
    verb_infixes: tuple[str, ...] = ()
    """What inflection puts between prefix and stem."""
    changes: Mapping[str, str] = field(default_factory=dict[str, str])
    """Vowels that inflection changes in a stem: the reverse of `folds`."""
    never_last: frozenset[str] = frozenset()
    """Abbreviations whose full stop never ends a sentence, without it."""
    before_figures: frozenset[str] = frozenset()
    """The same where a figure follows."""
    seldom_last: frozenset[str] = frozenset()
    """Abbreviations whose full stop ends a sentence only before a function word with a capital."""
    before_ordinal: frozenset[str] = frozenset()
    after_ordinal: Wording = _NEVER
    """What stands beside an ordinal that is written as a figure with a full stop."""
    definition: Wording | None = None
    """A question for a definition, with the term as the group `term`."""
    defining: str = ""
    """What stands behind a term that is defined, as a pattern."""
    because: Wording = _NEVER
    """What tells that a sentence gives a reason: stricter than what makes it a candidate (`answers`)."""
    joining: Wording = Wording(r"[,;\n]")
    """What stands between the things of a list."""
    measures: tuple[tuple[Wording, Wording], ...] = ()
    """How a question names a measure, and the units in which its value stands."""

    measured_by: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """Stems of words that ask for a measure, and what the nouns for it begin with."""

    def is_ordinal(self, before: str, text: str, after: int) -> bool:
        """Whether a figure with a full stop is an ordinal, by the word before it and the text from `after` on."""
        return before.lower() in self.before_ordinal or self.after_ordinal.pattern.match(text, after) is not None

    def asked_by(self, question: str) -> Asked | None:
        """What a question asks for; None where its wording leaves it open."""
        found = self._asking(question)
        return None if found is None else found[0]

    def asked_act(self, question: str) -> str | None:
        """The verb that stands behind who or when in a question, or at its end where an auxiliary stands there ("Wann
        wurde die Halle gebaut?"); None where the question has none there.
        """
        found = self._asking(question)
        if found is None or found[0] not in _TOLD_BY_ACTS:
            return None
        words = [word[0] for word in _WORD.finditer(question, found[1].end())]
        if words and self.has_compounds and words[0].lower() in self.function_words and _PARTICIPLE.search(words[-1]):
            words = words[-1:]
        if not words or words[0].lower() in self.function_words or (self.has_compounds and words[0][0].isupper()):
            return None
        return words[0].lower()

    def lacks_unit(self, question: str, *said: str) -> bool:
        """Whether a question names a measure and none of the texts has a value in its units."""
        return any(
            asked.pattern.search(question) and not any(map(unit.pattern.search, said)) for asked, unit in self.measures
        )

    def changed_forms(self, verb: str) -> re.Pattern[str]:
        """The beginnings of words that may be a form of a verb whose vowels change: schreibt, schrieb, Beschreibung."""
        stem = self.base(verb).removesuffix("ier")
        consonants = re.sub(rf"[{_VOWELS}]+", f"[{_VOWELS}]{{1,3}}", self.fold(stem))
        before = "|".join((*self.verb_prefixes, *self.verb_infixes))
        return re.compile(rf"(?<!\w)(?:{before}){{0,2}}{consonants}" if before else rf"(?<!\w){consonants}")

    def _asking(self, question: str) -> tuple[Asked, re.Match[str]] | None:
        for asked, wording in self.questions:
            match = wording.pattern.search(question)
            if match is not None:
                return asked, match
        return None

    def stem(self, word: str) -> str:
        """A word in lower case without the ending that inflection gives it."""
        if self.stemmer and not self.endings:
            stem = stem_of(word, self.stemmer)
            shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(stem, word, strict=False)))
            return stem if stem in word else word[:shared] or word
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
        swapped = self._plain_figures(text)
        return _WORD.sub(lambda found: self.numbers.get(found[0].lower(), found[0]).ljust(len(found[0])), swapped)

    def _plain_figures(self, text: str) -> str:
        if self.has_ideographs:
            dated = _CALENDAR_DAY.sub(r"\3.\2.\1 ", text.translate(_PLAIN_SIGNS))
            return _IDEOGRAPH.sub(" ", _CLOCK_TIME.sub(_plain_time, dated))
        if self.groups_by_space:
            text = _SPACED.sub(lambda found: _SPACE.sub(".", found[0]), text)
        return _GROUPED.sub(lambda found: found[0].translate(_SWAPPED), text) if self.has_decimal_comma else text

    def fold(self, word: str) -> str:
        """A word in the letters that all its inflected forms share."""
        return "".join(self.folds.get(letter, letter) for letter in word)


_SWAPPED = str.maketrans(".,", ",.")
_GROUPED = re.compile(r"(?<![\d.,])\d{1,3}(?:\.\d{3})+(?:,\d+)?(?![\d.,]*\d)|(?<![\d.,])\d+,\d+(?![\d.,]*\d)")
"""Figures with a decimal comma or full stops between thousands."""
_SPACED = re.compile(r"(?<![\d.,])(?<!\d[ \u00a0\u202f])\d{1,3}(?:[ \u00a0\u202f]\d{3})+(?![\d.]|[ \u00a0\u202f]\d)")
_PLAIN_SIGNS = str.maketrans("０１２３４５６７８９．，％", "0123456789.,%")
_CALENDAR_DAY = re.compile(r"(\d{4})年(\d{1,2})月(\d{1,2})日")
_CLOCK_TIME = re.compile(
    r"(?P<half>午前|午後|上午|下午)?(?P<hour>\d{1,2})[時时点點](?!間|间)(?:(?P<half_past>半)|(?P<minute>\d{1,2})分)?"
)
_IDEOGRAPH = re.compile(r"[\u3001-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")
_SPACE = re.compile(r"[ \u00a0\u202f]")
_WORD = re.compile(r"[^\W\d_]+")


def _plain_time(found: re.Match[str]) -> str:
    """A time of day by figures and Latin letters, as long as it was; an hour alone stays where nothing tells it."""
    minute = "30" if found["half_past"] else found["minute"]
    if minute is None and found["half"] is None:
        return found[0]
    half = "" if found["half"] is None else "am" if found["half"] in ("午前", "上午") else "pm"
    return f"{found['hour']}{'' if minute is None else f':{int(minute):02}'}{half}".ljust(len(found[0]))


_PARTICIPLE = re.compile(r"^[a-zß-ÿ]{4,}(?:t|(?<!st)en)$")
"""No superlative: "am höchsten"."""
_VOWELS = "aeiouäöüyáéíóúàèìòùâêîôûãõ"
_TOLD_BY_ACTS = frozenset({Asked.WHO, Asked.WHEN})
"""What is told by what somebody does, or what happens: another act has another person, and another time."""

SHORTEST_STEM = 3
"""Letters that stay of a word."""


def word_set(text: str) -> frozenset[str]:
    """The words of a list written as lines."""
    return frozenset(text.split())
