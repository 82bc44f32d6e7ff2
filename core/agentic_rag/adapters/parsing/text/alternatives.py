"""What one version of a text says that another one lacks: a mail's page may hold a line or a table more than its plain
text, and the other way round.
"""

from __future__ import annotations

import re

from agentic_rag.adapters.parsing.text_builder import LoadedText, TextBuilder

_ADDRESS = re.compile(r"\S+://\S+|\bwww\.\S+|\S+@\S+")
"""A plain text writes addresses out that pages hide: they say nothing new."""
_WORD = re.compile(r"\w{2,}|\d")
_FIGURE = re.compile(r"\d")
_LEAST_NEW = 1 / 3
"""Share of a block's words that the other version lacks. A figure that it lacks is enough."""


def words_of(text: str) -> frozenset[str]:
    """The words and figures of a text."""
    return frozenset(_WORD.findall(text.casefold()))


def add_what_is_new(built: TextBuilder, other: LoadedText, known: frozenset[str]) -> None:
    """Append the blocks of `other` that say what a text of the words `known` does not."""
    new = [
        block
        for block in other.blocks
        if (words := words_of(_ADDRESS.sub(" ", other.text[block.start : block.end])))
        and (lacking := words - known)
        and (len(lacking) >= _LEAST_NEW * len(words) or any(map(_FIGURE.search, lacking)))
    ]
    for block in new:
        built.add(block.kind, other.text[block.start : block.end], block.level)
