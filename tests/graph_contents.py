"""Everything a workspace's graph holds, read from either store without the code under test, fit to be compared."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from uuid import UUID

import asyncpg
import neo4j

from agentic_rag.tenancy.principals import WorkspaceRef


@dataclass
class GraphContents:
    """Nodes and relationships by their ids."""

    sources: dict[str, tuple[str, str]]
    """Title and revision."""
    chunks: dict[str, tuple[int, str]]
    """Ordinal and source."""
    entities: dict[str, tuple[str, str, str]]
    """Name, type and first source."""
    mentions: dict[tuple[str, str], int]
    """Chunk and entity."""
    source_mentions: dict[tuple[str, str], int]
    related: dict[tuple[str, str], int]


async def expected_graph(database_url: str, workspace: WorkspaceRef) -> GraphContents:
    """What the rows of the newest version in Postgres come to."""
    connection = await asyncpg.connect(database_url)
    key: tuple[UUID, UUID] = (workspace.org_id, workspace.workspace_id)
    where = "org_id = $1 AND workspace_id = $2"
    try:
        documents = await connection.fetch(
            f"SELECT * FROM rag_documents WHERE {where} AND revision_id IS NOT NULL", *key
        )
        chunks = await connection.fetch(f"SELECT * FROM rag_chunks WHERE {where} AND visible_to IS NULL", *key)
        rows = await connection.fetch(f"SELECT * FROM rag_mentions WHERE {where} AND visible_to IS NULL", *key)
        entities = await connection.fetch(f"SELECT * FROM rag_entities WHERE {where}", *key)
    finally:
        await connection.close()
    mentioned = {row["entity_id"] for row in rows}
    chunk_of = {row["ordinal"]: str(row["chunk_id"]) for row in chunks}
    of_sources: Counter[tuple[str, str]] = Counter()
    related: Counter[tuple[str, str]] = Counter()
    for row in rows:
        of_sources[str(row["document_id"]), str(row["entity_id"])] += row["count"]
        for other, weight in zip(row["related"], row["weights"], strict=True):
            if row["entity_id"] < other:
                related[str(row["entity_id"]), str(other)] += weight
    return GraphContents(
        sources={str(row["document_id"]): (row["title"], str(row["revision_id"])) for row in documents},
        chunks={str(row["chunk_id"]): (row["ordinal"], str(row["document_id"])) for row in chunks},
        entities={
            str(row["entity_id"]): (row["name"], row["kind"], str(row["source_id"]))
            for row in entities
            if row["entity_id"] in mentioned
        },
        mentions={(chunk_of[row["ordinal"]], str(row["entity_id"])): row["count"] for row in rows},
        source_mentions=dict(of_sources),
        related=dict(related),
    )


async def held_graph(uri: str, workspace: WorkspaceRef) -> GraphContents:
    """What Neo4j holds, whatever labels or ends its relationships have."""
    key = f"{workspace.org_id}/{workspace.workspace_id}"
    async with neo4j.AsyncGraphDatabase.driver(uri, notifications_min_severity="OFF") as driver:

        async def rows(statement: str) -> list[neo4j.Record]:
            return (await driver.execute_query(statement, workspace=key)).records

        of = "WHERE n.workspaceId = $workspace"
        sources = await rows(f"MATCH (n:RagSource) {of} RETURN n.id AS id, n.title AS title, n.revision AS revision")
        chunks = await rows(
            f"MATCH (n:RagChunk) {of} OPTIONAL MATCH (n)-[:DERIVED_FROM]->(s) "
            "RETURN n.id AS id, n.ordinal AS o, s.id AS s"
        )
        entities = await rows(
            f"MATCH (n:RagEntity) {of} RETURN n.id AS id, n.name AS name, n.type AS type, n.sourceId AS source"
        )
        mentions = await rows(
            f"MATCH (n:RagChunk)-[m:MENTIONS]->(e) {of} RETURN n.id AS n, e.id AS e, m.count AS count"
        )
        of_sources = await rows(
            f"MATCH (n:RagSource)-[m:MENTIONS]->(e) {of} RETURN n.id AS n, e.id AS e, m.count AS count"
        )
        related = await rows(
            f"MATCH (n:RagEntity)-[r:RELATED]->(e) {of} RETURN n.id AS n, e.id AS e, r.weight AS weight"
        )
    assert len(chunks) == len({row["id"] for row in chunks}), "a chunk has more than one source"
    return GraphContents(
        sources={row["id"]: (row["title"], row["revision"]) for row in sources},
        chunks={row["id"]: (row["o"], row["s"]) for row in chunks},
        entities={row["id"]: (row["name"], row["type"], row["source"]) for row in entities},
        mentions={(row["n"], row["e"]): row["count"] for row in mentions},
        source_mentions={(row["n"], row["e"]): row["count"] for row in of_sources},
        related={(row["n"], row["e"]): row["weight"] for row in related},
    )
