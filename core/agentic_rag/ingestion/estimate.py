"""What ingesting a source or a file would cost, found out without embedding or storing anything."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from uuid import UUID

from agentic_rag.documents.document_access import require_writer
from agentic_rag.documents.document_ids import resolve_ids
from agentic_rag.documents.ports import Parser
from agentic_rag.documents.revision_diff import VisibleChunk, diff_revision
from agentic_rag.documents.upload_arguments import HEAD_BYTES, SniffMediaType, validate_source_path
from agentic_rag.ingestion.analysis.analyse import TextAnalysis
from agentic_rag.ingestion.ports import SourceConnector
from agentic_rag.ingestion.sync import SyncOptions, SyncSource
from agentic_rag.ingestion.upload import limit_size, require_replaceable, sniffed
from agentic_rag.kernel.database import Database
from agentic_rag.kernel.errors import AgenticRagError, ParseFailed, no_such_workspace
from agentic_rag.models.billing.embedding_cost import EmbeddingCost
from agentic_rag.models.embedding.ports import EmbedderSource
from agentic_rag.tenancy.principals import DEFAULT_ORG_ID, Principal, WorkspaceRef
from agentic_rag.workspaces.workspace import effective_settings

_NOBODYS = UUID(int=0)
"""The document of a workspace that is not there."""


@dataclass(frozen=True, slots=True)
class FileEstimate:
    """One new or changed file: its cost, or why it will fail."""

    path: str
    cost: EmbeddingCost | None
    fault: AgenticRagError | None = None


@dataclass(frozen=True, slots=True)
class EstimateIngest:
    """Reads, parses and chunks what a synchronisation would ingest, one file at a time."""

    database: Database
    sync: SyncSource
    parser: Parser
    analysis: TextAnalysis
    embedders: EmbedderSource
    chunk_profile: str

    async def run(self, workspace: WorkspaceRef | None, source: SourceConnector) -> list[FileEstimate]:
        """An estimate for each file that is new or changed; for all files when there is no workspace yet.

        Errors: those of `SyncSource.run`; `Retryable` when the parser cannot work.
        """
        wanted: frozenset[str] | None = None
        if workspace is not None:
            listed = await self.sync.run(workspace, source, "estimate", SyncOptions(dry_run=True))
            wanted = frozenset((*listed.new, *listed.changed))
        changes = await source.changes(frozenset(), None)
        items = [item for item in (changes.upserted if changes else ()) if wanted is None or item.path in wanted]
        found: list[FileEstimate] = []
        for item in items:
            content = await source.read(item)
            found.append(await self.of_file(workspace, item.path, content.data if content else b""))
        return found

    async def of_file(
        self, workspace: WorkspaceRef | None, path: str, content: bytes, file_name: str | None = None
    ) -> FileEstimate:
        """The estimate of a file under a path; `file_name` is None for the last part of the path."""
        document_id = _NOBODYS
        visible: list[VisibleChunk] = []
        embedders = await self.embedders.of(workspace or WorkspaceRef(DEFAULT_ORG_ID, _NOBODYS))
        profile, space = self.chunk_profile, embedders.default.space
        if workspace is not None:
            async with self.database.transaction(workspace.org_id) as transaction:
                stored = await transaction.workspaces.get(workspace.workspace_id)
                profile = (effective_settings(stored).chunk_profile if stored else None) or profile
                active = await transaction.workspaces.active_space(workspace)
                space = space if active is None else active.space
                document_id = (await resolve_ids(transaction.documents, workspace, [path]))[path]
                visible = await transaction.documents.visible_chunks(workspace, document_id)
        try:
            parsed = await self.parser.parse(content, path.rsplit("/", 1)[-1] if file_name is None else file_name, None)
        except ParseFailed as fault:
            return FileEstimate(path, None, fault)
        drafts = await self.analysis.chunk(document_id, parsed, profile)
        diff = diff_revision(visible, drafts)
        cost = await self.analysis.cost(diff.added, [kept.draft for kept in diff.kept], space)
        return FileEstimate(path, cost)


@dataclass(frozen=True, slots=True)
class UploadEstimate:
    """What uploading a file would cost, or why it would fail once it is read."""

    size: int
    """Bytes."""
    media_type: str
    file: FileEstimate


@dataclass(frozen=True, slots=True)
class EstimateUpload:
    """The use case behind `estimateUpload`: the same computation for a file that is sent. It is read and forgotten."""

    files: EstimateIngest
    sniff: SniffMediaType
    max_bytes: int

    async def run(
        self,
        principal: Principal,
        workspace: WorkspaceRef,
        file_name: str,
        pieces: AsyncIterator[bytes],
        source_path: str | None = None,
    ) -> UploadEstimate:
        """The estimate of a file under a path (default: its name). Of a document that is there, chunks that stay are
        not embedded again.

        Errors: `NotFound` code WORKSPACE_NOT_FOUND; `InvalidInput` (path); `Forbidden` (the caller may not replace the
        document of that path); `UploadTooLarge`; `ContentRefused`; `MissingProviderKey`; `Retryable` when the parser
        cannot work.
        """
        path = validate_source_path(file_name if source_path is None else source_path)
        async with self.files.database.transaction(workspace.org_id) as transaction:
            if await transaction.workspaces.get(workspace.workspace_id) is None:
                raise no_such_workspace()
            await require_writer(transaction, principal, workspace)
            document_id = (await resolve_ids(transaction.documents, workspace, [path]))[path]
            known = await transaction.documents.get(workspace, document_id)
            if known is not None:
                await require_replaceable(transaction, principal, known)
        content = b"".join([piece async for piece in limit_size(pieces, self.max_bytes)])
        media_type = sniffed(self.sniff, content[:HEAD_BYTES], file_name)
        return UploadEstimate(len(content), media_type, await self.files.of_file(workspace, path, content, file_name))
