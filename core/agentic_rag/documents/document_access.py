"""Rights to documents: checks for a caller, and changes of readers, writers and owner."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from uuid import UUID

from agentic_rag.documents.document import Document
from agentic_rag.jobs.job import JobKind
from agentic_rag.kernel.database import Database, Transaction
from agentic_rag.kernel.errors import Forbidden, InvalidInput, Retryable, no_such_document, no_such_workspace
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.tenancy.access import (
    PUBLIC_PRINCIPALS,
    Hiding,
    ListScope,
    ReadIdentity,
    hide_principals,
    include_principal,
    include_setter,
    keys_of,
    may_manage_access,
    narrow,
    parse_principals,
    read_identity,
    restore_principals,
    users_of,
)
from agentic_rag.tenancy.audit import AuditAction
from agentic_rag.tenancy.change_readers import list_in_audit
from agentic_rag.tenancy.principals import Principal, WorkspaceRef
from agentic_rag.tenancy.record_audit import audit


class DocumentRight(enum.Enum):
    """A right to one document, weakest first."""

    KNOW = "know"
    """See that it is there: its readers, and who manages the workspace."""
    READ = "read"
    """Read its text: its readers only."""
    WRITE = "write"
    """Replace its content, withdraw and restore it: its owner, its writers, and who manages the workspace."""
    OWN = "own"
    """Erase it, name its readers and writers, hand it over: its owner, reader or not, and who manages the workspace."""


_REFUSALS = {
    DocumentRight.WRITE: "A document is given other content, withdrawn and restored by its owner, by a writer that the "
    "owner names, or by an admin.",
    DocumentRight.OWN: "A document is erased, handed over, or given readers and writers by its owner or by an admin.",
}
_UNREADABLE = "This document is not readable by you. Whoever manages the workspace may change that."
_WITHDRAWN = "This document is withdrawn: nobody reads it until one of its writers restores it."


async def list_scope(transaction: Transaction, principal: Principal, workspace: WorkspaceRef) -> ListScope | None:
    """The documents that a list shows the caller; None (all) for a manager of the workspace."""
    if may_manage_access(principal):
        return None
    identity = read_identity(principal)
    readable = await transaction.access.readable(workspace, identity)
    return ListScope(readable.access_ids, identity.principals)


async def may_restore(transaction: Transaction, principal: Principal, document: Document) -> bool:
    """Whether the document is withdrawn and the caller may write it, and could read it if it were not."""
    if not (document.is_withdrawn and may_write(principal, document)):
        return False
    hidden = ReadIdentity(ListScope((), read_identity(principal).principals).if_restored)
    return await transaction.access.sees(document.workspace, document.document_id, hidden)


def may_write(principal: Principal, document: Document) -> bool:
    """Whether the caller, a reader of the document, may replace its content."""
    return may_own(principal, document) or not set(document.writers).isdisjoint(read_identity(principal).principals)


def may_own(principal: Principal, document: Document) -> bool:
    """Whether the caller has the rights of the document's owner."""
    return may_manage_access(principal) or document.uploaded_by == principal.subject_id


async def may_know(transaction: Transaction, principal: Principal, document: Document) -> bool:
    """Whether the caller may learn that the document is there by what he may do with it."""
    reading = read_identity(principal)
    return (
        may_own(principal, document)
        or await transaction.access.sees(document.workspace, document.document_id, reading)
        or await may_restore(transaction, principal, document)
    )


async def narrower_sets(
    transaction: Transaction, workspace: WorkspaceRef, document_id: UUID, principals: tuple[str, ...]
) -> Mapping[int, int]:
    """For each access set of the document's passages, the set of those of its readers who are among `principals` too.
    Called before any lock on the document.
    """
    narrower: dict[int, int] = {}
    for access_id, readers in (await transaction.access.held_sets(workspace, document_id)).items():
        # The set that the passages are in once the source has the document again.
        found = restore_principals(readers, Hiding.MISSING)
        narrower[access_id] = await transaction.access.intern(workspace, narrow(principals, found))
        narrower[await transaction.access.intern(workspace, found)] = narrower[access_id]
    return narrower


@dataclass(frozen=True, slots=True)
class SetMoves:
    """The set that a document moves to, and for each set of text that only older versions hold the set it moves to."""

    access_id: int
    older: Mapping[int, int]


async def sets_after(
    transaction: Transaction, document: Document, convert: Callable[[tuple[str, ...]], tuple[str, ...]]
) -> SetMoves:
    """The sets of the converted principals. Called before any lock on the document."""
    held = await transaction.access.held_sets(document.workspace, document.document_id)
    older = {
        access_id: await transaction.access.intern(document.workspace, convert(principals))
        for access_id, principals in {document.access_id: PUBLIC_PRINCIPALS, **held}.items()
    }
    return SetMoves(older[document.access_id], older)


def keep_withdrawn(document: Document | None, principals: tuple[str, ...]) -> tuple[str, ...]:
    """The principals of a document to which somebody gives these readers: a withdrawn one stays withdrawn."""
    return hide_principals(principals, Hiding.WITHDRAWN) if document and document.is_withdrawn else principals


class DocumentAccess:
    """Checks, changes and lists the rights to a document."""

    def __init__(self, database: Database, telemetry: Telemetry) -> None:
        self._database = database
        self._telemetry = telemetry

    async def require(
        self,
        principal: Principal,
        workspace: WorkspaceRef,
        document_id: UUID,
        right: DocumentRight = DocumentRight.KNOW,
    ) -> None:
        """Check that the caller has a right to the document. To know of and to read an erased one passes for those who
        could read it.

        Errors: `NotFound` code DOCUMENT_NOT_FOUND for a caller who may not know of it, and for one to change that is
        gone; `Forbidden` for one who may know of it, and has not the right.
        """
        is_manager, reading = may_manage_access(principal), read_identity(principal)
        async with self._database.transaction(workspace.org_id) as transaction:
            # What is hidden and what is not there take the same statements, before the request's other arguments.
            is_reader = await transaction.access.sees(workspace, document_id, reading)
            if is_reader and right not in _REFUSALS:
                return
            # What the caller may not know of is not fetched: its row would take time.
            is_fetched = is_manager or is_reader
            if right in _REFUSALS and not is_fetched:
                is_fetched = await transaction.access.owns(workspace, document_id, principal.subject_id)
            scope = None if is_fetched else ListScope((), reading.principals)
            document = await transaction.documents.get(workspace, document_id, scope)
            if document is None:
                if is_manager and right is DocumentRight.KNOW:
                    return
                raise no_such_document()
            is_known = is_reader or is_manager or (right in _REFUSALS and may_own(principal, document))
            if not (is_known or await may_restore(transaction, principal, document)):
                raise no_such_document()
            if right in _REFUSALS:
                await require_right(transaction, principal, document, right)
        if right is DocumentRight.READ:
            raise Forbidden(_WITHDRAWN if document.is_withdrawn else _UNREADABLE)

    async def change(
        self,
        principal: Principal,
        workspace: WorkspaceRef,
        document_id: UUID,
        principals: tuple[str, ...],
        *,
        all_versions: bool = False,
    ) -> Document:
        """Let exactly these principals read a document, from the next question on; none: the whole workspace. Text that
        only older versions hold stays with those who could read it and may read now, unless `all_versions` opens it to
        all of these principals.

        Errors: those of `_lock`.
        """
        async with self._database.transaction(workspace.org_id) as transaction:
            found = await transaction.documents.get(workspace, document_id)
            readers = include_setter(principals, principal)
            kept = keep_withdrawn(found, readers)
            access_id = await transaction.access.intern(workspace, kept)
            older = None if all_versions else await narrower_sets(transaction, workspace, document_id, kept)
            document = await _lock(transaction, principal, workspace, document_id, found)
            before = await transaction.access.principals(workspace, [document.access_id])
            # Whoever names readers for a document that its source lost wants it to stay.
            await transaction.jobs.cancel_for_document(workspace, document_id, JobKind.DELETE)
            change = await transaction.access.change(workspace, document_id, access_id, older)
            await self._audit(
                transaction,
                AuditAction.SET_DOCUMENT_ACCESS,
                document,
                principal,
                before=list_in_audit(before.get(document.access_id, PUBLIC_PRINCIPALS)),
                after=list_in_audit(readers),
                passages=change.passages if change else 0,
                all_versions=all_versions,
            )
        return replace(document, access_id=access_id)

    async def set_writers(
        self, principal: Principal, workspace: WorkspaceRef, document_id: UUID, writers: tuple[str, ...]
    ) -> Document:
        """Let exactly these principals replace a document's content, beside its owner. Errors: those of `_lock`."""
        async with self._database.transaction(workspace.org_id) as transaction:
            document = await _lock(transaction, principal, workspace, document_id)
            await transaction.access.set_writers(workspace, document_id, writers)
            await self._audit(
                transaction,
                AuditAction.SET_DOCUMENT_WRITERS,
                document,
                principal,
                before=",".join(document.writers),
                after=",".join(writers),
            )
        return replace(document, writers=writers)

    async def transfer(self, principal: Principal, workspace: WorkspaceRef, document_id: UUID, to: str) -> Document:
        """Hand a document over to another subject, `user:NAME` or `key:NAME`, who reads it from then on. Errors:
        `InvalidInput` with path `to`, and those of `_lock`.
        """
        owner = parse_owner(to)
        async with self._database.transaction(workspace.org_id) as transaction:
            found = await transaction.documents.get(workspace, document_id)
            access_id = found.access_id if found else 0
            before = (await transaction.access.principals(workspace, [access_id])).get(access_id, PUBLIC_PRINCIPALS)
            readers = include_principal(before, owner)
            if readers != before:
                access_id = await transaction.access.intern(workspace, readers)
            older = await narrower_sets(transaction, workspace, document_id, readers)
            document = await _lock(transaction, principal, workspace, document_id, found)
            await transaction.access.change(workspace, document_id, access_id, older)
            await transaction.access.set_owner(workspace, document_id, owner)
            await self._audit(
                transaction,
                AuditAction.TRANSFER_DOCUMENT,
                document,
                principal,
                before=document.uploaded_by,
                after=owner,
            )
        return replace(document, uploaded_by=owner, access_id=access_id)

    async def withdraw(self, principal: Principal, workspace: WorkspaceRef, document_id: UUID) -> Document:
        """Take a document out of answers, reads and lists, in all of its versions and until it is restored. Lists show
        it to those who may restore it. Errors: those of `_lock` for the right WRITE.
        """
        hide = partial(hide_principals, reason=Hiding.WITHDRAWN)
        return await self._convert(principal, workspace, document_id, hide, AuditAction.WITHDRAW_DOCUMENT)

    async def restore(self, principal: Principal, workspace: WorkspaceRef, document_id: UUID) -> Document:
        """Give a withdrawn document back to its readers, as it is. Errors: those of `withdraw`."""
        show = partial(restore_principals, reason=Hiding.WITHDRAWN)
        return await self._convert(principal, workspace, document_id, show, AuditAction.RESTORE_DOCUMENT)

    async def list_readers(self, document: Document) -> tuple[str, ...]:
        """The principals that may read a document, or may once it is restored; none: the whole workspace."""
        async with self._database.transaction(document.workspace.org_id) as transaction:
            found = await transaction.access.principals(document.workspace, [document.access_id])
        return restore_principals(found.get(document.access_id, PUBLIC_PRINCIPALS), Hiding.WITHDRAWN)

    async def _convert(
        self,
        principal: Principal,
        workspace: WorkspaceRef,
        document_id: UUID,
        convert: Callable[[tuple[str, ...]], tuple[str, ...]],
        action: AuditAction,
    ) -> Document:
        """The document, with other principals for all of its text. Errors: those of `_lock` for the right WRITE."""
        async with self._database.transaction(workspace.org_id) as transaction:
            found = await transaction.documents.get(workspace, document_id)
            if found is None:
                raise no_such_document()
            moves = await sets_after(transaction, found, convert)
            document = await _lock(transaction, principal, workspace, document_id, found, DocumentRight.WRITE)
            if moves.access_id == document.access_id:
                return document
            change = await transaction.access.change(workspace, document_id, moves.access_id, moves.older)
            passages = change.passages if change else 0
            await self._audit(transaction, action, document, principal, passages=passages)
            return await transaction.documents.get(workspace, document_id) or document

    async def _audit(
        self,
        transaction: Transaction,
        action: AuditAction,
        document: Document,
        principal: Principal,
        **detail: str | int | bool | None,
    ) -> None:
        await audit(
            transaction,
            self._telemetry,
            action,
            document.workspace,
            document.document_id,
            principal.subject_id,
            **detail,
        )


async def _lock(
    transaction: Transaction,
    principal: Principal,
    workspace: WorkspaceRef,
    document_id: UUID,
    found: Document | None = None,
    right: DocumentRight = DocumentRight.OWN,
) -> Document:
    """The document, locked, for a caller with a right to it. Errors: `NotFound` code DOCUMENT_NOT_FOUND; `Forbidden`;
    `Retryable` code DATABASE_CONFLICT when its readers are others than those that were `found`.
    """
    document = await transaction.documents.get_for_update(workspace, document_id)
    if document is None or not await may_know(transaction, principal, document):
        raise no_such_document()
    await require_right(transaction, principal, document, right)
    if found is not None and found.access_id != document.access_id:
        raise readers_changed()
    return document


def readers_changed() -> Retryable:
    """The error for a document that got other readers between its look-up and its lock."""
    return Retryable("The readers of this document changed meanwhile.", code="DATABASE_CONFLICT")


async def require_right(
    transaction: Transaction, principal: Principal, document: Document, right: DocumentRight
) -> None:
    """Errors: `Forbidden` for a caller without the right WRITE or OWN, and those of `require_writer`."""
    allowed = may_write if right is DocumentRight.WRITE else may_own
    if not allowed(principal, document):
        raise Forbidden(_REFUSALS[right])
    await require_writer(transaction, principal, document.workspace)


async def require_writer(transaction: Transaction, principal: Principal, workspace: WorkspaceRef) -> None:
    """Errors: `Forbidden` for a caller who may change no document of the workspace; `NotFound` code
    WORKSPACE_NOT_FOUND.
    """
    if may_manage_access(principal):
        return
    found = await transaction.workspaces.get(workspace.workspace_id)
    if found is None:
        raise no_such_workspace()
    if found.writers is not None and set(found.writers).isdisjoint(read_identity(principal).principals):
        raise Forbidden("Documents of this workspace are changed by its writers and by admins.")


def parse_writers(named: Sequence[str], path: tuple[str, ...] = ("writers",)) -> tuple[str, ...]:
    """Principals in their stored form; none is allowed, `everyone` is not. Errors: `InvalidInput` with that path."""
    try:
        writers = parse_principals(named)
    except InvalidInput as error:
        raise InvalidInput(error.message, path=path) from error
    if named and not writers:
        raise InvalidInput("Name users, keys and groups.", path=path)
    return writers


def parse_owner(text: str) -> str:
    """A subject in its stored form. Errors: `InvalidInput` with path `to`."""
    try:
        named = parse_principals([text])
    except InvalidInput as error:
        raise InvalidInput(error.message, path=("to",)) from error
    if not (users_of(named) or keys_of(named)):
        raise InvalidInput("A document is handed over to `user:NAME` or `key:NAME`.", path=("to",))
    return named[0]
