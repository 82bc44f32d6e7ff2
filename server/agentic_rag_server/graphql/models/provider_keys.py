"""Keys of model providers: stored, never shown."""

from datetime import datetime

import strawberry

from agentic_rag.kernel.secret import Secret
from agentic_rag.models.providers import provider_keys
from agentic_rag_server.auth.roles import Action
from agentic_rag_server.auth.rules import Sight
from agentic_rag_server.graphql.http.context import Info
from agentic_rag_server.graphql.http.fields import Payload, field, mutation, to_schema

ModelProvider = strawberry.enum(
    provider_keys.Provider, name="ModelProvider", description="Who serves a model; ANTHROPIC has no embeddings."
)


@strawberry.type(description="A key that the organisation brought; the key itself is never shown.")
class ProviderKey:
    provider: ModelProvider  # type: ignore[valid-type]
    hint: str = strawberry.field(description="The key's last four characters; empty for a short key.")
    base_url: str | None = strawberry.field(description="The server of a COMPATIBLE provider.")
    set_by: str
    created_at: datetime
    updated_at: datetime
    master_key: str = strawberry.field(description="The id of the master key that it is encrypted with.")


@strawberry.type(description="What a rotation of the master key did.")
class RotateMasterKeyPayload(Payload):
    active: str | None = strawberry.field(default=None, description="The id of the master key in force.")
    rewrapped: int = strawberry.field(default=0, description="Keys that are wrapped with it now.")
    unreadable: int = strawberry.field(default=0, description="Keys that no master key of the server opens.")


@strawberry.input(description="A key to be stored in the place of the last one of its provider.")
class SetProviderKeyInput:
    provider: ModelProvider  # type: ignore[valid-type]
    key: str = strawberry.field(description="Stored encrypted; send it as a variable, not inside the document.")
    base_url: str | None = strawberry.field(
        default=None, description="The server of a COMPATIBLE provider; one that the operator allows."
    )


@strawberry.type(description="What is stored.")
class SetProviderKeyPayload(Payload):
    provider_key: ProviderKey | None = None


@strawberry.type(description="Whether there was a key to forget.")
class RemoveProviderKeyPayload(Payload):
    removed: bool = False


@strawberry.type
class ProviderKeyQuery:
    @field(
        Action.MANAGE_PROVIDER_KEYS,
        right=Sight.ORGANISATION,
        description="The keys that the organisation brought, by provider; never the keys themselves. Takes the role "
        "admin.",
    )
    async def provider_keys(self, info: Info) -> list[ProviderKey]:
        context = info.context
        keys = await context.parts.provider_keys.all(context.principal.org_id)
        return [_show(key) for key in keys]


@strawberry.type
class ProviderKeyMutation:
    @mutation(
        Action.MANAGE_PROVIDER_KEYS,
        SetProviderKeyPayload,
        right=Sight.ORGANISATION,
        description="Store the organisation's key for a provider. It is encrypted and never shown again. Takes the "
        "role admin.",
    )
    async def set_provider_key(self, info: Info, input: SetProviderKeyInput) -> SetProviderKeyPayload:
        """Later questions and documents use the key."""
        context = info.context
        given = provider_keys.NewProviderKey(input.provider, Secret(input.key), input.base_url)
        key = await context.parts.provider_keys.set(context.principal.org_id, given, context.principal.subject_id)
        return SetProviderKeyPayload(provider_key=_show(key))

    @mutation(
        Action.MANAGE_PROVIDER_KEYS,
        RemoveProviderKeyPayload,
        right=Sight.ORGANISATION,
        description="Forget the organisation's key for a provider. Takes the role admin.",
    )
    async def remove_provider_key(
        self,
        info: Info,
        provider: ModelProvider,  # type: ignore[valid-type]
    ) -> RemoveProviderKeyPayload:
        """A second call is no fault: it says `removed: false`."""
        context = info.context
        keys, caller = context.parts.provider_keys, context.principal
        return RemoveProviderKeyPayload(removed=await keys.remove(caller.org_id, provider, caller.subject_id))

    @mutation(
        Action.RUN_PLATFORM,
        RotateMasterKeyPayload,
        right=Sight.PLATFORM,
        description="Wrap every stored key of every organisation with the server's first master key; nothing stops "
        "meanwhile. Takes the role operator in the default organisation.",
    )
    async def rotate_master_key(self, info: Info) -> RotateMasterKeyPayload:
        """Audited in each organisation whose keys changed."""
        context = info.context
        done = await context.parts.provider_keys.rotate(context.principal.subject_id)
        return to_schema(RotateMasterKeyPayload, done, user_errors=[])


def _show(key: provider_keys.ProviderKey) -> ProviderKey:
    return to_schema(ProviderKey, key, master_key=key.sealed.master_id)
