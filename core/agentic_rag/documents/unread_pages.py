"""What answers do not know of a document, kept with its provenance and told wherever it is: pages of it, or files,
pictures, objects in it, that could not be read; and text that is in no passage, because it stands beside the main
content of a web page or is hidden in it. And on which pages an engine recognised the words in a picture: it may have
misread some.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from agentic_rag.documents.document import BlockKind, ParsedDocument

UNREAD_PROVENANCE = "unread_pages"
LEFT_OUT_PROVENANCE = "left_out"
RECOGNISED_PROVENANCE = "recognised_pages"
_MOST_NAMED = 100
_MOST_PARTS = 20
_PAGE = "page"


Recognising = Callable[[], AbstractAsyncContextManager[Callable[[], None]]]
"""Entered while words are recognised in pictures, which takes minutes; what it gives is called for every page."""


@dataclass(frozen=True, slots=True)
class UnreadPages:
    """Of `pages` pages `count` could not be read; `numbers` names the first of them. The `unit` is `page`, or what else
    of the file was not read: `file` in it, `picture`, `object`, `equation`; `part` where these are mixed.
    """

    count: int
    pages: int
    numbers: tuple[int, ...]
    unit: str = _PAGE


def unread_provenance(parsed: ParsedDocument) -> Mapping[str, str]:
    """The entry of a publication's provenance; its value is empty when all was read, so that it takes the place of an
    earlier reading's.
    """
    unread = parsed.unread_pages
    if not unread:
        return {UNREAD_PROVENANCE: ""}
    named = ",".join(map(str, unread[:_MOST_NAMED]))
    of = f"{parsed.parts} {parsed.unread_unit}" if parsed.parts else f"{len(parsed.pages)}"
    return {UNREAD_PROVENANCE: f"{len(unread)}/{of}:{named}"}


def read_unread_pages(provenance: Mapping[str, str]) -> UnreadPages | None:
    """What `unread_provenance` kept; None when all was read."""
    stated = provenance.get(UNREAD_PROVENANCE)
    if not stated:
        return None
    counts, _, named = stated.partition(":")
    count, _, pages = counts.partition("/")
    pages, _, unit = pages.partition(" ")
    return UnreadPages(int(count), int(pages), tuple(map(int, named.split(","))), unit or _PAGE)


@dataclass(frozen=True, slots=True)
class AsidePart:
    """The code points [start, end) of a document's text."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Of `total` characters `characters` are in no passage; `parts` are the first places of the text that hold them."""

    characters: int
    total: int
    parts: tuple[AsidePart, ...]


def left_out_provenance(parsed: ParsedDocument) -> Mapping[str, str]:
    """The entry of a publication's provenance; its value is empty when nothing was left out, for the same reason."""
    asides = [one for one in parsed.blocks if one.kind is BlockKind.ASIDE]
    if not asides:
        return {LEFT_OUT_PROVENANCE: ""}
    parts: list[AsidePart] = []
    for one in asides:
        if parts and not parsed.text[parts[-1].end : one.start].strip():
            parts[-1] = AsidePart(parts[-1].start, one.end)
        else:
            parts.append(AsidePart(one.start, one.end))
    characters = sum(one.end - one.start for one in asides)
    total = sum(one.end - one.start for one in parsed.blocks)
    named = ",".join(f"{one.start}-{one.end}" for one in parts[:_MOST_PARTS])
    return {LEFT_OUT_PROVENANCE: f"{characters}/{total}:{named}"}


def read_left_out(provenance: Mapping[str, str]) -> LeftOut | None:
    """What `left_out_provenance` kept; None when nothing was left out."""
    stated = provenance.get(LEFT_OUT_PROVENANCE)
    if not stated:
        return None
    counts, _, named = stated.partition(":")
    characters, _, total = counts.partition("/")
    parts = (one.partition("-") for one in named.split(","))
    return LeftOut(int(characters), int(total), tuple(AsidePart(int(start), int(end)) for start, _, end in parts))


@dataclass(frozen=True, slots=True)
class RecognisedPages:
    """Of `pages` pages those with these numbers were recognised; `runs` are first and last numbers, in order."""

    pages: int
    runs: tuple[tuple[int, int], ...]

    @property
    def count(self) -> int:
        """How many."""
        return sum(last - first + 1 for first, last in self.runs)

    @property
    def numbers(self) -> tuple[int, ...]:
        """All of them."""
        return tuple(number for first, last in self.runs for number in range(first, last + 1))

    def holds_any(self, first: int, last: int) -> bool:
        """Whether one of the pages from `first` to `last` was."""
        return any(start <= last and first <= end for start, end in self.runs)


def recognised_provenance(parsed: ParsedDocument) -> Mapping[str, str]:
    """The entry of a publication's provenance; its value is empty when none was, so that it takes the place of an
    earlier reading's.
    """
    return {RECOGNISED_PROVENANCE: state_recognised(parsed)}


def state_recognised(parsed: ParsedDocument) -> str:
    """Which pages were recognised, as it is kept; empty when none was."""
    runs: list[tuple[int, int]] = []
    for number in sorted(parsed.recognised_pages):
        if runs and number == runs[-1][1] + 1:
            runs[-1] = runs[-1][0], number
        else:
            runs.append((number, number))
    named = ",".join(f"{first}-{last}" for first, last in runs)
    return f"{len(parsed.pages)}:{named}" if runs else ""


def read_recognised_pages(stated: str | None) -> RecognisedPages | None:
    """What `state_recognised` wrote; None when no page was recognised."""
    if not stated:
        return None
    pages, _, named = stated.partition(":")
    runs = (run.partition("-") for run in named.split(","))
    return RecognisedPages(int(pages), tuple((int(first), int(last)) for first, _, last in runs))


def count_recognised(provenance: Mapping[str, str]) -> int:
    """How many pages of a document were recognised."""
    kept = read_recognised_pages(provenance.get(RECOGNISED_PROVENANCE))
    return 0 if kept is None else kept.count


def is_recognised(stated: str | None, first: int | None, last: int | None, *, is_of_revision: bool) -> bool:
    """Whether a span from page `first` to page `last` of a revision has recognised words. Of revisions that an earlier
    version of the product replaced nobody knows: `stated` is that of their document (not `is_of_revision`), and they
    count as recognised where any page of it is.
    """
    kept = read_recognised_pages(stated)
    if kept is None:
        return False
    return first is None or last is None or not is_of_revision or kept.holds_any(first, last)
