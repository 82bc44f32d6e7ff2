"""Vectors that this process holds: read in the background, found again only by a snapshot of the very same state."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from agentic_rag.adapters.postgres.session.connection import PostgresConnection, Row
from agentic_rag.adapters.postgres.session.pool import PostgresPool
from agentic_rag.kernel.concurrency import detached_task
from agentic_rag.kernel.errors import AgenticRagError
from agentic_rag.models.embedding.space import RegisteredSpace
from agentic_rag.retrieval.resident_vectors import STILL_VISIBLE, ResidentVectors
from agentic_rag.tenancy.principals import WorkspaceRef

BYTES_A_ROW = 16
"""Beside the vector: four numbers."""

WORTH_A_PATCH = 4
"""Vectors are read one by one while at most a fourth of them is new."""

IDLE_SECONDS = 600.0
"""Vectors that no question asked for this long are dropped, whether or not there is room: they may be of documents
that were erased meanwhile.
"""

# What the rows of rag_embeddings can depend on: a publish, an erasure and a change of access sets each make a version;
# a merge of segments makes none, but an archive that was restored has segments of its own.
STATE = """
SELECT w.corpus_version, w.access_version, w.active_space, pg_postmaster_start_time() AS started,
       ARRAY (
           SELECT segment_id FROM rag_segments g
           WHERE g.org_id = w.org_id AND g.workspace_id = w.workspace_id
           ORDER BY visible_from, segment_id
       ) AS segment_ids,
       (SELECT count(*) FROM rag_embeddings e
        WHERE e.org_id = w.org_id AND e.workspace_id = w.workspace_id AND e.space_id = $3) AS vectors
FROM rag_workspaces w
WHERE w.org_id = $1 AND w.workspace_id = $2
"""

_ROWS = "WHERE org_id = $1 AND workspace_id = $2 AND space_id = $3"
_SHOWN = f"ordinal, access_id, visible_from, coalesce(visible_to, {STILL_VISIBLE}) AS visible_to"

WHOLE = f"SELECT {_SHOWN}, v FROM rag_embeddings {_ROWS} ORDER BY ordinal"  # noqa: S608 - constants
VISIBILITY = f"SELECT {_SHOWN} FROM rag_embeddings {_ROWS} ORDER BY ordinal"  # noqa: S608 - constants
SOME = f"SELECT ordinal, v FROM rag_embeddings {_ROWS} AND ordinal = ANY ($4::integer[])"  # noqa: S608 - constants

# PostgreSQL, "COPY", binary format: a signature, flags and an empty extension; rows of a field count and, for each
# field, its length and value; a field count of −1.
_COPY_HEAD = 19
_COPY_END = 2
_NUMBERS = ("ordinal", "access_id", "visible_from", "visible_to")


@dataclass(frozen=True, slots=True)
class CorpusState:
    """All that the stored vectors of a workspace's active space depend on."""

    started: datetime
    """When the server started: one that was restored may hold other rows at the same version."""
    corpus_version: int
    access_version: int
    segment_ids: tuple[UUID, ...]
    """Of the newest version, not only those that an older one shows."""
    space: RegisteredSpace

    @classmethod
    def of(cls, row: Row, space: RegisteredSpace | None) -> CorpusState | None:
        """From a row that names them; None while the space is not the active one, since others are being filled."""
        if space is None or row["active_space"] != space.space_id:
            return None
        return cls(row["started"], row["corpus_version"], row["access_version"], tuple(row["segment_ids"]), space)


_Key = tuple[WorkspaceRef, int]


@dataclass(slots=True)
class _Entry:
    state: CorpusState
    vectors: ResidentVectors
    used: float


class ResidentVectorStore:
    """Holds at most `capacity` bytes, those asked for last. 0 holds nothing.

    Each key names organisation, workspace and space, and the vectors are handed out only to a snapshot whose state is
    that in which they were read, so an answer has nothing stale, erased or foreign. A state that is not held is read
    in the background, on a snapshot of its own; meanwhile the table is scanned.
    """

    def __init__(self, pool: PostgresPool, capacity: int) -> None:
        self._pool = pool
        self._capacity = capacity
        self._held: OrderedDict[_Key, _Entry] = OrderedDict()
        self._loading: dict[_Key, asyncio.Task[None]] = {}
        self._refused: dict[_Key, CorpusState] = {}
        """States that did not fit or could not be read: not tried again."""
        self._timer: asyncio.TimerHandle | None = None

    @property
    def nbytes(self) -> int:
        """Memory of all that is held."""
        return sum(entry.vectors.nbytes for entry in self._held.values())

    def find(self, workspace: WorkspaceRef, state: CorpusState | None) -> ResidentVectors | None:
        """The vectors in that state. None, and a read of them begins, when this process does not hold them."""
        if not self._capacity or state is None:
            return None
        key = workspace, state.space.space_id
        entry = self._held.get(key)
        if entry is not None and entry.state == state:
            entry.used = asyncio.get_running_loop().time()
            self._held.move_to_end(key)
            return entry.vectors
        if key not in self._loading and self._refused.get(key) != state:
            task = self._loading[key] = detached_task(self._load(key, state), "resident vectors")
            task.add_done_callback(lambda _: self._loading.pop(key, None))
        return None

    async def settled(self) -> None:
        """Wait until nothing is being read."""
        while self._loading:
            await asyncio.wait(list(self._loading.values()))
            await asyncio.sleep(0)

    async def aclose(self) -> None:
        """End all reads and hold nothing any more."""
        tasks = list(self._loading.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        self._held.clear()
        if self._timer is not None:
            self._timer.cancel()

    def _drop_idle(self) -> None:
        """Drop what no question asked for, and come again while anything is held."""
        loop = asyncio.get_running_loop()
        while self._held:
            key, oldest = next(iter(self._held.items()))
            idle_at = oldest.used + IDLE_SECONDS
            if loop.time() < idle_at:
                self._timer = loop.call_at(idle_at, self._drop_idle)
                return
            del self._held[key]
        self._timer = None

    async def _load(self, key: _Key, wanted: CorpusState) -> None:
        try:
            await self._read(key, wanted)
        except (AgenticRagError, ValueError):
            # The scan of the table answers, and says what is wrong where that fails too.
            self._refuse(key, wanted)

    def _refuse(self, key: _Key, state: CorpusState) -> None:
        self._held.pop(key, None)
        self._refused[key] = state

    async def _read(self, key: _Key, wanted: CorpusState) -> None:
        workspace, space_id = key
        dimensions = wanted.space.space.dimensions
        async with self._pool.snapshot(workspace.org_id) as connection:
            row = await connection.fetchrow(STATE, *workspace.key, space_id)
            state = None if row is None else CorpusState.of(row, wanted.space)
            if row is None or state is None:
                self._held.pop(key, None)
                return
            if row["vectors"] * (4 * dimensions + BYTES_A_ROW) > self._capacity:
                self._refuse(key, wanted)
                return
            before = self._held.get(key)
            vectors = None
            # A publish adds a segment. Where one is gone, something was erased, merged or restored: numbers of chunks
            # that an archive does not hold are given again.
            if before is not None and set(before.state.segment_ids) <= set(state.segment_ids):
                vectors = await _patched(connection, (*workspace.key, space_id), before.vectors, dimensions)
            if vectors is None:
                data = await connection.copy_rows(WHOLE, *workspace.key, space_id)
                vectors = await asyncio.to_thread(_parse_whole, data, dimensions)
        self._keep(key, state, vectors)

    def _keep(self, key: _Key, state: CorpusState, vectors: ResidentVectors) -> None:
        self._refused.pop(key, None)
        self._held[key] = _Entry(state, vectors, asyncio.get_running_loop().time())
        self._held.move_to_end(key)
        while self.nbytes > self._capacity:
            self._held.popitem(last=False)
        if self._timer is None:
            self._drop_idle()


async def _patched(
    connection: PostgresConnection, key: tuple[UUID, UUID, int], before: ResidentVectors, dimensions: int
) -> ResidentVectors | None:
    """The vectors as they are now, of which those known `before` are not read again: a chunk keeps its number and its
    vector until it goes. None when too many are new.
    """
    shown = _parse(await connection.copy_rows(VISIBILITY, *key), _NUMBERS)
    rows = before.rows_of(shown["ordinal"].astype(np.int64))
    new = shown["ordinal"][rows < 0].tolist()
    if WORTH_A_PATCH * len(new) > len(rows):
        return None
    read = _parse(await connection.copy_rows(SOME, *key, new), ("ordinal",), dimensions) if new else None
    return await asyncio.to_thread(_patch, before, shown, rows, read)


def _patch(
    before: ResidentVectors, shown: NDArray[Any], rows: NDArray[np.int64], read: NDArray[Any] | None
) -> ResidentVectors:
    """Errors: `ValueError` when a vector is missing."""
    vectors = np.empty((len(shown), before.vectors.shape[1]), np.float32)
    kept = rows >= 0
    vectors[kept] = before.vectors[rows[kept]]
    if read is not None:
        read = read[np.argsort(read["ordinal"])]
        if not np.array_equal(read["ordinal"], shown["ordinal"][~kept]):
            raise ValueError("the new vectors are not those of the new chunks")
        vectors[~kept] = read["v"]
    return _vectors_of(shown, vectors)


def _parse_whole(data: bytes, dimensions: int) -> ResidentVectors:
    rows = _parse(data, _NUMBERS, dimensions)
    return _vectors_of(rows, rows["v"].astype(np.float32))


def _vectors_of(shown: NDArray[Any], vectors: NDArray[np.float32]) -> ResidentVectors:
    ordinals, access, visible_from, visible_to = (shown[name].astype(np.int32) for name in _NUMBERS)
    if (ordinals[1:] <= ordinals[:-1]).any():
        raise ValueError("ordinals do not ascend")
    return ResidentVectors(ordinals, access, visible_from, visible_to, vectors)


def _parse(data: bytes, numbers: Sequence[str], dimensions: int | None = None) -> NDArray[Any]:
    """Rows of COPY's binary form: 4-byte numbers and, with `dimensions`, a halfvec `v` behind them. Errors:
    `ValueError` for anything else.
    """
    layout: list[tuple[Any, ...]] = [("fields", ">i2")]
    for name in numbers:
        layout += [(f"{name} length", ">i4"), (name, ">i4")]
    if dimensions is not None:
        layout += [("v length", ">i4"), ("v dimensions", ">u2"), ("v unused", ">u2"), ("v", ">f2", (dimensions,))]
    kind = np.dtype(layout)
    rows = np.frombuffer(data, kind, (len(data) - _COPY_HEAD - _COPY_END) // kind.itemsize, _COPY_HEAD)
    fits = _COPY_HEAD + rows.nbytes + _COPY_END == len(data)
    fits &= bool((rows["fields"] == len(numbers) + (dimensions is not None)).all())
    fits &= dimensions is None or bool((rows["v dimensions"] == dimensions).all())
    if not fits:
        raise ValueError("the rows do not have the form that was asked for")
    return rows
