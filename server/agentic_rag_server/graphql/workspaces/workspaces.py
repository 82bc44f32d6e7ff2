"""Workspaces and their settings."""

from dataclasses import replace
from datetime import datetime
from typing import Any

import strawberry

from agentic_rag.documents.document_access import parse_writers
from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.kernel.public_ids import NodeId, NodeKind, decode, encode_workspace
from agentic_rag.kernel.text import is_storable
from agentic_rag.models.embedding.similarity import published_thresholds
from agentic_rag.workspaces import rag_config, web_access
from agentic_rag.workspaces import settings as workspace_settings
from agentic_rag.workspaces import workspace as workspace_values
from agentic_rag.workspaces.administer import NewWorkspace
from agentic_rag.workspaces.rag_config import MAX_RERANKED
from agentic_rag.workspaces.web_profiles import ProfileName
from agentic_rag_server.auth.roles import Action, can_perform
from agentic_rag_server.auth.rules import Sight
from agentic_rag_server.graphql.http.context import Info, RequestContext
from agentic_rag_server.graphql.http.fields import Node, Payload, field, inner, mutation, to_schema
from agentic_rag_server.graphql.models.similarity import SimilarityCalibration, find_similarity
from agentic_rag_server.graphql.workspaces.calibrations import Calibration, find_calibration

WorkspaceKind = strawberry.enum(workspace_values.WorkspaceKind, description="What a workspace stands for.")
WebProfile = strawberry.enum(
    ProfileName, name="WebProfile", description="How new answers have to be, and whose pages of the web are read first."
)


@strawberry.type(description="How many passages a search brings, and how similar to the question they must be.")
class RagConfig:
    top_k: int
    similarity_threshold: float = strawberry.field(
        description="On the scale of `similarity`: of the passages that answer, 0.7 keeps 95 in 100 and 0.75 keeps 90. "
        + published_thresholds()
    )
    rerank: int = strawberry.field(
        description="The first passages of a search that the shipped reader puts in order; 0: none, and without effect "
        "where the server embeds without a model."
    )


@strawberry.type(description="Whether runs of a workspace may look outside it; its organisation has to allow it too.")
class WebAccess:
    allow: bool
    care: float = strawberry.field(description="0 looks outside as seldom as it may, 1 as readily.")
    recrawl_hours: int = strawberry.field(
        description="Pages that the web brought are asked for again after so many hours at the latest; 0: never."
    )
    profile: WebProfile  # type: ignore[valid-type]
    seeds: list[str] = strawberry.field(
        description="Names of brands, campaigns and places with which searches of questions that name none of them are "
        "made too."
    )


@strawberry.type(description="What holds for a workspace, by its own decision, its kind's or the server's.")
class WorkspaceSettings:
    chunk_profile: str | None = strawberry.field(description="default, small or agent.")
    history_days: int | None = strawberry.field(description="How long superseded versions stay readable.")
    runs_days: int | None = strawberry.field(description="How long runs are kept; null: 30.")
    jobs_days: int | None = strawberry.field(description="How long finished jobs are kept; null: 30.")
    usage_days: int | None = strawberry.field(description="How long usage by day is kept; null: 400.")
    audit_days: int | None = strawberry.field(description="How long the audit log is kept; null: for ever.")
    inline_guidelines: str | None = strawberry.field(
        description="Plain text, used where the documents hold none; shown to admins."
    )
    rag_config: RagConfig | None
    embedding_dimensions: int | None = strawberry.field(
        description="Of its vectors, whatever its models have: shorter ones are filled up with zeros."
    )
    web: WebAccess


@strawberry.type(description="A corpus: the unit of isolation, versioning and settings.")
class Workspace(Node):
    name: str
    kind: WorkspaceKind  # type: ignore[valid-type]
    external_ref: str | None = strawberry.field(description="The caller's own id of the project or agent.")
    created_at: datetime
    settings: WorkspaceSettings
    readers: list[str] | None = strawberry.field(
        description="Who may enter it, beside `writers` and admins: `user:NAME`, `key:NAME`, `group:NAME`; null: "
        "everybody in the organisation, and below the role admin."
    )
    writers: list[str] | None = strawberry.field(
        description="Who may change its documents, as their roles and the documents' owners let; null: everybody who "
        "may enter, and below the role admin."
    )
    source: strawberry.Private[workspace_values.Workspace]

    @inner(
        Action.READ,
        right=Sight.ORGANISATION,
        description="Grows with every publish that changes something the caller may read; a value for `asOf`.",
    )
    async def corpus_version(self, info: Info) -> int:
        return (await info.context.shown_versions(self.source.ref, self.source.corpus_version))[0]

    @inner(Action.READ, right=Sight.ORGANISATION, description="The corpus version the entity graph reflects.")
    async def graph_version(self, info: Info) -> int:
        return (await info.context.shown_versions(self.source.ref, self.source.graph_version))[0]

    @inner(
        Action.EVALUATE,
        right=Sight.ORGANISATION,
        is_hidden=True,
        description="Of the support below which it abstains; null where the server's threshold holds, and below the "
        "role admin.",
    )
    async def calibration(self, info: Info) -> Calibration | None:
        return await find_calibration(info.context, self.source.ref, trial=False)

    @inner(
        Action.EVALUATE,
        right=Sight.ORGANISATION,
        is_hidden=True,
        description="The newest calibration that was only to measure. Null below the role admin.",
    )
    async def calibration_trial(self, info: Info) -> Calibration | None:
        return await find_calibration(info.context, self.source.ref, trial=True)

    @inner(
        Action.EVALUATE,
        right=Sight.ORGANISATION,
        is_hidden=True,
        description="Of the scale of similarity thresholds; null where the model's scale holds, and below the role "
        "admin.",
    )
    async def similarity_calibration(self, info: Info) -> SimilarityCalibration | None:
        return await find_similarity(info.context, self.source.ref)


@strawberry.input(description="Search settings to keep.")
class RagConfigInput:
    top_k: int = strawberry.field(default=5, description="1 to 50.")
    similarity_threshold: float = strawberry.field(
        default=0.7, description="0 to 1; 0.7 keeps 95 in 100 of the passages that answer, 0.75 keeps 90."
    )
    rerank: int | None = strawberry.field(
        default=None, description=f"0 (none) or 2 to {MAX_RERANKED}; null keeps what is set."
    )


@strawberry.input(description="Whether the web may be asked; the feature WEB_ACCESS has to be on too.")
class WebAccessInput:
    allow: bool
    care: float = strawberry.field(default=0.5, description="0 to 1.")
    recrawl_hours: int | None = strawberry.field(default=None, description="0 (never) to 8760; null keeps what is set.")
    profile: WebProfile | None = strawberry.field(default=None, description="Null keeps what is set.")  # type: ignore[valid-type]
    seeds: list[str] | None = strawberry.field(
        default=None, description="At most 12 names of at most 60 characters; null keeps what is set."
    )


@strawberry.input(description="A workspace to make.")
class CreateWorkspaceInput:
    name: str
    kind: WorkspaceKind = workspace_values.WorkspaceKind.GENERAL  # type: ignore[valid-type]
    external_ref: str | None = None
    embedding_dimensions: int | None = strawberry.field(
        default=None, description="1 to 4000; null takes those of the model."
    )


@strawberry.input(description="What is left out stays as it is; null goes back to the server's default.")
class UpdateWorkspaceSettingsInput:
    workspace_id: strawberry.ID
    chunk_profile: str | None = strawberry.field(
        default=strawberry.UNSET, description="default, small or agent; documents take it when ingested again."
    )
    history_days: int | None = strawberry.field(default=strawberry.UNSET, description="0 to 3650.")
    runs_days: int | None = strawberry.field(default=strawberry.UNSET, description="1 to 3650.")
    jobs_days: int | None = strawberry.field(default=strawberry.UNSET, description="7 to 3650.")
    usage_days: int | None = strawberry.field(default=strawberry.UNSET, description="32 to 3650.")
    audit_days: int | None = strawberry.field(default=strawberry.UNSET, description="30 to 3650.")
    inline_guidelines: str | None = strawberry.field(default=strawberry.UNSET, description="At most 50,000 characters.")
    rag_config: RagConfigInput | None = strawberry.UNSET
    embedding_dimensions: int | None = strawberry.field(
        default=strawberry.UNSET, description="1 to 4000, until the first document is in."
    )
    web: WebAccessInput | None = strawberry.UNSET


@strawberry.type(description="The workspace as it is now, or why it could not be changed.")
class UpdateWorkspaceSettingsPayload(Payload):
    workspace: Workspace | None = None
    purged_crawls: int = strawberry.field(
        default=0, description="Crawls that were queued or running, and that switching web access off cancelled."
    )


@strawberry.type(description="The new workspace, or why there is none.")
class CreateWorkspacePayload(Payload):
    workspace: Workspace | None = None


@strawberry.type(description="The workspace with its new readers and writers, or why it has the old ones.")
class SetWorkspaceAccessPayload(Payload):
    workspace: Workspace | None = None


@strawberry.type(description="The workspace with its new name, or why it has the old one.")
class RenameWorkspacePayload(Payload):
    workspace: Workspace | None = None


async def find_workspace(context: RequestContext, node: NodeId) -> Workspace | None:
    """A workspace of the caller's organisation; None when there is none."""
    async with context.parts.database.transaction(context.principal.org_id) as transaction:
        found = await transaction.workspaces.get(node.workspace_id)
    return _show_workspace(found, context) if found else None


def _show_workspace(workspace: workspace_values.Workspace, context: RequestContext) -> Workspace:
    """A workspace with the settings in force; its guidelines are for those who manage them."""
    own, server = workspace_values.effective_settings(workspace), context.parts.options
    settings = replace(
        own,
        chunk_profile=own.chunk_profile or server.chunk_profile,
        rag_config=own.rag_config or server.rag_config,
        inline_guidelines=own.inline_guidelines if can_perform(context.principal, Action.MANAGE_GUIDELINES) else None,
    )
    key = workspace.ref.workspace_id
    access: dict[str, list[str] | None] = {"readers": None, "writers": None}
    if can_perform(context.principal, Action.CHANGE_WORKSPACE):
        lists = {"readers": workspace.readers, "writers": workspace.writers}
        access = {name: None if one is None else list(one) for name, one in lists.items()}
    shown = replace(workspace, settings=settings)
    return to_schema(Workspace, shown, id=encode_workspace(key), source=workspace, **access)


def _apply_settings(
    before: workspace_settings.WorkspaceSettings, wished: UpdateWorkspaceSettingsInput
) -> workspace_settings.WorkspaceSettings:
    """The settings with what was given. Errors: `InvalidInput`."""
    changes: dict[str, Any] = {
        name: getattr(wished, name)
        for name in ("chunk_profile", *workspace_settings.LEAST_DAYS, "inline_guidelines", "embedding_dimensions")
        if getattr(wished, name) is not strawberry.UNSET
    }
    text = changes.get("inline_guidelines")
    if text is not None and not is_storable(text):
        raise InvalidInput(
            "The text holds a NUL or an unpaired surrogate.",
            code="VALUE_NOT_STORABLE",
            path=("input", "inlineGuidelines"),
        )
    try:
        if (config := wished.rag_config) is not strawberry.UNSET:
            changes["rag_config"] = config and _rag_config(before.rag_config, config)
        if (web := wished.web) is not strawberry.UNSET:
            changes["web"] = _web_access(before.web, web) if web else web_access.WebAccess()
        return replace(before, **changes)
    except InvalidInput as error:
        raise InvalidInput(error.message, code=error.code, path=("input", *error.path)) from error


def _rag_config(before: rag_config.RagConfig | None, wished: RagConfigInput) -> rag_config.RagConfig:
    kept = 0 if before is None else before.rerank
    return rag_config.RagConfig(
        wished.top_k, wished.similarity_threshold, kept if wished.rerank is None else wished.rerank
    )


def _web_access(before: web_access.WebAccess, wished: WebAccessInput) -> web_access.WebAccess:
    hours = before.recrawl_hours if wished.recrawl_hours is None else wished.recrawl_hours
    seeds = (
        before.seeds if wished.seeds is None else tuple(dict.fromkeys(" ".join(one.split()) for one in wished.seeds))
    )
    return web_access.WebAccess(wished.allow, wished.care, hours, wished.profile or before.profile, seeds)


@strawberry.type
class WorkspaceQuery:
    @field(Action.READ, right=Sight.ORGANISATION, description="Every workspace of the caller's organisation, by name.")
    async def workspaces(self, info: Info) -> list[Workspace]:
        """Unpaged: an organisation has few."""
        context = info.context
        async with context.parts.database.transaction(context.principal.org_id) as transaction:
            return [_show_workspace(it, context) for it in await transaction.workspaces.all()]

    @field(Action.READ, right=Sight.ORGANISATION, description="A workspace by its id.")
    async def workspace(self, info: Info, id: strawberry.ID) -> Workspace | None:
        return await find_workspace(info.context, decode(id, NodeKind.WORKSPACE))

    @field(Action.READ, right=Sight.ORGANISATION, description="A workspace by its name.")
    async def workspace_by_name(self, info: Info, name: str) -> Workspace | None:
        context = info.context
        if "\0" in name:
            return None
        async with context.parts.database.transaction(context.principal.org_id) as transaction:
            found = await transaction.workspaces.by_name(name)
        return _show_workspace(found, context) if found else None

    @field(Action.READ, right=Sight.ORGANISATION, description="A project or agent by the caller's own id of it.")
    async def workspace_by_reference(
        self,
        info: Info,
        kind: WorkspaceKind,  # type: ignore[valid-type]
        external_ref: str,
    ) -> Workspace | None:
        context = info.context
        if not is_storable(external_ref):
            return None
        async with context.parts.database.transaction(context.principal.org_id) as transaction:
            found = await transaction.workspaces.by_reference(workspace_values.WorkspaceKind(kind), external_ref)
        return _show_workspace(found, context) if found else None


@strawberry.type
class WorkspaceMutation:
    @mutation(
        Action.CREATE_WORKSPACE,
        CreateWorkspacePayload,
        right=Sight.ORGANISATION,
        description="Make a workspace. Takes the role admin.",
    )
    async def create_workspace(self, info: Info, input: CreateWorkspaceInput) -> CreateWorkspacePayload:
        """WORKSPACE_EXISTS when the name or the external ref is taken."""
        caller = info.context.principal
        wished = UpdateWorkspaceSettingsInput(
            workspace_id=strawberry.ID(""), embedding_dimensions=input.embedding_dimensions
        )
        settings = _apply_settings(workspace_settings.WorkspaceSettings(), wished)
        wish = NewWorkspace(input.name, workspace_values.WorkspaceKind(input.kind), input.external_ref, settings)
        workspace = await info.context.parts.administer.create_workspace(caller.org_id, wish, caller.subject_id)
        return CreateWorkspacePayload(workspace=_show_workspace(workspace, info.context))

    @mutation(
        Action.CHANGE_WORKSPACE,
        RenameWorkspacePayload,
        right=Sight.ORGANISATION,
        description="Give a workspace, of an agent and of a project too, another name. Ids, links and answers stay "
        "as they are. Takes the role admin.",
    )
    async def rename_workspace(self, info: Info, workspace_id: strawberry.ID, name: str) -> RenameWorkspacePayload:
        """WORKSPACE_EXISTS when the name is taken."""
        context = info.context
        ref = context.ref(decode(workspace_id, NodeKind.WORKSPACE, path=("workspaceId",)))
        renamed = await context.parts.administer.rename_workspace(ref, name, context.principal.subject_id)
        return RenameWorkspacePayload(workspace=_show_workspace(renamed, context))

    @mutation(
        Action.CHANGE_WORKSPACE,
        SetWorkspaceAccessPayload,
        right=Sight.ORGANISATION,
        description="Say who may enter a workspace, and who may change its documents, from the next request on: "
        "exactly these, each `user:NAME`, `key:NAME` or `group:NAME`; null: everybody. To anybody else it is as if it "
        "were not there. Takes the role admin.",
    )
    async def set_workspace_access(
        self,
        info: Info,
        workspace_id: strawberry.ID,
        readers: list[str] | None = None,
        writers: list[str] | None = None,
    ) -> SetWorkspaceAccessPayload:
        """Admins and operators enter every workspace."""
        context = info.context
        ref = context.ref(decode(workspace_id, NodeKind.WORKSPACE, path=("workspaceId",)))
        entering = None if readers is None else parse_writers(readers, ("readers",))
        writing = None if writers is None else parse_writers(writers)
        changed = await context.parts.administer.set_workspace_access(
            ref, entering, writing, context.principal.subject_id
        )
        return SetWorkspaceAccessPayload(workspace=_show_workspace(changed, context))

    @mutation(
        Action.CHANGE_WORKSPACE,
        UpdateWorkspaceSettingsPayload,
        right=Sight.ORGANISATION,
        description="Change what a workspace decides for itself. Takes the role admin.",
    )
    async def update_workspace_settings(
        self, info: Info, input: UpdateWorkspaceSettingsInput
    ) -> UpdateWorkspaceSettingsPayload:
        """Applies all changes or none."""
        context = info.context
        ref = context.ref(decode(input.workspace_id, NodeKind.WORKSPACE, path=("input", "workspaceId")))
        workspace, purged = await context.parts.administer.change_workspace(
            ref, lambda before: _apply_settings(before, input), context.principal.subject_id
        )
        return UpdateWorkspaceSettingsPayload(workspace=_show_workspace(workspace, context), purged_crawls=purged)
