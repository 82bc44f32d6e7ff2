"""Estimates how many tokens a language model's tokenizer makes of a text.

Needs no tables and no downloads: it cuts the text by script and length, as byte-pair tokenizers tend to, and counts the
pieces.

- A Latin word costs one token per nine letters or part thereof;
- a number costs one per three digits or part thereof (as in OpenAI's cl100k pre-tokenizer);
- a Han, Kana or Hangul character costs one;
- other scripts (Cyrillic, Greek, Arabic, Indic …) cost one per two letters or part thereof;
- punctuation costs one per two characters of a run; a line break with the white space after it costs one; spaces are
  free, because tokenizers attach them to the following word.

Error: OpenAI's rule of thumb for English is one token per four characters or three quarters of a word ("What are tokens
and how to count them?"). Measured here, in characters per estimated token: 4.6 on an encyclopedia article, 4.0 on
quarterly filings, 3.9 on scientific abstracts and on Markdown with tables and code; within 15 % of the rule. For other
scripts expect 30 %. Leave such a margin in budgets that must not be exceeded.
"""

from __future__ import annotations

import re

# Spaces are not matched: the search skips them faster than a piece that may begin with one.
_PIECE = re.compile(
    r"[A-Za-z]{1,9}"
    r"|[0-9]{1,3}"
    r"|[\u1100-\u11ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uffdc\U00020000-\U0003ffff]"
    r"|[^\W\d_A-Za-z\u1100-\u11ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uffdc\U00020000-\U0003ffff]{1,2}"
    r"|[\r\n]\s*"
    r"|[^\w\s]{1,2}"
    r"|[\d_]{1,3}"
)

_ASCII_CLASSES = bytes(
    ord(
        "a"
        if one.isalpha()
        else "0"
        if one.isdigit()
        else "_"
        if one == "_"
        else "\n"
        if one in "\r\n"
        else " "
        if one.isspace()
        else "."
    )
    for one in map(chr, range(128))
).ljust(256, b".")
_ASCII_PIECE = re.compile(rb"a{1,9}|0{1,3}|\.{1,2}|\n[\n ]*|_[0_]{0,2}")
"""The same pieces of an ASCII text whose letters, digits, punctuation and spaces are one character each: two thirds of
the time.
"""

_LISTED = 50_000
"""Up to this many characters, all pieces are listed at once, which is faster; the list takes 11 bytes per character."""


def estimate_tokens(text: str) -> int:
    """The estimated number of tokens in `text`; 0 for white space without line breaks.

    Splitting a text never lowers the sum: `estimate_tokens(a + b) <= estimate_tokens(a) + estimate_tokens(b)`.
    """
    if len(text) > _LISTED:
        return sum(1 for _ in _PIECE.finditer(text))
    if text.isascii():
        return len(_ASCII_PIECE.findall(text.encode("ascii").translate(_ASCII_CLASSES)))
    return len(_PIECE.findall(text))


class TokenEstimator:
    """`estimate_tokens` as a `ports.token_counter.TokenCounter`."""

    def count(self, text: str) -> int:
        """The estimated number of tokens in `text`."""
        return estimate_tokens(text)
