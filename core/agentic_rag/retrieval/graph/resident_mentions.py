"""The mentions of one workspace as arrays in this process, by entity and by chunk: what the graph arm asks the database
for, without the database.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from agentic_rag.retrieval.graph.neighbourhood import Places, spans
from agentic_rag.retrieval.graph.subgraph import Subgraph

Numbers = NDArray[np.int32]
Ids = NDArray[np.uint64]
Mask = NDArray[np.bool_]

_PIECE = 1024
"""Mentions of one entity that are looked at in one step: one that half the corpus mentions is known after the first."""
_KINDS = (np.uint8, np.uint16, np.int32)
_LOW = (1 << 64) - 1
_NONE = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class ResidentMentions:
    """m mentions of e entities in c chunks, whichever versions and access sets show them. Arrays are not to be written
    to.
    """

    entities: Ids
    """(e, 2) ids, each as its upper and lower half, ascending."""
    starts: Numbers
    """(e + 1,) where the mentions of each entity start in `ordinals`."""
    ordinals: NDArray[np.integer[Any]]
    """(m,) by entity, then ascending; these and their counts in the fewest bits that hold all of them."""
    counts: NDArray[np.integer[Any]]
    """(m,) how often."""
    chunks: Numbers
    """(c,) ordinals of chunks with mentions, ascending."""
    chunk_starts: Numbers
    """(c + 1,) where the mentions of each chunk start in `by_chunk`."""
    by_chunk: Numbers
    """(m,) places in `ordinals`, by chunk, then by entity."""

    @classmethod
    def of(
        cls, entities: Ids, ordinals: NDArray[np.integer[Any]], counts: NDArray[np.integer[Any]]
    ) -> ResidentMentions:
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
            ordinals=_in_few_bits(ordinals),
            counts=_in_few_bits(counts),
            chunks=sorted_ordinals[chunk_starts[:-1]].astype(np.int32),
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

    def with_rows(
        self, entities: Ids, ordinals: NDArray[np.integer[Any]], counts: NDArray[np.integer[Any]]
    ) -> ResidentMentions:
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
        held_ordinals, held_rows, held_counts = self._mentions_in(ordinals, shown)
        rows = np.unique(np.concatenate([held_rows, self._rows_of(entity_ids)]))
        seen, places = self._first_shown(rows, cap, shown)
        known = seen > 0
        rows, seen = rows[known], seen[known]
        lengths = np.where(seen <= cap, seen, 0)
        halves: list[list[int]] = self.entities[rows].tolist()
        return Subgraph(
            entities=tuple([(high << 64) | low for high, low in halves]),
            passages=seen,
            starts=np.concatenate([[0], lengths]).cumsum().astype(np.int64),
            ordinals=self.ordinals[places].astype(np.int64),
            counts=self.counts[places].astype(np.int64),
            held_ordinals=held_ordinals,
            held_entities=rows.searchsorted(held_rows).astype(np.int64),
            held_counts=held_counts,
        )

    def _rows_of(self, entity_ids: Sequence[UUID]) -> Places:
        """The rows of those entities that a chunk mentions."""
        highs = np.array([one.int >> 64 for one in entity_ids], np.uint64)
        firsts, ends = (self.entities[:, 0].searchsorted(highs, side) for side in ("left", "right"))
        found = list[int]()
        for one, first, end in zip(entity_ids, firsts.tolist(), ends.tolist(), strict=True):
            low = np.uint64(one.int & _LOW)
            row = first + int(self.entities[first:end, 1].searchsorted(low)) if first < end else end
            if row < end and self.entities[row, 1] == low:
                found.append(row)
        return np.array(found, np.int64)

    def _mentions_in(self, ordinals: Collection[int], shown: Mask) -> tuple[Places, Places, Places]:
        """(k,) ordinal, entity row and count of the mentions in the visible ones of these chunks, by ordinal, then
        entity.
        """
        wanted = np.array(sorted(set(ordinals)), np.int64)
        if not len(self.chunks):
            return _NONE, _NONE, _NONE
        chunks = np.minimum(self.chunks.searchsorted(wanted), len(self.chunks) - 1)
        wanted = chunks[self.chunks[chunks] == wanted]
        wanted = wanted[shown[self.chunks[wanted]]]
        starts = self.chunk_starts[wanted].astype(np.int64)
        lengths = self.chunk_starts[wanted + 1] - starts
        places = self.by_chunk[spans(starts, lengths)]
        rows = self.starts.searchsorted(places, side="right") - 1
        return np.repeat(self.chunks[wanted], lengths).astype(np.int64), rows, self.counts[places].astype(np.int64)

    def _first_shown(self, rows: Places, cap: int, shown: Mask) -> tuple[Places, Places]:
        """(r,) how many visible mentions each entity has, at most `cap` + 1, and the places of those of the entities
        that have at most `cap`, by entity. Only the first mentions of an entity are looked at until they are too many.
        """
        starts = self.starts[rows].astype(np.int64)
        lengths = self.starts[rows + 1] - starts
        long = np.flatnonzero(lengths > _PIECE)
        lengths[long] = 0
        places, entity = spans(starts, lengths), np.repeat(np.arange(len(rows)), lengths)
        seen = shown[self.ordinals[places]]
        places, entity = places[seen], entity[seen]
        for at in long.tolist():
            found = self._first_of_many(int(starts[at]), int(self.starts[rows[at] + 1]), cap, shown)
            places = np.concatenate([places, found])
            entity = np.concatenate([entity, np.full(len(found), at)])
        counts = np.minimum(np.bincount(entity, minlength=len(rows)), cap + 1)
        few = np.flatnonzero(counts[entity] <= cap)
        return counts.astype(np.int64), places[few[np.argsort(entity[few], kind="stable")]]

    def _first_of_many(self, start: int, end: int, cap: int, shown: Mask) -> Places:
        """The places of the visible mentions from `start` to `end`; no more are looked for once they are too many."""
        found, count = [_NONE], 0
        while start < end and count <= cap:
            stop = min(start + _PIECE, end)
            found.append(start + shown[self.ordinals[start:stop]].nonzero()[0][: cap + 1])
            count += len(found[-1])
            start = stop
        return np.concatenate(found)


def _in_few_bits(numbers: NDArray[np.integer[Any]]) -> NDArray[np.integer[Any]]:
    """The same numbers, none negative, in the smallest type that holds the largest of them."""
    most = int(numbers.max(initial=0))
    return numbers.astype(next(kind for kind in _KINDS if most <= np.iinfo(kind).max))


def _starts(changes: Mask, count: int) -> Numbers:
    """Where runs of equal values start, and the end; `changes` says of each but the first whether it is another."""
    if not count:
        return np.zeros(1, np.int32)
    return np.concatenate([[0], np.flatnonzero(changes) + 1, [count]]).astype(np.int32)
