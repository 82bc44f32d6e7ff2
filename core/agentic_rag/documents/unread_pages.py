"""Pages of a document that could not be read: kept with its provenance, told wherever the document is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from agentic_rag.documents.document import ParsedDocument

UNREAD_PROVENANCE = "unread_pages"
_MOST_NAMED = 100


@dataclass(frozen=True, slots=True)
class UnreadPages:
    """Of `pages` pages `count` could not be read; `numbers` names the first of them."""

    count: int
    pages: int
    numbers: tuple[int, ...]


def unread_provenance(parsed: ParsedDocument) -> Mapping[str, str]:
    """The entry of a publication's provenance; empty when every page was read."""
    unread = parsed.unread_pages
    if not unread:
        return {}
    named = ",".join(map(str, unread[:_MOST_NAMED]))
    return {UNREAD_PROVENANCE: f"{len(unread)}/{len(parsed.pages)}:{named}"}


def read_unread_pages(provenance: Mapping[str, str]) -> UnreadPages | None:
    """What `unread_provenance` kept; None when every page was read."""
    stated = provenance.get(UNREAD_PROVENANCE)
    if stated is None:
        return None
    counts, _, named = stated.partition(":")
    count, _, pages = counts.partition("/")
    return UnreadPages(int(count), int(pages), tuple(map(int, named.split(","))))
