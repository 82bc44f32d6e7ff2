"""Bring a workspace up to date with a source: new and changed files are ingested, files that are gone are hidden, and
erased after a grace.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from uuid import UUID

from agentic_rag.documents.document import Document
from agentic_rag.documents.document_ids import resolve_ids
from agentic_rag.documents.metadata import NO_CHANGE, MetadataChange, require_room
from agentic_rag.documents.originals import OriginalKeys
from agentic_rag.documents.ports import BlobStore, DocumentLabel, Parser
from agentic_rag.erasure.delete import delete_job
from agentic_rag.ingestion.hand_over import RENAMED_PROVENANCE, HandOver, SyncPlan, SyncTally, SyncWatch
from agentic_rag.ingestion.missing import DEFAULT_GRACE, find_hidden, hide, require_plausible, show_again
from agentic_rag.ingestion.ports import Changes, SourceConnector, SourceItem
from agentic_rag.ingestion.sources.moves import find_moves, needs_new_chunks
from agentic_rag.ingestion.sources.source import UnreadableItem
from agentic_rag.jobs.job import JobKind
from agentic_rag.kernel.database import Database
from agentic_rag.kernel.errors import NotFound
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.models.embedding.ports import EmbedderSource
from agentic_rag.tenancy.access import PUBLIC_PRINCIPALS
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.workspaces.workspace import Workspace, effective_settings


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
    moved: tuple[str, ...] = ()
    """Files that stood at another path; they keep their document."""
    awaited: tuple[str, ...] = ()
    """Files that are only listed and whose bytes are not stored: until they come, nothing is hidden."""
    cursor: str | None = None
    """The state of the source that this result brought the workspace to."""


@dataclass(frozen=True, slots=True)
class SyncOptions:
    """How a synchronisation treats what it finds."""

    dry_run: bool = False
    delete_missing: bool = False
    """Go on although many files are gone."""
    readable_by: tuple[str, ...] = PUBLIC_PRINCIPALS
    """The readers of documents that are new, where the source names none; the others keep their readers."""
    keeps_off: bool = False
    """Leave documents alone that another source, or an upload, brought to the same path, and report them."""
    retry_failed: bool = True
    """Try documents again that FAILED with the same content."""
    cursor: str | None = None
    only: frozenset[str] = frozenset()
    """The paths that the source tells of, where it tells of some of its files; none: of all."""
    metadata: MetadataChange = NO_CHANGE
    """What is said of every file that the source has; in the stored form."""
    formerly: tuple[str, ...] = ()
    """Names that the source had before. The documents of files that it still has become its own; the others stay as
    they are.
    """


@dataclass(frozen=True, slots=True)
class _KnownDocuments:
    """The documents that the source brought, by path, and the paths of those that are hidden."""

    documents: dict[str, Document]
    hidden: set[str]


@dataclass(slots=True)
class _Placement:
    """Where the items of a source stand in the workspace."""

    ids: Mapping[str, UUID]
    moves: Mapping[str, Document]
    refused: Sequence[UnreadableItem]


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
        options: SyncOptions | None = None,
        watch: SyncWatch | None = None,
    ) -> SyncResult:
        """Synchronise.

        Errors: `InvalidInput` (no such source), `NotFound` (workspace), `DependencyUnavailable`, `MissingProviderKey`
        and `BudgetExceeded` before any file is read; `PolicyRefused` code SOURCE_SHRANK before anything changes, unless
        `delete_missing` confirms it.

        A file that is registered and READY under the same content, parser and chunk profile is left alone. A file that
        moved keeps its document.
        """
        options, watch = options or SyncOptions(), watch or SyncWatch()
        stored, held = await self._load_documents(workspace, source, options.only)
        known = held.documents
        await self.embedders.admit(workspace)
        changes = await source.changes(frozenset(known), options.cursor)
        if changes is None:
            return SyncResult(
                (), (), len(known) - len(held.hidden), 0, (), (), (), options.dry_run, cursor=options.cursor
            )
        place = await self._place(workspace, source, held, changes, options)
        moved_from = {document.source_path for document in place.moves.values()}
        gone = [path for path in changes.deleted if path not in moved_from]
        missing = [path for path in gone if path not in held.hidden]
        returned = sorted(held.hidden.difference(changes.deleted))
        if not options.dry_run:
            if not options.delete_missing:
                require_plausible(len(missing), len(known) - len(held.hidden))
            await self._show_again(known, returned)
            await self._move(known, place, {item.path: item for item in changes.upserted})
        tally = await self._hand_over(stored, source, uploaded_by, known, changes, place, options, watch)
        if not (options.dry_run or tally.awaited):
            await self._remove([known[path] for path in gone], watch)
            ids = {**place.ids, **{path: document.document_id for path, document in known.items()}}
            refused = {one.path for one in place.refused}
            held_paths = [item.path for item in changes.upserted if item.path not in refused]
            await self._describe(workspace, [ids[path] for path in held_paths], options.metadata)
        result = SyncResult(
            new=tuple(tally.new),
            changed=tuple(tally.changed),
            unchanged=tally.unchanged,
            in_progress=tally.in_progress,
            deleted=() if self.grace or tally.awaited else tuple(gone),
            unreadable=tuple(tally.unreadable),
            waiting_for=() if options.dry_run else tuple(tally.waiting_for),
            dry_run=options.dry_run,
            hidden=tuple(missing) if self.grace and not tally.awaited else (),
            returned=tuple(returned),
            moved=tuple(sorted(place.moves)),
            awaited=tuple(tally.awaited),
            cursor=changes.cursor,
        )
        self._tell(result)
        return result

    async def _hand_over(
        self,
        stored: Workspace,
        source: SourceConnector,
        uploaded_by: str,
        known: Mapping[str, Document],
        changes: Changes,
        place: _Placement,
        options: SyncOptions,
        watch: SyncWatch,
    ) -> SyncTally:
        """Hand over what is new or changed; a dry run leaves out what would move."""
        plan = SyncPlan(
            workspace=stored,
            source=source,
            uploaded_by=uploaded_by,
            profile=effective_settings(stored).chunk_profile or self.chunk_profile,
            known=known,
            ids=place.ids,
            renamed=frozenset(path for path, one in known.items() if RENAMED_PROVENANCE in one.provenance),
            readable_by=options.readable_by,
            dry_run=options.dry_run,
            retry_failed=options.retry_failed,
            watch=watch,
        )
        left_out = {one.path for one in place.refused}.union(place.moves if options.dry_run else ())
        items = [item for item in changes.upserted if item.path not in left_out]
        tally = SyncTally(unreadable=[*changes.unreadable, *place.refused])
        await HandOver(self.database, self.blobs, self.keys, self.parser, self.telemetry).run(plan, items, tally)
        return tally

    async def _load_documents(
        self, workspace: WorkspaceRef, source: SourceConnector, only: frozenset[str]
    ) -> tuple[Workspace, _KnownDocuments]:
        async with self.database.transaction(workspace.org_id) as transaction:
            stored = await transaction.workspaces.get(workspace.workspace_id)
            if stored is None:
                raise NotFound("There is no such workspace.")
            known = dict(await transaction.documents.paths(workspace, source.source_id, sorted(only)))
            hidden = await find_hidden(transaction, workspace, known.values())
        return stored, _KnownDocuments(known, {path for path, one in known.items() if one.document_id in hidden})

    async def _adopt(
        self,
        workspace: WorkspaceRef,
        source: SourceConnector,
        held: _KnownDocuments,
        changes: Changes,
        options: SyncOptions,
    ) -> None:
        """Make the documents that the source brought under a former name its own, where it still has their file."""
        for name in options.formerly:
            here = [item.path for item in changes.upserted if item.path not in held.documents]
            if not here:
                return
            async with self.database.transaction(workspace.org_id) as transaction:
                former = await transaction.documents.paths(workspace, name, here)
                hidden = await find_hidden(transaction, workspace, former.values())
                for path, document in former.items():
                    label = DocumentLabel(path, document.file_name, document.url, {"source": source.source_id})
                    if not options.dry_run:
                        await transaction.documents.relabel(workspace, document.document_id, label)
            held.documents.update(former)
            held.hidden.update(path for path, one in former.items() if one.document_id in hidden)

    async def _place(
        self,
        workspace: WorkspaceRef,
        source: SourceConnector,
        held: _KnownDocuments,
        changes: Changes,
        options: SyncOptions,
    ) -> _Placement:
        """The ids of new paths, the documents that moved there, and the paths that belong to something else."""
        await self._adopt(workspace, source, held, changes, options)
        known = held.documents
        new = [item for item in changes.upserted if item.path not in known]
        if not new:
            return _Placement({}, {}, ())
        own = {document.document_id for document in known.values()}
        async with self.database.transaction(workspace.org_id) as transaction:
            ids = await resolve_ids(transaction.documents, workspace, [item.path for item in new])
            occupants = await transaction.documents.occupants(workspace, [item.path for item in new], [])
        taken = {path for document_id, path in occupants.items() if document_id not in own}
        moves: Mapping[str, Document] = {}
        if changes.deleted:
            gone = {path: known[path] for path in changes.deleted}
            moves = await find_moves(source, gone, [item for item in new if item.path not in taken])
        return _Placement(ids, moves, [_path_conflict(path) for path in sorted(taken)] if options.keeps_off else ())

    async def _show_again(self, known: dict[str, Document], paths: Sequence[str]) -> None:
        for path in paths:
            async with self.database.transaction(known[path].workspace.org_id) as transaction:
                if not await show_again(transaction, known[path]):
                    del known[path]  # Its grace ended meanwhile: the file is new.

    async def _move(self, known: dict[str, Document], place: _Placement, items: Mapping[str, SourceItem]) -> None:
        """Give documents that moved their new path, and show those that were hidden."""
        for path, document in place.moves.items():
            name = posixpath.basename(path)
            # Kept with the document until it is handed over: the source may go away before.
            renamed = {RENAMED_PROVENANCE: "true"} if needs_new_chunks(document, path) else {}
            label = DocumentLabel(path, name, items[path].url, renamed)
            async with self.database.transaction(document.workspace.org_id) as transaction:
                await show_again(transaction, document)
                stays = await transaction.documents.relabel(document.workspace, document.document_id, label)
            del known[document.source_path]
            if stays:
                provenance = {**document.provenance, **renamed}
                known[path] = replace(document, source_path=path, file_name=name, url=label.url, provenance=provenance)

    async def _describe(self, workspace: WorkspaceRef, ids: Sequence[UUID], metadata: MetadataChange) -> None:
        if metadata.is_empty or not ids:
            return
        async with self.database.transaction(workspace.org_id) as transaction:
            for document in (await transaction.documents.get_many(workspace, ids)).values():
                require_room(document.metadata, metadata)
            await transaction.documents.describe(workspace, ids, metadata)

    async def _remove(self, documents: Sequence[Document], watch: SyncWatch) -> None:
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
                await watch.guard(transaction)

    def _tell(self, result: SyncResult) -> None:
        self.telemetry.event(
            "rag_source_synchronised",
            new=len(result.new),
            changed=len(result.changed),
            unchanged=result.unchanged,
            deleted=len(result.deleted),
            hidden=len(result.hidden),
            returned=len(result.returned),
            moved=len(result.moved),
            unreadable=len(result.unreadable),
            dry_run=result.dry_run,
        )


def _path_conflict(path: str) -> UnreadableItem:
    return UnreadableItem(
        path,
        "SOURCE_PATH_TAKEN",
        "Another source, or an upload, brought the document at this path. Give this source another prefix.",
    )
