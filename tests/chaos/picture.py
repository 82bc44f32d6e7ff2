"""What all stores hold of a workspace, read by plain SQL and from the disk, in a form that does not depend on the order
in which documents were published: ordinals, versions and times are left out or turned into paths.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from agentic_rag.adapters.postgres.retrieval.segments import SEGMENT_COLUMNS, segment_from
from tests.chaos.ground import Ground

DOCUMENTS = "SELECT document_id, source_path, status, error_code, chunk_count, content_hash FROM rag_documents"
CHUNKS = """
SELECT c.ordinal, d.source_path, c.index, c.chunk_id, c.text, c.char_start, c.char_end, c.heading_path
FROM rag_chunks c JOIN rag_documents d USING (org_id, workspace_id, document_id)
WHERE c.visible_to IS NULL
"""
VECTORS = "SELECT ordinal, v::text AS v FROM rag_embeddings WHERE visible_to IS NULL"
ENTITIES = "SELECT entity_id, key, name, kind, source_id FROM rag_entities"
MENTIONS = """
SELECT entity_id, ordinal, document_id, count, related, weights FROM rag_mentions WHERE visible_to IS NULL
"""
REVISIONS = """
SELECT d.source_path, r.text_hash, r.published_from IS NULL AS is_unpublished
FROM rag_revisions r JOIN rag_documents d USING (org_id, workspace_id, document_id)
"""
ORIGINALS = """
SELECT d.source_path, o.content_hash, o.size
FROM rag_originals o JOIN rag_documents d USING (org_id, workspace_id, document_id)
"""
LEFTOVERS = {
    "doomed blobs": "SELECT count(*) FROM rag_doomed_blobs",
    "originals without a document": """
        SELECT count(*) FROM rag_originals o WHERE NOT EXISTS (
            SELECT FROM rag_documents d WHERE d.workspace_id = o.workspace_id AND d.document_id = o.document_id
        )
    """,
    "staged chunks": "SELECT count(*) FROM rag_staged_chunks",
    "chunks that are gone": "SELECT count(*) FROM rag_chunks WHERE visible_to IS NOT NULL",
    "unfinished jobs": "SELECT count(*) FROM rag_jobs WHERE state IN ('QUEUED', 'RUNNING')",
    # One of a kind for a document, also where a synchronisation tried it again.
    "dead letters": "SELECT count(DISTINCT (kind, coalesce(document_id, job_id))) FROM rag_jobs WHERE state = 'DEAD'",
    "unpublished revisions": "SELECT count(*) FROM rag_revisions WHERE published_from IS NULL",
    "attempts without an end": """
        SELECT count(*) FROM rag_job_attempts a JOIN rag_jobs j USING (org_id, workspace_id, job_id)
        WHERE a.ended_at IS NULL AND j.state NOT IN ('QUEUED', 'RUNNING')
    """,
    "vectors without a chunk": """
        SELECT count(*) FROM rag_embeddings e
        WHERE NOT EXISTS (SELECT FROM rag_chunks c WHERE c.workspace_id = e.workspace_id AND c.ordinal = e.ordinal)
    """,
    "mentions without a chunk": """
        SELECT count(*) FROM rag_mentions m
        WHERE NOT EXISTS (SELECT FROM rag_chunks c WHERE c.workspace_id = m.workspace_id AND c.ordinal = m.ordinal)
    """,
    "entities without a mention": """
        SELECT count(*) FROM rag_entities e
        WHERE NOT EXISTS (
            SELECT FROM rag_mentions m WHERE m.workspace_id = e.workspace_id AND m.entity_id = e.entity_id
        )
    """,
    "entities whose source does not mention them": """
        SELECT count(*) FROM rag_entities e
        WHERE NOT EXISTS (
            SELECT FROM rag_mentions m
            WHERE m.workspace_id = e.workspace_id AND m.entity_id = e.entity_id AND m.document_id = e.source_id
        )
    """,
}
"""Each has to be 0 after every row, whatever happened."""

Picture = dict[str, Any]


async def take(ground: Ground) -> Picture:
    """The stores as they are."""
    async with ground.connection() as connection:
        chunks = await connection.fetch(CHUNKS)
        place = {row["ordinal"]: (row["source_path"], row["index"]) for row in chunks}
        documents = await connection.fetch(DOCUMENTS)
        paths = {row["document_id"]: row["source_path"] for row in documents}
        mentions = await connection.fetch(MENTIONS)
        return {
            "documents": Counter(
                (row["source_path"], row["status"], row["error_code"], row["chunk_count"], row["content_hash"])
                for row in documents
            ),
            "chunks": Counter(
                (row["source_path"], row["index"], row["chunk_id"], row["text"], row["char_start"], row["char_end"],
                 tuple(row["heading_path"]))
                for row in chunks
            ),
            "vectors": Counter(
                (place.get(row["ordinal"]), row["v"]) for row in await connection.fetch(VECTORS)
            ),
            "postings": await _postings(connection, place),
            "entities": Counter(
                (row["entity_id"], row["key"], row["kind"]) for row in await connection.fetch(ENTITIES)
            ),
            "mentions": Counter(
                (row["entity_id"], place.get(row["ordinal"]), paths.get(row["document_id"]), row["count"],
                 tuple(sorted(zip(row["related"], row["weights"], strict=True))))
                for row in mentions
            ),
            "revisions": Counter(tuple(row) for row in await connection.fetch(REVISIONS)),
            "originals": Counter(tuple(row) for row in await connection.fetch(ORIGINALS)),
            **await _blobs(ground, connection),
            **{name: await connection.fetchval(statement) for name, statement in LEFTOVERS.items()},
        }  # fmt: skip


async def _blobs(ground: Ground, connection: Any) -> dict[str, int]:
    """Originals that the blob store lacks, and blobs that nothing names."""
    named = {row["blob_key"] for row in await connection.fetch("SELECT blob_key FROM rag_originals")}
    held = set(await ground.container.blobs.keys(""))
    return {"originals without a blob": len(named - held), "blobs without a name": len(held - named)}


async def _postings(connection: Any, place: Mapping[int, tuple[str, int]]) -> Counter[Any]:
    """(chunk, term, count) of every segment; postings of chunks that are gone count under None."""
    found: Counter[Any] = Counter()
    for row in await connection.fetch(f"SELECT {SEGMENT_COLUMNS} FROM rag_segments"):
        segment = segment_from(row)
        for at, term in enumerate(segment.terms.tolist()):
            piece = slice(int(segment.offsets[at]), int(segment.offsets[at + 1]))
            ordinals, counts = segment.posting_ordinals[piece].tolist(), segment.posting_counts[piece].tolist()
            found.update((place.get(one), term, count) for one, count in zip(ordinals, counts, strict=True))
    return found


def without_kinds(picture: Picture) -> Picture:
    """The same, but for the kinds of entities."""
    return {**picture, "entities": Counter((entity_id, key) for entity_id, key, _ in picture["entities"].elements())}


def differences(ours: Picture, wanted: Picture) -> list[str]:
    """Where two pictures differ, a line each; empty when the stores hold the same."""
    lines: list[str] = []
    for name, expected in wanted.items():
        held = ours[name]
        if held == expected:
            continue
        if not isinstance(expected, Counter):
            lines.append(f"{name}: {held} instead of {expected}")
            continue
        missing, extra = expected - held, held - expected
        sample = next(iter(missing or extra))
        lines.append(f"{name}: {missing.total()} missing, {extra.total()} too many, as {str(sample)[:160]}")
    return lines


def leftovers(ours: Picture) -> list[str]:
    """What must never be left, whatever the stores should hold."""
    return [f"{name}: {ours[name]}" for name in LEFTOVERS if ours[name]]
