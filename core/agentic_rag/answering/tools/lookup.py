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
MAX_DOCUMENTS = 50
"""Documents among which the only one that a filter lets through is looked for, each with a statement."""

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
_THING = r"(?:document|doc|file|pdf|paper|text|report|article|upload|uploaded (?:document|file|pdf))"
_WHOLE = re.compile(
    rf"^(?:so )?what(?:'s| is) (?:this|the|my|that) {_THING} (?:all )?about\W*$|"
    rf"^what(?:'s| is) in (?:this|the|my|that) {_THING}\W*$|"
    rf"^what does (?:this|the|my|that) {_THING} (?:say|cover|contain|describe|deal with)\W*$|"
    rf"^(?:please )?(?:can you )?(?:summari[sz]e|sum up|describe) (?:this|the|my|that) {_THING}"
    r"(?: for me| briefly| in short| please)*\W*$|"
    r"^(?:please )?(?:can you )?(?:give|write|show)(?: me| us)? (?:an? |the )?(?:\w+ )?(?:summary|overview) of "
    rf"(?:this|the|my|that) {_THING}\W*$|"
    rf"^(?:an? )?(?:\w+ )?(?:summary|overview) of (?:this|the|my|that) {_THING}\W*$|"
    r"^(?:worum geht es in|wovon handelt) (?:diese[mrs]|dem|der|das) (?:dokument|datei|text|bericht|pdf)\W*$|"
    r"^\W*de qué trata (?:este|el) (?:documento|archivo|texto|informe|pdf)\W*$|"
    r"^de quoi (?:parle|traite) (?:ce|le) (?:document|fichier|texte|rapport|pdf)\W*$",
    re.IGNORECASE,
)
"""A question about a document as a whole that names none."""
WHOLE_DOCUMENT = "this document"
"""The argument of such a question's call."""
INTRODUCTION = 8
"""Passages that a document is introduced by at most: the section that sums it up is one of its first."""


class Lookup(Tool):
    """Finds the document or entity that a request names outright, and the only document where one is asked about as a
    whole.
    """

    name: ClassVar[str] = "lookup"
    answer_type: ClassVar[AnswerType | None] = AnswerType.LOOKUP
    names_documents: ClassVar[bool] = True
    needs_retrieval: ClassVar[bool] = True

    def wanted(self, question: str) -> tuple[str, ...]:
        """The name in `show document X` or `what is in file X`; `WHOLE_DOCUMENT` where a document is asked about."""
        if _WHOLE.match(question):
            return (WHOLE_DOCUMENT,)
        match = _REQUEST.match(question) or _FILE_REQUEST.match(question)
        if match is None:
            return ()
        groups = match.groupdict()
        name = (groups.get("name") or groups.get("inside") or "").strip(" \"'“”‘’`«»")
        return (name,) if name else ()

    async def run(self, request: ToolRequest, state: RunState, reads: LazySnapshot, seconds: float) -> StageResult:
        """The state with the passages that were found: those that the filter of the question lets through."""
        snapshot = await reads.snapshot()
        narrowed = state.options.search.filter
        if request.argument == WHOLE_DOCUMENT:
            introduction = await _find_introduction(snapshot, narrowed)
            retrieved = replace(state.retrieved, introduction=introduction)
            found = introduction[0] if introduction else None
        else:
            workspace_id = state.question.asked.workspace.workspace_id
            found = await _find_opening(snapshot, workspace_id, request.argument, narrowed)
            retrieved = replace(state.retrieved, opening=found)
        if found is None:
            call = ToolCall(self.name, request.argument, None, "NOT_FOUND", NO_DURATION)
        else:
            result = f"{found.chunk.document_title} ({found.chunk.source_path})"
            call = ToolCall(self.name, request.argument, result, None, NO_DURATION, found.chunk.document_id)
        calls = (*state.retrieved.tool_calls, call)
        return StageResult(replace(state, retrieved=replace(retrieved, tool_calls=calls)))


async def _find_introduction(snapshot: CorpusSnapshot, narrowed: DocumentFilter) -> tuple[Passage, ...]:
    """The first passages of the only document that the filter lets through; none where there are several."""
    most = 2 if narrowed.is_empty else MAX_DOCUMENTS
    readable = await snapshot.documents.find_documents("", snapshot.access.access_ids, most)
    if len(readable) == most:
        return ()
    found = [chunks for one in readable if (chunks := await _first_chunks(snapshot, one.document_id, narrowed))]
    return tuple(map(_passage, found[0][:INTRODUCTION])) if len(found) == 1 else ()


async def _find_opening(
    snapshot: CorpusSnapshot, workspace_id: UUID, name: str, narrowed: DocumentFilter
) -> Passage | None:
    """The first passage of the document called `name`, else a passage about the entity `name`, else None."""
    access_ids = snapshot.access.access_ids
    for document in await snapshot.documents.find_documents(name, access_ids, MAX_NAMESAKES):
        chunks = await _first_chunks(snapshot, document.document_id, narrowed)
        if chunks:
            return _passage(chunks[0])
    entities = [entity.entity_id for entity in question_entities(workspace_id, name)]
    allowed = None if narrowed.is_empty else await snapshot.documents.ordinals_matching(narrowed, access_ids)
    for mention in await snapshot.graph.mentions_of(entities, MAX_MENTIONS) if entities else ():
        ordinals = [one for one in mention.ordinals if allowed is None or one in allowed]
        chunks = await snapshot.documents.chunks(ordinals, access_ids)
        if chunks:
            return _passage(chunks[0])
    return None


async def _first_chunks(snapshot: CorpusSnapshot, document_id: UUID, narrowed: DocumentFilter) -> list[Chunk]:
    """Those of a document in their order; none of one that the filter keeps out."""
    if narrowed.document_ids and document_id not in narrowed.document_ids:
        return []
    access_ids = snapshot.access.access_ids
    only = replace(narrowed, document_ids=(document_id,))
    ordinals = sorted(await snapshot.documents.ordinals_matching(only, access_ids))[:MAX_OPENING_CHUNKS]
    return sorted(await snapshot.documents.chunks(ordinals, access_ids), key=lambda chunk: chunk.index)


def _passage(chunk: Chunk) -> Passage:
    return Passage(chunk, Candidate(chunk.ordinal, 1.0, ()), origin=Lookup.name)
