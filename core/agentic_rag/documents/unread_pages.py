"""Pages of a document, or files, pictures, objects in it, that could not be read: kept with its provenance, told
wherever it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from agentic_rag.documents.document import ParsedDocument

UNREAD_PROVENANCE = "unread_pages"
_MOST_NAMED = 100
_PAGE = "page"


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
    """The entry of a publication's provenance; empty when all was read."""
    unread = parsed.unread_pages
    if not unread:
        return {}
    named = ",".join(map(str, unread[:_MOST_NAMED]))
    of = f"{parsed.parts} {parsed.unread_unit}" if parsed.parts else f"{len(parsed.pages)}"
    return {UNREAD_PROVENANCE: f"{len(unread)}/{of}:{named}"}


def read_unread_pages(provenance: Mapping[str, str]) -> UnreadPages | None:
    """What `unread_provenance` kept; None when all was read."""
    stated = provenance.get(UNREAD_PROVENANCE)
    if stated is None:
        return None
    counts, _, named = stated.partition(":")
    count, _, pages = counts.partition("/")
    pages, _, unit = pages.partition(" ")
    return UnreadPages(int(count), int(pages), tuple(map(int, named.split(","))), unit or _PAGE)
