"""All organisations, for operators of the platform: made, listed, changed, and the attack on the walls between them."""

from datetime import datetime
from uuid import UUID

import strawberry

from agentic_rag.kernel.errors import InvalidInput, NotFound
from agentic_rag.models.providers.model_choice import ModelSettings
from agentic_rag.workspaces import organisation as organisations
from agentic_rag.workspaces import rate_limits
from agentic_rag_server.auth.roles import Action
from agentic_rag_server.auth.rules import Sight
from agentic_rag_server.graphql.http.context import Info, RequestContext
from agentic_rag_server.graphql.http.fields import Payload, field, mutation, to_schema
from agentic_rag_server.graphql.workspaces.organisations import Feature, FeatureFlag
from agentic_rag_server.graphql.workspaces.rate_limits import SetRateLimitsInput, read_limits


@strawberry.type(description="Requests a minute and megabytes; 0 is no limit.")
class TenantLimits:
    asks: int | None
    writes: int | None
    reads: int | None
    stored_megabytes: int | None


@strawberry.type(description="An organisation as operators of the platform see it.")
class Tenant:
    id: strawberry.ID
    name: str
    external_ref: str | None
    created_at: datetime
    features: list[Feature]
    must_bring_key: bool = strawberry.field(description="Whether it works with keys of its own only.")
    own_limits: TenantLimits = strawberry.field(description="Null: what the server's settings say.")
    limits: TenantLimits = strawberry.field(description="The limits in force; null is no limit too.")


@strawberry.input(description="An organisation to make.")
class CreateTenantInput:
    name: str = strawberry.field(description="A name that no other organisation has.")
    external_ref: str | None = strawberry.field(default=None, description="Its id at whoever issues tokens.")
    platform_models: bool = strawberry.field(
        default=False, description="Lets it use the platform's models and key where others bring theirs."
    )


@strawberry.input(description="A feature to switch.")
class FeatureInput:
    flag: FeatureFlag  # type: ignore[valid-type]
    on: bool


@strawberry.input(description="What is to change of an organisation.")
class UpdateTenantInput:
    id: strawberry.ID
    features: list[FeatureInput] = strawberry.field(default_factory=list[FeatureInput])
    limits: SetRateLimitsInput | None = strawberry.field(default=None, description="They replace its own limits.")


@strawberry.type(description="The organisation as it is now.")
class TenantPayload(Payload):
    tenant: Tenant | None = None
    purged_crawls: int = strawberry.field(
        default=0, description="Crawls that were queued or running, and that switching WEB_ACCESS off cancelled."
    )


@strawberry.type(description="A canary word of one organisation that another one saw.")
class CanaryLeak:
    asking: strawberry.ID
    owner: strawberry.ID | None
    place: str


@strawberry.type(description="One round of the attack of organisations on each other.")
class CanaryRoundPayload(Payload):
    organisations: int = 0
    checks: int = 0
    leaks: list[CanaryLeak] = strawberry.field(default_factory=list[CanaryLeak])
    blind: list[strawberry.ID] = strawberry.field(
        default_factory=list[strawberry.ID], description="Organisations that do not find their own canary."
    )
    failed: int = strawberry.field(default=0, description="Attacks that ended in an error.")


@strawberry.type
class TenantQuery:
    @field(
        Action.RUN_PLATFORM,
        right=Sight.PLATFORM,
        description="Every organisation, by name. Takes the role operator in the default organisation.",
    )
    async def tenants(self, info: Info) -> list[Tenant]:
        context = info.context
        return [await _show(context, one) for one in await context.parts.organisations.all()]


@strawberry.type
class TenantMutation:
    @mutation(
        Action.RUN_PLATFORM,
        TenantPayload,
        right=Sight.PLATFORM,
        description="Make an organisation. Takes the role operator in the default organisation.",
    )
    async def create_tenant(self, info: Info, input: CreateTenantInput) -> TenantPayload:
        """The server needs the owner's address of the database (AGENTIC_RAG_OWNER_DATABASE_URL) where that differs."""
        context, parts = info.context, info.context.parts
        settings = organisations.OrganisationSettings(
            models=ModelSettings(must_bring_key=False if input.platform_models else None)
        )
        made = await parts.administer.create_organisation(
            parts.organisations, input.name, input.external_ref, settings, context.principal.subject_id
        )
        return TenantPayload(tenant=await _show(context, made))

    @mutation(
        Action.RUN_PLATFORM,
        TenantPayload,
        right=Sight.PLATFORM,
        description="Switch features of an organisation, and set its limits. Takes the role operator in the default "
        "organisation.",
    )
    async def update_tenant(self, info: Info, input: UpdateTenantInput) -> TenantPayload:
        """Each change is audited in the organisation that it concerns."""
        context, parts = info.context, info.context.parts
        org_id, actor = read_org_id(input.id, ("input", "id")), info.context.principal.subject_id
        if org_id not in {one.org_id for one in await parts.organisations.all()}:
            raise NotFound("There is no such organisation; `rag tenant list` shows them.")
        limits = None if input.limits is None else read_limits(input.limits)
        purged = 0
        for one in input.features:
            purged += (await parts.administer.set_feature(org_id, one.flag, on=one.on, actor=actor))[1]
        if limits is not None:
            await parts.admission.set_limits(org_id, limits, actor)
        changed = await _show(context, await parts.administer.organisation(org_id))
        return TenantPayload(tenant=changed, purged_crawls=purged)

    @mutation(
        Action.RUN_PLATFORM,
        CanaryRoundPayload,
        right=Sight.PLATFORM,
        description="Let every organisation look once for the canary documents of the others. Takes the role operator "
        "in the default organisation.",
    )
    async def attack_tenants(self, info: Info) -> CanaryRoundPayload:
        """The canaries stay, in a workspace that no list shows."""
        report = await info.context.parts.leak_canaries.run()
        return to_schema(
            CanaryRoundPayload,
            report,
            user_errors=[],
            leaks=[to_schema(CanaryLeak, leak) for leak in report.leaks],
            blind=list(report.blind),
        )


def read_org_id(text: str, path: tuple[str, ...]) -> UUID:
    """The id of an organisation. Errors: `InvalidInput` code INVALID_ID."""
    try:
        return UUID(text)
    except ValueError as error:
        raise InvalidInput("This is not the id of an organisation.", code="INVALID_ID", path=path) from error


async def _show(context: RequestContext, organisation: organisations.Organisation) -> Tenant:
    settings, parts = organisation.settings, context.parts
    decided = settings.models.decide(by_default=parts.brings_key(organisation.org_id))
    return to_schema(
        Tenant,
        organisation,
        id=str(organisation.org_id),
        features=[Feature(flag=flag, on=settings.is_on(flag)) for flag in organisations.FeatureFlag],
        must_bring_key=decided.must_bring_key is True,
        own_limits=_show_limits(settings.rates),
        limits=_show_limits(parts.admission.complete(settings.rates)),
    )


def _show_limits(limits: rate_limits.RateLimits) -> TenantLimits:
    return to_schema(TenantLimits, limits, stored_megabytes=limits.stored_mb)
