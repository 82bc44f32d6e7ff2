"""Keeps a restored system from having wider rights than a list of erasures tells."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Iterable, Sequence
from dataclasses import asdict, astuple, dataclass, fields, replace
from datetime import datetime
from typing import TypeVar
from uuid import UUID

from agentic_rag.documents.document import Document
from agentic_rag.kernel.database import Database, Transaction
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.models.billing.limits import SpendingLimits
from agentic_rag.models.billing.web_envelope import with_default_calls
from agentic_rag.operations.backups.rights import KeptDays, Listed, ListedOrganisation, ListedRights, ListedWorkspace
from agentic_rag.operations.snapshots.rights import DocumentRights, documents_of, narrow_document, narrow_entering
from agentic_rag.tenancy.access import EVERYONE, PUBLIC_PRINCIPALS
from agentic_rag.tenancy.audit import AuditAction, differences
from agentic_rag.tenancy.change_readers import list_in_audit
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.tenancy.record_audit import audit
from agentic_rag.workspaces.organisation import FeatureFlag, OrganisationSettings
from agentic_rag.workspaces.settings import WorkspaceSettings

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
    saved_questions: int = 0
    """Saved questions that are removed again; their runs stay."""
    limits: int = 0
    """Limits of requests, and budgets of organisations and workspaces, that are lower again."""
    days: int = 0
    """Workspaces that keep versions, runs, jobs, usage or the audit log for fewer days again."""

    def plus(self, other: NarrowedRights) -> NarrowedRights:
        """The sums."""
        return NarrowedRights(*(one + more for one, more in zip(astuple(self), astuple(other), strict=True)))


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
        told = NarrowedRights()
        for organisation in _newest(newer, ListedOrganisation, lambda one: [one.org_id]).values():
            told = told.plus(await self._organisation(organisation))
        for workspace in _newest(newer, ListedWorkspace, lambda one: [one.workspace_id]).values():
            told = told.plus(await self._workspace(workspace))
        listed: dict[WorkspaceRef, dict[UUID, ListedRights]] = {}
        for document_id, rights in _newest(newer, ListedRights, lambda one: one.documents).items():
            listed.setdefault(WorkspaceRef(rights.org_id, rights.workspace_id), {})[document_id] = rights
        for workspace, of_documents in listed.items():
            told = told.plus(NarrowedRights(await self._documents(workspace, of_documents)))
        return told

    async def _organisation(self, told: ListedOrganisation) -> NarrowedRights:
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
            settings = (await transaction.organisations.current()).settings
            off = settings.flags - on
            if off:
                await transaction.organisations.change(lambda now: replace(now, flags=now.flags & on))
                switched = ",".join(sorted(flag.value for flag in off))
                await self._audit(transaction, AuditAction.CHANGE_ORGANISATION, None, told.org_id, off=switched)
            limits = await self._limit_organisation(transaction, told, settings)
        return NarrowedRights(provider_keys=len(gone), flags=len(off), limits=limits)

    async def _limit_organisation(
        self, transaction: Transaction, told: ListedOrganisation, settings: OrganisationSettings
    ) -> int:
        """The number of its limits that are lower: those of requests count as one, the budget as one."""
        budget, rates = settings.budget, settings.rates
        if told.budget is not None:
            # What an organisation states no ceiling for has one of the product's.
            budget = with_default_calls(budget).narrower(with_default_calls(told.budget))
        if told.rates is not None:
            rates = rates.narrower(told.rates)
        is_poorer, is_slower = (
            budget not in (settings.budget, with_default_calls(settings.budget)),
            rates != settings.rates,
        )
        if is_poorer:
            await transaction.organisations.change(lambda now: replace(now, budget=budget))
            await self._audit(
                transaction, AuditAction.SET_BUDGET, None, told.org_id, **differences(settings.budget, budget)
            )
        if is_slower:
            await transaction.organisations.change(lambda now: replace(now, rates=rates))
            await self._audit(
                transaction, AuditAction.SET_RATE_LIMITS, None, told.org_id, **differences(settings.rates, rates)
            )
        return is_poorer + is_slower

    async def _workspace(self, told: ListedWorkspace) -> NarrowedRights:
        workspace = WorkspaceRef(told.org_id, told.workspace_id)
        async with self._database.transaction(told.org_id) as transaction:
            found = await transaction.workspaces.get(told.workspace_id)
            if found is None:
                return NarrowedRights()
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
            is_poorer = await self._limit_workspace(transaction, told, found.settings.budget)
            is_briefer = await self._shorten(transaction, told, found.settings)
            sources = await self._forget_sources(transaction, workspace, told.sources)
            saved = 0 if told.saved is None else await self._remove_saved(transaction, workspace, told.saved)
        return NarrowedRights(
            workspaces=int(is_narrower or looks_outside),
            sources=sources,
            saved_questions=saved,
            limits=int(is_poorer),
            days=int(is_briefer),
        )

    async def _limit_workspace(self, transaction: Transaction, told: ListedWorkspace, budget: SpendingLimits) -> bool:
        narrower = budget if told.budget is None else budget.narrower(told.budget)
        if narrower == budget:
            return False
        await transaction.workspaces.change_settings(told.workspace_id, lambda now: replace(now, budget=narrower))
        workspace = WorkspaceRef(told.org_id, told.workspace_id)
        await self._audit(
            transaction, AuditAction.SET_BUDGET, workspace, told.workspace_id, **differences(budget, narrower)
        )
        return True

    async def _shorten(self, transaction: Transaction, told: ListedWorkspace, settings: WorkspaceSettings) -> bool:
        """Whether it keeps something for fewer days."""
        days = KeptDays(*(getattr(settings, one.name) for one in fields(KeptDays)))
        fewer = days if told.days is None else days.shorter(told.days)
        if fewer == days:
            return False
        await transaction.workspaces.change_settings(told.workspace_id, lambda now: replace(now, **asdict(fewer)))
        workspace, act = WorkspaceRef(told.org_id, told.workspace_id), AuditAction.CHANGE_WORKSPACE
        await self._audit(transaction, act, workspace, told.workspace_id, **differences(days, fewer))
        return True

    async def _forget_sources(self, transaction: Transaction, workspace: WorkspaceRef, kept: Collection[UUID]) -> int:
        gone = [one.source_id for one in await transaction.sources.all(workspace) if one.source_id not in kept]
        for source_id in gone:
            await transaction.sources.remove(workspace, source_id)
            await self._audit(transaction, AuditAction.REMOVE_SOURCE, workspace, source_id, keep_documents=True)
        return len(gone)

    async def _remove_saved(self, transaction: Transaction, workspace: WorkspaceRef, kept: Collection[UUID]) -> int:
        gone = [one for one in await transaction.saved.every(workspace) if one.saved_id not in kept]
        for one in gone:
            await transaction.saved.remove(workspace, one.saved_id, one.principal.subject_id)
        return len(gone)

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
                    before = await _access_text(transaction, document)
                    if await narrow_document(transaction, document, rights):
                        narrowed += 1
                        act, key = AuditAction.SET_DOCUMENT_ACCESS, document.document_id
                        now = await transaction.documents.get(workspace, key) or document
                        told = {"before": before, "after": await _access_text(transaction, now)}
                        await self._audit(transaction, act, workspace, key, **told)
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


async def _access_text(transaction: Transaction, document: Document) -> str:
    """Readers, writers and owner of a document in an entry of the audit log."""
    sets = await transaction.access.principals(document.workspace, [document.access_id])
    readers = list_in_audit(sets.get(document.access_id, PUBLIC_PRINCIPALS))
    return f"readers: {readers}; writers: {','.join(document.writers)}; owner: {document.uploaded_by}"


def _newest(records: Iterable[Listed], kind: type[T], names: Callable[[T], Sequence[UUID]]) -> dict[UUID, T]:
    """The record of that kind that was read last, by the things that it names."""
    found: dict[UUID, T] = {}
    for one in sorted((one for one in records if isinstance(one, kind)), key=_read_at):
        found.update(dict.fromkeys(names(one), one))
    return found


def _read_at(one: Listed) -> datetime:
    return datetime.fromisoformat(one.read_at)


def _rights_of(told: ListedRights, document: Document) -> DocumentRights:
    """An erased document keeps its writers and owner: it goes again. Where its newest text is that of the list, that
    text has the readers of the list's newest.
    """
    if told.owner is None:
        return DocumentRights(told.readers, document.writers, document.uploaded_by)
    is_newest = told.revision is not None and told.revision == document.revision_id
    return DocumentRights(told.readers, told.writers, told.owner, told.readers[0] if is_newest else None)


def _listed(principals: tuple[str, ...] | None) -> str:
    return EVERYONE if principals is None else ",".join(principals)
