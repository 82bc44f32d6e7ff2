"""The word tables, and which of them a text is written by."""

from __future__ import annotations

import re
from functools import lru_cache

from agentic_rag.language.english import FUNCTION_WORDS
from agentic_rag.language.words.german import GERMAN
from agentic_rag.language.words.spanish import SPANISH
from agentic_rag.language.words.word_table import WordTable

TABLES = (GERMAN, SPANISH)
"""One a language; English has rules of its own."""

_NO_WORDS: frozenset[str] = frozenset()
_LEAST_SHARE = 0.08
"""Of the words of a text that must be function words of a language: names and titles hold a few of other languages."""
_READ_CHARACTERS = 1_000
"""From the start of a text: its language does not change."""
_CACHED_TEXTS = 512
_WORD = re.compile(r"[^\W\d_]{2,}")


def table_of(text: str) -> WordTable | None:
    """The table of the language that a text is written in; None for English, and for what no table knows."""
    return _table_of(text[:_READ_CHARACTERS])


def function_words_of(text: str) -> frozenset[str]:
    """The function words of its language; none for English, whose are known by themselves."""
    table = table_of(text)
    return _NO_WORDS if table is None else table.function_words


@lru_cache(_CACHED_TEXTS)
def _table_of(text: str) -> WordTable | None:
    low = text.lower()
    words = _WORD.findall(low)
    most, found = max(sum(word in FUNCTION_WORDS for word in words), _LEAST_SHARE * len(words)), None
    for table in TABLES:
        known = sum(word in table.function_words for word in words) + sum(mark in low for mark in table.marks)
        if known > most:
            most, found = known, table
    return found
