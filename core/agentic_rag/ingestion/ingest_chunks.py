"""Ingest ready-made chunks: no original, no parsing, no job per document."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from uuid import UUID

from agentic_rag.documents.chunking import chunk_at_spans, chunk_prepared_texts
from agentic_rag.documents.document import (
    ChunkDraft,
    Document,
    DocumentStatus,
    ParsedDocument,
    Revision,
    revision_id_for,
)
from agentic_rag.documents.document_ids import resolve_ids
from agentic_rag.documents.ports import NewDocument
from agentic_rag.documents.revision_diff import RevisionDiff, VisibleChunk, diff_revision
from agentic_rag.ingestion.analysis.analyse import TextAnalysis, embed_texts, new_chunks, space_for
from agentic_rag.ingestion.analysis.index_text import split_slices
from agentic_rag.ingestion.group_commit import compaction_job, is_compaction_due
from agentic_rag.ingestion.ports import DocumentPublication, NewChunk, Published
from agentic_rag.kernel.database import Database, Transaction
from agentic_rag.kernel.errors import InvalidInput, NotFound, Retryable
from agentic_rag.kernel.text import strip_unstorable
from agentic_rag.models.embedding.ports import Embedder, EmbedderSource
from agentic_rag.tenancy.principals import WorkspaceRef

PARSER = "prepared"
PARSER_VERSION = "1"
MEDIA_TYPE = "text/plain"

_UNNAMED = UUID(int=0)
"""Whose chunks are cut: the ids are made when the document is ingested."""


@dataclass(frozen=True, slots=True)
class ChunkOffsets:
    """A storable text and where its chunks stand in it, as code points [start, end)."""

    text: str
    spans: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class ChunkedDocument:
    """A document that somebody else cut into chunks (each not blank)."""

    source_path: str
    title: str
    texts: tuple[str, ...]
    url: str | None = None
    cuts: ChunkOffsets | None = None
    """The text that `texts` were cut from: citations point into it. None: the chunks one after the other are the text.
    """


@dataclass(frozen=True, slots=True)
class PlainTextDocument:
    """A document that is plain text, not blank."""

    source_path: str
    title: str
    text: str


@dataclass(slots=True)
class ChunkIngestReport:
    """What was ingested so far, and what of it was paid for."""

    documents: int = 0
    chunks: int = 0
    embedded: int = 0
    kept: int = 0
    unchanged: int = 0
    """Documents that were there already, exactly so."""
    version: int | None = None
    """The last corpus version published; None when nothing changed."""
    publishes: int = 0


@dataclass(frozen=True, slots=True)
class _OffsetDocument:
    """A document with its offsets, before the database was asked."""

    source: ChunkedDocument
    revision: Revision
    content_hash: bytes
    drafts: list[ChunkDraft]


@dataclass(frozen=True, slots=True)
class _DraftPublication:
    """A document whose publication is complete but for the vectors of `diff.added`."""

    cut: _OffsetDocument
    document: Document
    diff: RevisionDiff


@dataclass(frozen=True, slots=True)
class IngestChunks:
    """Works in batches; while one batch is in its publish transaction, the next is cut, embedded and analysed."""

    database: Database
    embedders: EmbedderSource
    analysis: TextAnalysis
    batch_documents: int = 512
    batch_chunks: int = 1_000

    async def run(
        self,
        workspace: WorkspaceRef,
        documents: Iterable[ChunkedDocument],
        uploaded_by: str,
        on_progress: Callable[[int], None] | None = None,
    ) -> ChunkIngestReport:
        """Ingest all; `on_progress` gets the number of chunks that readers see after each publish.

        Errors: `InvalidInput` (a blank chunk), `NotFound` (workspace), `SpaceMismatch`, `SpaceSwitched` (run it again),
        those of the embedder. What was published before an error stays published, and running again continues after it.
        """
        embedders = await self.embedders.of(workspace)
        async with self.database.transaction(workspace.org_id) as transaction:
            if await transaction.workspaces.get(workspace.workspace_id) is None:
                raise NotFound("There is no such workspace.")
            space = await space_for(transaction, workspace, embedders)
        embedder = embedders.for_space(space.space)
        tally = ChunkIngestReport()
        publishing: asyncio.Task[None] | None = None
        in_flight = frozenset[str]()
        try:
            for batch in self._batches(documents):
                paths = frozenset(document.source_path for document in batch)
                if publishing is not None and paths & in_flight:
                    # What the later text keeps of the earlier one is known when that is published.
                    await publishing
                ready = await self._prepare(workspace, batch, uploaded_by, tally)
                publications = await self._publications(workspace, embedder, ready, tally)
                if publishing is not None:
                    await publishing
                publishing = asyncio.create_task(
                    self._publish(workspace, space.space_id, publications, tally, on_progress), name="publish prepared"
                )
                in_flight = paths
            if publishing is not None:
                await publishing
        finally:
            if publishing is not None and not publishing.done():
                await asyncio.wait([publishing])
        await self._compact(workspace, tally)
        return tally

    async def cut(self, document: PlainTextDocument, profile: str) -> ChunkedDocument:
        """Cut plain text under a named chunk profile. Errors: `InvalidInput` (unknown profile)."""
        text = strip_unstorable(document.text)
        parsed = ParsedDocument(text, (), (), document.title, MEDIA_TYPE, PARSER, PARSER_VERSION)
        drafts = await self.analysis.chunk(_UNNAMED, parsed, profile)
        cuts = ChunkOffsets(text, tuple((draft.start, draft.end) for draft in drafts))
        return ChunkedDocument(document.source_path, document.title, tuple(draft.text for draft in drafts), cuts=cuts)

    def _batches(self, documents: Iterable[ChunkedDocument]) -> Iterator[list[ChunkedDocument]]:
        batch: list[ChunkedDocument] = []
        paths: set[str] = set()
        chunks = 0
        for document in documents:
            full = len(batch) >= self.batch_documents or chunks + len(document.texts) > self.batch_chunks
            if batch and (full or document.source_path in paths):
                yield batch
                batch, paths, chunks = [], set[str](), 0
            batch.append(document)
            paths.add(document.source_path)
            chunks += len(document.texts)
        if batch:
            yield batch

    async def _prepare(
        self, workspace: WorkspaceRef, batch: Sequence[ChunkedDocument], uploaded_by: str, tally: ChunkIngestReport
    ) -> list[_DraftPublication]:
        """Register what is new or changed, and see what readers have of it."""
        async with self.database.transaction(workspace.org_id) as transaction:
            ids = await resolve_ids(transaction.documents, workspace, [one.source_path for one in batch])
        cuts = await asyncio.to_thread(lambda: [_cut(ids[document.source_path], document) for document in batch])
        tally.documents += len(cuts)
        tally.chunks += sum(len(cut.drafts) for cut in cuts)
        async with self.database.transaction(workspace.org_id) as transaction:
            known = await transaction.documents.get_many(workspace, [cut.revision.document_id for cut in cuts])
            there = [cut for cut in cuts if _is_there(known.get(cut.revision.document_id), cut)]
            tally.unchanged += len(there)
            tally.kept += sum(len(cut.drafts) for cut in there)
            wanted = [cut for cut in cuts if not _is_there(known.get(cut.revision.document_id), cut)]
            documents = await transaction.documents.register_many(
                workspace, [_new_document(cut, uploaded_by) for cut in wanted]
            )
            return [
                _DraftPublication(cut, document, diff_revision(await _visible(transaction, document), cut.drafts))
                for cut, document in zip(wanted, documents, strict=True)
            ]

    async def _publications(
        self, workspace: WorkspaceRef, embedder: Embedder, ready: Sequence[_DraftPublication], tally: ChunkIngestReport
    ) -> list[DocumentPublication]:
        titled = [(one.cut.source.title, draft) for one in ready for draft in one.diff.added]
        embedding = asyncio.gather(
            *(
                embed_texts(embedder, [draft.text for _, draft in titled[part]])
                for part in split_slices(len(titled), embedder.batch_size)
            )
        )
        batches, indexed = await asyncio.gather(embedding, self.analysis.index(workspace, titled))
        vectors = [one for batch in batches for one in batch]
        chunks = iter(new_chunks([draft for _, draft in titled], vectors, indexed))
        tally.embedded += len(titled)
        tally.kept += sum(len(one.diff.kept) for one in ready)
        return [_publication(one, tuple(islice(chunks, len(one.diff.added)))) for one in ready]

    async def _publish(
        self,
        workspace: WorkspaceRef,
        space_id: int,
        publications: Sequence[DocumentPublication],
        tally: ChunkIngestReport,
        on_progress: Callable[[int], None] | None,
    ) -> None:
        if publications:
            async with self.database.transaction(workspace.org_id) as transaction:
                results = await transaction.publisher.publish(workspace, space_id, publications)
            _check(results)
            tally.publishes += 1
            tally.version = max((result.version or 0 for result in results), default=tally.version)
        if on_progress is not None:
            on_progress(tally.chunks)

    async def _compact(self, workspace: WorkspaceRef, tally: ChunkIngestReport) -> None:
        if tally.publishes > 1 or (tally.version is not None and is_compaction_due(tally.version)):
            async with self.database.transaction(workspace.org_id) as transaction:
                await transaction.jobs.enqueue(compaction_job(workspace))


def _cut(document_id: UUID, document: ChunkedDocument) -> _OffsetDocument:
    if not document.texts:
        raise InvalidInput(f"{document.source_path} has no chunks.", path=("documents", document.source_path))
    if document.cuts is None:
        text, drafts = chunk_prepared_texts(document_id, document.texts)
    else:
        text, drafts = document.cuts.text, chunk_at_spans(document_id, document.cuts.text, document.cuts.spans)
    text_hash = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    # The cuts are part of the content: the same text in other chunks is another revision.
    cuts = ",".join(f"{draft.start}:{draft.end}" for draft in drafts)
    content_hash = hashlib.sha256(text_hash + cuts.encode()).digest()
    revision_id = revision_id_for(document_id, content_hash, f"{PARSER}-{PARSER_VERSION}", "")
    revision = Revision(revision_id, document_id, text, text_hash, (), PARSER, PARSER_VERSION, document.title)
    return _OffsetDocument(document, revision, content_hash, drafts)


def _is_there(document: Document | None, cut: _OffsetDocument) -> bool:
    return (
        document is not None
        and document.status is DocumentStatus.READY
        and document.revision_id == cut.revision.revision_id
    )


def _new_document(cut: _OffsetDocument, uploaded_by: str) -> NewDocument:
    return NewDocument(
        document_id=cut.revision.document_id,
        source_path=cut.source.source_path,
        title=cut.source.title,
        file_name=cut.source.source_path.rsplit("/", 1)[-1],
        media_type=MEDIA_TYPE,
        size=len(cut.revision.text.encode("utf-8", "surrogatepass")),
        uploaded_by=uploaded_by,
        url=cut.source.url,
    )


async def _visible(transaction: Transaction, document: Document) -> list[VisibleChunk]:
    if document.revision_id is None:
        return []
    return await transaction.documents.visible_chunks(document.workspace, document.document_id)


def _publication(one: _DraftPublication, added: tuple[NewChunk, ...]) -> DocumentPublication:
    return DocumentPublication(
        document_id=one.document.document_id,
        revision=one.cut.revision,
        content_hash=one.cut.content_hash,
        added=added,
        kept=one.diff.kept,
        removed=one.diff.removed,
        expected=one.document.revision_id,
    )


def _check(results: Sequence[Published]) -> None:
    refused = [result for result in results if result.version is None]
    if refused:
        raise Retryable(
            f"{len(refused)} of {len(results)} documents changed or were deleted while they were being ingested. "
            "Run it again.",
            code="PUBLISH_STALE",
        )
