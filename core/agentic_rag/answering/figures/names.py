"""The names in a question: of companies, products, places, people; not those of forms, months and quarters."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agentic_rag.answering.extraction.contradiction import MONTHS

_NAME = re.compile(r"(?<=[\w,;:)&’'] )[a-z]?[A-Z][\w&’-]*(?: [a-z]?[A-Z][\w&’-]*)*")
"""Words with a capital that do not open the question; one small letter may stand before it (eFerry)."""
_POSSESSIVE = re.compile(r"['’]s$")
_REGULATORY = re.compile(
    r"\W*(?:\w*\d[\w-]*|Form|Inc|Corp|Item|Note|Part|Company|U\.?S\.?|GAAP|CEO|CFO|First|Second|Third|Fourth|Quarter|"
    r"Fiscal|Year)\W*"
)
"""Words with a capital that name nothing a passage must repeat."""


def find_names(question: str) -> list[tuple[str, ...]]:
    """The words of each name, in the order of the question."""
    found = (keep_names(match[0].split()) for match in _NAME.finditer(question))
    return [name for name in found if name]


def keep_names(words: Sequence[str]) -> tuple[str, ...]:
    """Of words with a capital those that name something, without what makes them possessive."""
    bare = (_POSSESSIVE.sub("", word) for word in words if _REGULATORY.fullmatch(word) is None)
    return tuple(word for word in bare if word.lower() not in MONTHS)
