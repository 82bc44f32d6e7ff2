"""Rows of postings segments, and their in-process cache."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import astuple, fields
from typing import Generic, TypeAlias, TypeVar
from uuid import UUID

from agentic_rag.adapters.postgres.session.connection import PostgresConnection, Row, value_from
from agentic_rag.documents.document import DocumentFilter
from agentic_rag.language.tokenizer import TERMS_VERSION
from agentic_rag.retrieval.lexical.bm25 import VisiblePostings
from agentic_rag.retrieval.lexical.postings import AccessChanges, Segment, SegmentBytes, decode_segment, encode_segment
from agentic_rag.tenancy.principals import WorkspaceRef

SEGMENT_COLUMNS = """
    segment_id, visible_from, terms_version, ordinals, lengths, access, visible, terms, offsets, posting_ordinals,
    posting_counts
"""

# $1 organisation, $2 workspace, $3 ids.
SEGMENTS = f"""
SELECT {SEGMENT_COLUMNS} FROM rag_segments WHERE org_id = $1 AND workspace_id = $2 AND segment_id = ANY ($3::uuid[])
"""  # noqa: S608 - a constant list of columns

# $3: by which rules its terms were made. The arrays are in the order of the fields of `SegmentBytes`.
ADD_SEGMENT = """
INSERT INTO rag_segments (org_id, workspace_id, segment_id, terms_version, visible_from, chunk_count, ordinals, lengths,
                          access, visible, terms, offsets, posting_ordinals, posting_counts)
VALUES ($1, $2, gen_random_uuid(), $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
"""

MOVED = "SELECT ordinal, access_id FROM rag_moved_ordinals WHERE org_id = $1 AND workspace_id = $2"

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

DEFAULT_CACHE_BYTES = 256 * 1024 * 1024
"""About 350,000 chunks of postings (69 MB for 100,000)."""


def segment_from(row: Row) -> Segment:
    """The segment from a row with `SEGMENT_COLUMNS`, without copying the arrays. Errors: `ValueError` for a damaged
    row.
    """
    return decode_segment(value_from(SegmentBytes, row, visible_from=row["visible"]))


def segment_arguments(segment: Segment, terms_version: int = TERMS_VERSION) -> tuple[object, ...]:
    """The values of `ADD_SEGMENT` after the workspace's key. `visible_from` is that of the oldest chunk, so that a
    reader of an older version still finds a merged segment.
    """
    return terms_version, int(segment.visible_from.min()), len(segment.ordinals), *astuple(encode_segment(segment))


async def read_moves(connection: PostgresConnection, org_id: UUID, workspace_id: UUID) -> AccessChanges:
    """Chunks whose access set changed after their segment was written."""
    rows = await connection.fetch(MOVED, org_id, workspace_id)
    return AccessChanges.of((row["ordinal"], row["access_id"]) for row in rows)


class ByteBoundedCache(Generic[K, V]):
    """A least-recently-used cache bounded in bytes; a value larger than the bound is not kept."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._used = 0
        self._entries: OrderedDict[K, tuple[V, int]] = OrderedDict()

    def get(self, key: K) -> V | None:
        """The value, or None; marks it as most recently used."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        self._entries.move_to_end(key)
        return entry[0]

    def put(self, key: K, value: V, size: int) -> None:
        """Store a value of `size` bytes and drop the least recently used ones as needed."""
        if key in self._entries:
            self._used -= self._entries.pop(key)[1]
        if size > self._capacity:
            return
        self._entries[key] = (value, size)
        self._used += size
        while self._used > self._capacity:
            _, (_, dropped) = self._entries.popitem(last=False)
            self._used -= dropped

    def drop(self, is_meant: Callable[[K], bool]) -> None:
        """Drop the values of those keys."""
        for key in [key for key in self._entries if is_meant(key)]:
            self._used -= self._entries.pop(key)[1]


VisibleKey: TypeAlias = tuple[UUID, tuple[int, int], tuple[UUID, ...], tuple[int, ...]]
"""Workspace, (corpus version, access version), segments, access sets."""


MatchingKey: TypeAlias = tuple[UUID, tuple[int, int, int], tuple[UUID, ...], tuple[int, ...], DocumentFilter]
"""Workspace, (corpus version read, newest one, access version), segments, access sets, filter."""

ORDINAL_BYTES = 64
"""Of a number in a set, with its share of the set's table."""


class SegmentCache:
    """Shared by all readers of a process. Keys name immutable values: a segment never changes, nor does the visible
    part of given segments at one version.
    """

    def __init__(self, capacity_bytes: int = DEFAULT_CACHE_BYTES) -> None:
        self.segments: ByteBoundedCache[tuple[UUID, UUID], Segment] = ByteBoundedCache(capacity_bytes // 2)
        """By (workspace, segment)."""
        self.matching: ByteBoundedCache[MatchingKey, frozenset[int]] = ByteBoundedCache(capacity_bytes // 8)
        """The ordinals that a filter lets through. What is said of documents changes with the newest version only."""
        self.visible: ByteBoundedCache[VisibleKey, VisiblePostings] = ByteBoundedCache(capacity_bytes // 2)

    def drop(self, workspace: WorkspaceRef | None) -> None:
        """Drop what is held of the workspace, or all."""
        for cache in (self.segments, self.matching, self.visible):
            cache.drop(lambda key: workspace is None or key[0] == workspace.workspace_id)


def visible_size(visible: VisiblePostings) -> int:
    """Bytes that an entry keeps alive, including its segments (which a newer version may share)."""
    return visible.nbytes + sum(segment_size(segment) for segment in visible.segments)


def segment_size(segment: Segment) -> int:
    """Bytes of a segment's arrays."""
    return sum(getattr(segment, array.name).nbytes for array in fields(segment))
