"""Changes of a document by its writers: what is said of it, and whether it is withdrawn."""

import strawberry

from agentic_rag.documents.document_access import DocumentRight
from agentic_rag.kernel.public_ids import NodeKind, decode
from agentic_rag_server.auth.roles import Action
from agentic_rag_server.graphql.documents.documents import Document, show_document
from agentic_rag_server.graphql.documents.metadata import DocumentMetadataInput, read_change
from agentic_rag_server.graphql.http.context import Info
from agentic_rag_server.graphql.http.fields import Payload, mutation


@strawberry.type(description="The document as it is now, or why it could not be changed.")
class UpdateDocumentPayload(Payload):
    document: Document | None = None


@strawberry.type(description="The document as it is now, or why it is not withdrawn.")
class WithdrawDocumentPayload(Payload):
    document: Document | None = None


@strawberry.type(description="The document as it is now, or why it is not restored.")
class RestoreDocumentPayload(Payload):
    document: Document | None = None


@strawberry.type
class UpdateMutation:
    @mutation(
        Action.UPDATE_DOCUMENT,
        UpdateDocumentPayload,
        right=DocumentRight.WRITE,
        document="id",
        description="Rename a document (`title`: null lets its text decide when it is ingested next) and change what "
        "is said of it, from the next question on. Its text stays as it is. Takes the owner or a writer of the "
        "document with the role member, or the role admin.",
    )
    async def update_document(
        self,
        info: Info,
        id: strawberry.ID,
        title: str | None = strawberry.UNSET,
        metadata: DocumentMetadataInput | None = None,
    ) -> UpdateDocumentPayload:
        """Applies all changes or none. Every answer from then on shows the new title; older answers keep theirs."""
        context = info.context
        node = decode(id, NodeKind.DOCUMENT)
        change = read_change(metadata, ("metadata",), title)
        document = await context.parts.update_document.run(context.principal, context.ref(node), node.key, change)
        return UpdateDocumentPayload(document=show_document(document))

    @mutation(
        Action.WITHDRAW_DOCUMENT,
        WithdrawDocumentPayload,
        right=DocumentRight.WRITE,
        document="id",
        description="Take a document out of answers, reads and lists at once, in all of its versions and until "
        "`restoreDocument`. Takes the owner or a writer of the document with the role member, or the role admin.",
    )
    async def withdraw_document(self, info: Info, id: strawberry.ID) -> WithdrawDocumentPayload:
        """Nothing is erased. Those who may restore it see that it is there; nobody reads it."""
        context, node = info.context, decode(id, NodeKind.DOCUMENT)
        document = await context.parts.document_access.withdraw(context.principal, context.ref(node), node.key)
        return WithdrawDocumentPayload(document=show_document(document))

    @mutation(
        Action.WITHDRAW_DOCUMENT,
        RestoreDocumentPayload,
        right=DocumentRight.WRITE,
        document="id",
        description="Give a withdrawn document back to its readers, as it is. Takes the owner or a writer of the "
        "document who could read it with the role member, or the role admin.",
    )
    async def restore_document(self, info: Info, id: strawberry.ID) -> RestoreDocumentPayload:
        """A document that is not withdrawn stays as it is."""
        context, node = info.context, decode(id, NodeKind.DOCUMENT)
        document = await context.parts.document_access.restore(context.principal, context.ref(node), node.key)
        return RestoreDocumentPayload(document=show_document(document))
