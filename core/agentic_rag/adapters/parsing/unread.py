"""What of a file was not read, gathered from its parts: pages, files in it, pictures, objects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from agentic_rag.adapters.parsing.text_builder import LoadedText

PICTURE, OBJECT, FILE, PAGE, EQUATION = "picture", "object", "file", "page", "equation"
_MIXED = "part"


@dataclass(frozen=True, slots=True)
class UnreadParts:
    """Of `total` parts called `unit` those with these numbers, from 1, were not read."""

    numbers: Sequence[int]
    total: int
    unit: str


def none_of(total: int, unit: str) -> UnreadParts:
    """Parts of which none was read."""
    return UnreadParts(range(1, total + 1), total, unit)


def with_unread(loaded: LoadedText, *others: UnreadParts) -> LoadedText:
    """The text, with what else of its file was not read. Of several kinds all together are `part`s, counted one kind
    after the other: pages, files in it, then the others.
    """
    own = UnreadParts(loaded.unread_pages, loaded.parts or len(loaded.pages), loaded.unit if loaded.parts else PAGE)
    kinds = [one for one in (own, *others) if one.numbers]
    if not kinds or kinds == [own]:
        return loaded
    numbers: list[int] = []
    total = 0
    for one in kinds:
        numbers += [total + number for number in one.numbers]
        total += one.total
    unit = kinds[0].unit if len(kinds) == 1 else _MIXED
    return replace(loaded, unread_pages=tuple(numbers), parts=total, unit=unit)
