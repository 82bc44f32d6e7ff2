"""Tells text that a person can read from what a broken font map or a wrong decoding leaves."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

from agentic_rag.adapters.parsing.text.misreading import has_letter_substitution, is_mojibake
from agentic_rag.kernel.errors import ParseFailed

_SAMPLE = 200_000
"""Code points looked at: the first half and the last half of this."""
_GLYPH_NAME = r"(?:/[A-Za-z]{1,3}[0-9]{1,4}|/uni[0-9A-F]{4}|\(cid:[0-9]+\))"
# The first stands outside the repetition: `re` then looks for the characters that can begin one without trying others.
_GLYPH_NAMES = re.compile(f"{_GLYPH_NAME}{_GLYPH_NAME}{{2,}}")
_WORD = re.compile(r"[^\W\d_]{2,}")

_MOST_GLYPH_NAMES = 0.5
_MOST_UNREADABLE = 0.15
"""Replacement, private-use and control characters; bullets of symbol fonts are private-use, a few per cent of a page.
"""
_MOST_UNASSIGNED = 0.02
"""No real text uses code points without a meaning; a few may be newer than this Python's Unicode tables."""
_MOST_MIXED = 0.3
"""Words whose letters come from unrelated scripts, over all words with letters beyond ASCII."""
_LEAST_MIXED = 5
_TOGETHER = {"HIRAGANA": "CJK", "KATAKANA": "CJK", "KATAKANA-HIRAGANA": "CJK", "BOPOMOFO": "CJK", "HANGUL": "CJK",
             "FULLWIDTH": "CJK", "HALFWIDTH": "CJK", "IDEOGRAPHIC": "CJK", "FEMININE": "LATIN", "MASCULINE": "LATIN",
             "MICRO": "GREEK", "MATHEMATICAL": "LATIN", "DOUBLE-STRUCK": "LATIN", "SCRIPT": "LATIN", "KELVIN": "LATIN",
             "ANGSTROM": "LATIN", "OHM": "GREEK"}  # fmt: skip


def require_recognised(text: str, pages: int) -> None:
    """Raises ParseFailed PARSE_NO_TEXT for a file in which nothing was read on so many pages that are pictures."""
    if not text.strip():
        raise ParseFailed(
            f"no words were recognised on the file's pages that are pictures ({pages}): they are blank, not legible, or"
            " in a language that is not switched on",
            code="PARSE_NO_TEXT",
        )


def require_text(text: str, why: str) -> None:
    """Raises ParseFailed PARSE_NO_TEXT for nothing but white space; `why` names the reason and the remedy."""
    if not text.strip():
        raise ParseFailed(f"the file holds no text: {why}", code="PARSE_NO_TEXT")


def require_legible(text: str, *, prose: bool = True) -> None:
    """Raises ParseFailed PARSE_GARBLED for what is no language. `prose` also looks at the letters of words; source code
    may abbreviate as it likes.
    """
    sample = text if len(text) <= _SAMPLE else text[: _SAMPLE // 2] + text[-_SAMPLE // 2 :]
    why = _find_garbling(sample) or _find_mixed_scripts(sample)
    if why is None and prose and has_letter_substitution(sample):
        why = "its letters stand for other letters"
    if why:
        raise ParseFailed(
            f"the text cannot be read: {why}; export the document again with its fonts", code="PARSE_GARBLED"
        )


def is_poor(text: str) -> bool:
    """Whether a page's text is empty, or so full of unknown characters or names of glyphs that another reader may do
    better.
    """
    return not text.strip() or is_garbled(text)


def is_garbled(text: str) -> bool:
    """Whether a page's text is full of unknown characters or names of glyphs."""
    return _find_garbling(text) is not None


def count_glyph_names(text: str) -> int:
    """How many glyphs stand in a text that is mostly the names of glyphs; 0 for any other text."""
    runs = _GLYPH_NAMES.findall(text)
    if not runs or sum(map(len, runs)) <= _MOST_GLYPH_NAMES * _visible(text):
        return 0
    return sum(run.count("/") + run.count("(") for run in runs)


def _visible(text: str) -> int:
    """How many characters are no white space; at the speed of C, for every document comes by here."""
    return sum(map(len, text.split()))


def _find_garbling(sample: str) -> str | None:
    if count_glyph_names(sample):
        return "its fonts name glyphs, not letters"
    if sample.isascii() and _printable(sample):
        return None
    if why := _find_bad_characters(sample):
        return why
    if is_mojibake(sample):
        return "it was decoded twice"
    return None


def _find_bad_characters(sample: str) -> str | None:
    # Which characters there are is told five times faster than how many of each.
    suspects = {one for one in set(sample) if _has_unassigned_category(one) or _is_unreadable(one)}
    if not suspects:
        return None
    visible = _visible(sample)
    counts = Counter(sample)
    unassigned = sum(counts[one] for one in suspects if _has_unassigned_category(one))
    if unassigned >= 3 and unassigned > _MOST_UNASSIGNED * visible:
        return "it uses characters that do not exist"
    if sum(counts[one] for one in suspects if _is_unreadable(one)) > _MOST_UNREADABLE * visible:
        return "too many of its characters are unknown"
    return None


def _has_unassigned_category(character: str) -> bool:
    return unicodedata.category(character) == "Cn"


def _is_unreadable(character: str) -> bool:
    category = unicodedata.category(character)
    return character == "\ufffd" or category == "Co" or (category == "Cc" and not character.isspace())


def _printable(sample: str) -> bool:
    return sample.translate(_WHITE).isprintable()


_WHITE = dict.fromkeys(map(ord, "\t\n\r\f\v"), " ")


def _find_mixed_scripts(sample: str) -> str | None:
    if sample.isascii():
        return None
    script_of: dict[str, str] = {}
    words = mixed = 0
    beyond_ascii = " ".join([piece for piece in sample.split() if not piece.isascii()])
    for word in _WORD.findall(beyond_ascii):
        if word.isascii():
            continue
        words += 1
        scripts = set[str]()
        for letter in set(word):
            if (script := script_of.get(letter)) is None:
                first = unicodedata.name(letter, "UNKNOWN").split(" ", 1)[0]
                script = script_of[letter] = _TOGETHER.get(first, first)
            scripts.add(script)
        if len(scripts) > 2:
            mixed += 1
    if mixed >= _LEAST_MIXED and mixed > _MOST_MIXED * words:
        return "its words mix letters of unrelated scripts"
    return None
