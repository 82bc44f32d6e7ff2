"""Erasure removes every version of a document from every table and leaves a tombstone against late writers."""

from __future__ import annotations

import asyncio
from itertools import compress
from uuid import UUID

import numpy as np

from agentic_rag.adapters.postgres.answering.stored_answers import answer_from
from agentic_rag.adapters.postgres.erasure import erasure_sql as sql
from agentic_rag.adapters.postgres.ingestion.compaction import (
    DROP_SEGMENTS,
    LOCK_SEGMENTS,
    WAIT_FOR_LONG,
    read_places,
)
from agentic_rag.adapters.postgres.jobs.corpus_versions import next_version
from agentic_rag.adapters.postgres.retrieval.segments import ADD_SEGMENT, SEGMENTS, segment_arguments, segment_from
from agentic_rag.adapters.postgres.session.connection import PostgresConnection, value_from
from agentic_rag.answering.runs.answer_codec import encode, pack
from agentic_rag.answering.runs.redaction import redact_document
from agentic_rag.erasure.certificate import encode_stores, ranges_of
from agentic_rag.erasure.ports import Erasure
from agentic_rag.kernel.errors import LeaseLost
from agentic_rag.retrieval.graph.entities import extract_entities
from agentic_rag.retrieval.lexical.postings import MOST_CHUNKS, hold_any, without_chunks
from agentic_rag.tenancy.principals import WorkspaceRef


async def erase(
    connection: PostgresConnection,
    workspace: WorkspaceRef,
    document_id: UUID,
    job_id: UUID | None,
    fence: int | None,
    *,
    is_followed: bool = False,
) -> Erasure | None:
    """Delete a document physically, as a new corpus version; None when it does not exist. Errors: `LeaseLost`.

    Locks are taken in the order of a publish (document, jobs, workspace), so the two cannot deadlock.
    """
    key = workspace.key
    document = (*key, document_id)
    access_id: int | None = await connection.fetchval(sql.LOCK_DOCUMENT, *document)
    if access_id is None:
        return None
    if job_id is not None and await connection.fetchval(sql.LOCK_JOB, *key, job_id) != fence:
        raise LeaseLost("Another worker erases this document now.")
    jobs: int = await connection.fetchval(sql.CANCEL_JOBS, *document, job_id)
    await connection.execute(LOCK_SEGMENTS, workspace.workspace_id)
    version = await next_version(connection, workspace, [document_id], is_followed=is_followed)
    if is_followed:
        await connection.execute(sql.ADD_GRAPH_ERASURE, *document, version)
    ordinals = [row["ordinal"] for row in await connection.fetch(sql.ORDINALS, *document)]
    purged = [row["ordinal"] for row in await connection.fetch(sql.PURGED, *key)]
    postings = await _rewrite_segments(connection, workspace, np.array(ordinals + purged, np.int32))
    await connection.execute(sql.DROP_CLOSED, *key, purged)
    entity_ids = [row["entity_id"] for row in await connection.fetch(sql.ENTITIES, *document)]
    rows = await connection.fetchrow(sql.DROP_ROWS, *document, ordinals)
    if rows is None:
        raise AssertionError("an aggregate without groups gives one row")
    entities = await connection.change(sql.DROP_ENTITIES, *key, entity_ids)
    await _rehome_entities(connection, document, entity_ids)
    runs = await _redact_runs(connection, document)
    erasure = value_from(
        Erasure,
        rows,
        document_id=document_id,
        version=version,
        revisions=await connection.change(sql.DROP_REVISIONS, *document),
        postings=postings,
        entities=entities,
        runs_redacted=runs,
        jobs_redacted=jobs,
        ordinals=ranges_of(ordinals),
        is_followed=is_followed,
    )
    await connection.execute(sql.DROP_DOCUMENT, *document)
    certificate = encode_stores(erasure.stores, erasure.ordinals)
    await connection.execute(sql.ADD_TOMBSTONE, *document, version, certificate, access_id)
    return erasure


async def _rehome_entities(
    connection: PostgresConnection, document: tuple[UUID, UUID, UUID], entity_ids: list[UUID]
) -> None:
    """Give entities that the document mentioned first the source and the spelling of the next document that mentions
    them: the erased document's spelling is one of its words.
    """
    org_id, workspace_id, _ = document
    rehomed = [row["entity_id"] for row in await connection.fetch(sql.REHOME_ENTITIES, *document, entity_ids)]
    if not rehomed:
        return
    names: dict[UUID, tuple[str, str]] = {}
    for row in await connection.fetch(sql.FIRST_MENTIONS, org_id, workspace_id, rehomed):
        wanted = frozenset(row["entity_ids"])
        found = extract_entities(workspace_id, row["text"], tuple(row["heading_path"]), row["title"]).entities
        names.update({one.entity_id: (one.name, one.kind) for one in found if one.entity_id in wanted})
    await connection.execute(
        sql.RENAME_ENTITIES,
        org_id,
        workspace_id,
        list(names),
        [name for name, _ in names.values()],
        [kind for _, kind in names.values()],
    )


async def _rewrite_segments(connection: PostgresConnection, workspace: WorkspaceRef, ordinals: np.ndarray) -> int:
    """Rewrite without the ordinals each segment that holds one of them; the number of postings removed."""
    if not len(ordinals):
        return 0
    gone = 0
    places = await read_places(connection, workspace)
    for segment_id in compress(places, hold_any(list(places.values()), ordinals)):
        if len(places[segment_id]) > 2 * MOST_CHUNKS:
            await connection.execute(WAIT_FOR_LONG)
        (row,) = await connection.fetch(SEGMENTS, *workspace.key, [segment_id])
        segment = segment_from(row)
        kept = await asyncio.to_thread(without_chunks, segment, ordinals)
        gone += len(segment.posting_ordinals) - len(kept.posting_ordinals)
        await connection.execute(DROP_SEGMENTS, *workspace.key, [segment_id])
        if len(kept.ordinals):
            await connection.execute(ADD_SEGMENT, *workspace.key, *segment_arguments(kept, row["terms_version"]))
    return gone


async def _redact_runs(connection: PostgresConnection, document: tuple[UUID, UUID, UUID]) -> int:
    """Redact the document's words in every stored answer that cites it; the number of runs changed or dropped. A run is
    dropped when an older version of the product wrote it in a form that can no longer be decoded.
    """
    org_id, workspace_id, document_id = document
    await connection.execute(sql.LOCK_RUNS, workspace_id)
    changed: list[tuple[UUID, UUID, UUID, bytes]] = []
    unreadable: list[UUID] = []
    for row in await connection.fetch(sql.CITING_RUNS, *document):
        try:
            answer = answer_from(row)
        except ValueError:
            unreadable.append(row["run_id"])
        else:
            changed.append((org_id, workspace_id, row["run_id"], pack(encode(redact_document(answer, document_id)))))
    if changed:
        await connection.executemany(sql.REDACT_RUN, changed)
    if unreadable:
        await connection.execute(sql.DROP_RUNS, org_id, workspace_id, unreadable)
    return len(changed) + len(unreadable)
