"""The `lookup` tool: finds a document by its name, else an entity, and the passage that opens or mentions it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import ClassVar
from uuid import UUID

from agentic_rag.answering.lazy_snapshot import LazySnapshot
from agentic_rag.answering.plan import NO_DURATION, AnswerType, ToolCall, ToolRequest
from agentic_rag.answering.run_state import RunState, StageResult
from agentic_rag.answering.tools.tool import Tool
from agentic_rag.documents.document import Chunk, DocumentFilter
from agentic_rag.kernel.database import CorpusSnapshot
from agentic_rag.retrieval.candidates import Candidate, Passage
from agentic_rag.retrieval.graph.entities import question_entities

MAX_NAMESAKES = 5
MAX_OPENING_CHUNKS = 64
"""Chunks of a document among which its first is looked for; ordinals rise with the index except after edits."""
MAX_MENTIONS = 8

_FILE = r"[\w][\w ().-]*\.(?:pdf|docx?|md|markdown|html?|txt|csv|xlsx?|pptx?|py|json|ya?ml)"
_REQUEST = re.compile(
    r"^(?:please\s+)?(?:can you\s+)?(?:show|open|find|look up|lookup|display|get|give)(?: me)?\s+(?:the\s+)?"
    r"(?:document|file|page|report|entity)\s+(?:called\s+|named\s+|titled\s+)?(?P<name>.{2,120}?)[?.!]*$|"
    r"^what(?:'s| is)\s+in\s+(?:the\s+)?(?:document|file)\s+(?:called\s+|named\s+|titled\s+)?"
    r"(?P<inside>.{2,120}?)[?.!]*$",
    re.IGNORECASE,
)
_FILE_REQUEST = re.compile(
    rf"^(?:show(?: me)?|open|find|what(?:'s| is) in)\s+(?:the\s+)?(?P<name>{_FILE})[?.!]*$", re.IGNORECASE
)


class Lookup(Tool):
    """Finds the document or entity that a request names outright."""

    name: ClassVar[str] = "lookup"
    answer_type: ClassVar[AnswerType | None] = AnswerType.LOOKUP
    names_documents: ClassVar[bool] = True
    needs_retrieval: ClassVar[bool] = True

    def wanted(self, question: str) -> tuple[str, ...]:
        """The name in `show document X` or `what is in file X`."""
        match = _REQUEST.match(question) or _FILE_REQUEST.match(question)
        if match is None:
            return ()
        groups = match.groupdict()
        name = (groups.get("name") or groups.get("inside") or "").strip(" \"'“”‘’`«»")
        return (name,) if name else ()

    async def run(self, request: ToolRequest, state: RunState, reads: LazySnapshot, seconds: float) -> StageResult:
        """The state with the passage that was found."""
        snapshot = await reads.snapshot()
        opening = await _find_opening(snapshot, state.question.asked.workspace.workspace_id, request.argument)
        if opening is None:
            call = ToolCall(self.name, request.argument, None, "NOT_FOUND", NO_DURATION)
        else:
            result = f"{opening.chunk.document_title} ({opening.chunk.source_path})"
            call = ToolCall(self.name, request.argument, result, None, NO_DURATION, opening.chunk.document_id)
        calls = (*state.retrieved.tool_calls, call)
        return StageResult(replace(state, retrieved=replace(state.retrieved, tool_calls=calls, opening=opening)))


async def _find_opening(snapshot: CorpusSnapshot, workspace_id: UUID, name: str) -> Passage | None:
    """The first passage of the document called `name`, else a passage about the entity `name`, else None."""
    access_ids = snapshot.access.access_ids
    for document in await snapshot.documents.find_documents(name, access_ids, MAX_NAMESAKES):
        only = DocumentFilter(document_ids=(document.document_id,))
        ordinals = sorted(await snapshot.documents.ordinals_matching(only, access_ids))[:MAX_OPENING_CHUNKS]
        chunks = await snapshot.documents.chunks(ordinals, access_ids)
        if chunks:
            return _passage(min(chunks, key=lambda chunk: chunk.index))
    entities = [entity.entity_id for entity in question_entities(workspace_id, name)]
    for mention in await snapshot.graph.mentions_of(entities, MAX_MENTIONS) if entities else ():
        chunks = await snapshot.documents.chunks(list(mention.ordinals), access_ids)
        if chunks:
            return _passage(chunks[0])
    return None


def _passage(chunk: Chunk) -> Passage:
    return Passage(chunk, Candidate(chunk.ordinal, 1.0, ()), origin=Lookup.name)
