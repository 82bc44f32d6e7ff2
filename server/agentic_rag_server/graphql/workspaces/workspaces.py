"""Workspaces in the schema."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

import strawberry

from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.kernel.public_ids import NodeKind, decode, encode_workspace
from agentic_rag.kernel.text import is_storable
from agentic_rag.workspaces import settings as workspace_settings
from agentic_rag.workspaces import workspace as workspace_values
from agentic_rag.workspaces.administer import NewWorkspace
from agentic_rag_server.auth.roles import Action, authorise
from agentic_rag_server.graphql.http.context import Info
from agentic_rag_server.graphql.http.errors import USER_ERRORS, UserError, user_error
from agentic_rag_server.graphql.http.nodes import Node

WorkspaceKind = strawberry.enum(workspace_values.WorkspaceKind, description="What a workspace stands for.")


@strawberry.type(description="How many passages a search brings, and how similar to the question they must be.")
class RagConfig:
    """Search settings of a workspace."""

    top_k: int
    similarity_threshold: float


@strawberry.type(description="What a workspace decides for itself; null leaves it to the server.")
class WorkspaceSettings:
    """Settings as clients see them."""

    chunk_profile: str | None = strawberry.field(description="default, small or agent.")
    history_days: int | None = strawberry.field(description="How long superseded versions stay readable.")
    inline_guidelines: str | None = strawberry.field(description="Plain text, used where the documents hold none.")
    rag_config: RagConfig | None
    embedding_dimensions: int | None = strawberry.field(
        description="Of its vectors, whatever its models have: shorter ones are filled up with zeros."
    )


@strawberry.type(description="A corpus: the unit of isolation, versioning and settings.")
class Workspace(Node):
    """A workspace as clients see it."""

    name: str
    kind: WorkspaceKind  # type: ignore[valid-type]
    external_ref: str | None = strawberry.field(description="The caller's own id of the project or agent.")
    corpus_version: int = strawberry.field(description="Grows with every publish; a value for `asOf`.")
    graph_version: int = strawberry.field(description="The corpus version the entity graph reflects.")
    created_at: datetime
    settings: WorkspaceSettings


@strawberry.input(description="Search settings to keep.")
class RagConfigInput:
    """Both have the defaults of an agent."""

    top_k: int = strawberry.field(default=5, description="1 to 50.")
    similarity_threshold: float = strawberry.field(default=0.7, description="0 to 1.")


@strawberry.input(description="A workspace to make.")
class CreateWorkspaceInput:
    """Arguments of `createWorkspace`."""

    name: str
    kind: WorkspaceKind = workspace_values.WorkspaceKind.GENERAL  # type: ignore[valid-type]
    external_ref: str | None = None
    embedding_dimensions: int | None = strawberry.field(
        default=None, description="1 to 4000; null takes those of the model."
    )


@strawberry.input(description="What is left out stays as it is; null goes back to the server's default.")
class UpdateWorkspaceSettingsInput:
    """Arguments of `updateWorkspaceSettings`."""

    workspace_id: strawberry.ID
    chunk_profile: str | None = strawberry.field(
        default=strawberry.UNSET, description="default, small or agent; documents take it when ingested again."
    )
    history_days: int | None = strawberry.field(default=strawberry.UNSET, description="0 to 3650.")
    inline_guidelines: str | None = strawberry.field(default=strawberry.UNSET, description="At most 50,000 characters.")
    rag_config: RagConfigInput | None = strawberry.UNSET
    embedding_dimensions: int | None = strawberry.field(
        default=strawberry.UNSET, description="1 to 4000, until the first document is in."
    )


@strawberry.type(description="The workspace as it is now, or why it could not be changed.")
class UpdateWorkspaceSettingsPayload:
    """Result of `updateWorkspaceSettings`."""

    workspace: Workspace | None
    user_errors: list[UserError]


@strawberry.type(description="The new workspace, or why there is none.")
class CreateWorkspacePayload:
    """Result of `createWorkspace`."""

    workspace: Workspace | None
    user_errors: list[UserError]


def show_workspace(workspace: workspace_values.Workspace) -> Workspace:
    """A workspace of the domain as one of the schema."""
    return Workspace(
        id=strawberry.ID(encode_workspace(workspace.ref.workspace_id)),
        name=workspace.name,
        kind=workspace.kind,
        external_ref=workspace.external_ref,
        corpus_version=workspace.corpus_version,
        graph_version=workspace.graph_version,
        created_at=workspace.created_at,
        settings=_show_settings(workspace.settings),
    )


def _show_settings(settings: workspace_settings.WorkspaceSettings) -> WorkspaceSettings:
    config = settings.rag_config
    return WorkspaceSettings(
        chunk_profile=settings.chunk_profile,
        history_days=settings.history_days,
        inline_guidelines=settings.inline_guidelines,
        rag_config=config and RagConfig(top_k=config.top_k, similarity_threshold=config.similarity_threshold),
        embedding_dimensions=settings.embedding_dimensions,
    )


def apply_settings_input(
    before: workspace_settings.WorkspaceSettings, wished: UpdateWorkspaceSettingsInput
) -> workspace_settings.WorkspaceSettings:
    """The settings with what was given. Errors: `InvalidInput`."""
    changes: dict[str, Any] = {
        name: getattr(wished, name)
        for name in ("chunk_profile", "history_days", "inline_guidelines", "embedding_dimensions")
        if getattr(wished, name) is not strawberry.UNSET
    }
    text = changes.get("inline_guidelines")
    if text is not None and not is_storable(text):
        raise InvalidInput(
            "The text holds a NUL or half a character.", code="VALUE_NOT_STORABLE", path=("input", "inlineGuidelines")
        )
    try:
        if (config := wished.rag_config) is not strawberry.UNSET:
            changes["rag_config"] = config and workspace_settings.RagConfig(config.top_k, config.similarity_threshold)
        return replace(before, **changes)
    except InvalidInput as error:
        raise InvalidInput(error.message, code=error.code, path=("input", *error.path)) from error


@strawberry.type
class WorkspaceQuery:
    """Workspaces as their callers know them."""

    @strawberry.field(description="A project or agent by the caller's own id of it.")
    async def workspace_by_reference(
        self,
        info: Info,
        kind: WorkspaceKind,  # type: ignore[valid-type]
        external_ref: str,
    ) -> Workspace | None:
        """Null when there is none."""
        context = info.context
        context.require_product_on()
        authorise(context.principal, Action.READ)
        if not is_storable(external_ref):
            return None
        async with context.parts.database.transaction(context.principal.org_id) as transaction:
            found = await transaction.workspaces.by_reference(workspace_values.WorkspaceKind(kind), external_ref)
        return show_workspace(found) if found else None


@strawberry.type
class WorkspaceMutation:
    """Making workspaces, and their settings."""

    @strawberry.mutation(description="Make a workspace. Takes the role admin.")
    async def create_workspace(self, info: Info, input: CreateWorkspaceInput) -> CreateWorkspacePayload:
        """A name or external ref that is taken gives WORKSPACE_EXISTS."""
        context = info.context
        context.require_product_on()
        authorise(context.principal, Action.CREATE_WORKSPACE)
        caller = context.principal
        try:
            wished = UpdateWorkspaceSettingsInput(
                workspace_id=strawberry.ID(""), embedding_dimensions=input.embedding_dimensions
            )
            settings = apply_settings_input(workspace_settings.WorkspaceSettings(), wished)
            wish = NewWorkspace(input.name, workspace_values.WorkspaceKind(input.kind), input.external_ref, settings)
            made = await context.parts.administer.create_workspace(caller.org_id, wish, caller.subject)
        except USER_ERRORS as error:
            return CreateWorkspacePayload(workspace=None, user_errors=[user_error(error)])
        return CreateWorkspacePayload(workspace=show_workspace(made), user_errors=[])

    @strawberry.mutation(description="Change what a workspace decides for itself. Takes the role admin.")
    async def update_workspace_settings(
        self, info: Info, input: UpdateWorkspaceSettingsInput
    ) -> UpdateWorkspaceSettingsPayload:
        """All of it or nothing."""
        context = info.context
        context.require_product_on()
        authorise(context.principal, Action.CHANGE_WORKSPACE)
        try:
            ref = context.ref(decode(input.workspace_id, NodeKind.WORKSPACE, path=("input", "workspaceId")))
            changed = await context.parts.administer.change_workspace(
                ref, lambda before: apply_settings_input(before, input), context.principal.subject
            )
        except USER_ERRORS as error:
            return UpdateWorkspaceSettingsPayload(workspace=None, user_errors=[user_error(error)])
        return UpdateWorkspaceSettingsPayload(workspace=show_workspace(changed), user_errors=[])
