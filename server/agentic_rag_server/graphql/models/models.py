"""The models that an organisation works with."""

import strawberry

from agentic_rag.models.providers import model_choice as tenant_models
from agentic_rag.models.providers.change_models import ModelChanges
from agentic_rag_server.auth.roles import Action, authorise
from agentic_rag_server.auth.rules import Sight
from agentic_rag_server.graphql.http.context import Info
from agentic_rag_server.graphql.http.fields import Payload, field, mutation


@strawberry.type(description="Which models the organisation works with; what is null follows from its keys.")
class ModelSettings:
    default_model: str | None = strawberry.field(description="`PROVIDER:MODEL`.")
    embedding: str | None = strawberry.field(description="`PROVIDER:MODEL:DIMENSIONS`.")
    must_bring_key: bool = strawberry.field(description="The platform's models and key are never used for it.")


@strawberry.input(description="What is to change; an empty text takes a decision back.")
class UpdateModelSettingsInput:
    default_model: str | None = strawberry.field(default=None, description="`PROVIDER:MODEL`.")
    embedding: str | None = strawberry.field(default=None, description="`PROVIDER:MODEL[:DIMENSIONS]`.")
    must_bring_key: bool | None = strawberry.field(default=None, description="Takes the role operator.")


@strawberry.type(description="The settings as they are.")
class UpdateModelSettingsPayload(Payload):
    settings: ModelSettings | None = None


@strawberry.type
class ModelQuery:
    @field(
        Action.MANAGE_PROVIDER_KEYS,
        right=Sight.ORGANISATION,
        description="Which models the organisation works with. Takes the role admin.",
    )
    async def model_settings(self, info: Info) -> ModelSettings:
        """The stored decisions, not the models that follow from them."""
        context = info.context
        return _show(await context.parts.change_models.current(context.principal.org_id))


@strawberry.type
class ModelMutation:
    @mutation(
        Action.MANAGE_PROVIDER_KEYS,
        UpdateModelSettingsPayload,
        right=Sight.ORGANISATION,
        description="Decide which models the organisation works with. Takes the role admin.",
    )
    async def update_model_settings(self, info: Info, input: UpdateModelSettingsInput) -> UpdateModelSettingsPayload:
        """A workspace with vectors keeps its embedding model until it is switched."""
        context = info.context
        if input.must_bring_key is not None:
            authorise(context.principal, Action.REQUIRE_OWN_KEY)
        changes = ModelChanges(input.default_model, input.embedding, input.must_bring_key)
        settings = await context.parts.change_models.run(
            context.principal.org_id, changes, context.principal.subject_id
        )
        return UpdateModelSettingsPayload(settings=_show(settings))


def _show(settings: tenant_models.ModelSettings) -> ModelSettings:
    chat, vectors = settings.default_model, settings.embedding
    return ModelSettings(
        default_model=f"{chat.provider.value}:{chat.model}" if chat else None,
        embedding=f"{vectors.provider.value}:{vectors.model}:{vectors.dimensions}" if vectors else None,
        must_bring_key=settings.must_bring_key is True,
    )
