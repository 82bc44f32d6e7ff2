"""Hands fetched pages over to ordinary ingestion, with how they came. The response as fetched is the original."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from uuid import UUID

import msgspec

from agentic_rag.documents.document import Document, DocumentStatus
from agentic_rag.documents.document_ids import resolve_ids
from agentic_rag.documents.originals import OriginalKeys, delete_unless_in_use, original_of
from agentic_rag.documents.ports import BlobStore, DocumentLabel, Parser
from agentic_rag.ingestion.ingest_run import SOURCE_PROVENANCE, WEB_SOURCE
from agentic_rag.ingestion.missing import DEFAULT_GRACE, hide, show_again
from agentic_rag.ingestion.storage import require_storage
from agentic_rag.ingestion.submit import Submission, is_published, submit
from agentic_rag.ingestion.web.earlier_responses import short_headers, tell_earlier
from agentic_rag.ingestion.web.read_pages import FoundPage
from agentic_rag.ingestion.web.revisit import EVERY_HOURS
from agentic_rag.jobs.job import JobRef, QueueName
from agentic_rag.kernel.clock import Clock
from agentic_rag.kernel.database import Database, Transaction
from agentic_rag.kernel.errors import DependencyUnavailable, InvalidInput, NotFound, no_such_document, no_such_workspace
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.models.embedding.ports import EmbedderSource
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.web.fetch_policy import FetchedPage
from agentic_rag.web.page_paths import (
    ANSWERED_AT,
    CRAWL_DEPTH,
    ETAG,
    FETCHED_AT,
    ORIGIN,
    RESPONSE_HEADERS,
    SEARCH_QUERY,
    page_path,
)
from agentic_rag.web.url_policy import Target, parse_target
from agentic_rag.workspaces.workspace import Workspace, effective_settings

FRESH = timedelta(minutes=10)
"""A page that was fetched so lately is not fetched again for a run."""
OWNER = "rag:web"
"""Owns the pages, which everybody in the workspace may read."""

_FILE_NAMES: Mapping[str, str] = {"text/plain": "page.txt", "text/markdown": "page.md"}


def final_address(document: Document) -> str:
    """The address that gave the last response of a page, which its relative links are of."""
    return document.provenance.get(ANSWERED_AT) or document.url or ""


@dataclass(frozen=True, slots=True)
class KeptPage:
    """A page's document; `job` ingests it, None where readers see these very bytes already."""

    document_id: UUID
    job: JobRef | None


@dataclass(frozen=True, slots=True)
class KeepPages:
    """The same address is the same document, and the same bytes of it the same revision."""

    database: Database
    blobs: BlobStore
    keys: OriginalKeys
    parser: Parser
    embedders: EmbedderSource
    clock: Clock
    telemetry: Telemetry
    chunk_profile: str
    stored_mb: int = 0
    grace: timedelta = DEFAULT_GRACE
    """Between the hiding of a page and its erasure."""

    async def admit(self, workspace: WorkspaceRef) -> None:
        """Errors, before anything is fetched: `NotFound`; `InvalidInput` code STORAGE_QUOTA_EXCEEDED;
        `MissingProviderKey` and `BudgetExceeded` of the embedder.
        """
        async with self.database.transaction(workspace.org_id) as transaction:
            await require_storage(transaction, workspace.org_id, self.stored_mb)
        await self.embedders.admit(workspace)

    async def is_fresh(self, workspace: WorkspaceRef, target: Target) -> bool:
        """Whether readers see the page as it was a few minutes ago."""
        document = await self.find(workspace, target)
        if document is None or document.status is not DocumentStatus.READY:
            return False
        fetched = document.provenance.get(FETCHED_AT)
        return fetched is not None and datetime.fromisoformat(fetched) > self.clock.now() - FRESH

    async def find(self, workspace: WorkspaceRef, target: Target) -> Document | None:
        """The document of a page, if the web brought it."""
        path = page_path(target)
        async with self.database.transaction(workspace.org_id) as transaction:
            ids = await resolve_ids(transaction.documents, workspace, [path])
            document = await transaction.documents.get(workspace, ids[path])
        return document if document is not None and ORIGIN in document.provenance else None

    async def response_of(self, document: Document) -> FetchedPage | None:
        """The response of a page as it was kept; None where it is not there any more."""
        async with self.database.transaction(document.workspace.org_id) as transaction:
            originals = await transaction.originals.of(document.workspace, document.document_id)
        try:
            body = await self.blobs.read(original_of(document, originals).key)
        except NotFound:
            return None
        headers = msgspec.json.decode(document.provenance.get(RESPONSE_HEADERS, "{}"), type=dict[str, str])
        return FetchedPage(final_address(document), document.media_type or "", body, headers=headers)

    async def touch(self, document: Document) -> None:
        """Note that the page was asked for now and is the same; one that was gone is shown again."""
        label = DocumentLabel(
            document.source_path, document.file_name, document.url, {FETCHED_AT: self.clock.now().isoformat()}
        )
        async with self.database.transaction(document.workspace.org_id) as transaction:
            await show_again(transaction, document)
            await transaction.documents.relabel(document.workspace, document.document_id, label)

    async def withdraw(self, workspace: WorkspaceRef, url: str) -> None:
        """Hide a page that asks not to be kept any more, if there is one, and have it erased after the grace."""
        document = await self.find(workspace, parse_target(url))
        if document is None:
            return
        async with self.database.transaction(workspace.org_id) as transaction:
            await hide(transaction, document, self.grace, self.telemetry.carrier())
        self.telemetry.event("rag_page_gone", document_id=str(document.document_id), refused=True)

    async def run(
        self,
        workspace: WorkspaceRef,
        page: FoundPage,
        fetched: FetchedPage,
        url: str,
        queue: QueueName = QueueName.BULK,
    ) -> KeptPage:
        """Store the response as the page of this address and enqueue its ingestion. Errors: `InvalidInput` codes
        SOURCE_PATH_TAKEN where another document stands at the page's path and STORAGE_QUOTA_EXCEEDED; `NotFound` code
        DOCUMENT_NOT_FOUND where that of a known page is gone; `DependencyUnavailable`. After one nothing is left of the
        response.
        """
        target = parse_target(url)
        path, file_name = page_path(target), _FILE_NAMES.get(fetched.media_type, "page.html")
        async with self.database.transaction(workspace.org_id) as transaction:
            stored = await transaction.workspaces.get(workspace.workspace_id)
            if stored is None:
                raise no_such_workspace()
        key = self.keys.new(stored, file_name)
        await self.blobs.put(key, fetched.body)
        spare = True
        try:
            async with self.database.transaction(workspace.org_id) as transaction:
                ids = await resolve_ids(transaction.documents, workspace, [path])
                submission = self._submission(stored, ids[path], path, key, page, fetched, file_name, url)
                kept, held = await self._register(transaction, submission, stored, queue, is_known=page.is_known)
                if kept.job is not None:
                    await require_storage(transaction, workspace.org_id, self.stored_mb)
                spare = held != key
        finally:
            if spare:
                with contextlib.suppress(DependencyUnavailable):  # Then it stays, named by nothing.
                    await delete_unless_in_use(self.database, self.blobs, workspace, key)
        self.telemetry.event(
            "rag_page_kept",
            document_id=str(kept.document_id),
            host=target.host,
            origin=page.origin.value,
            depth=page.depth,
            unchanged=kept.job is None,
        )
        return kept

    def _submission(
        self,
        workspace: Workspace,
        document_id: UUID,
        path: str,
        key: str,
        page: FoundPage,
        fetched: FetchedPage,
        file_name: str,
        url: str,
    ) -> Submission:
        provenance = {
            SOURCE_PROVENANCE: WEB_SOURCE,
            ORIGIN: page.origin.value,
            SEARCH_QUERY: page.query,
            CRAWL_DEPTH: str(page.depth),
            FETCHED_AT: self.clock.now().isoformat(),
            ETAG: fetched.validator,
            ANSWERED_AT: fetched.url,
            RESPONSE_HEADERS: msgspec.json.encode(short_headers(fetched.headers)).decode(),
        }
        return Submission(
            workspace=workspace.ref,
            document_id=document_id,
            source_path=path,
            key=key,
            content_hash=hashlib.sha256(fetched.body).digest(),
            size=len(fetched.body),
            title=path.removeprefix("web/"),
            file_name=file_name,
            media_type=fetched.media_type,
            uploaded_by=OWNER,
            url=url,
            provenance=provenance,
        )

    async def _register(
        self,
        transaction: Transaction,
        submission: Submission,
        workspace: Workspace,
        queue: QueueName,
        *,
        is_known: bool,
    ) -> tuple[KeptPage, str | None]:
        """The page, and the blob key that holds its bytes (None: another than the submission's)."""
        ref, document_id = submission.workspace, submission.document_id
        document = await transaction.documents.get_for_update(ref, document_id)
        if document is not None and ORIGIN not in document.provenance:
            raise InvalidInput(
                f"{submission.source_path} is another document of the workspace.", code="SOURCE_PATH_TAKEN"
            )
        if document is None and is_known:
            raise no_such_document()
        profile = effective_settings(workspace).chunk_profile or self.chunk_profile
        if document is not None:
            await show_again(transaction, document)
            if every := document.provenance.get(EVERY_HOURS):
                submission = replace(submission, provenance={EVERY_HOURS: every, **submission.provenance})
            earlier = tell_earlier(document.provenance, submission.content_hash)
            submission = replace(submission, provenance={**submission.provenance, **earlier})
        if document is not None and is_published(document, submission.content_hash, self.parser, profile):
            label = DocumentLabel(document.source_path, document.file_name, submission.url, submission.provenance)
            await transaction.documents.relabel(ref, document_id, label)
            return KeptPage(document_id, None), None
        carrier = self.telemetry.carrier()
        submitted = await submit(transaction, submission, carrier, queue)
        return KeptPage(document_id, submitted.job), submitted.key
