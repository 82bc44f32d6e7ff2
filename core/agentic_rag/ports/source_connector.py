"""Where documents come from: a directory today, Git, S3 or a sitemap tomorrow."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class SourceItem:
    """A file of a source. `path` is relative, POSIX, unique in the source; `fingerprint` changes when the content may
    have changed.
    """

    path: str
    size: int
    fingerprint: str
    url: str | None = None


@dataclass(frozen=True, slots=True)
class UnreadableItem:
    """Something the source names but cannot read; reported, never silently skipped."""

    path: str
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Changes:
    """What changed since a cursor: `upserted` may include unchanged items; `deleted` are paths that are gone."""

    upserted: tuple[SourceItem, ...]
    deleted: tuple[str, ...]
    unreadable: tuple[UnreadableItem, ...]
    cursor: str


class SourceConnector(Protocol):
    """Errors: `InvalidInput` (no such source), `DependencyUnavailable`, `NotFound` from `read` when the item went
    away.
    """

    @property
    def source_id(self) -> str:
        """Names the source inside a workspace: documents it brought carry it in their provenance as `source`."""
        ...

    def list(self) -> AsyncIterator[SourceItem | UnreadableItem]:
        """Every item, in path order."""
        ...

    async def changes(self, known: frozenset[str], cursor: str | None) -> Changes:
        """What differs from the state at `cursor` (None: everything); `known` are the paths the workspace holds from
        this source.
        """
        ...

    async def read(self, item: SourceItem) -> bytes:
        """The content of an item."""
        ...
