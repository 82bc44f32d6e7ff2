"""The certificate of an erasure: what each store removed, what is pending, and what no erasure reaches."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise
from types import MappingProxyType
from typing import Any
from uuid import UUID


class ErasedStore(enum.Enum):
    """Where an erasure removes or redacts a document; the value is the name in every interface."""

    REVISIONS = "revisions"
    CHUNKS = "chunks"
    VECTORS = "vectors"
    """In every embedding space."""
    POSTINGS = "postings"
    MENTIONS = "mentions"
    ENTITIES = "entities"
    """Entities that no other document mentions."""
    STAGED = "staged"
    RUNS = "runs_redacted"
    """Stored answers, including idempotent replies, that used the document's text."""
    JOBS = "jobs_redacted"
    """Jobs and dead letters: arguments, error texts and error chains."""
    CACHE_TABLE = "cache_table"
    CACHE = "cache"
    ORIGINALS = "originals"
    PROCESSES = "processes"
    """Servers and workers that said that they dropped what they held in memory. Those that fell silent are counted in
    `LAPSED_PROCESSES`.
    """
    LAPSED_PROCESSES = "processes_lapsed"
    GRAPH = "external_graph"
    """Nodes of a graph outside Postgres; absent without one."""


COUNTS_OF_OTHERS = frozenset({ErasedStore.ENTITIES, ErasedStore.RUNS, ErasedStore.CACHE_TABLE, ErasedStore.CACHE})
"""An entity stays while any document mentions it; runs and cached answers are those of all callers."""


COUNTED_ANEW = frozenset({ErasedStore.PROCESSES, ErasedStore.LAPSED_PROCESSES})
"""All processes are asked each time; elsewhere an erasure finds what earlier ones left."""


@dataclass(frozen=True, slots=True)
class StoreErasure:
    """The erasure in one store. `count` is rows, entries or blobs, None where it is withheld; `done` is False while a
    job is pending.
    """

    store: ErasedStore
    count: int | None
    done: bool = True


@dataclass(frozen=True, slots=True)
class CoverageGap:
    """A place that an erasure does not reach, and why. `taken_at` is the date of a single copy."""

    place: str
    reason: str
    taken_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Certificate:
    """The proof of one erasure, stored with its tombstone: numbers only, no text of the document."""

    document_id: UUID
    version: int
    """The first corpus version without the document."""
    erased_at: datetime
    stores: tuple[StoreErasure, ...]
    ordinals: tuple[tuple[int, int], ...]
    """The ordinals of its chunks as inclusive ranges, for later checks."""
    not_covered: tuple[CoverageGap, ...]

    @property
    def is_complete(self) -> bool:
        """Whether every store is done."""
        return all(one.done for one in self.stores)

    def count(self, store: ErasedStore) -> int:
        """The count of a store; 0 if it is not listed or withheld."""
        return next((one.count or 0 for one in self.stores if one.store is store), 0)

    def with_stores(self, later: Iterable[StoreErasure]) -> Certificate:
        """The certificate with the results of more stores; counts of the same store add up."""
        stores = merge_stores(self.stores, later)
        memory = _memory_gap(stores)
        gaps = tuple(memory if one.place == memory.place else one for one in self.not_covered)
        return replace(self, stores=stores, not_covered=gaps)

    def without_counts_of_others(self) -> Certificate:
        """The certificate without the counts that depend on documents and questions of others, which its reader may
        not know of.
        """
        stores = tuple(replace(one, count=None) if one.store in COUNTS_OF_OTHERS else one for one in self.stores)
        return replace(self, stores=stores)


_WAL = CoverageGap(
    "database_log",
    "The write-ahead log and its archive keep old pages until they are recycled or expire.",
)
_BACKUPS = CoverageGap(
    "backups", "Backups of database, blob store or volumes taken before the erasure still hold the document."
)
_MEMORY_PLACE = "process_memory"
_MEMORY = CoverageGap(
    _MEMORY_PLACE,
    "Servers and workers of before revision 0051 are not asked to drop what they hold. Memory that others gave back "
    "may hold pieces of the text until it is written again; nothing reads it.",
)
_MEMORY_UNTOLD = CoverageGap(
    _MEMORY_PLACE,
    "Running servers and workers keep texts, words and vectors that they read before in memory, until others push them "
    "out or they are restarted; nothing of an erased document answers a question from there.",
)
_MEMORY_SILENT = CoverageGap(
    _MEMORY_PLACE,
    "Not every running server and worker has said yet that it dropped what it holds in memory; nothing of an erased "
    "document answers a question from there.",
)
_LOGS = CoverageGap("logs", "Log lines and traces written before name the document by id; they hold none of its text.")


def coverage_gaps(snapshots: Sequence[datetime], stores: Iterable[StoreErasure] = ()) -> tuple[CoverageGap, ...]:
    """The places an erasure cannot reach; `snapshots` are the times of the workspace's earlier snapshots. `stores` tell
    how far processes dropped what they held.
    """
    held = tuple(
        CoverageGap("snapshot", "A snapshot of the workspace taken before the erasure holds the document.", taken)
        for taken in snapshots
    )
    return (_WAL, _BACKUPS, _LOGS, _memory_gap(stores), *held)


def _memory_gap(stores: Iterable[StoreErasure]) -> CoverageGap:
    told = {one.store: one for one in stores}
    followed, lapsed = told.get(ErasedStore.PROCESSES), told.get(ErasedStore.LAPSED_PROCESSES)
    if followed is None:
        return _MEMORY_UNTOLD
    if not followed.done:
        return _MEMORY_SILENT
    if lapsed is not None and lapsed.count:
        return CoverageGap(
            _MEMORY_PLACE,
            f"Processes that fell silent in the last day without signing off, and did not say that they dropped what "
            f"they held: {lapsed.count}. They were killed, stopped or cut off; one that goes on drops all it holds "
            "before it uses it.",
        )
    return _MEMORY


def merge_stores(stores: Iterable[StoreErasure], later: Iterable[StoreErasure]) -> tuple[StoreErasure, ...]:
    """Each store once, in the order of `ErasedStore`: counts are added up, `done` is that of the latest entry."""
    found = {one.store: one for one in stores}
    for one in later:
        before = None if one.store in COUNTED_ANEW else found.get(one.store)
        found[one.store] = one if before is None else replace(one, count=(before.count or 0) + (one.count or 0))
    return tuple(found[store] for store in ErasedStore if store in found)


def ranges_of(ordinals: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Ascending numbers as inclusive ranges."""
    if not ordinals:
        return ()
    breaks = [place for place, (one, other) in enumerate(pairwise(ordinals), 1) if other != one + 1]
    starts, ends = [0, *breaks], [*breaks, len(ordinals)]
    return tuple((ordinals[start], ordinals[end - 1]) for start, end in zip(starts, ends, strict=True))


def encode_stores(stores: Sequence[StoreErasure], ordinals: Sequence[tuple[int, int]]) -> Mapping[str, Any]:
    """The JSON of a tombstone: the parts of a certificate that have no column and cannot be derived from other
    tables.
    """
    return {
        "stores": [{"store": one.store.value, "count": one.count, "done": one.done} for one in stores],
        "ordinals": [list(one) for one in ordinals],
    }


def decode_stores(stored: Mapping[str, Any]) -> tuple[tuple[StoreErasure, ...], tuple[tuple[int, int], ...]]:
    """The inverse of `encode_stores`; unknown stores are left out."""
    stores = tuple(
        StoreErasure(_STORES[one["store"]], one["count"], one["done"])
        for one in stored.get("stores", ())
        if one["store"] in _STORES
    )
    return stores, tuple((first, last) for first, last in stored.get("ordinals", ()))


_STORES: Mapping[str, ErasedStore] = MappingProxyType({store.value: store for store in ErasedStore})


def certificate_json(certificate: Certificate) -> dict[str, Any]:
    """The certificate in the form of REST and the command line."""
    return {
        "corpusVersion": certificate.version,
        "erasedAt": certificate.erased_at.isoformat(),
        "complete": certificate.is_complete,
        "stores": [{"store": one.store.value, "count": one.count, "done": one.done} for one in certificate.stores],
        "notCovered": [
            {
                "place": one.place,
                "reason": one.reason,
                "takenAt": None if one.taken_at is None else one.taken_at.isoformat(),
            }
            for one in certificate.not_covered
        ],
    }
