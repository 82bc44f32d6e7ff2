"""What ingesting a source would cost, found out without embedding or storing anything."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from agentic_rag.documents.document_ids import resolve_ids
from agentic_rag.documents.ports import Parser
from agentic_rag.documents.revision_diff import VisibleChunk, diff_revision
from agentic_rag.ingestion.analysis.analyse import TextAnalysis
from agentic_rag.ingestion.ports import SourceConnector, SourceItem
from agentic_rag.ingestion.sync import SyncOptions, SyncSource
from agentic_rag.kernel.database import Database
from agentic_rag.kernel.errors import AgenticRagError, ParseFailed
from agentic_rag.models.billing.embedding_cost import EmbeddingCost
from agentic_rag.models.embedding.ports import EmbedderSource
from agentic_rag.tenancy.principals import DEFAULT_ORG_ID, WorkspaceRef
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
            found = await self.sync.run(workspace, source, "estimate", SyncOptions(dry_run=True))
            wanted = frozenset((*found.new, *found.changed))
        changes = await source.changes(frozenset(), None)
        items = [item for item in (changes.upserted if changes else ()) if wanted is None or item.path in wanted]
        return [await self._estimate(workspace, source, item) for item in items]

    async def _estimate(
        self, workspace: WorkspaceRef | None, source: SourceConnector, item: SourceItem
    ) -> FileEstimate:
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
                document_id = (await resolve_ids(transaction.documents, workspace, [item.path]))[item.path]
                visible = await transaction.documents.visible_chunks(workspace, document_id)
        content = await source.read(item)
        try:
            parsed = await self.parser.parse(content.data if content else b"", item.path.rsplit("/", 1)[-1], None)
        except ParseFailed as fault:
            return FileEstimate(item.path, None, fault)
        drafts = await self.analysis.chunk(document_id, parsed, profile)
        diff = diff_revision(visible, drafts)
        cost = await self.analysis.cost(diff.added, [kept.draft for kept in diff.kept], space)
        return FileEstimate(item.path, cost)
