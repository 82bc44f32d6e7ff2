"""What can be changed."""

from __future__ import annotations

import strawberry

from agentic_rag.ingestion.upload import UploadOptions
from agentic_rag.jobs.job import Replay
from agentic_rag.kernel.errors import Permanent, no_such_document
from agentic_rag.kernel.public_ids import NodeKind, decode
from agentic_rag_server.auth.roles import Action, authorise
from agentic_rag_server.graphql.answering.answers import RagAnswerPayload
from agentic_rag_server.graphql.answering.asking import ask_question
from agentic_rag_server.graphql.documents.documents import (
    DeleteDocumentPayload,
    ReingestPayload,
    SetDocumentAccessPayload,
    show_deletion,
    show_document,
    show_reingestion,
)
from agentic_rag_server.graphql.documents.uploads import UploadDocumentPayload, UploadedFile
from agentic_rag_server.graphql.http.context import Info
from agentic_rag_server.graphql.http.errors import USER_ERRORS, user_error
from agentic_rag_server.graphql.jobs.jobs import PurgeDeadLetterPayload, ReplayDeadLetterPayload, show_job
from agentic_rag_server.graphql.models.models import ModelMutation
from agentic_rag_server.graphql.models.provider_keys import ProviderKeyMutation
from agentic_rag_server.graphql.models.spaces import (
    SwitchEmbeddingSpaceInput,
    SwitchEmbeddingSpacePayload,
    read_gate,
    show_space,
    show_switch,
)
from agentic_rag_server.graphql.models.spending import SpendingMutation
from agentic_rag_server.graphql.operations.evaluations import EvaluationMutation
from agentic_rag_server.graphql.operations.snapshots import CreateSnapshotPayload, show_snapshot
from agentic_rag_server.graphql.tenancy.access import ReadersInput, read_readers
from agentic_rag_server.graphql.workspaces.organisations import OrganisationMutation
from agentic_rag_server.graphql.workspaces.rate_limits import RateLimitMutation
from agentic_rag_server.graphql.workspaces.workspaces import WorkspaceMutation


@strawberry.type
class Mutation(
    WorkspaceMutation,
    OrganisationMutation,
    ProviderKeyMutation,
    ModelMutation,
    SpendingMutation,
    RateLimitMutation,
    EvaluationMutation,
):
    """Changes; each returns what changed, or `userErrors`."""

    rag_answer: RagAnswerPayload = strawberry.field(
        resolver=ask_question,
        description="Answer a question over a workspace, with a verified citation for each sentence.",
    )

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
        readable_by: ReadersInput | None = None,
    ) -> UploadDocumentPayload:
        """The file streams to the blob store while this runs. Without `readableBy` a new document is for the whole
        workspace, and one that is there keeps its readers.
        """
        context = info.context
        context.require_product_on()
        authorise(context.principal, Action.UPLOAD_DOCUMENT)
        try:
            named = None if readable_by is None else read_readers(readable_by)
            options = UploadOptions(source_path, title, idempotency_key, named)
            ref = context.ref(decode(workspace_id, NodeKind.WORKSPACE, path=("workspaceId",)))
            upload = await context.parts.upload.run(ref, file.file_name, file.content, options, context.principal)
        except USER_ERRORS as error:
            return UploadDocumentPayload(document=None, job=None, unchanged=False, user_errors=[user_error(error)])
        async with context.parts.database.transaction(ref.org_id) as transaction:
            document = await transaction.documents.get(ref, upload.document_id)
            job = None if upload.job_id is None else await transaction.jobs.get(ref, upload.job_id)
        return UploadDocumentPayload(
            document=show_document(document) if document else None,
            job=show_job(job) if job else None,
            unchanged=upload.job_id is None,
            user_errors=[],
        )

    @strawberry.mutation(description="Switch a workspace to another embedding model. Takes the role admin.")
    async def switch_embedding_space(self, info: Info, input: SwitchEmbeddingSpaceInput) -> SwitchEmbeddingSpacePayload:
        """A job fills the space beside the one that answers; questions are answered all the while."""
        context = info.context
        context.require_product_on()
        authorise(context.principal, Action.SWITCH_SPACE)
        try:
            ref = await context.workspace(input.workspace_id, ("input", "workspaceId"))
            gate = read_gate(input.gate) if input.gate else None
            actor = context.principal.subject
            return show_switch(ref, await context.parts.switch_spaces.begin(ref, input.to, gate, actor))
        except USER_ERRORS as error:
            return SwitchEmbeddingSpacePayload(space=None, job_id=None, user_errors=[user_error(error)])

    @strawberry.mutation(description="Call off the switch that is under way. Takes the role admin.")
    async def cancel_embedding_switch(self, info: Info, workspace_id: strawberry.ID) -> SwitchEmbeddingSpacePayload:
        """The workspace answers as before; what was filled is kept for the grace period."""
        context = info.context
        context.require_product_on()
        authorise(context.principal, Action.SWITCH_SPACE)
        try:
            record = await context.parts.switch_spaces.cancel(
                await context.workspace(workspace_id), context.principal.subject
            )
        except USER_ERRORS as error:
            return SwitchEmbeddingSpacePayload(space=None, job_id=None, user_errors=[user_error(error)])
        return SwitchEmbeddingSpacePayload(space=show_space(record), job_id=None, user_errors=[])

    @strawberry.mutation(
        description="Say who may read a document, from the next question on: exactly these users and groups, or "
        "without any the whole workspace. Takes the role member, and to have uploaded the document, or the role admin."
    )
    async def set_document_access(
        self, info: Info, id: strawberry.ID, readable_by: ReadersInput | None = None
    ) -> SetDocumentAccessPayload:
        """Whoever is no admin stays among the readers."""
        context = info.context
        context.require_product_on()
        authorise(context.principal, Action.SET_DOCUMENT_ACCESS)
        try:
            node = decode(id, NodeKind.DOCUMENT)
            changed = await context.parts.document_access.change(
                context.principal, context.ref(node), node.key, read_readers(readable_by)
            )
        except USER_ERRORS as error:
            return SetDocumentAccessPayload(document=None, user_errors=[user_error(error)])
        return SetDocumentAccessPayload(document=show_document(changed), user_errors=[])

    @strawberry.mutation(description="Erase a document from every store. Takes the role member.")
    async def delete_document(self, info: Info, id: strawberry.ID) -> DeleteDocumentPayload:
        """Every version goes; the counts say what went where."""
        context = info.context
        context.require_product_on()
        authorise(context.principal, Action.DELETE_DOCUMENT)
        try:
            node = decode(id, NodeKind.DOCUMENT)
            await context.parts.document_access.require(context.principal, context.ref(node), node.key)
            deletion = await context.parts.delete.run(context.ref(node), node.key, context.principal.subject)
            if deletion.erasure is None:
                raise no_such_document()
        except USER_ERRORS as error:
            return DeleteDocumentPayload(
                deleted_id=None,
                corpus_version=None,
                erased=None,
                certificate=None,
                unfinished=[],
                user_errors=[user_error(error)],
            )
        return show_deletion(id, deletion, deletion.erasure)

    @strawberry.mutation(description="Ingest a document again from its kept original. Takes the role member.")
    async def reingest(self, info: Info, document_id: strawberry.ID, force: bool = False) -> ReingestPayload:
        """A FAILED document is tried again; a READY one is parsed again where parser or chunk profile changed, or with
        `force`, which makes and embeds every chunk anew.
        """
        context = info.context
        context.require_product_on()
        authorise(context.principal, Action.REINGEST_DOCUMENT)
        try:
            node = decode(document_id, NodeKind.DOCUMENT, path=("documentId",))
            await context.parts.document_access.require(context.principal, context.ref(node), node.key)
            queued = await context.parts.reingest.run(
                context.ref(node), node.key, context.principal.subject, force=force
            )
        except (*USER_ERRORS, Permanent) as error:
            return ReingestPayload(job_id=None, document=None, new=False, user_errors=[user_error(error)])
        return show_reingestion(queued)

    @strawberry.mutation(
        description="Queue a dead letter again with a fresh allowance; its attempts stay. Takes the role admin."
    )
    async def replay_dead_letter(self, info: Info, id: strawberry.ID) -> ReplayDeadLetterPayload:
        """Doing it twice has one effect: the second reply says `replayed: false`."""
        context = info.context
        context.require_product_on()
        authorise(context.principal, Action.REPLAY_DEAD_LETTER)
        try:
            node = decode(id, NodeKind.JOB)
            replayed = await context.parts.dead_letters.replay(context.ref(node), node.key, context.principal.subject)
        except USER_ERRORS as error:
            return ReplayDeadLetterPayload(job=None, replayed=False, outcome=None, user_errors=[user_error(error)])
        return ReplayDeadLetterPayload(
            job=show_job(replayed.job),
            replayed=replayed.outcome is Replay.REPLAYED,
            outcome=replayed.outcome,
            user_errors=[],
        )

    @strawberry.mutation(
        description="Remove what a dead letter holds: arguments, error texts and attempts. Takes the role admin."
    )
    async def purge_dead_letter(self, info: Info, id: strawberry.ID) -> PurgeDeadLetterPayload:
        """Kind, code and times stay, and so does the audit entry."""
        context = info.context
        context.require_product_on()
        authorise(context.principal, Action.PURGE_DEAD_LETTER)
        try:
            node = decode(id, NodeKind.JOB)
            purged = await context.parts.dead_letters.purge(context.ref(node), node.key, context.principal.subject)
        except USER_ERRORS as error:
            return PurgeDeadLetterPayload(job=None, purged=False, user_errors=[user_error(error)])
        return PurgeDeadLetterPayload(job=show_job(purged.job), purged=purged.purged, user_errors=[])

    @strawberry.mutation(description="Ask for a snapshot of a workspace; a worker takes it. Takes the role admin.")
    async def create_snapshot(
        self, info: Info, workspace_id: strawberry.ID, with_originals: bool = True
    ) -> CreateSnapshotPayload:
        """While one that was asked for is unfinished, that one is returned."""
        context = info.context
        context.require_product_on()
        authorise(context.principal, Action.TAKE_SNAPSHOT)
        try:
            ref = await context.workspace(workspace_id)
            asked = await context.parts.take_snapshot.request(
                ref, context.principal.subject, with_originals=with_originals
            )
        except USER_ERRORS as error:
            return CreateSnapshotPayload(snapshot=None, user_errors=[user_error(error)])
        return CreateSnapshotPayload(snapshot=show_snapshot(asked), user_errors=[])
