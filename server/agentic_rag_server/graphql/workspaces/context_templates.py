"""Templates of prompt sections that a workspace keeps."""

from dataclasses import replace

import strawberry

from agentic_rag.kernel.errors import InvalidInput, no_such_workspace
from agentic_rag.kernel.public_ids import NodeKind, decode
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.workspaces import context_template
from agentic_rag.workspaces.context_template import (
    KEPT_VERSIONS,
    MAX_NAMES,
    MAX_TOKENS,
    TEMPLATES,
    add_template,
    drop_template,
    find_template,
    template_from,
)
from agentic_rag_server.auth.roles import Action
from agentic_rag_server.auth.rules import Sight
from agentic_rag_server.graphql.http.context import Info
from agentic_rag_server.graphql.http.fields import Payload, field, mutation, to_schema


@strawberry.type(description="The form of a prompt section.")
class ContextTemplate:
    name: str
    version: int
    is_built_in: bool
    heading: str
    opening: str = strawberry.field(description="Between the heading and the first item.")
    item: str = strawberry.field(description="The form of a passage.")
    joint: str = strawberry.field(description="Between two items.")
    top_k: int
    min_similarity: float
    is_fixed: bool = strawberry.field(
        description="Whether `topK` and `minSimilarity` hold for a workspace with a `ragConfig` of its own too."
    )
    item_characters: int | None = strawberry.field(description="Longer passages are cut there and end in `...`.")
    max_tokens: int


@strawberry.input(
    description=f"A template to keep. A workspace has at most {MAX_NAMES}, and of each the last {KEPT_VERSIONS} "
    "versions."
)
class SaveContextTemplateInput:
    workspace_id: strawberry.ID
    name: str = strawberry.field(description="1 to 60 of a-z, 0-9, - and _, a letter first; not a built-in one's.")
    heading: str = strawberry.field(description="May hold `{agent}`. At most 500 characters.")
    opening: str = strawberry.field(default="\n\n", description="At most 100 characters.")
    item: str = strawberry.field(
        default="{text}",
        description="Holds `{text}` once; may hold `{source}` and `{title}`. White space and `>` before "
        "`{text}` stand before each line of it. At most 1000 characters.",
    )
    joint: str = strawberry.field(default="\n\n", description="At most 100 characters.")
    top_k: int | None = strawberry.field(default=None, description="Null, with `minSimilarity`: the workspace's.")
    min_similarity: float | None = None
    item_characters: int | None = strawberry.field(default=None, description="Null: passages are not cut.")
    max_tokens: int = strawberry.field(default=2_000, description=f"At most {MAX_TOKENS}, and more than the heading.")


@strawberry.type(description="The newest version of the template, or why it could not be kept.")
class SaveContextTemplatePayload(Payload):
    template: ContextTemplate | None = None


@strawberry.type(description="Every version is gone, or why not.")
class DeleteContextTemplatePayload(Payload):
    deleted_name: str | None = None


def show_template(template: context_template.ContextTemplate) -> ContextTemplate:
    """A template in the schema."""
    return to_schema(
        ContextTemplate,
        template,
        is_built_in=template.name in TEMPLATES,
        top_k=template.config.top_k,
        min_similarity=template.config.similarity_threshold,
        max_tokens=template.tokens,
    )


def read_template(given: SaveContextTemplateInput) -> context_template.ContextTemplate:
    """Errors: those of `template_from`, with paths below `input`."""
    try:
        return template_from(
            given.name,
            given.heading,
            item=given.item,
            opening=given.opening,
            joint=given.joint,
            top_k=given.top_k,
            min_similarity=given.min_similarity,
            item_characters=given.item_characters,
            max_tokens=given.max_tokens,
        )
    except InvalidInput as error:
        raise InvalidInput(error.message, code=error.code, path=("input", *error.path)) from error


@strawberry.type
class ContextTemplateQuery:
    @field(
        Action.READ,
        right=Sight.ORGANISATION,
        description="The templates for `context`: the built-in ones, then the workspace's own with each version kept.",
    )
    async def context_templates(self, info: Info, workspace_id: strawberry.ID) -> list[ContextTemplate]:
        context = info.context
        ref = context.ref(decode(workspace_id, NodeKind.WORKSPACE, path=("workspaceId",)))
        async with context.parts.database.transaction(ref.org_id) as transaction:
            found = await transaction.workspaces.get(ref.workspace_id)
        if found is None:
            raise no_such_workspace()
        return [show_template(one) for one in (*TEMPLATES.values(), *found.settings.templates)]


@strawberry.type
class ContextTemplateMutation:
    @mutation(
        Action.CHANGE_WORKSPACE,
        SaveContextTemplatePayload,
        right=Sight.ORGANISATION,
        description="Keep a template for `context`, as the next version of its name. Takes the role admin.",
    )
    async def save_context_template(self, info: Info, input: SaveContextTemplateInput) -> SaveContextTemplatePayload:
        """The same content again makes no further version."""
        context = info.context
        ref = _ref(info, input.workspace_id, "input", "workspaceId")
        wished = read_template(input)
        changed, _ = await context.parts.administer.change_workspace(
            ref,
            lambda before: replace(before, templates=add_template(before.templates, wished)),
            context.principal.subject_id,
        )
        return SaveContextTemplatePayload(
            template=show_template(find_template(wished.name, changed.settings.templates))
        )

    @mutation(
        Action.CHANGE_WORKSPACE,
        DeleteContextTemplatePayload,
        right=Sight.ORGANISATION,
        description="Forget every version of a template. Takes the role admin.",
    )
    async def delete_context_template(
        self, info: Info, workspace_id: strawberry.ID, name: str
    ) -> DeleteContextTemplatePayload:
        """TEMPLATE_NOT_FOUND when the workspace has none of that name."""
        await info.context.parts.administer.change_workspace(
            _ref(info, workspace_id, "workspaceId"),
            lambda before: replace(before, templates=drop_template(before.templates, name)),
            info.context.principal.subject_id,
        )
        return DeleteContextTemplatePayload(deleted_name=name)


def _ref(info: Info, workspace_id: str, *path: str) -> WorkspaceRef:
    return info.context.ref(decode(workspace_id, NodeKind.WORKSPACE, path=path))
