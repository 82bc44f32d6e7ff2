"""Vectors, mentions and titles that this process holds: read in the background, found again only by a snapshot of the
very same state.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from agentic_rag.adapters.postgres.retrieval.copied_rows import parse_rows, parse_titles
from agentic_rag.adapters.postgres.session.connection import PostgresConnection, Row
from agentic_rag.adapters.postgres.session.pool import PostgresPool
from agentic_rag.kernel.concurrency import detached_task
from agentic_rag.kernel.errors import AgenticRagError
from agentic_rag.models.embedding.space import RegisteredSpace
from agentic_rag.retrieval.graph.resident_mentions import Ids, Numbers, ResidentMentions
from agentic_rag.retrieval.resident_documents import ResidentDocuments
from agentic_rag.retrieval.resident_vectors import STILL_VISIBLE, ResidentVectors
from agentic_rag.retrieval.vector_codes import VectorCodes
from agentic_rag.tenancy.principals import WorkspaceRef

BYTES_A_CHUNK = 612
"""Beside the vector and its codes: seven numbers, and 24 mentions with their entities."""

BYTES_A_COMPONENT = 3
"""In half precision, and its code."""

WORTH_A_PATCH = 4
"""Only what is new is read while at most a fourth of the chunks is."""

REST_AFTER_A_READ = 10
"""Times what the last read took: a workspace that is published to all the time is not read all the time."""

MOST_NOTES = 10_000
"""Workspaces of which is noted that they do not fit, or were read just now; the notes only save reads."""

IDLE_SECONDS = 600.0
"""What no question asked for this long is dropped, whether or not there is room: it may be of documents that were
erased meanwhile.
"""

# What the rows of rag_embeddings can depend on: a publish, an erasure and a change of access sets each make a version;
# a merge of segments makes none, but an archive that was restored has segments of its own.
STATE = """
SELECT w.corpus_version, w.access_version, w.titles_changed, w.active_space, pg_postmaster_start_time() AS started,
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
MENTIONS = f"""
SELECT ordinal, count, access_id, visible_from, coalesce(visible_to, {STILL_VISIBLE}) AS visible_to, entity_id
FROM rag_mentions WHERE org_id = $1 AND workspace_id = $2
"""  # noqa: S608 - a constant
# A chunk that moved to another revision has a row for each, all of one document.
DOCUMENTS = "SELECT ordinal, document_id FROM rag_chunks WHERE org_id = $1 AND workspace_id = $2"
SOME_DOCUMENTS = f"{DOCUMENTS} AND ordinal = ANY ($3::integer[])"
TITLES = "SELECT document_id, title FROM rag_documents WHERE org_id = $1 AND workspace_id = $2"
SOME_MENTIONS = f"{MENTIONS} AND ordinal = ANY ($3::integer[])"

_NUMBERS = ("ordinal", "access_id", "visible_from", "visible_to")
_OF_MENTIONS = ("ordinal", "count", "access_id", "visible_from", "visible_to")


@dataclass(frozen=True, slots=True, eq=False)
class ResidentCorpus:
    """What is held of a workspace's active space."""

    vectors: ResidentVectors
    documents: ResidentDocuments
    """The document of each vector's chunk."""
    mentions: ResidentMentions | None
    """None where some mention is not shown as its chunk's vector is."""
    titles_changed: int = -1
    """The transaction that had changed a title of the workspace last when the titles were read; −1: not known."""

    @property
    def nbytes(self) -> int:
        """Memory of the arrays."""
        return self.vectors.nbytes + self.documents.nbytes + (0 if self.mentions is None else self.mentions.nbytes)

    def titles_of(
        self, ordinals: Sequence[int], version: int, access_ids: Sequence[int], *, are_corrected: bool
    ) -> tuple[list[int], list[int], dict[int, tuple[bytes, str | None]]]:
        """Those of the ordinals whose chunk is visible to the access sets, the place of each one's document, and by
        place the document's id and title as it was read, or as it was found to be since (`are_corrected`).
        """
        rows = self.vectors.rows_of(np.array(ordinals, np.int64))
        rows = rows[rows >= 0]
        rows = rows[self.vectors.visible(version, access_ids, rows=rows)]
        places, titles = self.documents.titles_of(rows, are_corrected=are_corrected)
        return self.vectors.ordinals[rows].tolist(), places, titles

    def shown_below(self, span: int, version: int, access_ids: Sequence[int] | None) -> NDArray[np.bool_]:
        """Of each ordinal below `span`, whether its chunk is visible to the access sets (None: to all)."""
        shown = np.zeros(max(span, int(self.vectors.ordinals[-1]) + 1 if len(self.vectors.ordinals) else 0), np.bool_)
        shown[self.vectors.ordinals] = self.vectors.visible(version, access_ids)
        return shown


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

    def leads_to(self, later: CorpusState) -> bool:
        """Whether only publishes and changes of readers lie between. A publish adds a segment; where one is gone,
        something was erased, merged or restored: an archive gives numbers of chunks again that it does not hold.
        """
        return self.started == later.started and set(self.segment_ids) <= set(later.segment_ids)


_Key = tuple[WorkspaceRef, int]


@dataclass(slots=True)
class _Entry:
    state: CorpusState
    corpus: ResidentCorpus
    used: float


class ResidentCorpusStore:
    """Holds at most `capacity` bytes, those asked for last. 0 holds nothing.

    Each key names organisation, workspace and space, and a corpus is handed out only to a snapshot whose state is that
    in which it was read, so an answer has nothing stale, erased or foreign. A state that is not held is read
    in the background, on a snapshot of its own; meanwhile the tables answer.
    """

    def __init__(self, pool: PostgresPool, capacity: int, may_hold: Callable[[], bool] = lambda: True) -> None:
        self._pool = pool
        self._capacity = capacity
        self._may_hold = may_hold
        self._held: OrderedDict[_Key, _Entry] = OrderedDict()
        self._loading: dict[_Key, asyncio.Task[None]] = {}
        self._refused: dict[_Key, CorpusState] = {}
        """States that did not fit or could not be read: not tried again."""
        self._rests_until: dict[_Key, float] = {}
        self._timer: asyncio.TimerHandle | None = None

    @property
    def nbytes(self) -> int:
        """Memory of all that is held."""
        return sum(entry.corpus.nbytes for entry in self._held.values())

    def find(
        self, workspace: WorkspaceRef, state: CorpusState | None, titles_changed: int = 0
    ) -> ResidentCorpus | None:
        """The corpus in that state. A read of it begins when this process does not hold it, or not those titles."""
        if not self._capacity or state is None or not self._may_hold():
            return None
        now = asyncio.get_running_loop().time()
        key = workspace, state.space.space_id
        entry = self._held.get(key)
        if entry is not None and entry.state == state:
            entry.used = now
            self._held.move_to_end(key)
            if entry.corpus.titles_changed != titles_changed:
                self._begin_load(key, state, now)
            return entry.corpus
        if entry is not None and state.corpus_version >= entry.state.corpus_version and not entry.state.leads_to(state):
            # It may hold what was erased.
            del self._held[key]
        self._begin_load(key, state, now)
        return None

    def drop(self, workspace: WorkspaceRef | None) -> None:
        """Hold nothing of the workspace any more, or nothing at all. A read under way of what was there is given up."""
        for key in [key for key in self._held if workspace in (None, key[0])]:
            del self._held[key]
        for key, task in self._loading.items():
            if workspace in (None, key[0]):
                task.cancel()

    async def settled(self) -> None:
        """Wait until nothing is being read."""
        while self._loading:
            await asyncio.wait(list(self._loading.values()))
            await asyncio.sleep(0)

    async def aclose(self) -> None:
        """End all reads and hold nothing any more."""
        self.drop(None)
        if self._loading:
            await asyncio.wait(list(self._loading.values()))
        if self._timer is not None:
            self._timer.cancel()

    def _begin_load(self, key: _Key, state: CorpusState, now: float) -> None:
        """Read the corpus, unless that is under way, was refused or has just been done."""
        if key not in self._loading and self._refused.get(key) != state and now >= self._rests_until.get(key, now):
            task = self._loading[key] = detached_task(self._load(key, state), "resident corpus")
            task.add_done_callback(lambda _: self._loading.pop(key, None))

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
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            await self._read(key, wanted)
        except (AgenticRagError, ValueError):
            # The database answers, and says what is wrong where that fails too.
            self._refuse(key, wanted)
        if len(self._rests_until) >= MOST_NOTES:
            self._rests_until.clear()
        self._rests_until[key] = loop.time() + REST_AFTER_A_READ * (loop.time() - began)

    def _refuse(self, key: _Key, state: CorpusState) -> None:
        self._held.pop(key, None)
        if len(self._refused) >= MOST_NOTES:
            self._refused.clear()
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
            if row["vectors"] * (BYTES_A_COMPONENT * dimensions + BYTES_A_CHUNK) > self._capacity:
                self._refuse(key, wanted)
                return
            before = self._held.get(key)
            make = None
            if before is not None and before.state.leads_to(state):
                make = await _read_patch(connection, (*workspace.key, space_id), before.corpus, dimensions)
            if make is None:
                vectors = await connection.copy_rows(WHOLE, *workspace.key, space_id)
                mentions = await connection.copy_rows(MENTIONS, *workspace.key)
                documents = await connection.copy_rows(DOCUMENTS, *workspace.key)
                titles = await connection.copy_rows(TITLES, *workspace.key)
                make = partial(_parse_whole, vectors, mentions, documents, titles, dimensions)
        # Without the connection, which others may wait for.
        corpus = replace(await asyncio.to_thread(make), titles_changed=row["titles_changed"])
        if corpus.nbytes > self._capacity:
            self._refuse(key, state)
        else:
            self._keep(key, state, corpus)

    def _keep(self, key: _Key, state: CorpusState, corpus: ResidentCorpus) -> None:
        self._refused.pop(key, None)
        self._held[key] = _Entry(state, corpus, asyncio.get_running_loop().time())
        self._held.move_to_end(key)
        while self.nbytes > self._capacity:
            self._held.popitem(last=False)
        if self._timer is None:
            self._drop_idle()


async def _read_patch(
    connection: PostgresConnection, key: tuple[UUID, UUID, int], before: ResidentCorpus, dimensions: int
) -> Callable[[], ResidentCorpus] | None:
    """What makes the corpus as it is now from what was known `before`, which is not read again: a chunk keeps its
    number, its vector and its mentions until it goes. None when too much is new.
    """
    shown = parse_rows(await connection.copy_rows(VISIBILITY, *key), _NUMBERS)
    rows = before.vectors.rows_of(shown["ordinal"].astype(np.int64))
    new = shown["ordinal"][rows < 0].tolist()
    if before.mentions is None or WORTH_A_PATCH * len(new) > len(rows):
        return None
    read = mentions = documents = None
    if new:
        read = parse_rows(await connection.copy_rows(SOME, *key, new), ("ordinal",), dimensions)
        mentions = parse_rows(await connection.copy_rows(SOME_MENTIONS, *key[:2], new), _OF_MENTIONS, ids=True)
        documents = parse_rows(await connection.copy_rows(SOME_DOCUMENTS, *key[:2], new), ("ordinal",), ids=True)
    titles = await connection.copy_rows(TITLES, *key[:2])
    return partial(_patch, before, shown, rows, read, mentions, documents, titles)


def _patch(
    before: ResidentCorpus,
    shown: NDArray[Any],
    rows: NDArray[np.int64],
    read: NDArray[Any] | None,
    mentions: NDArray[Any] | None,
    documents: NDArray[Any] | None,
    titles: bytearray,
) -> ResidentCorpus:
    """Errors: `ValueError` when a vector, a document or a title is missing."""
    components = np.empty((len(shown), before.vectors.vectors.shape[1]), np.float16)
    kept = rows >= 0
    components[kept] = before.vectors.vectors[rows[kept]]
    if read is not None:
        read = read[np.argsort(read["ordinal"])]
        if not np.array_equal(read["ordinal"], shown["ordinal"][~kept]):
            raise ValueError("the new vectors are not those of the new chunks")
        components[~kept] = read["v"]
    vectors = _vectors_of(shown, components, VectorCodes.of(components, before.vectors.codes, rows))
    ids = np.empty((len(shown), 2), np.uint64)
    ids[kept] = before.documents.ids_of(rows[kept])
    if documents is not None:
        ids[~kept] = _documents_of(vectors.ordinals[~kept], documents)
    held = before.mentions
    if mentions is not None and held is not None:
        held = held.with_rows(*_columns_of(mentions)) if _are_shown_alike(vectors, mentions) else None
    return ResidentCorpus(vectors, ResidentDocuments.of(ids, parse_titles(titles)), held)


def _parse_whole(
    vectors: bytearray, mentions: bytearray, documents: bytearray, titles: bytearray, dimensions: int
) -> ResidentCorpus:
    rows = parse_rows(vectors, _NUMBERS, dimensions)
    components = rows["v"].astype(np.float16)
    parsed = _vectors_of(rows, components, VectorCodes.of(components))
    read = parse_rows(mentions, _OF_MENTIONS, ids=True)
    alike = _are_shown_alike(parsed, read)
    ids = _documents_of(parsed.ordinals, parse_rows(documents, ("ordinal",), ids=True))
    named = ResidentDocuments.of(ids, parse_titles(titles))
    return ResidentCorpus(parsed, named, ResidentMentions.of(*_columns_of(read)) if alike else None)


def _documents_of(ordinals: Numbers, read: NDArray[Any]) -> Ids:
    """(n, 2) the document of each of the chunks, ascending. Errors: `ValueError` when one is missing."""
    _, first = np.unique(read["ordinal"], return_index=True)
    named = read[first]
    places = np.minimum(named["ordinal"].searchsorted(ordinals), max(len(named) - 1, 0))
    if len(ordinals) and not (len(named) and np.array_equal(named["ordinal"][places], ordinals)):
        raise ValueError("a vector's chunk has no document")
    return _ids_of(named[places] if len(ordinals) else named[:0])


def _are_shown_alike(vectors: ResidentVectors, mentions: NDArray[Any]) -> bool:
    """Whether each mention is shown by the versions and to the access set that show the vector of its chunk."""
    rows = vectors.rows_of(mentions["ordinal"].astype(np.int64))
    if not len(rows):
        return True
    return bool((rows >= 0).all()) and all(
        np.array_equal(ours[rows], mentions[name])
        for name, ours in (
            ("access_id", vectors.access),
            ("visible_from", vectors.visible_from),
            ("visible_to", vectors.visible_to),
        )
    )


def _columns_of(mentions: NDArray[Any]) -> tuple[Ids, Numbers, Numbers]:
    return _ids_of(mentions), mentions["ordinal"].astype(np.int32), mentions["count"].astype(np.int32)


def _ids_of(rows: NDArray[Any]) -> Ids:
    return np.column_stack([rows["id"]["high"], rows["id"]["low"]]).astype(np.uint64)


def _vectors_of(shown: NDArray[Any], vectors: NDArray[np.float16], codes: VectorCodes) -> ResidentVectors:
    ordinals, access, visible_from, visible_to = (shown[name].astype(np.int32) for name in _NUMBERS)
    if (ordinals[1:] <= ordinals[:-1]).any():
        raise ValueError("ordinals do not ascend")
    return ResidentVectors(ordinals, access, visible_from, visible_to, vectors, codes)
