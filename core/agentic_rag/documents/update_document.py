"""Change what is said of a document: its title and its metadata. Its text stays as it is, and so do its chunks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from uuid import UUID

from agentic_rag.documents.document import Document
from agentic_rag.documents.document_access import DocumentRight, may_know, require_right
from agentic_rag.documents.metadata import UNSAID, MetadataChange, require_room, validate_change
from agentic_rag.documents.upload_arguments import validate_title
from agentic_rag.kernel.database import Database
from agentic_rag.kernel.errors import no_such_document
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.tenancy.audit import AuditAction
from agentic_rag.tenancy.principals import Principal, WorkspaceRef
from agentic_rag.tenancy.record_audit import audit


@dataclass(frozen=True, slots=True)
class UpdateDocument:
    """The use case behind `updateDocument`, `PATCH /v1/workspaces/{workspace}/documents/{document}` and `rag doc set`.

    Whoever may replace the content of a document may say what it is about.
    """

    database: Database
    telemetry: Telemetry

    async def run(
        self, principal: Principal, workspace: WorkspaceRef, document_id: UUID, change: MetadataChange
    ) -> Document:
        """The document as it is afterwards, from the next question on.

        Errors: `InvalidInput` (code METADATA_INVALID, and that of `validate_title`), `NotFound` code
        DOCUMENT_NOT_FOUND, `Forbidden` without the right WRITE, `DependencyUnavailable`.
        """
        said = validate_change(change)
        if said.title is not UNSAID:
            said = replace(said, title=validate_title(said.title))
        async with self.database.transaction(workspace.org_id) as transaction:
            document = await transaction.documents.get_for_update(workspace, document_id)
            if document is None or not await may_know(transaction, principal, document):
                raise no_such_document()
            await require_right(transaction, principal, document, DocumentRight.WRITE)
            require_room(document.metadata, said)
            if await transaction.documents.describe(workspace, [document_id], said):
                await audit(
                    transaction,
                    self.telemetry,
                    AuditAction.UPDATE_DOCUMENT,
                    workspace,
                    document_id,
                    principal.subject_id,
                    changed=",".join(said.names),
                )
            return (await transaction.documents.get_many(workspace, [document_id]))[document_id]
