"""Data builders: small, valid values with only what a test cares about spelled out."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import count
from uuid import UUID, uuid4

import numpy as np

from agentic_rag.answering.answer import Answer, AnswerDebug, Citation, Outcome, TextSpan
from agentic_rag.answering.gate_decision import Directives, GateDecision
from agentic_rag.answering.run import CacheOutcome, Run, RunVersions, StageRecord
from agentic_rag.documents.document import ChunkDraft, PageSpan, Revision, chunk_id_for, content_hash, document_id_for
from agentic_rag.documents.ports import NewDocument
from agentic_rag.documents.revision_diff import KeptChunk
from agentic_rag.ingestion.ports import DocumentPublication, NewChunk
from agentic_rag.language.tokenizer import term_counts
from agentic_rag.models.embedding.space import EmbeddingSpace
from agentic_rag.retrieval.candidates import ChunkEntities, ExtractedEntity
from agentic_rag.tenancy.principals import WorkspaceRef

DIMENSIONS = 8
SPACE = EmbeddingSpace("test", "hashed", DIMENSIONS)
EVERYBODY = (0,)

_BIRTH = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
_seconds = count()


def half(values: Iterable[float]) -> bytes:
    """A vector as it is stored: little-endian float16."""
    return np.array(list(values), "<f2").tobytes()


def vector_of(text: str, dimensions: int = DIMENSIONS) -> bytes:
    """A vector that depends on the text alone."""
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")
    return half(np.random.default_rng(seed).standard_normal(dimensions))


def entity_id(name: str) -> UUID:
    """The id of a test entity."""
    return UUID(bytes=hashlib.sha256(name.encode()).digest()[:16])


def entities_of(*names: str, pairs: Sequence[tuple[str, str]] = ()) -> ChunkEntities:
    """Entities of one chunk, one mention per time named; `pairs` stand in one sentence."""
    ids = sorted({entity_id(name): name for name in names}.items())
    places = {name: place for place, (_, name) in enumerate(ids)}
    found = tuple(ExtractedEntity(key, name.casefold(), name, "term", names.count(name)) for key, name in ids)
    linked = tuple((min(places[a], places[b]), max(places[a], places[b])) for a, b in pairs)
    return ChunkEntities(found, linked)


NO_ENTITIES = ChunkEntities(())


def new_document(workspace: WorkspaceRef, path: str, **changes: object) -> NewDocument:
    """A Markdown file."""
    values: dict[str, object] = {
        "document_id": document_id_for(workspace, path),
        "source_path": path,
        "title": path.rsplit("/", 1)[-1],
        "file_name": path.rsplit("/", 1)[-1],
        "media_type": "text/markdown",
        "size": 100,
        "uploaded_by": "tester",
    }
    return NewDocument(**(values | changes))  # type: ignore[arg-type]


def revision_of(document_id: UUID, passages: Sequence[str], pages: tuple[PageSpan, ...] = ()) -> Revision:
    """A revision whose text is the passages, a blank line between them."""
    text = "\n\n".join(passages)
    digest = hashlib.sha256(text.encode()).digest()
    identity = hashlib.sha256(document_id.bytes + digest).digest()[:16]
    return Revision(UUID(bytes=identity), document_id, text, digest, pages, "test", "1")


def drafts_of(revision: Revision, passages: Sequence[str], page: int | None = None) -> list[ChunkDraft]:
    """One chunk per passage of `revision_of`."""
    drafts: list[ChunkDraft] = []
    start = 0
    for index, passage in enumerate(passages):
        digest = content_hash(passage)
        drafts.append(
            ChunkDraft(
                chunk_id=chunk_id_for(revision.document_id, digest, 0),
                index=index,
                text=passage,
                start=start,
                end=start + len(passage),
                page=page,
                line_start=2 * index + 1,
                line_end=2 * index + 1,
                heading_path=("Chapter", f"Section {index}"),
                content_hash=digest,
            )
        )
        start += len(passage) + 2
    return drafts


def new_chunk(
    draft: ChunkDraft, entities: ChunkEntities = NO_ENTITIES, vector: bytes | None = None, dimensions: int = DIMENSIONS
) -> NewChunk:
    """A chunk with its postings; its vector follows from its text unless given."""
    return NewChunk(draft, vector or vector_of(draft.text, dimensions), term_counts(draft.text), entities)


def publication(
    document_id: UUID,
    revision: Revision,
    added: Sequence[NewChunk],
    *,
    kept: Sequence[KeptChunk] = (),
    removed: Sequence[int] = (),
    expected: UUID | None = None,
    job_id: UUID | None = None,
    fence: int | None = None,
) -> DocumentPublication:
    """What one document's publish changes."""
    return DocumentPublication(
        document_id,
        revision,
        revision.text_hash,
        tuple(added),
        tuple(kept),
        tuple(removed),
        expected,
        job_id,
        fence,
    )


def citation(document_id: UUID, snippet: str, marker: int = 1) -> Citation:
    """A verified citation of the whole answer."""
    return Citation(
        marker=marker,
        document_id=document_id,
        revision_id=uuid4(),
        chunk_id=uuid4(),
        ordinal=0,
        title=f"title of {snippet}",
        source_path="a.md",
        url=None,
        snippet=snippet,
        source_span=TextSpan(0, len(snippet)),
        answer_spans=(TextSpan(0, len(snippet)),),
        page=None,
        line_start=1,
        line_end=1,
        heading_path=("Chapter",),
        score=0.5,
        arms=(),
        origin="corpus",
        verified=True,
    )


def run_of(
    workspace: WorkspaceRef,
    *,
    citations: Sequence[Citation] = (),
    text: str = "An answer.",
    question: str = "What?",
    idempotency_key: str | None = None,
    input_hash: bytes | None = None,
) -> Run:
    """A grounded run; each one is a second newer than the last."""
    gate = GateDecision(Directives(use_retrieval=True), "retrieve", 0.7, {"retrieve": 0.5}, (), (), "w1", "offline")
    answer = Answer(text, Outcome.GROUNDED, None, tuple(citations), (), gate, AnswerDebug())
    return Run(
        workspace=workspace,
        run_id=uuid4(),
        trace_id="0" * 32,
        question=question,
        subject="tester",
        created_at=_BIRTH + timedelta(seconds=next(_seconds)),
        seconds=0.25,
        cache=CacheOutcome.MISS,
        versions=RunVersions(1, 1, "test/hashed/8/half", "w1", "p1", ("m",)),
        answer=answer,
        stages=(StageRecord("gate", 0.0, 0.01, "ok"), StageRecord("retrieve", 0.01, 0.2, "ok")),
        idempotency_key=idempotency_key,
        input_hash=input_hash,
    )
