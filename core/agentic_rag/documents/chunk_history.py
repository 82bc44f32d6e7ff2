"""Where a chunk stood in the corpus, from one version to another."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True)
class ChunkVersion:
    """A chunk as readers of the versions [visible_from, visible_to) see it; None: to this day."""

    chunk_id: UUID
    ordinal: int
    document_id: UUID
    document_title: str
    visible_from: int
    visible_to: int | None

    def is_visible(self, version: int) -> bool:
        """Whether a reader at `version` sees it."""
        return self.visible_from <= version and (self.visible_to is None or version < self.visible_to)


def nearest_version(places: Iterable[ChunkVersion], chunk_id: UUID, version: int) -> ChunkVersion | None:
    """Where a chunk stands at a version, else where it stood last; None for one that never was there."""
    of_chunk = [place for place in places if place.chunk_id == chunk_id]
    return max(of_chunk, key=lambda place: (place.is_visible(version), place.visible_from), default=None)
