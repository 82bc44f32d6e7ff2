"""The word tables, and which of them a text is written by."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache

from agentic_rag.language.english import FUNCTION_WORDS
from agentic_rag.language.words.arabic import ARABIC
from agentic_rag.language.words.chinese import CHINESE
from agentic_rag.language.words.dutch import DUTCH
from agentic_rag.language.words.french import FRENCH
from agentic_rag.language.words.german import GERMAN
from agentic_rag.language.words.italian import ITALIAN
from agentic_rag.language.words.japanese import JAPANESE
from agentic_rag.language.words.polish import POLISH
from agentic_rag.language.words.portuguese import PORTUGUESE
from agentic_rag.language.words.russian import RUSSIAN
from agentic_rag.language.words.spanish import SPANISH
from agentic_rag.language.words.word_table import WordTable, word_set

TABLES = (GERMAN, SPANISH, FRENCH, ITALIAN, PORTUGUESE, DUTCH, POLISH, RUSSIAN, ARABIC, JAPANESE, CHINESE)
"""One a language; English has rules of its own."""
OTHER = WordTable("und", has_decimal_comma=False)
"""Of a text whose script tells that it is in no language of these: no rule of a language reads it."""
TABLE_BY_CODE = {table.code: table for table in (*TABLES, OTHER)}

_LEAST_SHARE = 0.08
"""Of the words of a text that must be function words of a language: names and titles hold a few of others."""
_LEAST_KNOWN, _LEAST_KNOWN_SHARE = 3, 0.15
"""Different function words of a text whose language is stored, and their share: those without a table have a few."""
_SHORT_TEXT = 8
"""Words of a text whose language a single sign tells."""
_READ_CHARACTERS = 1_000
"""From the start of a text: its language does not change."""
_CACHED_TEXTS = 512
_IN_NAMES = word_set(
    "al all bin co com da de del den der di door dos du el en et go hat la las le los man non pro san sue van war"
)
"""They stand in names, and in texts, of every language: one alone tells none."""
_WORD = re.compile(r"[^\W\d_]{2,}")
_ASCII_WORD = re.compile(r"[a-z]{2,}")
_LETTER_WORD = re.compile(r"(?<!\w)[^\W\d_](?!\w)")
_BY_ALPHABET = tuple(table for table in TABLES if table.function_words and table not in (RUSSIAN, ARABIC))
_ENGLISH_TOO = word_set("an ans dia due mars mes ore sept")
_NUMBERS = tuple(
    frozenset(word for word, english in table.numbers.items() if word != english) - FUNCTION_WORDS - _ENGLISH_TOO
    for table in _BY_ALPHABET
)
"""The number words, units and months of each: beside another word they tell the language of a short text."""


def _places_of(vocabularies: Iterable[frozenset[str]]) -> Mapping[str, tuple[int, ...]]:
    places: dict[str, tuple[int, ...]] = {}
    for place, words in enumerate(vocabularies):
        for word in words:
            places[word] = (*places.get(word, ()), place)
    return places


_PLACES_OF = _places_of(table.function_words for table in _BY_ALPHABET)
"""The tables, by their place, that hold a function word."""
_PLACES_IN_SHORT = _places_of(
    table.function_words | numbers for table, numbers in zip(_BY_ALPHABET, _NUMBERS, strict=True)
)
"""The same, or a number word."""

_SCRIPTS = re.compile(
    "(?P<cyrillic>[\u0400-\u052f]+)|(?P<arabic>[\u0600-\u06ff\u0750-\u077f]+)|(?P<kana>[\u3041-\u30ff]+)|"
    "(?P<han>[\u3400-\u4dbf\u4e00-\u9fff]+)|"
    "(?P<other>[\u0370-\u03ff\u0530-\u05ff\u0900-\u10ff\u1100-\u11ff\u1780-\u17ff\uac00-\ud7af]+)|"
    "(?P<latin>[a-zA-Z\u00c0-\u024f]+)"
)
"""Runs of letters by script; others: Greek, Armenian, Hebrew, those of India and south-east Asia, Georgian, Hangul."""
_NOT_LATIN = re.compile(
    "[\u0370-\u06ff\u0750-\u077f\u0900-\u11ff\u1780-\u17ff\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]"
)
_NOT_RUSSIAN = re.compile("[іїєґјљњћђџѓќўәғқңөұһ]")
_NOT_ARABIC = re.compile("[پچژگکیٹڈڑںے]")
_LATIN_LETTERS = 5
"""That tell no more than one of another script: names are written in Latin letters in every language."""
_AMONG_ENGLISH = 0.5
"""The same where English function words stand beside."""
_LEAST_KANA = 0.1
"""Of the ideographs and kana of a Japanese text."""


def table_of(text: str) -> WordTable | None:
    """The table of the language that a text is written in; None for English, and for what has no sign of another."""
    return _table_of(text[:_READ_CHARACTERS])


def language_of(text: str) -> str | None:
    """The language (ISO 639-1) that a text of some sentences is written in; None where script and function words tell
    none of those known.
    """
    table = table_of(text)
    if table is not None and table not in _BY_ALPHABET:
        return None if table is OTHER else table.code
    words = frozenset(_WORD.findall(text[:_READ_CHARACTERS].lower()))
    known = words & (FUNCTION_WORDS if table is None else table.function_words)
    if len(known) < max(_LEAST_KNOWN, _LEAST_KNOWN_SHARE * len(words)):
        return None
    return "en" if table is None else table.code


def language_of_question(question: str) -> str | None:
    """The language of a question, which holds fewer words: one sign tells any but English."""
    table = table_of(question)
    return language_of(question) if table is None or table is OTHER else table.code


def function_words_of(text: str) -> frozenset[str]:
    """The function words of its language; none for English, whose are known by themselves."""
    table = table_of(text)
    return frozenset() if table is None else table.function_words


@lru_cache(_CACHED_TEXTS)
def _table_of(text: str) -> WordTable | None:
    low = text.lower()
    is_ascii = low.isascii()
    words = frozenset((_ASCII_WORD if is_ascii else _WORD).findall(low))
    english = words & FUNCTION_WORDS
    if not is_ascii and _NOT_LATIN.search(low):
        by_script = _table_by_script(low, is_english=len(english) > 1)
        if by_script is not None:
            return by_script
    is_short = len(words) <= _SHORT_TEXT
    alone = frozenset(_LETTER_WORD.findall(low)) - FUNCTION_WORDS if is_short else frozenset[str]()
    letters = frozenset[str]() if is_ascii else frozenset(low) - alone
    least = (max(_LEAST_SHARE * len(words), 0 if is_short else 1),)
    most: tuple[float, ...] = least
    found = None
    places = _PLACES_IN_SHORT if is_short else _PLACES_OF
    for table, known in zip(_BY_ALPHABET, _known_by_table(words | alone, places), strict=True):
        marks = sum(mark in letters for mark in table.marks) if known or is_short else 0
        count = len(known) + marks
        if count < most[0] or count <= least[0] or not _tells(known, marks, table, english):
            continue
        foreign = sum(letter.isalpha() and letter not in table.letters for letter in letters if letter > "z")
        weight = (count, -foreign, marks + sum(1 / len(places[word]) for word in known))
        if weight > most:
            most, found = weight, table
    return found


def _tells(known: set[str], marks: int, table: WordTable, english: frozenset[str]) -> bool:
    """Whether words and marks of a text are more than names of a language in an English text have."""
    own = known - FUNCTION_WORDS
    strange = len(english - known)
    words = {word for word in own if len(word) > 1 or not word.isascii()}
    has_sign = marks or words & table.function_words - _IN_NAMES or (words and len(own) > 1 + strange)
    return bool(has_sign) and len(own) + marks > strange


def _known_by_table(words: frozenset[str], places: Mapping[str, tuple[int, ...]]) -> list[set[str]]:
    found: list[set[str]] = [set() for _ in _BY_ALPHABET]
    for word in words:
        for place in places.get(word, ()):
            found[place].add(word)
    return found


def _table_by_script(text: str, *, is_english: bool) -> WordTable | None:
    """The table of a text whose letters are mostly not Latin."""
    letters = Counter[str]()
    for match in _SCRIPTS.finditer(text):
        letters[match.lastgroup or ""] += len(match[0])
    ideographs = letters["han"] + letters["kana"]
    found = {OTHER: letters["other"], RUSSIAN: letters["cyrillic"], ARABIC: letters["arabic"], CHINESE: ideographs}
    most = max(found, key=lambda table: found[table])
    if found[most] * (_AMONG_ENGLISH if is_english else _LATIN_LETTERS) <= letters["latin"]:
        return None
    if most is CHINESE and letters["kana"] >= _LEAST_KANA * ideographs:
        return JAPANESE
    is_other = (most is RUSSIAN and _NOT_RUSSIAN.search(text)) or (most is ARABIC and _NOT_ARABIC.search(text))
    return OTHER if is_other else most
