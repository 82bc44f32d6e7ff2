"""Enforces the rate limits of organisations and of single callers before a request does any work.

Redis counts for all processes. While Redis is down each process counts alone with the same algorithm: a tenant then
gets at most its limit times the number of processes, and no request is refused because Redis is down.
"""

from __future__ import annotations

import asyncio
from dataclasses import asdict, replace
from hashlib import blake2b
from uuid import UUID

from agentic_rag.kernel.clock import Clock
from agentic_rag.kernel.database import Database
from agentic_rag.kernel.errors import DependencyUnavailable, NotFound, RateLimited, Retryable
from agentic_rag.kernel.patience import caller_seconds
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.kernel.ttl_cache import TtlCache
from agentic_rag.tenancy.audit import AuditAction, differences
from agentic_rag.tenancy.principals import Principal
from agentic_rag.tenancy.record_audit import audit
from agentic_rag.workspaces.organisation import Organisation
from agentic_rag.workspaces.ports import RateBuckets
from agentic_rag.workspaces.rate_limits import Bucket, Demand, RateLimitRefusal, RateLimits, Traffic, subject_limit

FRESH_SECONDS = 5.0
"""Seconds for which a process uses the limits of an organisation that it last read."""

PAUSE_SECONDS = 1.0
"""Seconds without calls to a server that failed."""

_LOOK_SHARE = 0.1
"""Of the caller's time, for the first look at the limits of an organisation."""

MAX_ORGANISATIONS = 10_000
_MEANING = {Traffic.ASK: "questions", Traffic.WRITE: "changes", Traffic.READ: "reads"}


class Admission:
    """Admits or refuses each request of a tenant."""

    def __init__(
        self,
        database: Database,
        shared: RateBuckets,
        own: RateBuckets,
        defaults: RateLimits,
        clock: Clock,
        telemetry: Telemetry,
        *,
        subject_share: float = 1.0,
    ) -> None:
        self._database = database
        self._shared = shared
        self._own = own
        self._defaults = defaults
        self._clock = clock
        self._telemetry = telemetry
        self._subject_share = subject_share
        # A refresh runs in the background: the known limits apply until it ends.
        self._limits = TtlCache(self._read, clock, seconds=FRESH_SECONDS, most=MAX_ORGANISATIONS, goes_on=True)
        self._failed_at: float | None = None
        self._looks: set[asyncio.Task[RateLimits]] = set()
        """First looks that somebody started; a late one is remembered when it ends."""

    async def admit(self, principal: Principal, demand: Demand) -> None:
        """Admit a request. Errors: `RateLimited`, with the seconds until it would pass."""
        limits = await self._limits_of(principal.org_id)
        buckets: list[Bucket] = []
        kinds: list[Traffic] = []
        for traffic, count in demand.items():
            per_minute = limits.of(traffic)
            if count and per_minute:
                found = self._buckets(principal, traffic, per_minute, count)
                buckets += found
                kinds += [traffic] * len(found)
        if not buckets:
            return
        refused = await self._take(principal.org_id, buckets)
        if refused is not None:
            self._refuse(kinds[refused.index], buckets[refused.index], refused)

    async def _limits_of(self, org_id: UUID) -> RateLimits:
        """The limits of an organisation. The first look takes a share of the caller's time: a database that hangs is
        told by what the request itself reads. Until it answers the operator's limits hold.
        """
        if self._limits.knows(org_id):
            return await self._limits.get(org_id)
        looking = asyncio.create_task(self._limits.get(org_id))
        self._looks.add(looking)
        looking.add_done_callback(self._looks.discard)
        await asyncio.wait({looking}, timeout=_LOOK_SHARE * caller_seconds())
        return looking.result() if looking.done() else self._defaults

    async def in_force(self, org_id: UUID) -> RateLimits:
        """The effective limits of an organisation: its own, else the operator's. Errors: `NotFound`."""
        async with self._database.transaction(org_id) as transaction:
            return self.complete((await transaction.organisations.current()).settings.rates)

    def complete(self, own: RateLimits) -> RateLimits:
        """An organisation's own limits, with the operator's for the rest."""
        return own.over(self._defaults)

    async def set_limits(self, org_id: UUID, limits: RateLimits, actor: str) -> Organisation:
        """Set an organisation's own limits. Other processes apply them within `FRESH_SECONDS`. Errors: `NotFound`."""
        async with self._database.transaction(org_id) as transaction:
            before = (await transaction.organisations.current()).settings.rates
            changed = await transaction.organisations.change(lambda settings: replace(settings, rates=limits))
            told = {**asdict(limits), **differences(before, limits)}
            await audit(transaction, self._telemetry, AuditAction.SET_RATE_LIMITS, None, org_id, actor, **told)
        self._limits.forget(org_id)
        return changed

    def _buckets(self, principal: Principal, traffic: Traffic, per_minute: int, count: int) -> list[Bucket]:
        found = [Bucket(traffic.value, per_minute, count)]
        if self._subject_share < 1:
            caller = blake2b(principal.subject_id.encode(), digest_size=12).hexdigest()
            found.append(Bucket(f"{traffic.value}:{caller}", subject_limit(per_minute, self._subject_share), count))
        return found

    async def _take(self, org_id: UUID, buckets: list[Bucket]) -> RateLimitRefusal | None:
        if self._failed_at is None or self._clock.monotonic() - self._failed_at >= PAUSE_SECONDS:
            try:
                refused = await self._shared.take(org_id, buckets)
            except DependencyUnavailable as error:
                self._count_alone(error)
            else:
                self._failed_at = None
                return refused
        self._telemetry.count("rag_rate_limit_fallbacks_total")
        return await self._own.take(org_id, buckets)

    def _count_alone(self, error: DependencyUnavailable) -> None:
        if self._failed_at is None:
            self._telemetry.event("rag_rate_limits_local", level="warning", reason=error.reason or None)
        self._failed_at = self._clock.monotonic()

    async def _read(self, org_id: UUID, known: RateLimits | None) -> RateLimits:
        try:
            return await self.in_force(org_id)
        except NotFound:
            return self._defaults
        except (DependencyUnavailable, Retryable):
            # A database failure is reported by the part of the request that needs the database.
            return self._defaults if known is None else known

    def _refuse(self, traffic: Traffic, bucket: Bucket, refused: RateLimitRefusal) -> None:
        self._telemetry.count("rag_rate_limited_total", traffic=traffic.value)
        whose = "this caller" if bucket.key != traffic.value else "this organisation"
        raise RateLimited(
            f"There were too many {_MEANING[traffic]} within a minute: {whose} may send {bucket.per_minute}. Try again "
            f"in {refused.seconds:.1f} s.",
            retry_after_seconds=refused.seconds,
        )
