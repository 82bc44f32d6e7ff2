"""Read access to documents: checks for a caller, and changes by the uploader or an admin."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from agentic_rag.documents.document import Document
from agentic_rag.jobs.job import JobKind
from agentic_rag.kernel.database import Database, Transaction
from agentic_rag.kernel.errors import Forbidden, no_such_document
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.tenancy.access import PUBLIC_PRINCIPALS, include_setter, may_manage_access, read_identity
from agentic_rag.tenancy.audit import AuditAction
from agentic_rag.tenancy.principals import Principal, WorkspaceRef
from agentic_rag.tenancy.record_audit import audit


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


class DocumentAccess:
    """Checks, changes and lists the access to a document."""

    def __init__(self, database: Database, telemetry: Telemetry) -> None:
        self._database = database
        self._telemetry = telemetry

    async def require(
        self, principal: Principal, workspace: WorkspaceRef, document_id: UUID, *, text: bool = False
    ) -> None:
        """Check that the caller may know of the document, with `text` that the caller may read it. A deleted document
        passes.

        Errors: `NotFound` code DOCUMENT_NOT_FOUND for a caller who may not know of it; `Forbidden` for a manager of the
        workspace who may not read it.
        """
        async with self._database.transaction(workspace.org_id) as transaction:
            hidden = await transaction.access.unreadable(workspace, [document_id], read_identity(principal))
        if not hidden:
            return
        if not may_manage_access(principal):
            raise no_such_document()
        if text:
            raise Forbidden("This document is not readable by you. Whoever manages the workspace may change that.")

    async def change(
        self, principal: Principal, workspace: WorkspaceRef, document_id: UUID, principals: tuple[str, ...]
    ) -> Document:
        """Let exactly these principals read a document, from the next question on; none: the whole workspace.

        Errors: `NotFound` code DOCUMENT_NOT_FOUND; `Forbidden` for a caller who neither uploaded it nor manages the
        workspace.
        """
        kept = include_setter(principals, principal)
        async with self._database.transaction(workspace.org_id) as transaction:
            access_id = await transaction.access.intern(workspace, kept)
            document = await transaction.documents.get_for_update(workspace, document_id)
            if document is None or not (
                may_manage_access(principal) or await may_read(transaction, principal, document)
            ):
                raise no_such_document()
            require_owner(principal, document)
            # Whoever names readers for a document that its source lost wants it to stay.
            await transaction.jobs.cancel_for_document(workspace, document_id, JobKind.DELETE)
            change = await transaction.access.change(workspace, document_id, access_id)
            await audit(
                transaction,
                self._telemetry,
                AuditAction.SET_DOCUMENT_ACCESS,
                workspace,
                document_id,
                principal.subject,
                principals=len(kept),
                passages=change.passages if change else 0,
            )
        return replace(document, access_id=access_id)

    async def list_readers(self, document: Document) -> tuple[str, ...]:
        """The principals that may read a document; none: the whole workspace."""
        async with self._database.transaction(document.workspace.org_id) as transaction:
            found = await transaction.access.principals(document.workspace, [document.access_id])
        return found.get(document.access_id, PUBLIC_PRINCIPALS)


def require_owner(principal: Principal, document: Document) -> None:
    """Errors: `Forbidden` for a caller who neither uploaded the document nor manages the workspace."""
    if document.uploaded_by != principal.subject and not may_manage_access(principal):
        raise Forbidden("Who reads a document is decided by whoever uploaded it, or by an admin.")
