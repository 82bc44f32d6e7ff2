"""In the schema: which models an organisation works with."""

from __future__ import annotations

import strawberry

from agentic_rag.models.providers import model_choice as tenant_models
from agentic_rag.models.providers.change_models import ModelChanges
from agentic_rag_server.auth.roles import Action, authorise
from agentic_rag_server.graphql.http.context import Info
from agentic_rag_server.graphql.http.errors import USER_ERRORS, UserError, user_error


@strawberry.type(description="Which models the organisation works with; what is null follows from its keys.")
class ModelSettings:
    """As clients see them."""

    default_model: str | None = strawberry.field(description="`PROVIDER:MODEL`.")
    embedding: str | None = strawberry.field(description="`PROVIDER:MODEL:DIMENSIONS`.")
    must_bring_key: bool = strawberry.field(description="The platform's models and key are never used for it.")


@strawberry.input(description="What is to change; an empty text takes a decision back.")
class UpdateModelSettingsInput:
    """Arguments of `updateModelSettings`."""

    default_model: str | None = strawberry.field(default=None, description="`PROVIDER:MODEL`.")
    embedding: str | None = strawberry.field(default=None, description="`PROVIDER:MODEL[:DIMENSIONS]`.")
    must_bring_key: bool | None = strawberry.field(default=None, description="Takes the role operator.")


@strawberry.type(description="The settings as they are.")
class UpdateModelSettingsPayload:
    """Result of `updateModelSettings`."""

    settings: ModelSettings | None
    user_errors: list[UserError]


@strawberry.type
class ModelQuery:
    """The models of the caller's organisation."""

    @strawberry.field(description="Which models the organisation works with. Takes the role admin.")
    async def model_settings(self, info: Info) -> ModelSettings:
        """What is decided, not what follows from it."""
        context = info.context
        context.require_product_on()
        authorise(context.principal, Action.MANAGE_PROVIDER_KEYS)
        return _show(await context.parts.change_models.current(context.principal.org_id))


@strawberry.type
class ModelMutation:
    """Changes to the models of the caller's organisation."""

    @strawberry.mutation(description="Decide which models the organisation works with. Takes the role admin.")
    async def update_model_settings(self, info: Info, input: UpdateModelSettingsInput) -> UpdateModelSettingsPayload:
        """Workspaces that hold vectors keep their embedding model until they are switched."""
        context = info.context
        context.require_product_on()
        authorise(context.principal, Action.MANAGE_PROVIDER_KEYS)
        if input.must_bring_key is not None:
            authorise(context.principal, Action.REQUIRE_OWN_KEY)
        changes = ModelChanges(input.default_model, input.embedding, input.must_bring_key)
        try:
            settings = await context.parts.change_models.run(
                context.principal.org_id, changes, context.principal.subject
            )
        except USER_ERRORS as error:
            return UpdateModelSettingsPayload(settings=None, user_errors=[user_error(error)])
        return UpdateModelSettingsPayload(settings=_show(settings), user_errors=[])


def _show(settings: tenant_models.ModelSettings) -> ModelSettings:
    chat, vectors = settings.default_model, settings.embedding
    return ModelSettings(
        default_model=f"{chat.provider.value}:{chat.model}" if chat else None,
        embedding=f"{vectors.provider.value}:{vectors.model}:{vectors.dimensions}" if vectors else None,
        must_bring_key=settings.must_bring_key,
    )
