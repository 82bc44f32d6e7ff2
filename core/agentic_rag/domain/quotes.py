"""Finds what somebody quoted in the text it is said to stand in."""

from __future__ import annotations

import re

MIN_QUOTE_CHARACTERS = 3


def locate(quote: str, text: str) -> tuple[int, int] | None:
    """The first span [start, end) of `text` that reads as `quote`, white space aside; None when there is none."""
    words = quote.split()
    if sum(map(len, words)) < MIN_QUOTE_CHARACTERS:
        return None
    wanted = quote.strip()
    at = text.find(wanted)
    if at >= 0:
        return at, at + len(wanted)
    match = re.search(r"\s+".join(map(re.escape, words)), text)
    return None if match is None else match.span()
