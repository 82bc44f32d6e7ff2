"""Tells text that was decoded with the wrong table from text that is meant: mojibake and shifted or swapped letters.

All rules ask for strong evidence on both sides: the text as it stands is no language, and either undoing the mistake
makes it one, or no language could look like it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from itertools import product

_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
_MISTAKEN_FOR = ("cp1252", "cp1251", "mac_roman", "cp437", "gbk")
"""Encodings that UTF-8 is often mistaken for."""
_TWICE = re.compile(
    "[\u00c2-\u00df][\u0080-\u009f]|[\u00e0-\u00ef](?=[\u0080-\u00bf]?[\u0080-\u009f])[\u0080-\u00bf]{2}"
    "|[\u00f0-\u00f4][\u0080-\u009f][\u0080-\u00bf]{2}"
)
"""A UTF-8 sequence whose bytes were read as characters, one of them a control code: nobody writes those. Without one it
may be meant: French sets a no-break space between à and ».
"""
_TWICE_LATIN = re.compile("[\u00c2\u00c3][\u00a0-\u00bf]")
"""The same of Western letters and signs; only where other sequences tell that the page has such."""
_LEAST_TWICE = 3
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
_CODES = range(32, 127)
"""What is shifted along the code table: printable ASCII, as long as it does not fall below."""
_SHIFTS = (*range(-32, 0), *range(1, 33))
_BREAKING = "\u0130"
"""Its lower case is two characters, of which the second parts words."""

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


def decode_once(page: str) -> str:
    """A page with the pieces that its template encoded as UTF-8 twice read once."""
    if len(_TWICE.findall(page)) < _LEAST_TWICE:
        return page
    for piece in (_TWICE, _TWICE_LATIN):
        page = piece.sub(lambda found: found[0].encode("latin-1").decode("utf-8", "replace"), page)
    return page


def is_mojibake(sample: str) -> bool:
    """Whether most of what lies beyond ASCII is UTF-8 that was read as another encoding."""
    least = max(_LEAST_MISREAD, _LEAST_OF_TEXT * len(sample))
    # Each character beyond ASCII takes one to three bytes more: most texts are told by their length.
    if len(sample.encode("utf-8", "surrogatepass")) - len(sample) < least:
        return False
    runs = _NOT_ASCII.findall(sample)
    beyond = sum(map(len, runs))
    if beyond < least:
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


def has_letter_substitution(sample: str) -> bool:
    """Whether Latin letters stand for other letters: shifted along the alphabet or the code table, or swapped."""
    sample = sample[:_SAMPLE]
    if sum(map(str.isdecimal, sample)) > _MOST_DIGITS * len(sample):
        # A table of numbers: no shift looked for takes letters there.
        return False
    words = _WORD.findall(sample.lower())
    if sum(word in _LITTLE_WORDS for word in words) > _MOST_STRAY * len(words):
        return False
    return _has_letter_shift(sample, words) or _has_letter_swaps(sample, words)


def _has_letter_shift(sample: str, words: list[str]) -> bool:
    if len(words) >= _LEAST_WORDS and _has_letter_rotation(words):
        return True
    # No shift makes a letter of white space, nor white space of a letter: what is between counts once for all places.
    tokens = Counter(sample.split())
    return any(_reads_after_shift(tokens, by) for by in _plausible_shifts(tokens))


def _reads_after_shift(tokens: Mapping[str, int], by: int) -> bool:
    table = {code: code + by for code in _CODES if code + by >= _CODES[0]}
    moved: Counter[str] = Counter()
    for token, count in tokens.items():
        for word in _WORD.findall(token.translate(table).lower()):
            moved[word] += count
    found = [count for word, count in moved.items() if word in _LITTLE_WORDS]
    total = moved.total()
    return total >= _LEAST_WORDS and _suffices(sum(found), len(found), total)


def _has_letter_rotation(words: list[str]) -> bool:
    """Whether the words read when all are moved along the alphabet by the same number of places."""
    found: dict[int, list[int]] = {}
    rotated = _little_words_by_rotation()
    for word, count in Counter(words).items():
        for by in rotated.get(word, ()):
            found.setdefault(by, []).append(count)
    return any(_suffices(sum(counts), len(counts), len(words)) for counts in found.values())


def _plausible_shifts(tokens: Iterable[str]) -> list[int]:
    """Shifts along the code table under which enough kinds of little words begin (and, those of three letters, end)
    somewhere. To move everything by each shift and look at its words takes thirty times as long.
    """
    kinds: dict[int, set[str]] = {}
    openings = _openings_by_shift()
    padded = [f"\n{token}\n\n" for token in tokens]
    for around in {text[start : start + 5] for text in padded for start in range(len(text) - 4)}:
        for by, word in openings.get(around[1:4], ()):
            if not _is_letter(around[0], by) and not (len(word) == 3 and _is_letter(around[4], by)):
                kinds.setdefault(by, set()).add(word)
    return [by for by in _SHIFTS if len(kinds.get(by, ())) >= _LEAST_KINDS]


@lru_cache(8192)
def _is_letter(character: str, by: int) -> bool:
    """Whether `_WORD` matches the character when it is moved."""
    code = ord(character)
    moved = chr(code + by) if code in _CODES and code + by >= _CODES[0] else character
    return moved.isalnum() and not moved.isdecimal() and moved not in _BREAKING


@cache
def _little_words_by_rotation() -> Mapping[str, tuple[int, ...]]:
    """Words, each with the numbers of places by which it must be moved along the alphabet to be a little word."""
    found: dict[str, tuple[int, ...]] = {}
    for by in range(1, 26):
        back = {97 + (place + by) % 26: 97 + place for place in range(26)}
        for word in _LITTLE_WORDS:
            rotated = word.translate(back)
            found[rotated] = (*found.get(rotated, ()), by)
    return found


@cache
def _openings_by_shift() -> Mapping[str, tuple[tuple[int, str], ...]]:
    """Three characters each, with the shifts that make them the first three letters, in any case, of a little word."""
    found: dict[str, tuple[tuple[int, str], ...]] = {}
    for by in _SHIFTS:
        for word in _LITTLE_WORDS:
            origins = [_origins(letter, by) for letter in word[:3]]
            for opening in map("".join, product(*origins)):
                found[opening] = (*found.get(opening, ()), (by, word))
    return found


def _origins(letter: str, by: int) -> list[str]:
    """What is the letter, or its capital, when moved along the code table."""
    codes = [ord(letter), ord(letter.upper())]
    moved = [chr(code - by) for code in codes if code - by in _CODES and code >= _CODES[0]]
    return moved + [chr(code) for code in codes if code not in _CODES or code + by < _CODES[0]]


def _suffices(found: int, kinds: int, words: int) -> bool:
    return found > _LEAST_FOUND * words and kinds >= _LEAST_KINDS


def _has_letter_swaps(sample: str, words: list[str]) -> bool:
    plain = _PLAIN_WORD.findall(sample)
    long_words = [word for word in words if len(word) >= 4]
    distinct = {*plain}
    if len(distinct) < _LEAST_DISTINCT or len(plain) < _LEAST_PLAIN_SHARE * len(long_words):
        return False
    if len(words) < _LEAST_A_LINE * sum(not line.isspace() for line in sample.splitlines() if line):
        # A list of names: commands, abbreviations, columns.
        return False
    return sum(_VOWELS.isdisjoint(word) for word in distinct) > _MOST_WITHOUT_VOWEL * len(distinct)
