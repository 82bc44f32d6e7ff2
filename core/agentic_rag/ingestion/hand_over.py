"""Reads what is new or changed in a source, keeps the bytes, and registers the documents, batch by batch."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import mimetypes
import posixpath
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID

from agentic_rag.documents.document import Document, DocumentStatus
from agentic_rag.documents.document_access import narrower_sets
from agentic_rag.documents.originals import OriginalKeys, delete_unless_in_use
from agentic_rag.documents.ports import BlobStore, DocumentLabel, Parser
from agentic_rag.ingestion.ingest_run import SOURCE_PROVENANCE
from agentic_rag.ingestion.ports import SourceConnector, SourceContent, SourceItem
from agentic_rag.ingestion.sources.source import UnreadableItem
from agentic_rag.ingestion.submit import Submission, ingest_job, is_published, submit
from agentic_rag.kernel.database import Database, Transaction
from agentic_rag.kernel.errors import DependencyUnavailable, InvalidInput, NotFound, PolicyRefused, Retryable
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.tenancy.audit import SYSTEM_ACTOR
from agentic_rag.tenancy.change_readers import change_readers
from agentic_rag.workspaces.workspace import Workspace

FINGERPRINT_PROVENANCE = "fingerprint"
RENAMED_PROVENANCE = "renamed"
"""On a document whose file moved and whose chunks have to be made anew; what is handed over no longer has it."""

UNREADABLE_WHEN_READ = "SOURCE_UNREADABLE"

BATCH_ITEMS = 16
BATCH_BYTES = 32 * 1024 * 1024
"""Items read, kept and registered together; bounds memory and the commits per file."""

OUTAGE_READS = 5
"""Reads that fail one after the other before a source counts as away; what was handed over before stays."""

_READERS = "\n"
"""Divides a stored fingerprint from the readers that the source named."""


async def _ignore(*_: object) -> None:
    """What nobody watches."""


@dataclass(frozen=True, slots=True)
class SyncWatch:
    """Who follows a synchronisation. `note` is called before files are registered, `admit` after it in the same
    transaction, and `guard` at the end of each transaction that changes something: each refuses by raising. `progress`
    is called after each batch with the number of files done and of all.
    """

    admit: Callable[[Transaction], Awaitable[None]] = _ignore
    guard: Callable[[Transaction], Awaitable[None]] = _ignore
    progress: Callable[[int, int], Awaitable[None]] = _ignore
    note: Callable[[Transaction], Awaitable[None]] = _ignore


@dataclass(slots=True)
class SyncTally:
    """What a synchronisation found so far."""

    new: list[str] = field(default_factory=list[str])
    changed: list[str] = field(default_factory=list[str])
    unchanged: int = 0
    in_progress: int = 0
    unreadable: list[UnreadableItem] = field(default_factory=list[UnreadableItem])
    awaited: list[str] = field(default_factory=list[str])
    waiting_for: list[UUID] = field(default_factory=list[UUID])


@dataclass(frozen=True, slots=True)
class SyncPlan:
    """What a synchronisation works with."""

    workspace: Workspace
    source: SourceConnector
    uploaded_by: str
    profile: str
    known: Mapping[str, Document]
    """The source's documents by path, those that moved at their new one."""
    ids: Mapping[str, UUID]
    """The ids that documents at new paths get."""
    renamed: frozenset[str]
    readable_by: tuple[str, ...]
    """The readers of new documents for which the source names none."""
    dry_run: bool
    retry_failed: bool
    """Whether a FAILED document whose content is the same is tried again."""
    watch: SyncWatch


@dataclass(frozen=True, slots=True)
class _FetchResult:
    item: SourceItem
    content: SourceContent | None
    """None: unchanged, or only listed."""
    submission: Submission
    known: Document | None

    @property
    def fingerprint(self) -> str:
        return self.submission.provenance[FINGERPRINT_PROVENANCE]


@dataclass(frozen=True, slots=True)
class HandOver:
    """The stores that a synchronisation hands files over to."""

    database: Database
    blobs: BlobStore
    keys: OriginalKeys
    parser: Parser
    telemetry: Telemetry

    async def run(self, plan: SyncPlan, items: Sequence[SourceItem], tally: SyncTally) -> None:
        """Hand over what is new or changed. Errors: those of the connector, once `OUTAGE_READS` reads failed in a row;
        `DependencyUnavailable`.
        """
        suspects: list[SourceItem] = []
        for item in items:
            document = plan.known.get(item.path)
            if document is None or item.path in plan.renamed or not self._has_same_fingerprint(item, document, plan):
                suspects.append(item)
            elif document.status in (DocumentStatus.READY, DocumentStatus.FAILED):
                tally.unchanged += 1
            else:
                tally.in_progress += 1
        done = len(items) - len(suspects)
        async for batch, left in self._fetch(plan, suspects, tally):
            await self._hand_over(plan, batch, tally)
            # No content is held while the source is read on.
            batch.clear()
            await plan.watch.progress(done + len(suspects) - left, len(items))

    def _has_same_fingerprint(self, item: SourceItem, document: Document, plan: SyncPlan) -> bool:
        """Whether the source says that nothing changed, and the document is as this fingerprint left it."""
        if not item.fingerprint or document.provenance.get(FINGERPRINT_PROVENANCE) != _stored_fingerprint(
            item, item.fingerprint
        ):
            return False
        if document.status is not DocumentStatus.READY:
            return not plan.retry_failed
        return document.content_hash is not None and is_published(
            document, document.content_hash, self.parser, plan.profile
        )

    async def _fetch(
        self, plan: SyncPlan, items: Sequence[SourceItem], tally: SyncTally
    ) -> AsyncIterator[tuple[list[_FetchResult], int]]:
        """Batches, each with the number of items that are left."""
        batch: list[_FetchResult] = []
        size = failures = 0
        for place, item in enumerate(items):
            try:
                fetched = await self._fetch_item(plan, item)
            except NotFound:
                continue  # Gone since it was listed; the next synchronisation sees it as deleted.
            except (DependencyUnavailable, Retryable, InvalidInput, PolicyRefused) as error:
                failures += isinstance(error, DependencyUnavailable | Retryable)
                if failures >= OUTAGE_READS:
                    raise
                code = UNREADABLE_WHEN_READ if error.code == DependencyUnavailable.code else error.code
                tally.unreadable.append(UnreadableItem(item.path, code, error.message))
                continue
            failures = 0
            if fetched is None:
                tally.awaited.append(item.path)
                continue
            batch.append(fetched)
            size += 0 if fetched.content is None else len(fetched.content.data)
            if len(batch) >= BATCH_ITEMS or size >= BATCH_BYTES:
                yield batch, len(items) - place - 1
                batch, size = [], 0
        if batch:
            yield batch, 0

    async def _fetch_item(self, plan: SyncPlan, item: SourceItem) -> _FetchResult | None:
        """The item with its content; None where it is only listed and its bytes are awaited."""
        if item.content_hash is not None:
            return await self._find_stored(plan, item)
        return self._fetch_result(plan, item, await plan.source.read(item, self._readable_as(plan, item)))

    async def _find_stored(self, plan: SyncPlan, item: SourceItem) -> _FetchResult | None:
        """An item that is only listed, where it is the same, under way or stored; else None."""
        listed = self._fetch_result(plan, item, None)
        submission, known = listed.submission, listed.known
        if plan.dry_run:
            return listed
        if known is None:
            return None
        if self._is_the_same(listed, plan.profile) or (submission.is_underway(known) and not submission.is_renamed):
            return listed
        async with self.database.transaction(known.workspace.org_id) as transaction:
            held = await transaction.originals.of(known.workspace, known.document_id)
        key = next((one.key for one in held if one.content_hash == submission.content_hash), None)
        return None if key is None else replace(listed, submission=replace(submission, key=key))

    def _readable_as(self, plan: SyncPlan, item: SourceItem) -> str | None:
        """The fingerprint under which the present content was read; None where it has to be read in any case."""
        document = plan.known.get(item.path)
        if document is None or document.content_hash is None or item.path in plan.renamed:
            return None
        if not is_published(document, document.content_hash, self.parser, plan.profile):
            return None
        return document.provenance.get(FINGERPRINT_PROVENANCE, "").partition(_READERS)[0] or None

    def _fetch_result(self, plan: SyncPlan, item: SourceItem, content: SourceContent | None) -> _FetchResult:
        known = plan.known.get(item.path)
        file_name = posixpath.basename(item.path)
        guessed, _ = mimetypes.guess_type(file_name, strict=False)
        data = b"" if content is None else content.data
        before = "" if known is None else known.provenance.get(FINGERPRINT_PROVENANCE, "").partition(_READERS)[0]
        if item.content_hash is not None:
            before = item.fingerprint
        fingerprint = _stored_fingerprint(item, before if content is None else content.fingerprint)
        submission = Submission(
            workspace=plan.workspace.ref,
            document_id=plan.ids[item.path] if known is None else known.document_id,
            source_path=item.path,
            key=self.keys.new(plan.workspace, item.path),
            content_hash=item.content_hash or hashlib.sha256(data).digest(),
            size=len(data) if item.content_hash is None else item.size,
            title=posixpath.splitext(file_name)[0],
            file_name=file_name,
            media_type=guessed or "application/octet-stream",
            uploaded_by=plan.uploaded_by,
            url=item.url,
            provenance={SOURCE_PROVENANCE: plan.source.source_id, FINGERPRINT_PROVENANCE: fingerprint},
            is_renamed=item.path in plan.renamed,
        )
        return _FetchResult(item, content, submission, known)

    async def _hand_over(self, plan: SyncPlan, batch: list[_FetchResult], tally: SyncTally) -> None:
        fresh: list[_FetchResult] = []
        underway: list[Submission] = []
        for fetched in batch:
            submission, document = fetched.submission, fetched.known
            if document is not None and self._is_the_same(fetched, plan.profile):
                tally.unchanged += 1
                if not plan.dry_run and document.provenance.get(FINGERPRINT_PROVENANCE) != fetched.fingerprint:
                    await self._relabel(plan, document, fetched)
            elif document is not None and submission.is_underway(document) and not submission.is_renamed:
                tally.in_progress += 1
                underway.append(submission)
            else:
                (tally.new if document is None else tally.changed).append(submission.source_path)
                fresh.append(fetched)
        tally.waiting_for += [one.document_id for one in (*underway, *(fetched.submission for fetched in fresh))]
        if plan.dry_run or not (fresh or underway):
            return
        for fetched in fresh:
            if fetched.known is not None:
                await self._set_readers(plan, fetched.known, fetched)
        await self._store(plan, fresh, underway)

    def _is_the_same(self, fetched: _FetchResult, profile: str) -> bool:
        submission, document = fetched.submission, fetched.known
        if document is None or submission.is_renamed:
            return False
        if fetched.content is None and fetched.item.content_hash is None:
            return True
        return is_published(document, submission.content_hash, self.parser, profile)

    async def _relabel(self, plan: SyncPlan, document: Document, fetched: _FetchResult) -> None:
        """Keep the new fingerprint, so that the next synchronisation does not read the same content again."""
        await self._set_readers(plan, document, fetched)
        async with self.database.transaction(document.workspace.org_id) as transaction:
            label = DocumentLabel(
                document.source_path,
                document.file_name,
                fetched.item.url,
                {FINGERPRINT_PROVENANCE: fetched.fingerprint},
            )
            await transaction.documents.relabel(document.workspace, document.document_id, label)
            await plan.watch.guard(transaction)

    async def _set_readers(self, plan: SyncPlan, document: Document, fetched: _FetchResult) -> None:
        """Give a document the readers that its source names now; where it named some before and names none, the
        source's own.
        """
        before = document.provenance.get(FINGERPRINT_PROVENANCE, "").partition(_READERS)[1:]
        if before == fetched.fingerprint.partition(_READERS)[1:]:
            return
        workspace, stated = document.workspace, fetched.item.readable_by
        principals = plan.readable_by if stated is None else stated
        async with self.database.transaction(workspace.org_id) as transaction:
            access_id = await transaction.access.intern(workspace, principals)
            older = await narrower_sets(transaction, workspace, document.document_id, principals)
            await change_readers(
                transaction,
                self.telemetry,
                workspace,
                document.document_id,
                SYSTEM_ACTOR,
                held=document.access_id,
                given=access_id,
                older=older,
            )
            await plan.watch.guard(transaction)

    async def _store(self, plan: SyncPlan, fresh: Sequence[_FetchResult], underway: Sequence[Submission]) -> None:
        """Keep the bytes, then register; blobs that nothing came to name do not stay."""
        workspace = plan.workspace.ref
        try:
            puts = [self.blobs.put(one.submission.key, one.content.data) for one in fresh if one.content is not None]
            for outcome in await asyncio.gather(*puts, return_exceptions=True):
                if outcome is not None:
                    raise outcome  # Only now: none is under way any more.
            spare = await self._register(plan, fresh, underway)
        except BaseException:
            for fetched in fresh:
                await delete_unless_in_use(self.database, self.blobs, workspace, fetched.submission.key)
            raise
        with contextlib.suppress(DependencyUnavailable):  # Then they stay, named by nothing.
            for key in spare:
                await self.blobs.delete(key)

    async def _register(
        self, plan: SyncPlan, fresh: Sequence[_FetchResult], underway: Sequence[Submission]
    ) -> list[str]:
        """Hand over in one transaction. Keys of blobs whose content was there already."""
        spare: list[str] = []
        carrier = self.telemetry.carrier()
        workspace = plan.workspace.ref
        named = ((one.submission.document_id, one.item.readable_by) for one in fresh)
        readers = {document_id: principals for document_id, principals in named if principals is not None}
        async with self.database.transaction(workspace.org_id) as transaction:
            if fresh:
                await plan.watch.note(transaction)
            sets = {
                principals: await transaction.access.intern(workspace, principals)
                for principals in sorted({plan.readable_by, *readers.values()})
            }
            # In id order, as publishing locks them.
            for submission in sorted((one.submission for one in fresh), key=lambda one: one.document_id):
                access_id = sets[readers.get(submission.document_id, plan.readable_by)]
                submitted = await submit(transaction, replace(submission, access_id=access_id), carrier)
                if submitted.key != submission.key:
                    spare.append(submission.key)
            # Last: a publish locks the documents of its batch before any of their jobs.
            for submission in underway:
                await transaction.jobs.enqueue(
                    ingest_job(workspace, submission.document_id, submission.content_hash, carrier)
                )
            if fresh:
                await plan.watch.admit(transaction)
            await plan.watch.guard(transaction)
        return spare


def _stored_fingerprint(item: SourceItem, fingerprint: str) -> str:
    """The fingerprint as it is stored: with the readers that the source names."""
    if item.readable_by is None:
        return fingerprint
    return f"{fingerprint}{_READERS}{','.join(item.readable_by)}"
