"""Locates a quote in the text it is claimed to come from."""

from __future__ import annotations

import re

from agentic_rag.language.hidden_characters import HIDDEN, map_visible_text
from agentic_rag.language.parted_words import PARTING

MIN_QUOTE_CHARACTERS = 3


def locate_quote(quote: str, text: str) -> tuple[int, int] | None:
    """The first span [start, end) of `text` that equals `quote`, ignoring differences in white space, hidden
    characters, and the hyphens that part words at the ends of lines; None if there is none.
    """
    found = _find_exact(quote, text)
    if found is None and HIDDEN.search(text) is not None:
        found = _find_in_map(quote, *map_visible_text(text))
    if found is None and PARTING.search(text) is not None:
        found = _find_in_map(quote, *map_visible_text(text, PARTING))
    return found


def _find_in_map(quote: str, seen: str, places: list[int]) -> tuple[int, int] | None:
    found = _find_exact(quote, seen)
    return None if found is None else (places[found[0]], places[found[1] - 1] + 1)


def _find_exact(quote: str, text: str) -> tuple[int, int] | None:
    words = quote.split()
    if sum(map(len, words)) < MIN_QUOTE_CHARACTERS:
        return None
    wanted = quote.strip()
    at = text.find(wanted)
    if at >= 0:
        return at, at + len(wanted)
    match = re.search(r"\s+".join(map(re.escape, words)), text)
    return None if match is None else match.span()
