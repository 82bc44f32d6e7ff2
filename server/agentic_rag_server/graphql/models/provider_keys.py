"""Keys of providers in the schema: they go in and never come out."""

from __future__ import annotations

from datetime import datetime

import strawberry

from agentic_rag.kernel.secret import Secret
from agentic_rag.models.providers import provider_keys
from agentic_rag_server.auth.roles import Action, authorise
from agentic_rag_server.graphql.http.context import Info
from agentic_rag_server.graphql.http.errors import USER_ERRORS, UserError, user_error

ModelProvider = strawberry.enum(
    provider_keys.Provider, name="ModelProvider", description="Who serves a model; ANTHROPIC has no embeddings."
)


@strawberry.type(description="A key that the organisation brought; the key itself is never shown.")
class ProviderKey:
    """A stored key as clients see it."""

    provider: ModelProvider  # type: ignore[valid-type]
    hint: str = strawberry.field(description="The key's last four characters; empty for a short key.")
    base_url: str | None = strawberry.field(description="The server of a COMPATIBLE provider.")
    set_by: str
    created_at: datetime
    updated_at: datetime


@strawberry.input(description="A key to be stored in the place of the last one of its provider.")
class SetProviderKeyInput:
    """Arguments of `setProviderKey`."""

    provider: ModelProvider  # type: ignore[valid-type]
    key: str = strawberry.field(description="Stored encrypted; send it as a variable, not inside the document.")
    base_url: str | None = strawberry.field(
        default=None, description="The server of a COMPATIBLE provider; one that the operator allows."
    )


@strawberry.type(description="What is stored.")
class SetProviderKeyPayload:
    """Result of `setProviderKey`."""

    provider_key: ProviderKey | None
    user_errors: list[UserError]


@strawberry.type(description="Whether there was a key to forget.")
class RemoveProviderKeyPayload:
    """Result of `removeProviderKey`."""

    removed: bool
    user_errors: list[UserError]


@strawberry.type
class ProviderKeyQuery:
    """The keys of the caller's organisation."""

    @strawberry.field(
        description="The keys that the organisation brought, by provider; never the keys themselves. Takes the role "
        "admin."
    )
    async def provider_keys(self, info: Info) -> list[ProviderKey]:
        """One of each provider at most."""
        context = info.context
        context.require_product_on()
        authorise(context.principal, Action.MANAGE_PROVIDER_KEYS)
        return [show_key(key) for key in await context.parts.provider_keys.all(context.principal.org_id)]


@strawberry.type
class ProviderKeyMutation:
    """Changes to the keys of the caller's organisation."""

    @strawberry.mutation(
        description="Store the organisation's key for a provider. It is encrypted and never shown again. Takes the "
        "role admin."
    )
    async def set_provider_key(self, info: Info, input: SetProviderKeyInput) -> SetProviderKeyPayload:
        """Questions and documents that come from now on use it."""
        context = info.context
        context.require_product_on()
        authorise(context.principal, Action.MANAGE_PROVIDER_KEYS)
        given = provider_keys.NewProviderKey(input.provider, Secret(input.key), input.base_url)
        try:
            stored = await context.parts.provider_keys.set(context.principal.org_id, given, context.principal.subject)
        except USER_ERRORS as error:
            return SetProviderKeyPayload(provider_key=None, user_errors=[user_error(error)])
        return SetProviderKeyPayload(provider_key=show_key(stored), user_errors=[])

    @strawberry.mutation(description="Forget the organisation's key for a provider. Takes the role admin.")
    async def remove_provider_key(
        self,
        info: Info,
        provider: ModelProvider,  # type: ignore[valid-type]
    ) -> RemoveProviderKeyPayload:
        """Doing it twice is no fault: the second reply says `removed: false`."""
        context = info.context
        context.require_product_on()
        authorise(context.principal, Action.MANAGE_PROVIDER_KEYS)
        removed = await context.parts.provider_keys.remove(
            context.principal.org_id, provider, context.principal.subject
        )
        return RemoveProviderKeyPayload(removed=removed, user_errors=[])


def show_key(key: provider_keys.ProviderKey) -> ProviderKey:
    """A stored key as one of the schema."""
    return ProviderKey(
        provider=key.provider,
        hint=key.hint,
        base_url=key.base_url,
        set_by=key.set_by,
        created_at=key.created_at,
        updated_at=key.updated_at,
    )
