"""The caller's organisation in the schema: its features and its API keys."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

import strawberry

from agentic_rag.kernel.errors import Forbidden
from agentic_rag.kernel.public_ids import NodeKind, decode, encode_in_organisation
from agentic_rag.tenancy import api_keys
from agentic_rag.tenancy import principals as tenancy
from agentic_rag.tenancy.manage_api_keys import KeyWish
from agentic_rag.workspaces import organisation as organisations
from agentic_rag_server.auth.roles import Action, at_least, authorise
from agentic_rag_server.graphql.http.context import Info, RequestContext
from agentic_rag_server.graphql.http.errors import USER_ERRORS, UserError, user_error

Role = strawberry.enum(tenancy.Role, description="What a caller may do, weakest first.")
KeyScope = strawberry.enum(tenancy.KeyScope, description="What an API key may be held to.")
FeatureFlag = strawberry.enum(organisations.FeatureFlag, description="What an organisation may switch on.")


@strawberry.type(description="A feature, and whether it is on.")
class Feature:
    """A switch of the organisation."""

    flag: FeatureFlag  # type: ignore[valid-type]
    on: bool


@strawberry.type(description="The caller's organisation.")
class Organisation:
    """A tenant as its members see it. Its id is no node: nobody but its members may name it."""

    id: strawberry.ID = strawberry.field(description="The id that a token's organisation claim may carry.")
    name: str
    external_ref: str | None = strawberry.field(description="Its id at whoever issues tokens.")
    created_at: datetime
    features: list[Feature] = strawberry.field(description="Every feature there is.")


@strawberry.type(description="An API key; its token is shown once, when the key is made.")
class ApiKey:
    """A key as administrators see it."""

    id: strawberry.ID
    name: str
    subject: str = strawberry.field(description="Who acts with it; the principal `user:SUBJECT` of documents.")
    role: Role  # type: ignore[valid-type]
    groups: list[str]
    scopes: list[KeyScope] | None = strawberry.field(  # type: ignore[valid-type]
        description="What it is held to; null: all that the role may do."
    )
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None = strawberry.field(description="To the minute or so.")


@strawberry.input(description="An API key to make.")
class CreateApiKeyInput:
    """Arguments of `createApiKey`."""

    name: str
    role: Role  # type: ignore[valid-type]
    subject: str | None = strawberry.field(default=None, description="Who acts with it; default: the key's name.")
    groups: list[str] = strawberry.field(default_factory=list)
    scopes: list[KeyScope] | None = strawberry.field(  # type: ignore[valid-type]
        default=None, description="Default: all that the role may do."
    )
    expires_at: datetime | None = strawberry.field(default=None, description="Default: never.")


@strawberry.type(description="The new key and its token.")
class CreateApiKeyPayload:
    """Result of `createApiKey`."""

    api_key: ApiKey | None
    token: str | None = strawberry.field(description="Shown here and never again.")
    user_errors: list[UserError]


@strawberry.type(description="The key as it is now.")
class RevokeApiKeyPayload:
    """Result of `revokeApiKey`."""

    api_key: ApiKey | None
    user_errors: list[UserError]


@strawberry.type(description="The organisation as it is now.")
class SetFeaturePayload:
    """Result of `setFeature`."""

    organisation: Organisation


@strawberry.type
class OrganisationQuery:
    """The caller's organisation."""

    @strawberry.field(description="The organisation of the caller's token.")
    async def organisation(self, info: Info) -> Organisation:
        """There is always one: tokens of others are refused."""
        context = _open(info, Action.READ)
        return _show(await context.parts.administer.organisation(context.principal.org_id))

    @strawberry.field(description="The API keys of the organisation, newest first. Takes the role admin.")
    async def api_keys(self, info: Info) -> list[ApiKey]:
        """Revoked and expired ones too."""
        context = _open(info, Action.MANAGE_KEYS)
        return [_show_key(key) for key in await context.parts.api_keys.all(context.principal.org_id)]


@strawberry.type
class OrganisationMutation:
    """What administrators change."""

    @strawberry.mutation(description="Make an API key, of the caller's own role at most. Takes the role admin.")
    async def create_api_key(self, info: Info, input: CreateApiKeyInput) -> CreateApiKeyPayload:
        """The token is told once."""
        context = _open(info, Action.MANAGE_KEYS)
        caller, role = context.principal, tenancy.Role(input.role)
        if not at_least(caller, role):
            raise Forbidden(f"A token of the role {caller.role.value} makes no key of the role {role.value}.")
        wish = KeyWish(
            name=input.name,
            role=role,
            subject=input.subject,
            groups=tuple(input.groups),
            scopes=_grant_scopes(caller, input.scopes),
            expires_at=input.expires_at,
        )
        try:
            made = await context.parts.api_keys.create(caller.org_id, wish, caller.subject)
        except USER_ERRORS as error:
            return CreateApiKeyPayload(api_key=None, token=None, user_errors=[user_error(error)])
        return CreateApiKeyPayload(api_key=_show_key(made.key), token=made.token, user_errors=[])

    @strawberry.mutation(
        description="Make an API key worthless; servers that know it forget it within 30 s. Takes the role admin."
    )
    async def revoke_api_key(self, info: Info, id: strawberry.ID) -> RevokeApiKeyPayload:
        """Doing it twice has one effect."""
        context = _open(info, Action.MANAGE_KEYS)
        try:
            key_id = decode(id, NodeKind.API_KEY).key
            key = await context.parts.api_keys.revoke(context.principal.org_id, key_id, context.principal.subject)
        except USER_ERRORS as error:
            return RevokeApiKeyPayload(api_key=None, user_errors=[user_error(error)])
        return RevokeApiKeyPayload(api_key=_show_key(key), user_errors=[])

    @strawberry.mutation(description="Switch a feature of the organisation on or off. Takes the role admin.")
    async def set_feature(self, info: Info, flag: FeatureFlag, on: bool) -> SetFeaturePayload:  # type: ignore[valid-type]
        """Takes effect with the next request."""
        context = _open(info, Action.CHANGE_ORGANISATION)
        chosen = organisations.FeatureFlag(flag)
        caller = context.principal
        changed = await context.parts.administer.set_feature(caller.org_id, chosen, on=on, actor=caller.subject)
        return SetFeaturePayload(organisation=_show(changed))


def _open(info: Info, action: Action) -> RequestContext:
    info.context.require_product_on()
    authorise(info.context.principal, action)
    return info.context


def _grant_scopes(
    caller: tenancy.Principal, wished: list[tenancy.KeyScope] | None
) -> frozenset[tenancy.KeyScope] | None:
    """The scopes of a new key: never more than those of the credential that makes it. Errors: `Forbidden`."""
    scopes = None if wished is None else frozenset(wished)
    if caller.scopes is None:
        return scopes
    if scopes is None or not scopes <= caller.scopes:
        raise Forbidden("This API key makes keys of its own scopes only: name some of them.")
    return scopes


def _show(organisation: organisations.Organisation) -> Organisation:
    return Organisation(
        id=strawberry.ID(str(organisation.org_id)),
        name=organisation.name,
        external_ref=organisation.external_ref,
        created_at=organisation.created_at,
        features=[Feature(flag=flag, on=organisation.settings.is_on(flag)) for flag in organisations.FeatureFlag],
    )


def show_key_id(key_id: UUID) -> str:
    """The public id of a key."""
    return encode_in_organisation(NodeKind.API_KEY, key_id)


def _show_key(key: api_keys.ApiKey) -> ApiKey:
    return ApiKey(
        id=strawberry.ID(show_key_id(key.key_id)),
        name=key.name,
        subject=key.subject,
        role=key.role,
        groups=list(key.groups),
        scopes=None if key.scopes is None else [scope for scope in tenancy.KeyScope if scope in key.scopes],
        created_at=key.created_at,
        expires_at=key.expires_at,
        revoked_at=key.revoked_at,
        last_used_at=key.last_used_at,
    )
