"""The limits on requests of the caller's organisation."""

import strawberry

from agentic_rag.workspaces import rate_limits
from agentic_rag_server.auth.roles import Action
from agentic_rag_server.auth.rules import Sight
from agentic_rag_server.graphql.http.context import Info, RequestContext
from agentic_rag_server.graphql.http.fields import Payload, field, mutation


@strawberry.type(
    description="Requests that the organisation may send in a minute, and what it may store; null: no limit."
)
class RateLimits:
    asks: int | None = strawberry.field(description="Questions, and explanations of answers.")
    writes: int | None = strawberry.field(description="Uploads and every other change.")
    reads: int | None
    stored_megabytes: int | None = strawberry.field(description="Of uploaded originals in all workspaces.")


@strawberry.input(description="Requests a minute, and megabytes: 0 is no limit, null what the server's settings say.")
class SetRateLimitsInput:
    asks: int | None = None
    writes: int | None = None
    reads: int | None = None
    stored_megabytes: int | None = None


@strawberry.type(description="The limits in force.")
class SetRateLimitsPayload(Payload):
    rate_limits: RateLimits | None = None


@strawberry.type
class RateLimitQuery:
    @field(Action.READ, right=Sight.ORGANISATION, description="The limits on the caller's organisation.")
    async def rate_limits(self, info: Info) -> RateLimits:
        """The organisation's own limits; the operator's settings for the rest."""
        return await _limits(info.context)


@strawberry.type
class RateLimitMutation:
    @mutation(
        Action.SET_RATE_LIMITS,
        SetRateLimitsPayload,
        right=Sight.ORGANISATION,
        description="Give the caller's organisation limits of its own; other servers go by them within 5 s. Takes the "
        "role operator.",
    )
    async def set_rate_limits(self, info: Info, input: SetRateLimitsInput) -> SetRateLimitsPayload:
        """Audited as `rate_limits.set`."""
        caller = info.context.principal
        await info.context.parts.admission.set_limits(caller.org_id, read_limits(input), caller.subject_id)
        return SetRateLimitsPayload(rate_limits=await _limits(info.context))


def read_limits(given: SetRateLimitsInput) -> rate_limits.RateLimits:
    """The limits of an input. Errors: `InvalidInput`."""
    return rate_limits.RateLimits(given.asks, given.writes, given.reads, given.stored_megabytes)


async def _limits(context: RequestContext) -> RateLimits:
    limits = await context.parts.admission.in_force(context.principal.org_id)
    return RateLimits(
        asks=limits.asks or None,
        writes=limits.writes or None,
        reads=limits.reads or None,
        stored_megabytes=limits.stored_mb or None,
    )
