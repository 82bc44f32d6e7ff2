"""Documents attached to a project or agent that the caller knows by an id of its own: the use cases behind the REST
façades, over those of every upload and deletion.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from uuid import UUID

from agentic_rag.documents.document import Document
from agentic_rag.documents.document_access import DocumentAccess, DocumentRight, list_scope
from agentic_rag.erasure.delete import DeleteDocument, Deletion, show_deletion
from agentic_rag.ingestion.upload import ReceivedUpload, Upload, UploadDocument, UploadOptions
from agentic_rag.kernel.database import Database
from agentic_rag.kernel.errors import FeatureDisabled, InvalidInput, NotFound, no_such_document
from agentic_rag.kernel.pagination import Page, PageRequest
from agentic_rag.models.providers.tenant_models import TenantModels
from agentic_rag.tenancy.principals import Principal, WorkspaceRef
from agentic_rag.workspaces.administer import Administer, NewWorkspace
from agentic_rag.workspaces.organisation import FeatureFlag
from agentic_rag.workspaces.workspace import ExternalOwner, Workspace


@dataclass(frozen=True, slots=True)
class Attachment:
    """An upload and the document it made or renewed."""

    upload: Upload
    document: Document


@dataclass(frozen=True, slots=True)
class Attachments:
    """A holder without a workspace holds nothing; its first upload or its first plain text makes the workspace."""

    database: Database
    upload: UploadDocument
    erasure: DeleteDocument
    administer: Administer
    models: TenantModels
    access: DocumentAccess

    async def is_ours(self, org_id: UUID, reference: str) -> bool:
        """Whether `reference` names the organisation: its id, or its id at whoever issues its tokens."""
        if reference.lower() == str(org_id):
            return True
        async with self.database.transaction(org_id) as transaction:
            return (await transaction.organisations.current()).external_ref == reference

    async def has_feature(self, org_id: UUID, flag: FeatureFlag) -> bool:
        """Whether the organisation switched a feature on."""
        async with self.database.transaction(org_id) as transaction:
            return (await transaction.organisations.current()).settings.is_on(flag)

    async def require_feature(self, org_id: UUID, flag: FeatureFlag) -> None:
        """Errors: `FeatureDisabled` unless the organisation switched it on."""
        if not await self.has_feature(org_id, flag):
            raise FeatureDisabled(
                f"The feature {flag.value} is off for this organisation: an admin switches it on with the GraphQL "
                f"mutation `setFeature`, an operator with `rag tenant set NAME --feature {flag.value}=on`."
            )

    async def require_provider(self, org_id: UUID) -> None:
        """Errors: `MissingProviderKey`."""
        await self.models.check(org_id)

    async def find(self, holder: ExternalOwner) -> Workspace | None:
        """The holder's workspace, or None before its first document."""
        async with self.database.transaction(holder.org_id) as transaction:
            return await transaction.workspaces.by_reference(holder.kind, holder.external_ref)

    async def open(self, holder: ExternalOwner, actor: str) -> Workspace:
        """The holder's workspace, made where there is none. Of many who call this at once all get the same one."""
        for name in holder.names:
            found = await self.find(holder) or await self._create_workspace(holder, name, actor)
            if found is not None:
                return found
        # Both names are taken, or another made the workspace meanwhile.
        found = await self.find(holder)
        if found is None:
            raise InvalidInput(
                f"The names {' and '.join(map(repr, holder.names))} belong to other workspaces: rename one, or make "
                f"this one with `createWorkspace` and the externalRef {holder.external_ref!r}.",
                code="WORKSPACE_EXISTS",
            )
        return found

    async def submit(self, received: ReceivedUpload, options: UploadOptions, uploaded_by: Principal) -> Attachment:
        """As `UploadDocument.submit`, with the document as it stands. Errors: also `NotFound` code DOCUMENT_ERASED when
        it was deleted meanwhile.
        """
        upload = await self.upload.submit(received, options, uploaded_by)
        async with self.database.transaction(upload.workspace.org_id) as transaction:
            document = await transaction.documents.get(upload.workspace, upload.document_id)
        if document is None:
            raise NotFound("The document was deleted meanwhile.", code="DOCUMENT_ERASED")
        return Attachment(upload, document)

    async def page(self, holder: ExternalOwner, request: PageRequest, principal: Principal) -> Page[Document]:
        """Those of the holder's documents that the caller may read, by source path; who manages them sees all."""
        async with self.database.transaction(holder.org_id) as transaction:
            workspace = await transaction.workspaces.by_reference(holder.kind, holder.external_ref)
            if workspace is None:
                return Page((), (), False)
            scope = await list_scope(transaction, principal, workspace.ref)
            return await transaction.documents.page(workspace.ref, request, scope=scope)

    async def delete(self, holder: ExternalOwner, document_id: UUID, principal: Principal) -> Deletion:
        """As `DeleteDocument.run`. Errors: those of `DocumentAccess.require` for its owner's rights."""
        workspace = await self.find(holder)
        deletion: Deletion | None = None
        if workspace is not None:
            await self.access.require(principal, workspace.ref, document_id, DocumentRight.OWN)
            deletion = await self.erasure.run(workspace.ref, document_id, principal.subject_id)
        if workspace is None or deletion is None or deletion.erasure is None:
            raise no_such_document()
        return await show_deletion(self.database, workspace.ref, principal, deletion)

    async def inline_guidelines(self, holder: ExternalOwner) -> str | None:
        """The holder's plain-text guidelines; None when there are none."""
        workspace = await self.find(holder)
        return None if workspace is None else workspace.settings.inline_guidelines

    async def set_inline_guidelines(self, workspace: WorkspaceRef, text: str | None, actor: str) -> str | None:
        """Replace a workspace's plain-text guidelines; None or white space only removes them. Errors: `InvalidInput`
        when they are too long, `NotFound` (workspace).
        """
        kept = text if text is not None and text.strip() else None
        changed, _ = await self.administer.change_workspace(
            workspace, lambda before: replace(before, inline_guidelines=kept), actor
        )
        return changed.settings.inline_guidelines

    async def _create_workspace(self, holder: ExternalOwner, name: str, actor: str) -> Workspace | None:
        """The new workspace; None when its name or holder has one already."""
        try:
            wish = NewWorkspace(name, holder.kind, holder.external_ref)
            return await self.administer.create_workspace(holder.org_id, wish, actor)
        except InvalidInput as error:
            if error.code != "WORKSPACE_EXISTS":
                raise
            return None
