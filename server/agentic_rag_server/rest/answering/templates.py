"""`/v1/workspaces/{workspace}/templates`: the forms of prompt sections."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from agentic_rag.kernel.errors import no_such_workspace
from agentic_rag.kernel.public_ids import NodeKind, decode
from agentic_rag.kernel.text import require_no_nul
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.workspaces.context_template import (
    TEMPLATES,
    ContextTemplate,
    add_template,
    drop_template,
    find_template,
    template_from,
)
from agentic_rag_server.auth.roles import Action
from agentic_rag_server.auth.rules import Rule, Sight
from agentic_rag_server.rest.answering.search import TAG, Count, Share
from agentic_rag_server.rest.documents.uploads import WORKSPACE
from agentic_rag_server.rest.http.bodies import read_json
from agentic_rag_server.rest.http.models import NOT_STORED, Model, answer
from agentic_rag_server.rest.http.operations import Endpoint, Parameter, ResponseSpec, admitted, operation

_PATH = "/v1/workspaces/{workspace}/templates"
_NAME = Parameter("name", "path", "The template's name.", {"type": "string", "pattern": "^[a-z][a-z0-9_-]{0,59}$"})


class TemplateContent(Model, frozen=True, forbid_unknown_fields=True):
    """What a template writes, and what it searches for; without `topK` and `minSimilarity` the workspace decides."""

    heading: Annotated[str, Meta(description="May hold `{agent}`.")]
    opening: str = "\n\n"
    item: Annotated[str, Meta(description="Holds `{text}` once; may hold `{source}` and `{title}`.")] = "{text}"
    joint: str = "\n\n"
    top_k: Count | None = None
    min_similarity: Share | None = None
    item_characters: Annotated[int, Meta(ge=1)] | None = None
    max_tokens: Annotated[int, Meta(ge=1)] = 2_000


class TemplateShown(Model, frozen=True):
    """The form of a prompt section."""

    name: str
    version: int
    is_built_in: bool
    heading: str
    opening: str
    item: str
    joint: str
    top_k: int
    min_similarity: float
    is_fixed: Annotated[bool, Meta(description="Whether they hold for a workspace with a `ragConfig` too.")]
    item_characters: int | None
    max_tokens: int


class TemplatesShown(Model, frozen=True):
    """The built-in templates, then the workspace's own with each version kept."""

    templates: list[TemplateShown]


class TemplateDeleted(Model, frozen=True):
    """Every version of it is gone."""

    deleted_name: str


class TemplatesEndpoint(Endpoint):
    """The twin of GraphQL's `contextTemplates`, `saveContextTemplate` and `deleteContextTemplate`."""

    tag = TAG

    @operation(
        "GET",
        _PATH,
        "listContextTemplates",
        summary="The templates of prompt sections",
        description="Takes any role.",
        rule=Rule((Action.READ,), Sight.ORGANISATION),
        parameters=(WORKSPACE,),
        answers=(ResponseSpec(200, "The templates.", TemplatesShown),),
        refusals=(400, 401, 403, 404, 429, 500, 503),
    )
    async def list(self, request: Request) -> Response:
        """Errors: `NotFound` code WORKSPACE_NOT_FOUND."""
        ref = _ref(request)
        async with self._parts.database.transaction(ref.org_id) as transaction:
            found = await transaction.workspaces.get(ref.workspace_id)
        if found is None:
            raise no_such_workspace()
        shown = [_show(one) for one in (*TEMPLATES.values(), *found.settings.templates)]
        return answer(TemplatesShown(templates=shown), headers=NOT_STORED)

    @operation(
        "PUT",
        f"{_PATH}/{{name}}",
        "saveContextTemplate",
        summary="Keep a template, as the next version of its name",
        description="The same content again makes no further version. Takes the role admin.",
        rule=Rule((Action.CHANGE_WORKSPACE,), Sight.ORGANISATION),
        parameters=(WORKSPACE, _NAME),
        takes=TemplateContent,
        answers=(ResponseSpec(200, "The newest version.", TemplateShown),),
        refusals=(400, 401, 403, 404, 413, 415, 429, 500, 503),
    )
    async def put(self, request: Request) -> Response:
        """Errors: those of `template_from`, `add_template` and `read_json`."""
        given = await read_json(request, TemplateContent, self._parts.options.max_body_bytes)
        wished = template_from(
            require_no_nul(request.path_params["name"], "name"),
            given.heading,
            item=given.item,
            opening=given.opening,
            joint=given.joint,
            top_k=given.top_k,
            min_similarity=given.min_similarity,
            item_characters=given.item_characters,
            max_tokens=given.max_tokens,
        )
        changed, _ = await self._parts.administer.change_workspace(
            _ref(request),
            lambda before: replace(before, templates=add_template(before.templates, wished)),
            admitted(request).principal.subject_id,
        )
        return answer(_show(find_template(wished.name, changed.settings.templates)), headers=NOT_STORED)

    @operation(
        "DELETE",
        f"{_PATH}/{{name}}",
        "deleteContextTemplate",
        summary="Forget every version of a template",
        description="Takes the role admin.",
        rule=Rule((Action.CHANGE_WORKSPACE,), Sight.ORGANISATION),
        parameters=(WORKSPACE, _NAME),
        answers=(ResponseSpec(200, "It is gone.", TemplateDeleted),),
        refusals=(400, 401, 403, 404, 429, 500, 503),
    )
    async def delete(self, request: Request) -> Response:
        """Errors: those of `drop_template`."""
        name = request.path_params["name"]
        await self._parts.administer.change_workspace(
            _ref(request),
            lambda before: replace(before, templates=drop_template(before.templates, name)),
            admitted(request).principal.subject_id,
        )
        return answer(TemplateDeleted(deleted_name=name), headers=NOT_STORED)


def _ref(request: Request) -> WorkspaceRef:
    node = decode(request.path_params["workspace"], NodeKind.WORKSPACE)
    return WorkspaceRef(admitted(request).principal.org_id, node.workspace_id)


def _show(template: ContextTemplate) -> TemplateShown:
    return TemplateShown(
        name=template.name,
        version=template.version,
        is_built_in=template.name in TEMPLATES,
        heading=template.heading,
        opening=template.opening,
        item=template.item,
        joint=template.joint,
        top_k=template.config.top_k,
        min_similarity=template.config.similarity_threshold,
        is_fixed=template.is_fixed,
        item_characters=template.item_characters,
        max_tokens=template.tokens,
    )
