"""On which pages of a document an engine recognised the words in a picture, kept with its provenance and told wherever
they are quoted: it may have misread some.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from agentic_rag.documents.document import ParsedDocument

RECOGNISED_PROVENANCE = "recognised_pages"


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
    runs: list[tuple[int, int]] = []
    for number in sorted(parsed.recognised_pages):
        if runs and number == runs[-1][1] + 1:
            runs[-1] = runs[-1][0], number
        else:
            runs.append((number, number))
    named = ",".join(f"{first}-{last}" for first, last in runs)
    return {RECOGNISED_PROVENANCE: f"{len(parsed.pages)}:{named}" if runs else ""}


def read_recognised_pages(stated: str | None) -> RecognisedPages | None:
    """What `recognised_provenance` kept; None when no page was recognised."""
    if not stated:
        return None
    pages, _, named = stated.partition(":")
    runs = (run.partition("-") for run in named.split(","))
    return RecognisedPages(int(pages), tuple((int(first), int(last)) for first, _, last in runs))


def is_recognised(stated: str | None, first: int | None, last: int | None, *, is_current: bool) -> bool:
    """Whether a span from page `first` to page `last` has recognised words. Which pages of an earlier revision were is
    not kept: it counts as recognised where any page of the current one is.
    """
    kept = read_recognised_pages(stated)
    if kept is None:
        return False
    return first is None or last is None or not is_current or kept.holds_any(first, last)
