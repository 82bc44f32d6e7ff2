"""`operations.ports.InspectWorkspace` on Postgres: pages of all stored data, in one read-only snapshot."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from uuid import UUID

from agentic_rag.adapters.postgres.operations import inspection_sql as sql
from agentic_rag.adapters.postgres.retrieval.segments import read_moves, segment_from
from agentic_rag.adapters.postgres.session.connection import PostgresConnection, Row, value_from
from agentic_rag.adapters.postgres.session.halfvec import decode_halfvec
from agentic_rag.adapters.postgres.session.pool import PostgresPool
from agentic_rag.adapters.postgres.workspaces.workspaces import space_from
from agentic_rag.kernel.errors import no_such_workspace
from agentic_rag.operations.findings import StoredChunk, StoredDocument
from agentic_rag.operations.ports import Anomaly, Inspection, StoredOriginal, WorkspaceHead
from agentic_rag.retrieval.lexical.postings import AccessChanges, Segment
from agentic_rag.tenancy.principals import WorkspaceRef

PAGE_DOCUMENTS = 50
PAGE_ORIGINALS = 500
NIL = UUID(int=0)


class PostgresInspector:
    """Opens a snapshot for each inspection."""

    def __init__(self, pool: PostgresPool) -> None:
        self._pool = pool

    @asynccontextmanager
    async def __call__(self, workspace: WorkspaceRef) -> AsyncGenerator[Inspection]:
        async with self._pool.snapshot(workspace.org_id) as connection:
            await connection.execute(sql.BE_PATIENT)
            yield PostgresInspection(connection, workspace)


class PostgresInspection:
    """Reads at one instant; memory is bounded by a page of documents and one segment."""

    def __init__(self, connection: PostgresConnection, workspace: WorkspaceRef) -> None:
        self._connection = connection
        self._key = workspace.key

    async def head(self) -> WorkspaceHead:
        row = await self._connection.fetchrow(sql.HEAD, *self._key)
        if row is None:
            raise no_such_workspace()
        space = None if row["space_id"] is None else space_from(row)
        return value_from(WorkspaceHead, row, space=space)

    async def documents(self) -> AsyncIterator[Sequence[StoredDocument]]:
        after = NIL
        while rows := await self._connection.fetch(sql.DOCUMENTS, *self._key, after, PAGE_DOCUMENTS):
            after = rows[-1]["document_id"]
            yield await self._load_documents(rows)

    async def segments(self) -> AsyncIterator[Segment]:
        for row in await self._connection.fetch(sql.SEGMENT_IDS, *self._key):
            stored = await self._connection.fetchrow(sql.SEGMENT, *self._key, row["segment_id"])
            if stored is not None:
                yield segment_from(stored)

    async def access_moves(self) -> AccessChanges:
        return await read_moves(self._connection, *self._key)

    async def tombstone_ordinals(self) -> Sequence[int]:
        return [row["ordinal"] for row in await self._connection.fetch(sql.CLOSED, *self._key)]

    async def anomalies(self) -> list[Anomaly]:
        found: list[Anomaly] = []
        for kind, statement in sql.ANOMALIES.items():
            row = await self._connection.fetchrow(sql.count_statement(statement), *self._key)
            if row is not None and row["rows"]:
                found.append(Anomaly(kind, row["rows"], row["example"]))
        return found

    async def duplicate_chunks(self, most: int) -> list[tuple[str, str, int]]:
        rows = await self._connection.fetch(sql.DUPLICATE_CHUNKS, *self._key, most)
        return [(row["one"], row["other"], row["chunks"]) for row in rows]

    async def originals(self) -> AsyncIterator[StoredOriginal]:
        after = ""
        while rows := await self._connection.fetch(sql.ORIGINALS, *self._key, after, PAGE_ORIGINALS):
            after = rows[-1]["key"]
            for row in rows:
                yield value_from(StoredOriginal, row)

    async def unfinished_jobs(self) -> Mapping[str, int]:
        return {row["kind"]: row["jobs"] for row in await self._connection.fetch(sql.UNFINISHED, *self._key)}

    async def blobs_to_delete(self) -> Sequence[str]:
        return [row["blob_key"] for row in await self._connection.fetch(sql.DOOMED, *self._key)]

    async def _load_documents(self, rows: Sequence[Row]) -> list[StoredDocument]:
        chunks = await self._connection.fetch(sql.CHUNKS, *self._key, [row["document_id"] for row in rows])
        ordinals = [row["ordinal"] for row in chunks]
        wanted = {row["revision_id"] for row in (*rows, *chunks)} - {None}
        texts = {
            row["revision_id"]: (row["text"], row["text_hash"])
            for row in await self._connection.fetch(sql.REVISIONS, *self._key, sorted(wanted))
        }
        vectors = {row["ordinal"]: row["v"] for row in await self._connection.fetch(sql.VECTORS, *self._key, ordinals)}
        mentions: dict[int, set[tuple[UUID, int]]] = defaultdict(set)
        for row in await self._connection.fetch(sql.MENTIONS, *self._key, ordinals):
            mentions[row["ordinal"]].add((row["entity_id"], row["count"]))
        copies: dict[int, set[tuple[str, int]]] = defaultdict(set)
        for row in await self._connection.fetch(sql.ACCESS_COPIES, *self._key, ordinals):
            copies[row["ordinal"]].add((row["kind"], row["access_id"]))
        held: dict[UUID, list[StoredChunk]] = defaultdict(list)
        for row in chunks:
            ordinal = row["ordinal"]
            held[row["document_id"]].append(
                value_from(
                    StoredChunk,
                    row,
                    revision_text=texts[row["revision_id"]][0] if row["revision_id"] in texts else None,
                    vector=decode_halfvec(vectors[ordinal]) if ordinal in vectors else None,
                    mentions=frozenset(mentions[ordinal]),
                    copies=frozenset(copies[ordinal]),
                )
            )
        return [
            value_from(
                StoredDocument,
                row,
                published=row["revision_id"] is not None,
                text=texts[row["revision_id"]][0] if row["revision_id"] in texts else None,
                text_hash=texts[row["revision_id"]][1] if row["revision_id"] in texts else None,
                chunks=held[row["document_id"]],
            )
            for row in rows
        ]
