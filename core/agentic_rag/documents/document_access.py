"""Rights to documents: checks for a caller, and changes of readers, writers and owner."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from agentic_rag.documents.document import Document
from agentic_rag.jobs.job import JobKind
from agentic_rag.kernel.database import Database, Transaction
from agentic_rag.kernel.errors import Forbidden, InvalidInput, no_such_document
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.tenancy.access import (
    EVERYONE,
    PUBLIC_PRINCIPALS,
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
from agentic_rag.tenancy.principals import Principal, WorkspaceRef
from agentic_rag.tenancy.record_audit import audit


class DocumentRight(enum.Enum):
    """A right to one document, weakest first."""

    KNOW = "know"
    """See that it is there: its readers, and who manages the workspace."""
    READ = "read"
    """Read its text: its readers only."""
    WRITE = "write"
    """Replace its content: its owner, its writers, and who manages the workspace."""
    OWN = "own"
    """Erase it, name its readers and writers, hand it over: its owner, reader or not, and who manages the workspace."""


_REFUSALS = {
    DocumentRight.WRITE: "The content of a document is replaced by its owner, by a writer that the owner names, or by "
    "an admin.",
    DocumentRight.OWN: "A document is erased, handed over, or given readers and writers by its owner or by an admin.",
}


async def may_read(transaction: Transaction, principal: Principal, document: Document) -> bool:
    """Whether the caller may read the document's text."""
    hidden = await transaction.access.unreadable(document.workspace, [document.document_id], read_identity(principal))
    return not hidden


async def visible_access_sets(
    transaction: Transaction, principal: Principal, workspace: WorkspaceRef
) -> tuple[int, ...] | None:
    """The access sets whose documents a list shows the caller; None (all) for a manager of the workspace."""
    if may_manage_access(principal):
        return None
    return (await transaction.access.readable(workspace, read_identity(principal))).access_ids


def may_write(principal: Principal, document: Document) -> bool:
    """Whether the caller, a reader of the document, may replace its content."""
    return may_own(principal, document) or not set(document.writers).isdisjoint(read_identity(principal).principals)


def may_own(principal: Principal, document: Document) -> bool:
    """Whether the caller has the rights of the document's owner."""
    return may_manage_access(principal) or document.uploaded_by == principal.subject_id


async def may_know(transaction: Transaction, principal: Principal, document: Document) -> bool:
    """Whether the caller may learn that the document is there by what he may do with it."""
    return may_own(principal, document) or await may_read(transaction, principal, document)


async def narrower_sets(
    transaction: Transaction, workspace: WorkspaceRef, document_id: UUID, principals: tuple[str, ...]
) -> Mapping[int, int]:
    """For each access set of the document's passages, the set of those of its readers who are among `principals` too.
    Called before any lock on the document.
    """
    narrower: dict[int, int] = {}
    for access_id, readers in (await transaction.access.held_sets(workspace, document_id)).items():
        restored = restore_principals(readers)
        known = readers if restored is None else restored
        narrower[access_id] = await transaction.access.intern(workspace, narrow(principals, known))
        if restored is not None:
            # The set that the passages are in once a hidden document is shown again.
            narrower[await transaction.access.intern(workspace, restored)] = narrower[access_id]
    return narrower


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
        async with self._database.transaction(workspace.org_id) as transaction:
            if right in _REFUSALS:
                document = await transaction.documents.get(workspace, document_id)
                # Before the request's other arguments are read: what is hidden and what is gone answer alike.
                if document is None or not await may_know(transaction, principal, document):
                    raise no_such_document()
                require_right(principal, document, right)
                return
            hidden = await transaction.access.unreadable(workspace, [document_id], read_identity(principal))
            if hidden and not may_manage_access(principal):
                raise no_such_document()
            if hidden and right is DocumentRight.READ:
                raise Forbidden("This document is not readable by you. Whoever manages the workspace may change that.")

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

        Errors: those of `_own`.
        """
        kept = include_setter(principals, principal)
        async with self._database.transaction(workspace.org_id) as transaction:
            access_id = await transaction.access.intern(workspace, kept)
            older = None if all_versions else await narrower_sets(transaction, workspace, document_id, kept)
            document = await self._own(transaction, principal, workspace, document_id)
            before = await transaction.access.principals(workspace, [document.access_id])
            # Whoever names readers for a document that its source lost wants it to stay.
            await transaction.jobs.cancel_for_document(workspace, document_id, JobKind.DELETE)
            change = await transaction.access.change(workspace, document_id, access_id, older)
            await self._audit(
                transaction,
                AuditAction.SET_DOCUMENT_ACCESS,
                document,
                principal,
                before=_listed(before.get(document.access_id, PUBLIC_PRINCIPALS)),
                after=_listed(kept),
                passages=change.passages if change else 0,
                all_versions=all_versions,
            )
        return replace(document, access_id=access_id)

    async def set_writers(
        self, principal: Principal, workspace: WorkspaceRef, document_id: UUID, writers: tuple[str, ...]
    ) -> Document:
        """Let exactly these principals replace a document's content, beside its owner. Errors: those of `_own`."""
        async with self._database.transaction(workspace.org_id) as transaction:
            document = await self._own(transaction, principal, workspace, document_id)
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
        `InvalidInput` with path `to`, and those of `_own`.
        """
        owner = parse_owner(to)
        async with self._database.transaction(workspace.org_id) as transaction:
            found = await transaction.documents.get(workspace, document_id)
            access_id = found.access_id if found else 0
            readers = (await transaction.access.principals(workspace, [access_id])).get(access_id, PUBLIC_PRINCIPALS)
            if readers and owner not in readers:
                readers = tuple(sorted({*readers, owner}))
                access_id = await transaction.access.intern(workspace, readers)
            older = await narrower_sets(transaction, workspace, document_id, readers)
            document = await self._own(transaction, principal, workspace, document_id)
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

    async def list_readers(self, document: Document) -> tuple[str, ...]:
        """The principals that may read a document; none: the whole workspace."""
        async with self._database.transaction(document.workspace.org_id) as transaction:
            found = await transaction.access.principals(document.workspace, [document.access_id])
        return found.get(document.access_id, PUBLIC_PRINCIPALS)

    async def _own(
        self, transaction: Transaction, principal: Principal, workspace: WorkspaceRef, document_id: UUID
    ) -> Document:
        """The document, locked, for a caller with the rights of its owner. Errors: `NotFound` code DOCUMENT_NOT_FOUND;
        `Forbidden`.
        """
        document = await transaction.documents.get_for_update(workspace, document_id)
        if document is None or not await may_know(transaction, principal, document):
            raise no_such_document()
        require_right(principal, document, DocumentRight.OWN)
        return document

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


def _listed(principals: Sequence[str]) -> str:
    """Readers in an entry of the audit log."""
    return ",".join(principals) or EVERYONE


def require_right(principal: Principal, document: Document, right: DocumentRight) -> None:
    """Errors: `Forbidden` for a caller without the right WRITE or OWN."""
    allowed = may_write if right is DocumentRight.WRITE else may_own
    if not allowed(principal, document):
        raise Forbidden(_REFUSALS[right])


def parse_writers(named: Sequence[str]) -> tuple[str, ...]:
    """Writers in their stored form; none is allowed, `everyone` is not. Errors: `InvalidInput` with path `writers`."""
    try:
        writers = parse_principals(named)
    except InvalidInput as error:
        raise InvalidInput(error.message, path=("writers",)) from error
    if named and not writers:
        raise InvalidInput("Name the users, keys and groups that may write.", path=("writers",))
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
