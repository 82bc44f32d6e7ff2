"""The `lookup` tool: a document by its name, else an entity, with the passage that opens or mentions it."""

from __future__ import annotations

from uuid import UUID

from agentic_rag.answering.query.planner import LOOKUP
from agentic_rag.documents.document import Chunk, DocumentFilter
from agentic_rag.kernel.database import CorpusSnapshot
from agentic_rag.retrieval.candidates import Candidate
from agentic_rag.retrieval.graph.entities import question_entities
from agentic_rag.retrieval.passage import Passage

MAX_NAMESAKES = 5
MAX_OPENING_CHUNKS = 64
"""Chunks of a document among which its first is looked for; ordinals rise with the index except after edits."""


async def lookup(
    snapshot: CorpusSnapshot, workspace_id: UUID, name: str, access_ids: tuple[int, ...]
) -> Passage | None:
    """The opening passage of the document called `name`, else a passage about the entity `name`, else None."""
    for document in await snapshot.documents.find_documents(name, access_ids, MAX_NAMESAKES):
        only = DocumentFilter(document_ids=(document.document_id,))
        ordinals = sorted(await snapshot.documents.ordinals_matching(only, access_ids))[:MAX_OPENING_CHUNKS]
        chunks = await snapshot.documents.chunks(ordinals, access_ids)
        if chunks:
            return _passage(min(chunks, key=lambda chunk: chunk.index))
    return await _entity_passage(snapshot, workspace_id, name, access_ids)


async def _entity_passage(
    snapshot: CorpusSnapshot, workspace_id: UUID, name: str, access_ids: tuple[int, ...]
) -> Passage | None:
    entities = [entity.entity_id for entity in question_entities(workspace_id, name)]
    if not entities:
        return None
    for found in await snapshot.graph.mentions_of(entities, 8):
        ordinals = list(found.ordinals)
        chunks = await snapshot.documents.chunks(ordinals, access_ids)
        if chunks:
            return _passage(chunks[0])
    return None


def _passage(chunk: Chunk) -> Passage:
    return Passage(chunk, Candidate(chunk.ordinal, 1.0, ()), origin=LOOKUP)
