"""What can be changed."""

from __future__ import annotations

import strawberry

from agentic_rag.app.upload import UploadOptions
from agentic_rag.domain.errors import NotFound
from agentic_rag.domain.tenancy import WorkspaceSettings, checked_name
from agentic_rag_server.auth.roles import Action, authorise
from agentic_rag_server.graphql.answers import RagAnswerPayload
from agentic_rag_server.graphql.asking import ask_question
from agentic_rag_server.graphql.context import Info
from agentic_rag_server.graphql.documents import DeleteDocumentPayload, show_deletion, show_document
from agentic_rag_server.graphql.errors import USER_ERRORS, user_error
from agentic_rag_server.graphql.jobs import show_job
from agentic_rag_server.graphql.node_ids import NodeKind, decode
from agentic_rag_server.graphql.uploads import UploadDocumentPayload, UploadedFile
from agentic_rag_server.graphql.workspaces import CreateWorkspaceInput, CreateWorkspacePayload, show_workspace


@strawberry.type
class Mutation:
    """Changes; each returns what changed, or `userErrors`."""

    rag_answer: RagAnswerPayload = strawberry.field(
        resolver=ask_question,
        description="Answer a question over a workspace, with a verified citation for each sentence.",
    )

    @strawberry.mutation(description="Make a workspace. Takes the role admin.")
    async def create_workspace(self, info: Info, input: CreateWorkspaceInput) -> CreateWorkspacePayload:
        """A name or external ref that is taken gives WORKSPACE_EXISTS."""
        context = info.context
        context.require_enabled()
        authorise(context.principal, Action.CREATE_WORKSPACE)
        try:
            name = checked_name(input.name, ("input", "name"))
            reference = (
                checked_name(input.external_ref, ("input", "externalRef")) if input.external_ref is not None else None
            )
            async with context.container.database.transaction(context.principal.org_id) as transaction:
                made = await transaction.workspaces.create(
                    context.container.ids.new(), name, input.kind, reference, WorkspaceSettings()
                )
        except USER_ERRORS as error:
            return CreateWorkspacePayload(workspace=None, user_errors=[user_error(error)])
        return CreateWorkspacePayload(workspace=show_workspace(made), user_errors=[])

    @strawberry.mutation(
        description="Upload one file (graphql-multipart-request-spec). The same path is the same document; the same "
        "`idempotencyKey` with the same file is the same upload. Takes the role member."
    )
    async def upload_document(
        self,
        info: Info,
        workspace_id: strawberry.ID,
        file: UploadedFile,
        source_path: str | None = None,
        title: str | None = None,
        idempotency_key: str | None = None,
    ) -> UploadDocumentPayload:
        """The file streams to the blob store while this runs."""
        context = info.context
        context.require_enabled()
        authorise(context.principal, Action.UPLOAD_DOCUMENT)
        options = UploadOptions(source_path, title, idempotency_key)
        try:
            ref = context.ref(decode(workspace_id, NodeKind.WORKSPACE, path=("workspaceId",)))
            subject = context.principal.subject
            upload = await context.container.upload.run(ref, file.file_name, file.content, options, subject)
        except USER_ERRORS as error:
            return UploadDocumentPayload(document=None, job=None, unchanged=False, user_errors=[user_error(error)])
        async with context.container.database.transaction(ref.org_id) as transaction:
            document = await transaction.documents.get(ref, upload.document_id)
            job = None if upload.job_id is None else await transaction.jobs.get(ref, upload.job_id)
        return UploadDocumentPayload(
            document=show_document(document) if document else None,
            job=show_job(job) if job else None,
            unchanged=upload.job_id is None,
            user_errors=[],
        )

    @strawberry.mutation(description="Erase a document from every store. Takes the role member.")
    async def delete_document(self, info: Info, id: strawberry.ID) -> DeleteDocumentPayload:
        """Every version goes; the counts say what went where."""
        context = info.context
        context.require_enabled()
        authorise(context.principal, Action.DELETE_DOCUMENT)
        try:
            node = decode(id, NodeKind.DOCUMENT)
            deletion = await context.container.delete.run(context.ref(node), node.key)
            if deletion.erasure is None:
                raise NotFound("There is no such document.")
        except USER_ERRORS as error:
            return DeleteDocumentPayload(
                deleted_id=None, corpus_version=None, erased=None, unfinished=[], user_errors=[user_error(error)]
            )
        return show_deletion(id, deletion, deletion.erasure)
