"""The mentions of one workspace as arrays in this process, by entity and by chunk: what the graph arm asks the database
for, without the database.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, fields
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from agentic_rag.retrieval.candidates import EntityPassages, MentionCount, Subgraph

Numbers = NDArray[np.int32]
Ids = NDArray[np.uint64]
Mask = NDArray[np.bool_]

_PIECE = 8192
"""Mentions of one entity that are looked at in one step: one that half the corpus mentions is known after the first."""
_LOW = (1 << 64) - 1


@dataclass(frozen=True, slots=True, eq=False)
class ResidentMentions:
    """m mentions of e entities in c chunks, whichever versions and access sets show them. Arrays are not to be written
    to.
    """

    entities: Ids
    """(e, 2) ids, each as its upper and lower half, ascending."""
    starts: NDArray[np.int64]
    """(e + 1,) where the mentions of each entity start in `ordinals`."""
    ordinals: Numbers
    """(m,) by entity, then ascending."""
    counts: Numbers
    """(m,) how often."""
    chunks: Numbers
    """(c,) ordinals of chunks with mentions, ascending."""
    chunk_starts: NDArray[np.int64]
    """(c + 1,) where the mentions of each chunk start in `by_chunk`."""
    by_chunk: Numbers
    """(m,) places in `ordinals`, by chunk, then by entity."""

    @classmethod
    def of(cls, entities: Ids, ordinals: Numbers, counts: Numbers) -> ResidentMentions:
        """From rows in any order: (m, 2) ids as halves, (m,) ordinals and counts."""
        order = np.lexsort((ordinals, entities[:, 1], entities[:, 0]))
        ids, ordinals, counts = entities[order], ordinals[order], counts[order]
        firsts = _starts((ids[1:] != ids[:-1]).any(axis=1), len(ids))
        by_chunk = np.argsort(ordinals, kind="stable")
        sorted_ordinals = ordinals[by_chunk]
        chunk_starts = _starts(sorted_ordinals[1:] != sorted_ordinals[:-1], len(ids))
        return cls(
            entities=ids[firsts[:-1]],
            starts=firsts,
            ordinals=ordinals,
            counts=counts,
            chunks=sorted_ordinals[chunk_starts[:-1]],
            chunk_starts=chunk_starts,
            by_chunk=by_chunk.astype(np.int32),
        )

    @property
    def nbytes(self) -> int:
        """Memory of the arrays."""
        return sum(getattr(self, array.name).nbytes for array in fields(self))

    @property
    def span(self) -> int:
        """One more than the largest ordinal."""
        return int(self.chunks[-1]) + 1 if len(self.chunks) else 0

    def with_rows(self, entities: Ids, ordinals: Numbers, counts: Numbers) -> ResidentMentions:
        """These and the given rows, of chunks that are new."""
        held = np.repeat(self.entities, np.diff(self.starts), axis=0)
        return ResidentMentions.of(
            np.concatenate([held, entities]),
            np.concatenate([self.ordinals, ordinals]),
            np.concatenate([self.counts, counts]),
        )

    def vicinity(self, entity_ids: Sequence[UUID], ordinals: Collection[int], cap: int, shown: Mask) -> Subgraph:
        """As `retrieval.ports.GraphReader.vicinity`; `shown` says of each ordinal below `span` whether its chunk is
        visible.
        """
        held = list(self._mentions_in(ordinals, shown))
        asked = {row for row, _, _ in held}
        asked.update(row for one in entity_ids if (row := self._row_of(one)) >= 0)
        rows = sorted(asked)
        ids = {row: UUID(int=(high << 64) | low) for row, (high, low) in zip(rows, self._halves(rows), strict=True)}
        return Subgraph(
            tuple(MentionCount(ids[row], ordinal, count) for row, ordinal, count in held),
            tuple(self._passages(rows, ids, cap, shown)),
        )

    def _halves(self, rows: list[int]) -> list[list[int]]:
        found: list[list[int]] = self.entities[rows].tolist()
        return found

    def _row_of(self, entity_id: UUID) -> int:
        """The row of an entity; −1 for one that no chunk mentions."""
        high, low = np.uint64(entity_id.int >> 64), np.uint64(entity_id.int & _LOW)
        uppers = self.entities[:, 0]
        first, last = int(uppers.searchsorted(high)), int(uppers.searchsorted(high, side="right"))
        row = first + int(self.entities[first:last, 1].searchsorted(low))
        return row if row < last and self.entities[row, 1] == low else -1

    def _mentions_in(self, ordinals: Collection[int], shown: Mask) -> Iterator[tuple[int, int, int]]:
        """(entity row, ordinal, count) of the mentions in the visible ones of these chunks, by ordinal, then entity."""
        for ordinal in sorted(set(ordinals)):
            place = int(self.chunks.searchsorted(ordinal))
            if place == len(self.chunks) or self.chunks[place] != ordinal or not shown[ordinal]:
                continue
            at = self.by_chunk[self.chunk_starts[place] : self.chunk_starts[place + 1]]
            rows = self.starts.searchsorted(at, side="right") - 1
            for row, count in zip(rows.tolist(), self.counts[at].tolist(), strict=True):
                yield row, ordinal, count

    def _passages(self, rows: list[int], ids: dict[int, UUID], cap: int, shown: Mask) -> Iterator[EntityPassages]:
        """The visible passages of each entity that has any."""
        for row in rows:
            ordinals, counts = self._first_shown(int(self.starts[row]), int(self.starts[row + 1]), cap, shown)
            if len(ordinals) > cap:
                yield EntityPassages(ids[row], cap + 1, (), ())
            elif ordinals:
                yield EntityPassages(ids[row], len(ordinals), tuple(ordinals), tuple(counts))

    def _first_shown(self, start: int, end: int, cap: int, shown: Mask) -> tuple[list[int], list[int]]:
        """The visible mentions from `start` to `end`; no more are looked for once they are more than `cap`."""
        ordinals, counts = list[int](), list[int]()
        while start < end and len(ordinals) <= cap:
            piece = slice(start, min(start + _PIECE, end))
            found = self.ordinals[piece]
            seen = shown[found].nonzero()[0][: cap + 1]
            ordinals += found[seen].tolist()
            counts += self.counts[piece][seen].tolist()
            start = piece.stop
        return ordinals, counts


def _starts(changes: Mask, count: int) -> NDArray[np.int64]:
    """Where runs of equal values start, and the end; `changes` says of each but the first whether it is another."""
    if not count:
        return np.zeros(1, np.int64)
    return np.concatenate([[0], np.flatnonzero(changes) + 1, [count]]).astype(np.int64)
