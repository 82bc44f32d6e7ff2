"""A document of one workspace as a document of another: its original is read there anew."""

from __future__ import annotations

from dataclasses import dataclass

from agentic_rag.documents.document import Document
from agentic_rag.documents.document_access import DocumentAccess, DocumentRight
from agentic_rag.documents.metadata import NO_CHANGE, MetadataChange, validate_change
from agentic_rag.documents.originals import original_of
from agentic_rag.documents.ports import BlobStore
from agentic_rag.ingestion.upload import Upload, UploadDocument, UploadOptions
from agentic_rag.kernel.database import Database
from agentic_rag.kernel.errors import no_such_document
from agentic_rag.kernel.public_ids import NodeId
from agentic_rag.tenancy.principals import Principal, WorkspaceRef


@dataclass(frozen=True, slots=True)
class CopyDocument:
    """The copy has the path, the title and the readers of the document. A repetition changes nothing."""

    database: Database
    blobs: BlobStore
    upload: UploadDocument
    access: DocumentAccess

    async def run(
        self, principal: Principal, document: NodeId, to: WorkspaceRef, metadata: MetadataChange = NO_CHANGE
    ) -> Upload:
        """Hand it to ingestion; `metadata` is said of the copy. Errors: those of `find`, `UploadDocument` and
        `validate_change`, `NotFound` code ORIGINAL_MISSING.
        """
        found = await self.find(principal, document)
        async with self.database.transaction(principal.org_id) as transaction:
            originals = await transaction.originals.of(found.workspace, found.document_id)
        readers = await self.access.list_readers(found)
        pieces = self.blobs.stream(original_of(found, originals).key)
        received = await self.upload.receive(to, found.file_name, pieces)
        said = validate_change(metadata)
        options = UploadOptions(found.source_path, found.title, readable_by=readers or None, metadata=said)
        return await self.upload.submit(received, options, principal)

    async def find(self, principal: Principal, document: NodeId) -> Document:
        """A document that the caller may copy. Errors: those of `DocumentAccess.require` for the right to read,
        `NotFound` code DOCUMENT_NOT_FOUND.
        """
        source = WorkspaceRef(principal.org_id, document.workspace_id)
        await self.access.require(principal, source, document.key, DocumentRight.READ)
        async with self.database.transaction(source.org_id) as transaction:
            found = await transaction.documents.get(source, document.key)
        if found is None:
            raise no_such_document()
        return found
