"""What can be changed."""

from __future__ import annotations

import strawberry

from agentic_rag.domain.errors import NotFound
from agentic_rag.domain.tenancy import WorkspaceSettings, checked_name
from agentic_rag_server.auth.roles import Action, authorise
from agentic_rag_server.graphql.answers import RagAnswerPayload
from agentic_rag_server.graphql.asking import ask_question
from agentic_rag_server.graphql.context import Info
from agentic_rag_server.graphql.documents import DeleteDocumentPayload, show_deletion
from agentic_rag_server.graphql.errors import USER_ERRORS, user_error
from agentic_rag_server.graphql.node_ids import NodeKind, decode
from agentic_rag_server.graphql.spaces import (
    SwitchEmbeddingSpaceInput,
    SwitchEmbeddingSpacePayload,
    read_gate,
    show_space,
    show_switch,
)
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

    @strawberry.mutation(description="Switch a workspace to another embedding model. Takes the role admin.")
    async def switch_embedding_space(self, info: Info, input: SwitchEmbeddingSpaceInput) -> SwitchEmbeddingSpacePayload:
        """A job fills the space beside the one that answers; questions are answered all the while."""
        context = info.context
        context.require_enabled()
        authorise(context.principal, Action.SWITCH_SPACE)
        try:
            ref = await context.workspace(input.workspace_id, ("input", "workspaceId"))
            gate = read_gate(input.gate) if input.gate else None
            return show_switch(ref, await context.container.switch_spaces.begin(ref, input.to, gate))
        except USER_ERRORS as error:
            return SwitchEmbeddingSpacePayload(space=None, job_id=None, user_errors=[user_error(error)])

    @strawberry.mutation(description="Call off the switch that is under way. Takes the role admin.")
    async def cancel_embedding_switch(self, info: Info, workspace_id: strawberry.ID) -> SwitchEmbeddingSpacePayload:
        """The workspace answers as before; what was filled is kept for the grace period."""
        context = info.context
        context.require_enabled()
        authorise(context.principal, Action.SWITCH_SPACE)
        try:
            record = await context.container.switch_spaces.cancel(await context.workspace(workspace_id))
        except USER_ERRORS as error:
            return SwitchEmbeddingSpacePayload(space=None, job_id=None, user_errors=[user_error(error)])
        return SwitchEmbeddingSpacePayload(space=show_space(record), job_id=None, user_errors=[])

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
