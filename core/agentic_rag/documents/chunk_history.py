"""Versions of a chunk in the corpus."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True)
class ChunkVersion:
    """A chunk as readers of the versions [visible_from, visible_to) see it; None: still visible."""

    chunk_id: UUID
    ordinal: int
    document_id: UUID
    document_title: str
    visible_from: int
    visible_to: int | None

    def is_visible(self, version: int) -> bool:
        """Whether the chunk is visible at `version`."""
        return self.visible_from <= version and (self.visible_to is None or version < self.visible_to)


def nearest_version(places: Iterable[ChunkVersion], chunk_id: UUID, version: int) -> ChunkVersion | None:
    """The chunk's version visible at `version`, else its newest; None for an unknown chunk."""
    of_chunk = [place for place in places if place.chunk_id == chunk_id]
    return max(of_chunk, key=lambda place: (place.is_visible(version), place.visible_from), default=None)
