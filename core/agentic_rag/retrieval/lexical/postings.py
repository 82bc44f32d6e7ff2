"""Postings: which term stands how often in which chunk, as immutable mini-indexes of numpy arrays.

A segment is written once per publish and never changed. Whether a chunk is visible is not in it (except the version it
appeared at): chunks that are gone are named to the search, and dropped for good by `merge_segments`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agentic_rag.language.term_counts import TermCounts


@dataclass(frozen=True, slots=True)
class SegmentRow:
    """One chunk to be indexed."""

    ordinal: int
    access_id: int
    visible_from: int
    terms: TermCounts


@dataclass(frozen=True, slots=True, eq=False)
class Segment:
    """A mini-index over n chunks, t distinct terms and p postings.

    Term i has the postings `offsets[i]:offsets[i + 1]`, ascending by ordinal. Arrays are not to be written to.
    """

    ordinals: NDArray[np.int32]
    """(n,) ascending, no repeats."""
    lengths: NDArray[np.uint32]
    """(n,) chunk lengths in terms."""
    access: NDArray[np.int32]
    """(n,) access set of each chunk."""
    visible_from: NDArray[np.int32]
    """(n,) corpus version each chunk appeared at."""
    terms: NDArray[np.uint64]
    """(t,) ascending term keys."""
    offsets: NDArray[np.uint32]
    """(t + 1,)"""
    posting_ordinals: NDArray[np.int32]
    """(p,)"""
    posting_counts: NDArray[np.uint16]
    """(p,)"""


@dataclass(frozen=True, slots=True, eq=False)
class AccessChanges:
    """Chunks whose access set changed after their segment was written."""

    ordinals: NDArray[np.int32]
    """(n,) ascending, no repeats; some may be in no segment."""
    access: NDArray[np.int32]
    """(n,) where each stands now."""

    @classmethod
    def of(cls, moves: Iterable[tuple[int, int]]) -> AccessChanges:
        """Moves from pairs of ordinal and access set, in any order."""
        ordered = sorted(moves)
        return cls(
            np.array([ordinal for ordinal, _ in ordered], np.int32),
            np.array([access for _, access in ordered], np.int32),
        )

    def apply(self, ordinals: NDArray[np.int32], access: NDArray[np.int32]) -> NDArray[np.int32]:
        """The access sets of chunks (`ordinals`, in any order) that were published with `access`."""
        if not len(self.ordinals):
            return access
        places = np.minimum(self.ordinals.searchsorted(ordinals), len(self.ordinals) - 1)
        moved: NDArray[np.int32] = np.where(self.ordinals[places] == ordinals, self.access[places], access)
        return moved


NO_ACCESS_CHANGES = AccessChanges(np.zeros(0, np.int32), np.zeros(0, np.int32))
"""Every chunk stands where its segment says."""


MOST_CHUNKS = 20_000
"""Of a segment that a merge makes: the bound of what a merge or an erasure writes anew at once, about 14 MB."""


@dataclass(frozen=True, slots=True)
class SegmentBytes:
    """A segment as stored: each array of `Segment` as little-endian bytes."""

    ordinals: bytes
    lengths: bytes
    access: bytes
    visible_from: bytes
    terms: bytes
    offsets: bytes
    posting_ordinals: bytes
    posting_counts: bytes


_STORED: Mapping[str, np.dtype[Any]] = {
    "ordinals": np.dtype("<i4"),
    "lengths": np.dtype("<u4"),
    "access": np.dtype("<i4"),
    "visible_from": np.dtype("<i4"),
    "terms": np.dtype("<u8"),
    "offsets": np.dtype("<u4"),
    "posting_ordinals": np.dtype("<i4"),
    "posting_counts": np.dtype("<u2"),
}
"""How each array is stored."""


def build_segment(rows: Iterable[SegmentRow]) -> Segment:
    """Index rows given in any order. Errors: `ValueError` when an ordinal comes twice or a row is malformed."""
    ordered = sorted(rows, key=lambda row: row.ordinal)
    ordinals = np.array([row.ordinal for row in ordered], np.int32)
    if (ordinals[1:] == ordinals[:-1]).any():
        raise ValueError("an ordinal was given twice to one segment")
    hashes = np.frombuffer(b"".join([row.terms.hashes for row in ordered]), "<u8").astype(np.uint64, copy=False)
    counts = np.frombuffer(b"".join([row.terms.counts for row in ordered]), "<u2").astype(np.uint16, copy=False)
    if len(hashes) != len(counts):
        raise ValueError("a row has not as many counts as term hashes")
    owners = np.repeat(ordinals, np.array([len(row.terms.hashes) // 8 for row in ordered], np.intp))
    terms, offsets, order = _group_by_term(hashes)
    return Segment(
        ordinals=ordinals,
        lengths=np.array([row.terms.length for row in ordered], np.uint32),
        access=np.array([row.access_id for row in ordered], np.int32),
        visible_from=np.array([row.visible_from for row in ordered], np.int32),
        terms=terms,
        offsets=offsets,
        posting_ordinals=owners[order],
        posting_counts=counts[order],
    )


def _group_by_term(
    hashes: NDArray[np.uint64],
) -> tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.intp]]:
    """Distinct terms, their offsets, and the stable order that groups postings by term."""
    order = np.argsort(hashes, kind="stable")
    ordered = hashes[order]
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1]))) if len(ordered) else order
    return ordered[starts], np.append(starts, len(ordered)).astype(np.uint32), order


def merge_segments(
    segments: Sequence[Segment], drop: NDArray[np.int32], moves: AccessChanges = NO_ACCESS_CHANGES
) -> Segment:
    """One segment with the chunks of all, without the ordinals in `drop`, each in the access set where it stands now.

    Equals `build_segment` over the remaining rows. Errors: `ValueError` when two segments hold the same ordinal.
    """
    if not segments:
        return build_segment(())
    ordinals = np.concatenate([segment.ordinals for segment in segments])
    keep = ~np.isin(ordinals, drop)
    rows = np.flatnonzero(keep)[np.argsort(ordinals[keep], kind="stable")]
    merged = ordinals[rows]
    if (merged[1:] == merged[:-1]).any():
        raise ValueError("two segments hold the same ordinal")
    hashes = np.concatenate([np.repeat(segment.terms, np.diff(segment.offsets)) for segment in segments])
    owners = np.concatenate([segment.posting_ordinals for segment in segments])
    counts = np.concatenate([segment.posting_counts for segment in segments])
    by_owner = np.argsort(owners, kind="stable")
    by_owner = by_owner[~np.isin(owners[by_owner], drop)]
    terms, offsets, order = _group_by_term(hashes[by_owner])
    return Segment(
        ordinals=merged,
        lengths=np.concatenate([segment.lengths for segment in segments])[rows],
        access=moves.apply(merged, np.concatenate([segment.access for segment in segments])[rows]),
        visible_from=np.concatenate([segment.visible_from for segment in segments])[rows],
        terms=terms,
        offsets=offsets,
        posting_ordinals=owners[by_owner][order],
        posting_counts=counts[by_owner][order],
    )


def without_chunks(segment: Segment, ordinals: NDArray[np.int32]) -> Segment:
    """The segment without the chunks of these ordinals: what `merge_segments` makes of it alone, and sorts nothing."""
    rows = ~np.isin(segment.ordinals, ordinals)
    held = ~np.isin(segment.posting_ordinals, ordinals)
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(held)])[segment.offsets]
    has_postings = np.diff(before) > 0
    return Segment(
        ordinals=segment.ordinals[rows],
        lengths=segment.lengths[rows],
        access=segment.access[rows],
        visible_from=segment.visible_from[rows],
        terms=segment.terms[has_postings],
        offsets=np.append(before[:-1][has_postings], before[-1]).astype(np.uint32),
        posting_ordinals=segment.posting_ordinals[held],
        posting_counts=segment.posting_counts[held],
    )


def hold_any(places: Sequence[NDArray[np.int32]], ordinals: NDArray[np.int32]) -> list[bool]:
    """Of each of the segments, by the ordinals it holds, whether it has one of these: in one look at all of them, since
    each look reads all of `ordinals`.
    """
    if not places:
        return []
    found = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.isin(np.concatenate(places), ordinals))])
    ends = np.cumsum([len(one) for one in places])
    starts = np.concatenate([np.zeros(1, ends.dtype), ends[:-1]])
    held: list[bool] = (found[ends] > found[starts]).tolist()
    return held


def merge_groups(sizes: Sequence[int], is_stale: Sequence[bool]) -> list[list[int]]:
    """Which segments are written anew together, by their places: neighbours of less than half of `MOST_CHUNKS` chunks
    up to that many, and by itself each other one that is stale, since chunks of it are gone or have moved, or that is
    longer than twice as many. Done again and again, at most one segment stays that is less than half full.
    """
    groups: list[list[int]] = []
    packed = 0
    for place, size in enumerate(sizes):
        if size >= MOST_CHUNKS // 2:
            continue
        if not groups or packed + size > MOST_CHUNKS:
            groups.append([])
            packed = 0
        groups[-1].append(place)
        packed += size
    merged = [group for group in groups if len(group) > 1]
    grouped = {place for group in merged for place in group}
    alone = [
        [place]
        for place, (size, stale) in enumerate(zip(sizes, is_stale, strict=True))
        if place not in grouped and (stale or size > 2 * MOST_CHUNKS)
    ]
    return merged + alone


def split_segment(segment: Segment) -> list[Segment]:
    """The segment in parts of at most `MOST_CHUNKS` chunks, by their ordinals; none where it has no chunk."""
    if len(segment.ordinals) <= MOST_CHUNKS:
        return [segment] if len(segment.ordinals) else []
    hashes = np.repeat(segment.terms, np.diff(segment.offsets))
    parts: list[Segment] = []
    for start in range(0, len(segment.ordinals), MOST_CHUNKS):
        rows = slice(start, start + MOST_CHUNKS)
        ordinals = segment.ordinals[rows]
        held = (segment.posting_ordinals >= ordinals[0]) & (segment.posting_ordinals <= ordinals[-1])
        terms, offsets, order = _group_by_term(hashes[held])
        parts.append(
            Segment(
                ordinals=ordinals,
                lengths=segment.lengths[rows],
                access=segment.access[rows],
                visible_from=segment.visible_from[rows],
                terms=terms,
                offsets=offsets,
                posting_ordinals=segment.posting_ordinals[held][order],
                posting_counts=segment.posting_counts[held][order],
            )
        )
    return parts


def encode_segment(segment: Segment) -> SegmentBytes:
    """The segment as little-endian bytes, for storing."""
    return SegmentBytes(**{name: getattr(segment, name).astype(kind).tobytes() for name, kind in _STORED.items()})


def decode_segment(stored: SegmentBytes) -> Segment:
    """The inverse of `encode_segment`; on little-endian machines without copying.

    Errors: `ValueError` when the arrays do not fit together (a damaged row).
    """
    arrays = {
        name: np.frombuffer(getattr(stored, name), kind).astype(kind.newbyteorder("="), copy=False)
        for name, kind in _STORED.items()
    }
    segment = Segment(**arrays)
    chunks = len(segment.ordinals)
    postings = len(segment.posting_ordinals)
    if not (
        chunks == len(segment.lengths) == len(segment.access) == len(segment.visible_from)
        and len(segment.offsets) == len(segment.terms) + 1
        and int(segment.offsets[-1]) == postings == len(segment.posting_counts)
    ):
        raise ValueError("the arrays of a postings segment do not fit together")
    return segment
