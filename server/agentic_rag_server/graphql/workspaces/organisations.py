"""The caller's organisation: its features and its API keys."""

from datetime import datetime

import strawberry

from agentic_rag.kernel.errors import Forbidden
from agentic_rag.kernel.public_ids import NodeKind, decode, encode_in_organisation
from agentic_rag.tenancy import api_keys
from agentic_rag.tenancy import principals as tenancy
from agentic_rag.tenancy.manage_api_keys import KeyWish
from agentic_rag.workspaces import organisation as organisations
from agentic_rag_server.auth.roles import Action, at_least
from agentic_rag_server.auth.rules import Sight
from agentic_rag_server.graphql.http.context import Info
from agentic_rag_server.graphql.http.fields import Payload, field, mutation, to_schema

Role = strawberry.enum(tenancy.Role, description="What a caller may do, weakest first.")
KeyScope = strawberry.enum(tenancy.KeyScope, description="What an API key may be held to.")
FeatureFlag = strawberry.enum(organisations.FeatureFlag, description="What an organisation may switch on.")


@strawberry.type(description="A feature, and whether it is on.")
class Feature:
    flag: FeatureFlag  # type: ignore[valid-type]
    on: bool


@strawberry.type(description="The caller's organisation.")
class Organisation:
    """Its id is no node: only its members may name it."""

    id: strawberry.ID = strawberry.field(description="The id that a token's organisation claim may carry.")
    name: str
    external_ref: str | None = strawberry.field(description="Its id at whoever issues tokens.")
    created_at: datetime
    features: list[Feature] = strawberry.field(description="Every feature there is.")


@strawberry.type(description="An API key; its token is shown once, when the key is made.")
class ApiKey:
    id: strawberry.ID
    name: str
    subject: str = strawberry.field(description="Who acts with it; the principal `key:SUBJECT` of documents.")
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
    name: str
    role: Role  # type: ignore[valid-type]
    subject: str | None = strawberry.field(default=None, description="Who acts with it; default: the key's name.")
    groups: list[str] = strawberry.field(default_factory=list)
    scopes: list[KeyScope] | None = strawberry.field(  # type: ignore[valid-type]
        default=None, description="Default: all that the role may do."
    )
    expires_at: datetime | None = strawberry.field(default=None, description="Default: never.")


@strawberry.type(description="The new key and its token.")
class CreateApiKeyPayload(Payload):
    api_key: ApiKey | None = None
    token: str | None = strawberry.field(default=None, description="Shown here and never again.")


@strawberry.type(description="The key as it is now.")
class RevokeApiKeyPayload(Payload):
    api_key: ApiKey | None = None


@strawberry.type(description="The organisation as it is now.")
class SetFeaturePayload:
    organisation: Organisation
    purged_crawls: int = strawberry.field(
        default=0, description="Crawls that were queued or running, and that switching WEB_ACCESS off cancelled."
    )


@strawberry.type(description="The organisation with its new name, or why it has the old one.")
class RenameOrganisationPayload(Payload):
    organisation: Organisation | None = None


@strawberry.type
class OrganisationQuery:
    @field(Action.READ, right=Sight.ORGANISATION, description="The organisation of the caller's token.")
    async def organisation(self, info: Info) -> Organisation:
        """Never null: a token without an organisation is refused."""
        context = info.context
        return _show(await context.parts.administer.organisation(context.principal.org_id))

    @field(
        Action.MANAGE_KEYS,
        right=Sight.ORGANISATION,
        description="The API keys of the organisation, newest first. Takes the role admin.",
    )
    async def api_keys(self, info: Info) -> list[ApiKey]:
        """Includes revoked and expired keys."""
        context = info.context
        return [_show_key(key) for key in await context.parts.api_keys.all(context.principal.org_id)]


@strawberry.type
class OrganisationMutation:
    @mutation(
        Action.MANAGE_KEYS,
        CreateApiKeyPayload,
        right=Sight.ORGANISATION,
        description="Make an API key, of the caller's own role at most. Takes the role admin.",
    )
    async def create_api_key(self, info: Info, input: CreateApiKeyInput) -> CreateApiKeyPayload:
        """The token is shown once."""
        caller, role = info.context.principal, tenancy.Role(input.role)
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
        new = await info.context.parts.api_keys.create(caller.org_id, wish, caller.subject_id)
        return CreateApiKeyPayload(api_key=_show_key(new.key), token=new.token)

    @mutation(
        Action.MANAGE_KEYS,
        RevokeApiKeyPayload,
        right=Sight.ORGANISATION,
        description="Make an API key worthless; servers that know it forget it within 30 s. Takes the role admin.",
    )
    async def revoke_api_key(self, info: Info, id: strawberry.ID) -> RevokeApiKeyPayload:
        """A second call changes nothing."""
        caller, key_id = info.context.principal, decode(id, NodeKind.API_KEY).key
        key = await info.context.parts.api_keys.revoke(caller.org_id, key_id, caller.subject_id)
        return RevokeApiKeyPayload(api_key=_show_key(key))

    @mutation(
        Action.RENAME_ORGANISATION,
        RenameOrganisationPayload,
        right=Sight.ORGANISATION,
        description="Give the caller's organisation another name; its id, tokens and workspaces stay as they are. "
        "Takes the role operator.",
    )
    async def rename_organisation(self, info: Info, name: str) -> RenameOrganisationPayload:
        """ORGANISATION_EXISTS when the name is taken, which operators only may learn."""
        caller, administer = info.context.principal, info.context.parts.administer
        renamed = await administer.rename_organisation(caller.org_id, name, caller.subject_id)
        return RenameOrganisationPayload(organisation=_show(renamed))

    @field(
        Action.CHANGE_ORGANISATION,
        right=Sight.ORGANISATION,
        description="Switch a feature of the organisation on or off. Takes the role admin.",
    )
    async def set_feature(self, info: Info, flag: FeatureFlag, on: bool) -> SetFeaturePayload:  # type: ignore[valid-type]
        """Takes effect with the next request."""
        caller, administer = info.context.principal, info.context.parts.administer
        chosen = organisations.FeatureFlag(flag)
        organisation, purged = await administer.set_feature(caller.org_id, chosen, on=on, actor=caller.subject_id)
        return SetFeaturePayload(organisation=_show(organisation), purged_crawls=purged)


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
    features = [Feature(flag=flag, on=organisation.settings.is_on(flag)) for flag in organisations.FeatureFlag]
    return to_schema(Organisation, organisation, id=str(organisation.org_id), features=features)


def _show_key(key: api_keys.ApiKey) -> ApiKey:
    scopes = None if key.scopes is None else [scope for scope in tenancy.KeyScope if scope in key.scopes]
    return to_schema(ApiKey, key, id=encode_in_organisation(NodeKind.API_KEY, key.key_id), scopes=scopes)
