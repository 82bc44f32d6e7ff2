"""What every store holds, in a form that two corpora can be compared in: ordinals as chunk ids, versions left out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

import numpy as np
from tests.graph_contents import GraphContents, held_graph
from tests.integration.jobs.data_plane import DataPlane

from agentic_rag.adapters.postgres.retrieval.segments import SEGMENT_COLUMNS, segment_from
from agentic_rag.adapters.postgres.session.connection import PostgresConnection
from agentic_rag.tenancy.principals import WorkspaceRef

Rows = frozenset[tuple[Any, ...]]

CHUNKS = """
SELECT c.ordinal, c.chunk_id, d.source_path, c.visible_to IS NULL AS visible, c.index, c.char_start, c.char_end, c.page,
       c.line_start, c.line_end, array_to_string(c.heading_path, '/') AS headings, c.content_hash, c.text, c.access_id
FROM rag_chunks c JOIN rag_documents d USING (org_id, workspace_id, document_id)
"""
DOCUMENTS = """
SELECT source_path, title, media_type, size, status, revision_id, content_hash, chunk_count, access_id
FROM rag_documents
"""
REVISIONS = "SELECT revision_id, text, text_hash, published_to IS NULL AS current FROM rag_revisions"
VECTORS = "SELECT ordinal, space_id, visible_to IS NULL AS visible, v FROM rag_embeddings"
MENTIONS = """
SELECT m.entity_id, m.ordinal, d.source_path, m.count, m.related, m.weights, m.visible_to IS NULL AS visible
FROM rag_mentions m JOIN rag_documents d USING (org_id, workspace_id, document_id)
"""
ENTITIES = """
SELECT e.entity_id, e.key, e.name, e.kind, d.source_path
FROM rag_entities e LEFT JOIN rag_documents d
  ON d.org_id = e.org_id AND d.workspace_id = e.workspace_id AND d.document_id = e.source_id
"""
CLOSED = "SELECT ordinal FROM rag_closed_ordinals"


@dataclass(frozen=True)
class GraphPicture:
    """A graph of entities, whatever keeps it: mentions by (entity, chunk), sources, and entities with their source."""

    mentions: Rows
    entities: Rows


@dataclass(frozen=True)
class Picture:
    """All stores of a workspace."""

    documents: Rows
    revisions: Rows
    chunks: Rows
    vectors: Rows
    postings: Mapping[int, Rows]
    """By term key: (chunk id, count) of every text that holds it."""
    lengths: Rows
    graph: GraphPicture
    closed: Rows


async def picture(plane: DataPlane) -> Picture:
    """Read everything the workspace holds, in one transaction."""
    async with plane.pool.transaction(plane.workspace.org_id) as connection:
        chunks = await _rows(connection, plane, CHUNKS)
        names = {row["ordinal"]: row["chunk_id"] for row in chunks}
        segments = [segment_from(row) for row in await _rows(connection, plane, _segments())]
        postings: dict[int, set[tuple[UUID, int]]] = defaultdict(set)
        lengths: set[tuple[Any, ...]] = set()
        for segment in segments:
            keys = np.repeat(segment.terms, np.diff(segment.offsets))
            for term, ordinal, count in zip(keys, segment.posting_ordinals, segment.posting_counts, strict=True):
                postings[int(term)].add((names[int(ordinal)], int(count)))
            lengths |= {
                (names[int(one)], int(size)) for one, size in zip(segment.ordinals, segment.lengths, strict=True)
            }
        return Picture(
            documents=_all(await _rows(connection, plane, DOCUMENTS)),
            revisions=_all(await _rows(connection, plane, REVISIONS)),
            chunks=frozenset(tuple(row.values())[1:] for row in chunks),
            vectors=_named(await _rows(connection, plane, VECTORS), names),
            postings={term: frozenset(held) for term, held in postings.items()},
            lengths=frozenset(lengths),
            graph=await graph_picture(connection, plane, names),
            closed=_named(await _rows(connection, plane, CLOSED), names),
        )


async def graph_picture(connection: PostgresConnection, plane: DataPlane, names: Mapping[int, UUID]) -> GraphPicture:
    """The embedded graph; another store gives the same value from its own nodes and relationships."""
    mentions = [
        (
            row["entity_id"],
            names[row["ordinal"]],
            row["source_path"],
            row["count"],
            frozenset(zip(row["related"], row["weights"], strict=True)),
            row["visible"],
        )
        for row in await _rows(connection, plane, MENTIONS)
    ]
    return GraphPicture(frozenset(mentions), _all(await _rows(connection, plane, ENTITIES)))


def _segments() -> str:
    return f"SELECT {SEGMENT_COLUMNS} FROM rag_segments"


async def _rows(connection: PostgresConnection, plane: DataPlane, statement: str) -> Sequence[Mapping[str, Any]]:
    alias = next((name for name in ("c", "m", "e") if f" {name} JOIN" in statement or f" {name} LEFT" in statement), "")
    column = f"{alias}.workspace_id" if alias else "workspace_id"
    return await connection.fetch(f"{statement} WHERE {column} = $1", plane.workspace.workspace_id)


def _all(rows: Sequence[Mapping[str, Any]]) -> Rows:
    return frozenset(tuple(row.values()) for row in rows)


def _named(rows: Sequence[Mapping[str, Any]], names: Mapping[int, UUID]) -> Rows:
    return frozenset(
        (names[row["ordinal"]], *[value for key, value in row.items() if key != "ordinal"]) for row in rows
    )


async def outside_picture(uri: str, workspace: WorkspaceRef) -> GraphContents:
    """All that a graph in Neo4j holds, with 0 in place of ordinals: those tell how often something was published."""
    held = await held_graph(uri, workspace)
    return replace(held, chunks={chunk: (0, source) for chunk, (_, source) in held.chunks.items()})
