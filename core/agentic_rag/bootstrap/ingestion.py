"""Getting documents in, and erasing them."""

from __future__ import annotations

from datetime import timedelta
from functools import cached_property
from pathlib import Path

from agentic_rag.adapters.parsing.sniffer import ZipAwareSniffer
from agentic_rag.adapters.sources.directory import DirectorySource
from agentic_rag.bootstrap.answering import AnsweringParts
from agentic_rag.documents.upload_arguments import SniffMediaType
from agentic_rag.erasure.delete import DeleteDocument
from agentic_rag.erasure.request_erasure import RequestErasure
from agentic_rag.ingestion.analysis.analyse import TextAnalysis
from agentic_rag.ingestion.analysis.extract_entities import ExtractEntities
from agentic_rag.ingestion.attachments import Attachments
from agentic_rag.ingestion.copy_document import CopyDocument
from agentic_rag.ingestion.estimate import EstimateIngest, EstimateUpload
from agentic_rag.ingestion.group_commit import GroupCommitPublisher
from agentic_rag.ingestion.ingest import IngestDocument
from agentic_rag.ingestion.ingest_chunks import IngestChunks
from agentic_rag.ingestion.live.cancel_job import CancelJob
from agentic_rag.ingestion.live.follow_changes import FollowChanges
from agentic_rag.ingestion.ports import SourceConnector
from agentic_rag.ingestion.reingest import ReingestDocument
from agentic_rag.ingestion.sources.follow import FollowSource
from agentic_rag.ingestion.sources.manage import ManageSources
from agentic_rag.ingestion.sources.push import PushSource
from agentic_rag.ingestion.sync import SyncSource
from agentic_rag.ingestion.upload import UploadDocument
from agentic_rag.language.token_estimate import TokenEstimator
from agentic_rag.models.chat.request import ChatTask


class IngestionParts(AnsweringParts):
    """The rooms `ingestion` and `erasure`."""

    @property
    def _chunk_profile(self) -> str:
        return self.settings.ingestion.chunk_profile

    @property
    def _stored_mb(self) -> int:
        return self.settings.workspaces.default_rates.limits.stored_mb or 0

    @cached_property
    def _analysis(self) -> TextAnalysis:
        return TextAnalysis(TokenEstimator().count, self._compute, self.settings.models.prices)

    @cached_property
    def ingest(self) -> IngestDocument:
        """The body of INGEST jobs."""
        extracts = ChatTask.EXTRACT in self.settings.models.tasks
        return IngestDocument(
            self.database,
            self.blobs,
            self.parser,
            self.embedders,
            self._analysis,
            GroupCommitPublisher(self.database),
            self.telemetry,
            self._chunk_profile,
            ExtractEntities(self.embedders) if extracts else None,
        )

    @cached_property
    def ingest_chunks(self) -> IngestChunks:
        """Ingests texts that are already cut into chunks."""
        return IngestChunks(self.database, self.embedders, self._analysis)

    @cached_property
    def sync_source(self) -> SyncSource:
        return SyncSource(
            self.database,
            self.blobs,
            self.original_keys,
            self.parser,
            self.telemetry,
            self._chunk_profile,
            self.embedders,
            timedelta(hours=self.settings.operations.retention_times.missing_hours),
        )

    def directory_source(self, root: Path) -> SourceConnector:
        return DirectorySource(root)

    @cached_property
    def sources(self) -> ManageSources:
        """What callers do with the sources that workspaces follow."""
        return ManageSources(self.database, self._vault, self.ids, self.clock, self.telemetry)

    @cached_property
    def push_source(self) -> PushSource:
        """What callers do with sources whose files they send."""
        return PushSource(
            self.database,
            self.sync_source,
            self.telemetry,
            self.settings.ingestion.max_upload_bytes,
            self._stored_mb,
        )

    @cached_property
    def follow_source(self) -> FollowSource:
        """The body of SYNC jobs."""
        # Only a worker follows sources: the server starts without the clients that connect to them.
        from agentic_rag.adapters.sources.connectors import connectors

        return FollowSource(
            self.database,
            self.sync_source,
            connectors(self.settings.proxies),
            self._vault,
            self.clock,
            self.telemetry,
            self._stored_mb,
        )

    @cached_property
    def estimate(self) -> EstimateIngest:
        return EstimateIngest(
            self.database, self.sync_source, self.parser, self._analysis, self.embedders, self._chunk_profile
        )

    @property
    def _sniff(self) -> SniffMediaType:
        return ZipAwareSniffer(takes_pictures=bool(self.settings.ingestion.parser_options.ocr))

    @cached_property
    def estimate_upload(self) -> EstimateUpload:
        """The use case behind `estimateUpload`."""
        return EstimateUpload(self.estimate, self._sniff, self.settings.ingestion.max_upload_bytes)

    @cached_property
    def upload(self) -> UploadDocument:
        return UploadDocument(
            self.database,
            self.blobs,
            self.original_keys,
            self._sniff,
            self.parser,
            self.telemetry,
            self.embedders,
            chunk_profile=self._chunk_profile,
            max_bytes=self.settings.ingestion.max_upload_bytes,
            stored_mb=self._stored_mb,
        )

    @cached_property
    def changes(self) -> FollowChanges:
        return FollowChanges(self.database, self.telemetry)

    @cached_property
    def cancel_job(self) -> CancelJob:
        return CancelJob(self.database, self.telemetry)

    @cached_property
    def reingest(self) -> ReingestDocument:
        return ReingestDocument(self.database, self.telemetry)

    @cached_property
    def delete(self) -> DeleteDocument:
        return DeleteDocument(self.database, self.cache, self.blobs, self.telemetry)

    @cached_property
    def request_erasure(self) -> RequestErasure:
        """Deletes workspaces and organisations."""
        return RequestErasure(self.database, self.telemetry)

    @cached_property
    def copy_document(self) -> CopyDocument:
        return CopyDocument(self.database, self.blobs, self.upload, self.document_access)

    @cached_property
    def attachments(self) -> Attachments:
        """Documents of projects and agents that callers know by ids of their own."""
        return Attachments(
            self.database, self.upload, self.delete, self.administer, self.embedders, self.document_access
        )
