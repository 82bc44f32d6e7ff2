"""`erasure.ports.ErasureStore` on Postgres: certificates, and the search for rows that an erasure left behind."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID, uuid4

import numpy as np

from agentic_rag.adapters.postgres.answering.stored_answers import ANSWER_COLUMNS, answer_from
from agentic_rag.adapters.postgres.erasure.process_register import ORDER, PROGRESS
from agentic_rag.adapters.postgres.session.connection import PostgresConnection, Row, value_from
from agentic_rag.answering.runs.redaction import SOURCE_ERASED, collect_document_ids, redact_document
from agentic_rag.erasure.certificate import (
    Certificate,
    StoreErasure,
    coverage_gaps,
    decode_stores,
    encode_stores,
    merge_stores,
)
from agentic_rag.erasure.ports import DropOrder, DropProgress, ErasureTrace, HeldErasure
from agentic_rag.erasure.process_memory import lines_of
from agentic_rag.tenancy.principals import WorkspaceRef

TOMBSTONE = """
SELECT version, erased_at, certificate FROM rag_tombstones
WHERE org_id = $1 AND workspace_id = $2 AND document_id = $3
"""

LOCKED_TOMBSTONE = f"{TOMBSTONE} FOR NO KEY UPDATE"

PAST = """
SELECT version, erased_at, certificate FROM rag_past_erasures
WHERE org_id = $1 AND workspace_id = $2 AND document_id = $3
ORDER BY version DESC
"""

SET_CERTIFICATE = """
UPDATE rag_tombstones SET certificate = $4 WHERE org_id = $1 AND workspace_id = $2 AND document_id = $3
"""

# The condition of the partial indexes of revision 0051.
_IS_HELD = """certificate @> '{"stores": [{"store": "processes", "done": false}]}'"""

HELD = f"""
SELECT document_id, version FROM rag_tombstones WHERE org_id = $1 AND workspace_id = $2 AND {_IS_HELD}
UNION ALL
SELECT document_id, version FROM rag_past_erasures WHERE org_id = $1 AND workspace_id = $2 AND {_IS_HELD}
LIMIT $3
"""  # noqa: S608 - constants

# Tombstones first: a document that is registered again moves its certificate to the other table.
CONFIRMED = tuple(
    (
        f"""
        SELECT document_id, version, certificate FROM {table}
        WHERE org_id = $1 AND workspace_id = $2 AND {_IS_HELD}
          AND (document_id, version) IN (SELECT * FROM unnest($3::uuid[], $4::integer[]))
        ORDER BY document_id, version
        FOR NO KEY UPDATE
        """,  # noqa: S608 - constants
        f"""
        UPDATE {table} SET certificate = $5
        WHERE org_id = $1 AND workspace_id = $2 AND document_id = $3 AND version = $4
        """,  # noqa: S608 - constants
    )
    for table in ("rag_tombstones", "rag_past_erasures")
)

# Every table with a document id, whichever version of the product created it, except four. `rag_tombstones` is the
# erasure itself, `rag_past_erasures` those before it. `rag_jobs` keeps the history of the work (`JOBS` checks its
# rows). `rag_uploads` holds the reply to an idempotency key: it names the document without its content, and keeps a
# client that repeats its upload from bringing the document back.
TABLES_NAMING_DOCUMENTS = """
SELECT c.relname AS name
FROM pg_class c
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND c.relname LIKE 'rag\\_%'
  AND c.relname NOT IN ('rag_tombstones', 'rag_past_erasures', 'rag_jobs', 'rag_uploads')
  AND has_table_privilege(c.oid, 'SELECT')
  AND 3 = (
      SELECT count(*) FROM pg_attribute a
      WHERE a.attrelid = c.oid AND NOT a.attisdropped AND a.atttypid = 'uuid'::regtype
        AND a.attname IN ('org_id', 'workspace_id', 'document_id')
  )
ORDER BY c.relname
"""

PENDING_TABLES = frozenset({"rag_doomed_blobs", "rag_graph_erasures"})
"""Queues of pending deletions in other stores."""

# The same for tables that hold chunk ordinals only. Ordinals that now belong to another document's chunk (after a
# snapshot was restored) do not count. $3: the document, $4 and $5: ranges.
ORDINALS_LEFT = """
WITH gone AS (
    SELECT n AS ordinal FROM unnest($4::integer[], $5::integer[]) AS r(first, last), generate_series(r.first, r.last) n
    EXCEPT
    SELECT ordinal FROM rag_chunks WHERE org_id = $1 AND workspace_id = $2 AND document_id <> $3
)
SELECT (SELECT count(*) FROM rag_embeddings e JOIN gone USING (ordinal) WHERE e.org_id = $1 AND e.workspace_id = $2)
           AS rag_embeddings,
       (SELECT count(*) FROM rag_mentions m JOIN gone USING (ordinal) WHERE m.org_id = $1 AND m.workspace_id = $2)
           AS rag_mentions,
       (SELECT count(*) FROM rag_closed_ordinals o JOIN gone USING (ordinal)
        WHERE o.org_id = $1 AND o.workspace_id = $2) AS rag_closed_ordinals,
       ARRAY (SELECT ordinal FROM gone) AS ordinals
"""

SNAPSHOTS = """
SELECT created_at FROM rag_snapshots
WHERE org_id = $1 AND workspace_id = $2 AND is_stored AND created_at < $3
ORDER BY created_at
"""

SEGMENT_ORDINALS = "SELECT ordinals FROM rag_segments WHERE org_id = $1 AND workspace_id = $2"

ENTITIES_OF = """
SELECT count(*) FROM rag_entities WHERE org_id = $1 AND workspace_id = $2 AND source_id = $3
"""

# $4: the text that replaces an error message.
JOBS = """
SELECT count(*) FROM rag_jobs j
WHERE org_id = $1 AND workspace_id = $2
  AND (document_id = $3 OR position($3::text IN arguments::text) > 0 OR position($3::text IN key) > 0)
  AND (
      (state IN ('QUEUED', 'RUNNING') AND kind <> 'delete')
      OR arguments <> '{}'
      OR coalesce(error_message, $4) <> $4 AND kind <> 'delete'
      OR kind = 'ingest' AND EXISTS (
          SELECT FROM rag_job_attempts a
          WHERE a.org_id = j.org_id AND a.workspace_id = j.workspace_id AND a.job_id = j.job_id
            AND cardinality(a.error_chain) > 0
      )
  )
"""

RUNS = f"""
SELECT {ANSWER_COLUMNS} FROM rag_runs WHERE org_id = $1 AND workspace_id = $2 AND document_ids @> ARRAY [$3::uuid]
"""  # noqa: S608 - a constant list of columns


class PostgresErasureStore:
    """Inside a transaction of one organisation."""

    def __init__(self, connection: PostgresConnection) -> None:
        self._connection = connection

    async def certificate(self, workspace: WorkspaceRef, document_id: UUID) -> Certificate | None:
        return await self._read(TOMBSTONE, workspace, document_id)

    async def past(self, workspace: WorkspaceRef, document_id: UUID) -> list[Certificate]:
        rows = await self._connection.fetch(PAST, *workspace.key, document_id)
        return [await self._certificate(workspace, document_id, row) for row in rows]

    async def follow(
        self, workspace: WorkspaceRef, document_id: UUID, stores: Sequence[StoreErasure]
    ) -> Certificate | None:
        found = await self._read(LOCKED_TOMBSTONE, workspace, document_id)
        if found is None or not stores:
            return found
        certificate = found.with_stores(stores)
        await self._connection.execute(
            SET_CERTIFICATE, *workspace.key, document_id, encode_stores(certificate.stores, certificate.ordinals)
        )
        return certificate

    async def traces(self, workspace: WorkspaceRef, document_id: UUID) -> list[ErasureTrace]:
        key = (*workspace.key, document_id)
        found: list[ErasureTrace] = []
        for table in await self._connection.fetch(TABLES_NAMING_DOCUMENTS):
            rows: int = await self._connection.fetchval(
                f"SELECT count(*) FROM {table['name']} "  # noqa: S608 - a name from the catalogue, of our own tables
                "WHERE org_id = $1 AND workspace_id = $2 AND document_id = $3",
                *key,
            )
            found.append(ErasureTrace(table["name"], rows, table["name"] in PENDING_TABLES))
        found.append(ErasureTrace("rag_entities", await self._connection.fetchval(ENTITIES_OF, *key)))
        found.append(ErasureTrace("rag_jobs", await self._connection.fetchval(JOBS, *key, SOURCE_ERASED)))
        found.append(ErasureTrace("rag_runs", await self._count_runs_to_redact(key)))
        certificate = await self.certificate(workspace, document_id)
        if certificate is not None and certificate.ordinals:
            found += await self._ordinal_traces(key, certificate.ordinals)
        return merge_traces(found)

    async def held(self, workspace: WorkspaceRef, limit: int) -> list[HeldErasure]:
        rows = await self._connection.fetch(HELD, *workspace.key, limit)
        return [value_from(HeldErasure, row) for row in rows]

    async def order_drop(self, workspace: WorkspaceRef, document_ids: Sequence[UUID]) -> DropOrder:
        order_id = uuid4()
        ordered_at = await self._connection.fetchval(ORDER, *workspace.key, order_id, document_ids)
        return DropOrder(order_id, ordered_at)

    async def drop_progress(self, order: DropOrder | None) -> DropProgress:
        asked = (None, None) if order is None else (order.order_id, order.ordered_at)
        row = await self._connection.fetchrow(PROGRESS, *asked)
        if row is None:
            raise AssertionError("an aggregate without groups gives one row")
        return value_from(DropProgress, row)

    async def confirm(self, workspace: WorkspaceRef, erasures: Sequence[HeldErasure], progress: DropProgress) -> None:
        ids, versions = [one.document_id for one in erasures], [one.version for one in erasures]
        for lock, change in CONFIRMED:
            for row in await self._connection.fetch(lock, *workspace.key, ids, versions):
                stores, ordinals = decode_stores(row["certificate"])
                told = encode_stores(merge_stores(stores, lines_of(progress)), ordinals)
                await self._connection.execute(change, *workspace.key, row["document_id"], row["version"], told)

    async def _ordinal_traces(
        self, key: tuple[UUID, UUID, UUID], ordinals: Sequence[tuple[int, int]]
    ) -> list[ErasureTrace]:
        row = await self._connection.fetchrow(
            ORDINALS_LEFT, *key, [first for first, _ in ordinals], [last for _, last in ordinals]
        )
        if row is None:
            raise AssertionError("a select without a table gives one row")
        gone = np.array(row["ordinals"], np.int32)
        postings = 0
        for segment in await self._connection.fetch(SEGMENT_ORDINALS, *key[:2]):
            postings += int(np.isin(np.frombuffer(segment["ordinals"], "<i4"), gone).sum())
        tables = ("rag_embeddings", "rag_mentions", "rag_closed_ordinals")
        return [*(ErasureTrace(table, row[table]) for table in tables), ErasureTrace("rag_segments", postings)]

    async def _count_runs_to_redact(self, key: tuple[UUID, UUID, UUID]) -> int:
        """The number of runs whose answer still holds words of the document or cannot be decoded."""
        left = 0
        for row in await self._connection.fetch(RUNS, *key):
            try:
                answer = answer_from(row)
            except ValueError:
                left += 1
                continue
            left += key[2] in collect_document_ids(answer) and redact_document(answer, key[2]) != answer
        return left

    async def _read(self, statement: str, workspace: WorkspaceRef, document_id: UUID) -> Certificate | None:
        row = await self._connection.fetchrow(statement, *workspace.key, document_id)
        return None if row is None else await self._certificate(workspace, document_id, row)

    async def _certificate(self, workspace: WorkspaceRef, document_id: UUID, row: Row) -> Certificate:
        snapshots = await self._connection.fetch(SNAPSHOTS, *workspace.key, row["erased_at"])
        decoded, ordinals = decode_stores(row["certificate"])
        stores = merge_stores(decoded, ())
        return Certificate(
            document_id=document_id,
            version=row["version"],
            erased_at=row["erased_at"],
            stores=stores,
            ordinals=ordinals,
            not_covered=coverage_gaps([one["created_at"] for one in snapshots], stores),
        )


def merge_traces(traces: Sequence[ErasureTrace]) -> list[ErasureTrace]:
    """One trace per store that has rows, sorted by store. Of several counts of one store the largest remains."""
    found: dict[str, ErasureTrace] = {}
    for trace in traces:
        if trace.rows > (found[trace.store].rows if trace.store in found else 0):
            found[trace.store] = trace
    return [found[store] for store in sorted(found)]
