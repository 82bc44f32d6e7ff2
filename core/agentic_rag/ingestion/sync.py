"""Bring a workspace up to date with a source: new and changed files are ingested, files that are gone are hidden, and
erased after a grace.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import mimetypes
import posixpath
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from uuid import UUID

from agentic_rag.documents.document import Document, document_id_for
from agentic_rag.documents.metadata import NO_CHANGE, MetadataChange, require_room
from agentic_rag.documents.originals import OriginalKeys, delete_unless_in_use
from agentic_rag.documents.ports import BlobStore, Parser
from agentic_rag.erasure.delete import delete_job
from agentic_rag.ingestion.missing import DEFAULT_GRACE, find_hidden, hide, require_plausible, show_again
from agentic_rag.ingestion.ports import SourceConnector, SourceItem, UnreadableItem
from agentic_rag.ingestion.submit import Submission, ingest_job, is_published, submit
from agentic_rag.jobs.job import JobKind
from agentic_rag.kernel.database import Database
from agentic_rag.kernel.errors import DependencyUnavailable, NotFound
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.models.embedding.ports import EmbedderSource
from agentic_rag.tenancy.access import PUBLIC_PRINCIPALS
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.workspaces.workspace import Workspace, effective_settings

SOURCE_PROVENANCE = "source"
FINGERPRINT_PROVENANCE = "fingerprint"
UNREADABLE_WHEN_READ = "SOURCE_UNREADABLE"

BATCH_ITEMS = 16
BATCH_BYTES = 32 * 1024 * 1024
"""Items read, kept and registered together; bounds memory and the commits per file."""


@dataclass(frozen=True, slots=True)
class SyncResult:
    """What a synchronisation found; with `dry_run`, what it would have done. Fields hold source paths."""

    new: tuple[str, ...]
    changed: tuple[str, ...]
    unchanged: int
    in_progress: int
    """Files whose very content an earlier synchronisation handed over and that is not finished yet."""
    deleted: tuple[str, ...]
    """Files that are gone, where the grace is zero."""
    unreadable: tuple[UnreadableItem, ...]
    waiting_for: tuple[UUID, ...]
    """Documents whose ingestion this result depends on."""
    dry_run: bool
    hidden: tuple[str, ...] = ()
    """Files that are gone, hidden until the grace ends."""
    returned: tuple[str, ...] = ()
    """Files that were hidden and are back, new or not."""


@dataclass(frozen=True, slots=True)
class _KnownDocuments:
    """The documents that the source brought, by path, and the paths of those that are hidden."""

    documents: dict[str, Document]
    hidden: frozenset[str]


@dataclass(slots=True)
class _SyncChanges:
    new: list[str]
    changed: list[str]
    unchanged: int
    in_progress: int
    unreadable: list[UnreadableItem]
    waiting_for: list[UUID]


@dataclass(frozen=True, slots=True)
class _FetchResult:
    submission: Submission
    content: bytes
    known: Document | None


@dataclass(frozen=True, slots=True)
class SyncSource:
    """Reads a source through its connector; everything it hands over goes through the outbox."""

    database: Database
    blobs: BlobStore
    keys: OriginalKeys
    parser: Parser
    telemetry: Telemetry
    chunk_profile: str
    embedders: EmbedderSource
    grace: timedelta = DEFAULT_GRACE

    async def run(
        self,
        workspace: WorkspaceRef,
        source: SourceConnector,
        uploaded_by: str,
        *,
        dry_run: bool = False,
        delete_missing: bool = False,
        readable_by: tuple[str, ...] = PUBLIC_PRINCIPALS,
        metadata: MetadataChange = NO_CHANGE,
    ) -> SyncResult:
        """Synchronise; documents that are new are for the principals `readable_by`, the others keep their readers.
        `metadata`, in the stored form, is said of every file that the source has.

        Errors: `InvalidInput` (no such source), `NotFound` (workspace), `DependencyUnavailable`, `MissingProviderKey`
        and `BudgetExceeded` before any file is read; `PolicyRefused` code SOURCE_SHRANK before anything changes, unless
        `delete_missing` confirms it.

        A file that is registered and READY under the same content, parser and chunk profile is left alone; a FAILED
        one is tried again.
        """
        stored, held = await self._load_documents(workspace, source)
        known = held.documents
        await self.embedders.admit(workspace)
        profile = effective_settings(stored).chunk_profile or self.chunk_profile
        changes = await source.changes(frozenset(known), None)
        missing = [path for path in changes.deleted if path not in held.hidden]
        returned = sorted(held.hidden.difference(changes.deleted))
        if not dry_run:
            if not delete_missing:
                require_plausible(len(missing), len(known) - len(held.hidden))
            await self._show_again(workspace, known, returned)
        found = _SyncChanges([], [], 0, 0, list(changes.unreadable), [])
        suspects: list[SourceItem] = []
        for item in changes.upserted:
            document = known.get(item.path)
            if document is not None and self._has_same_fingerprint(item, document, profile):
                found.unchanged += 1
            else:
                suspects.append(item)
        async for batch in self._fetch(stored, source, uploaded_by, suspects, known, found):
            await self._hand_over(workspace, batch, profile, found, readable_by, dry_run=dry_run)
        if not dry_run:
            await self._remove([known[path] for path in changes.deleted])
            await self._describe(workspace, [item.path for item in changes.upserted], metadata)
        result = SyncResult(
            new=tuple(found.new),
            changed=tuple(found.changed),
            unchanged=found.unchanged,
            in_progress=found.in_progress,
            deleted=() if self.grace else changes.deleted,
            unreadable=tuple(found.unreadable),
            waiting_for=() if dry_run else tuple(found.waiting_for),
            dry_run=dry_run,
            hidden=tuple(missing) if self.grace else (),
            returned=tuple(returned),
        )
        self._tell(result)
        return result

    async def _load_documents(
        self, workspace: WorkspaceRef, source: SourceConnector
    ) -> tuple[Workspace, _KnownDocuments]:
        async with self.database.transaction(workspace.org_id) as transaction:
            stored = await transaction.workspaces.get(workspace.workspace_id)
            if stored is None:
                raise NotFound("There is no such workspace.")
            known = dict(await transaction.documents.paths(workspace, source.source_id))
            hidden = await find_hidden(transaction, workspace, known.values())
        return stored, _KnownDocuments(
            known, frozenset(path for path, one in known.items() if one.document_id in hidden)
        )

    def _has_same_fingerprint(self, item: SourceItem, document: Document, profile: str) -> bool:
        return (
            document.provenance.get(FINGERPRINT_PROVENANCE) == item.fingerprint
            and document.content_hash is not None
            and is_published(document, document.content_hash, self.parser, profile)
        )

    async def _fetch(
        self,
        workspace: Workspace,
        source: SourceConnector,
        uploaded_by: str,
        items: Sequence[SourceItem],
        known: Mapping[str, Document],
        found: _SyncChanges,
    ) -> AsyncIterator[list[_FetchResult]]:
        batch: list[_FetchResult] = []
        size = 0
        for item in items:
            try:
                content = await source.read(item)
            except NotFound:
                continue  # Gone since it was listed; the next synchronisation sees it as deleted.
            except DependencyUnavailable as error:
                found.unreadable.append(UnreadableItem(item.path, UNREADABLE_WHEN_READ, error.message))
                continue
            key = self.keys.new(workspace, item.path)
            submission = _submission(workspace.ref, source, item, content, uploaded_by, key)
            batch.append(_FetchResult(submission, content, known.get(item.path)))
            size += len(content)
            if len(batch) >= BATCH_ITEMS or size >= BATCH_BYTES:
                yield batch
                batch, size = [], 0
        if batch:
            yield batch

    async def _hand_over(
        self,
        workspace: WorkspaceRef,
        batch: list[_FetchResult],
        profile: str,
        found: _SyncChanges,
        readable_by: tuple[str, ...],
        *,
        dry_run: bool,
    ) -> None:
        fresh: list[_FetchResult] = []
        underway: list[Submission] = []
        for fetched in batch:
            submission, document = fetched.submission, fetched.known
            if document is not None and is_published(document, submission.content_hash, self.parser, profile):
                found.unchanged += 1
            elif document is not None and submission.is_underway(document):
                found.in_progress += 1
                underway.append(submission)
            else:
                (found.new if document is None else found.changed).append(submission.source_path)
                fresh.append(fetched)
        found.waiting_for += [one.document_id for one in (*underway, *(fetched.submission for fetched in fresh))]
        if dry_run or not (fresh or underway):
            return
        await self._store(workspace, fresh, underway, readable_by)

    async def _store(
        self,
        workspace: WorkspaceRef,
        fresh: Sequence[_FetchResult],
        underway: Sequence[Submission],
        readable_by: tuple[str, ...],
    ) -> None:
        """Keep the bytes, then register; blobs that nothing came to name do not stay."""
        try:
            puts = [self.blobs.put(one.submission.key, one.content) for one in fresh]
            for outcome in await asyncio.gather(*puts, return_exceptions=True):
                if outcome is not None:
                    raise outcome  # Only now: none is under way any more.
            spare = await self._register(workspace, [one.submission for one in fresh], underway, readable_by)
        except BaseException:
            for fetched in fresh:
                await delete_unless_in_use(self.database, self.blobs, workspace, fetched.submission.key)
            raise
        with contextlib.suppress(DependencyUnavailable):  # Then they stay, named by nothing.
            for key in spare:
                await self.blobs.delete(key)

    async def _register(
        self,
        workspace: WorkspaceRef,
        fresh: Sequence[Submission],
        underway: Sequence[Submission],
        readable_by: tuple[str, ...],
    ) -> list[str]:
        """Hand over in one transaction. Keys of blobs whose content was there already."""
        spare: list[str] = []
        carrier = self.telemetry.carrier()
        async with self.database.transaction(workspace.org_id) as transaction:
            access_id = await transaction.access.intern(workspace, readable_by)
            # In id order, as publishing locks them.
            for submission in sorted(fresh, key=lambda one: one.document_id):
                submitted = await submit(transaction, replace(submission, access_id=access_id), carrier)
                if submitted.key != submission.key:
                    spare.append(submission.key)
            # Last: a publish locks the documents of its batch before any of their jobs.
            for submission in underway:
                await transaction.jobs.enqueue(
                    ingest_job(workspace, submission.document_id, submission.content_hash, carrier)
                )
        return spare

    async def _show_again(self, workspace: WorkspaceRef, known: dict[str, Document], paths: Sequence[str]) -> None:
        for path in paths:
            async with self.database.transaction(workspace.org_id) as transaction:
                if not await show_again(transaction, known[path]):
                    del known[path]  # Its grace ended meanwhile: the file is new.

    async def _describe(self, workspace: WorkspaceRef, paths: Sequence[str], metadata: MetadataChange) -> None:
        if metadata.is_empty or not paths:
            return
        async with self.database.transaction(workspace.org_id) as transaction:
            ids = [document_id_for(workspace, path) for path in paths]
            for document in (await transaction.documents.get_many(workspace, ids)).values():
                require_room(document.metadata, metadata)
            await transaction.documents.describe(workspace, ids, metadata)

    async def _remove(self, documents: Sequence[Document]) -> None:
        carrier = self.telemetry.carrier()
        for document in documents:
            workspace, document_id = document.workspace, document.document_id
            # One at a time: a publish of several of them holds their jobs in an order of its own.
            async with self.database.transaction(workspace.org_id) as transaction:
                if self.grace:
                    await hide(transaction, document, self.grace, carrier)
                else:
                    await transaction.jobs.cancel_for_document(workspace, document_id, JobKind.INGEST)
                    await transaction.jobs.enqueue(delete_job(workspace, document_id, carrier))

    def _tell(self, result: SyncResult) -> None:
        self.telemetry.event(
            "rag_source_synchronised",
            new=len(result.new),
            changed=len(result.changed),
            unchanged=result.unchanged,
            deleted=len(result.deleted),
            hidden=len(result.hidden),
            returned=len(result.returned),
            unreadable=len(result.unreadable),
            dry_run=result.dry_run,
        )


def _submission(
    workspace: WorkspaceRef, source: SourceConnector, item: SourceItem, content: bytes, uploaded_by: str, key: str
) -> Submission:
    file_name = posixpath.basename(item.path)
    guessed, _ = mimetypes.guess_type(file_name, strict=False)
    return Submission(
        workspace=workspace,
        source_path=item.path,
        key=key,
        content_hash=hashlib.sha256(content).digest(),
        size=len(content),
        title=posixpath.splitext(file_name)[0],
        file_name=file_name,
        media_type=guessed or "application/octet-stream",
        uploaded_by=uploaded_by,
        url=item.url,
        provenance={SOURCE_PROVENANCE: source.source_id, FINGERPRINT_PROVENANCE: item.fingerprint},
    )
