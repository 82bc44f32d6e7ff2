"""Tells text that was decoded with the wrong table from text that is meant: mojibake and shifted or swapped letters.

All rules ask for strong evidence on both sides: the text as it stands is no language, and either undoing the mistake
makes it one, or no language could look like it.
"""

from __future__ import annotations

import re
from collections import Counter

_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
_MISTAKEN_FOR = ("cp1252", "cp1251", "mac_roman", "cp437", "gbk")
"""Encodings that UTF-8 is often mistaken for."""
_LEAST_MISREAD, _MOST_MISREAD = 5, 0.6
"""Characters that are pieces of UTF-8 sequences, and their share of all characters beyond ASCII."""
_LEAST_OF_TEXT = 0.005
"""A text about mojibake quotes a little of it."""

_SAMPLE = 20_000
_WORD = re.compile(r"[^\W\d_]+")
_LEAST_WORDS = 40
_LITTLE_WORDS = frozenset({
    "the", "and", "that", "for", "with", "was", "are", "this", "from", "not", "have", "der", "die", "und", "das",
    "ist", "den", "von", "mit", "des", "ein", "eine", "für", "auf", "les", "est", "que", "pour", "dans", "une",
    "par", "los", "las", "del", "con", "por", "het", "van", "een", "dat", "che", "non", "per", "sono", "com", "não",
    "uma", "och", "att", "som", "det", "til", "med", "nie", "jest", "się",
})  # fmt: skip
"""Words that every page of running text holds in English, German, French, Spanish, Dutch, Italian, Portuguese, the
Scandinavian languages or Polish. Three letters at least: shorter ones turn up by chance.
"""
_MOST_STRAY = 0.02
_LEAST_FOUND = 0.12
"""Share of little words that a text of unknown words may have, and that a reading of it must have to be right."""
_LEAST_KINDS = 3
"""Different little words: in a table of numbers one shift may make a word of a number that stands everywhere."""
_MOST_DIGITS = 0.3
_LARGEST_CODE_SHIFT = 32

_VOWELS = frozenset("aeiouyàáâãäåæèéêëìíîïòóôõöøùúûüýāēīōūąęėįųűőœ")
_PLAIN_WORD = re.compile(r"(?<![^\s(\"'])[a-z]{4,}(?=[\s.,;:!?)\"']|$)")
"""A lower-case word of running text, and not a part of an identifier, path or number."""
_LEAST_PLAIN_SHARE = 0.5
_LEAST_DISTINCT = 25
_LEAST_A_LINE = 2
"""Words that a line of running text has on average."""
_MOST_WITHOUT_VOWEL = 0.2
"""Of words of four letters and more English has fewer than 1 % without a vowel, Czech about 1 %; swapped letters leave
a third.
"""


def decoded_twice(sample: str) -> bool:
    """Whether most of what lies beyond ASCII is UTF-8 that was read as another encoding."""
    runs = _NOT_ASCII.findall(sample)
    beyond = sum(map(len, runs))
    if beyond < _LEAST_MISREAD or beyond < _LEAST_OF_TEXT * len(sample):
        return False
    distinct = Counter(runs)
    return any(
        sum(len(run) * count for run, count in distinct.items() if _is_utf8(run, encoding)) > _MOST_MISREAD * beyond
        for encoding in _MISTAKEN_FOR
    )


def _is_utf8(run: str, encoding: str) -> bool:
    try:
        return len(_bytes_of(run, encoding).decode("utf-8")) < len(run)
    except (UnicodeEncodeError, UnicodeDecodeError):
        return False


def _bytes_of(run: str, encoding: str) -> bytes:
    if encoding != "cp1252":
        return run.encode(encoding)
    # Windows-1252 leaves five codes undefined; programs read them, and all of ISO-8859-1, as the code itself.
    return b"".join(one.encode("latin-1" if one < "\u0100" else "cp1252") for one in run)


def letters_moved(sample: str) -> bool:
    """Whether Latin letters stand for other letters: shifted along the alphabet or the code table, or swapped."""
    sample = sample[:_SAMPLE]
    if sum(map(str.isdecimal, sample)) > _MOST_DIGITS * len(sample):
        # A table of numbers: no shift looked for takes letters there.
        return False
    words = _WORD.findall(sample.lower())
    if sum(word in _LITTLE_WORDS for word in words) > _MOST_STRAY * len(words):
        return False
    return _is_shifted(sample, words) or _is_swapped(sample, words)


def _is_shifted(sample: str, words: list[str]) -> bool:
    if len(words) >= _LEAST_WORDS:
        for by in range(1, 26):
            table = {97 + place: 97 + (place + by) % 26 for place in range(26)}
            if _reads([word.translate(table) for word in words]):
                return True
    for by in (*range(-_LARGEST_CODE_SHIFT, 0), *range(1, _LARGEST_CODE_SHIFT + 1)):
        table = {code: code + by for code in range(32, 127) if code + by >= 32}
        moved = _WORD.findall(sample.translate(table).lower())
        if len(moved) >= _LEAST_WORDS and _reads(moved):
            return True
    return False


def _reads(words: list[str]) -> bool:
    found = [word for word in words if word in _LITTLE_WORDS]
    return len(found) > _LEAST_FOUND * len(words) and len({*found}) >= _LEAST_KINDS


def _is_swapped(sample: str, words: list[str]) -> bool:
    plain = _PLAIN_WORD.findall(sample)
    long_words = [word for word in words if len(word) >= 4]
    distinct = {*plain}
    if len(distinct) < _LEAST_DISTINCT or len(plain) < _LEAST_PLAIN_SHARE * len(long_words):
        return False
    if len(words) < _LEAST_A_LINE * sum(not line.isspace() for line in sample.splitlines() if line):
        # A list of names: commands, abbreviations, columns.
        return False
    return sum(_VOWELS.isdisjoint(word) for word in distinct) > _MOST_WITHOUT_VOWEL * len(distinct)
