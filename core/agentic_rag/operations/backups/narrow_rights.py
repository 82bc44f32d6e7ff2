"""Keeps a restored system from having wider rights than a list of erasures tells."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeVar
from uuid import UUID

from agentic_rag.documents.document import Document
from agentic_rag.kernel.database import Database, Transaction
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.operations.backups.rights import Listed, ListedOrganisation, ListedRights, ListedWorkspace
from agentic_rag.operations.snapshots.rights import DocumentRights, documents_of, narrow_document, narrow_entering
from agentic_rag.tenancy.access import EVERYONE, PUBLIC_PRINCIPALS
from agentic_rag.tenancy.audit import AuditAction
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.tenancy.record_audit import audit
from agentic_rag.workspaces.organisation import FeatureFlag

RESTORE_ACTOR = "system:restore"
"""The subject of what a restore does in the audit log."""

T = TypeVar("T", ListedRights, ListedWorkspace, ListedOrganisation)

_IN_ONE_TRANSACTION = 100
"""Documents."""


@dataclass(frozen=True, slots=True)
class NarrowedRights:
    """What has fewer rights than the restored state gave it."""

    documents: int = 0
    workspaces: int = 0
    """Workspaces that fewer may enter or write, or that may not look outside any more."""
    sources: int = 0
    """Sources that are forgotten again. Their documents stay, unless they were erased."""
    provider_keys: int = 0
    """Keys of providers that were removed or replaced since."""
    flags: int = 0
    """Features of organisations that are switched off again."""


class NarrowRights:
    """Gives what was restored the narrower of its rights then and when the newest list was read."""

    def __init__(self, database: Database, telemetry: Telemetry) -> None:
        self._database = database
        self._telemetry = telemetry

    async def run(
        self, records: Iterable[Listed], known: Collection[UUID], since: datetime | None = None
    ) -> NarrowedRights:
        """Apply the newest record of each thing of the `known` organisations; records read before `since` count for
        nothing. Errors: `DependencyUnavailable`.
        """
        newer = [
            one
            for one in records
            if one.org_id in known and (since is None or datetime.fromisoformat(one.read_at) > since)
        ]
        keys = flags = 0
        for told in _newest(newer, ListedOrganisation, lambda one: [one.org_id]).values():
            gone, off = await self._organisation(told)
            keys, flags = keys + gone, flags + off
        workspaces = sources = 0
        for told in _newest(newer, ListedWorkspace, lambda one: [one.workspace_id]).values():
            narrowed, forgotten = await self._workspace(told)
            workspaces, sources = workspaces + narrowed, sources + forgotten
        listed: dict[WorkspaceRef, dict[UUID, ListedRights]] = {}
        for document_id, told in _newest(newer, ListedRights, lambda one: one.documents).items():
            listed.setdefault(WorkspaceRef(told.org_id, told.workspace_id), {})[document_id] = told
        documents = 0
        for workspace, rights in listed.items():
            documents += await self._documents(workspace, rights)
        return NarrowedRights(documents, workspaces, sources, keys, flags)

    async def _organisation(self, told: ListedOrganisation) -> tuple[int, int]:
        """The number of keys that went, and of features that were switched off."""
        on = {flag for flag in FeatureFlag if flag.value in told.flags}
        async with self._database.transaction(told.org_id) as transaction:
            gone = [
                key.provider
                for key in await transaction.providers.keys()
                if told.provider_keys.get(key.provider.value) != key.updated_at.isoformat()
            ]
            for provider in gone:
                await transaction.providers.remove(provider)
                await self._audit(transaction, AuditAction.REMOVE_PROVIDER_KEY, None, provider.value)
            off = (await transaction.organisations.current()).settings.flags - on
            if off:
                await transaction.organisations.change(lambda now: replace(now, flags=now.flags & on))
                switched = ",".join(sorted(flag.value for flag in off))
                await self._audit(transaction, AuditAction.CHANGE_ORGANISATION, None, told.org_id, off=switched)
        return len(gone), len(off)

    async def _workspace(self, told: ListedWorkspace) -> tuple[bool, int]:
        """Whether the workspace's rights changed, and the number of sources that went."""
        workspace = WorkspaceRef(told.org_id, told.workspace_id)
        async with self._database.transaction(told.org_id) as transaction:
            found = await transaction.workspaces.get(told.workspace_id)
            if found is None:
                return False, 0
            entering, writers = narrow_entering(found, replace(found, readers=told.readers, writers=told.writers))
            is_narrower = (entering, writers) != (found.entering, found.writers)
            if is_narrower:
                await transaction.workspaces.set_access(told.workspace_id, entering, writers)
                act = AuditAction.SET_WORKSPACE_ACCESS
                await self._audit(
                    transaction, act, workspace, told.workspace_id, readers=_listed(entering), writers=_listed(writers)
                )
            looks_outside = found.settings.web.allow and not told.allows_web
            if looks_outside:
                await transaction.workspaces.change_settings(
                    told.workspace_id, lambda now: replace(now, web=replace(now.web, allow=False))
                )
                act = AuditAction.CHANGE_WORKSPACE
                await self._audit(transaction, act, workspace, told.workspace_id, web=False)
            gone = [one for one in await transaction.sources.all(workspace) if one.source_id not in told.sources]
            for source in gone:
                await transaction.sources.remove(workspace, source.source_id)
                await self._audit(
                    transaction, AuditAction.REMOVE_SOURCE, workspace, source.source_id, keep_documents=True
                )
        return is_narrower or looks_outside, len(gone)

    async def _documents(self, workspace: WorkspaceRef, listed: dict[UUID, ListedRights]) -> int:
        async with self._database.transaction(workspace.org_id) as transaction:
            if await transaction.workspaces.get(workspace.workspace_id) is None:
                return 0
            concerned = [one async for one in self._differing(transaction, workspace, listed)]
        narrowed = 0
        for start in range(0, len(concerned), _IN_ONE_TRANSACTION):
            async with self._database.transaction(workspace.org_id) as transaction:
                for document in concerned[start : start + _IN_ONE_TRANSACTION]:
                    rights = _rights_of(listed[document.document_id], document)
                    if await narrow_document(transaction, document, rights):
                        narrowed += 1
                        act = AuditAction.SET_DOCUMENT_ACCESS
                        await self._audit(transaction, act, workspace, document.document_id)
        return narrowed

    async def _differing(
        self, transaction: Transaction, workspace: WorkspaceRef, listed: dict[UUID, ListedRights]
    ) -> AsyncIterator[Document]:
        """The documents whose rights are not those of the list."""
        known: dict[int, tuple[str, ...]] = {}
        async for document in documents_of(transaction, workspace):
            told = listed.get(document.document_id)
            if told is None:
                continue
            if document.access_id not in known:
                known |= await transaction.access.principals(workspace, [document.access_id])
            readers = known.get(document.access_id, PUBLIC_PRINCIPALS)
            owner = document.uploaded_by if told.owner is None else told.owner
            if (told.readers, told.writers, owner) == ((readers,), document.writers, document.uploaded_by):
                continue
            held = await transaction.access.held_sets(workspace, document.document_id)
            is_same = {*held.values(), readers} == {*told.readers} and readers == told.readers[0]
            if not (is_same and (told.writers, owner) == (document.writers, document.uploaded_by)):
                yield document

    async def _audit(
        self,
        transaction: Transaction,
        action: AuditAction,
        workspace: WorkspaceRef | None,
        subject: object,
        **detail: str | bool,
    ) -> None:
        await audit(transaction, self._telemetry, action, workspace, subject, RESTORE_ACTOR, **detail)


def _newest(records: Iterable[Listed], kind: type[T], names: Callable[[T], Sequence[UUID]]) -> dict[UUID, T]:
    """The record of that kind that was read last, by the things that it names."""
    found: dict[UUID, T] = {}
    for one in sorted((one for one in records if isinstance(one, kind)), key=_read_at):
        found.update(dict.fromkeys(names(one), one))
    return found


def _read_at(one: Listed) -> datetime:
    return datetime.fromisoformat(one.read_at)


def _rights_of(told: ListedRights, document: Document) -> DocumentRights:
    """An erased document keeps its writers and owner: it goes again."""
    if told.owner is None:
        return DocumentRights(told.readers, document.writers, document.uploaded_by)
    return DocumentRights(told.readers, told.writers, told.owner)


def _listed(principals: tuple[str, ...] | None) -> str:
    return EVERYONE if principals is None else ",".join(principals)
