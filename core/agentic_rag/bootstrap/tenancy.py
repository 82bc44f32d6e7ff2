"""Callers, organisations and their limits."""

from __future__ import annotations

from functools import cached_property

from agentic_rag.adapters.identity_chain import IdentityChain
from agentic_rag.adapters.postgres.tenancy.identity import PostgresIdentity
from agentic_rag.adapters.postgres.workspaces.organisation_register import PostgresOrganisationRegister
from agentic_rag.adapters.postgres.workspaces.organisations import PostgresOrganisations
from agentic_rag.adapters.redis.rate_buckets import RedisRateBuckets
from agentic_rag.adapters.redis.spent_codes import RedisSpentCodes
from agentic_rag.adapters.server_token import ServerToken, opens_servers
from agentic_rag.adapters.system.rate_buckets import MemoryRateBuckets
from agentic_rag.bootstrap.stores import StoreParts
from agentic_rag.tenancy.manage_api_keys import ManageApiKeys
from agentic_rag.tenancy.ports import Identity, SpendCode
from agentic_rag.workspaces.administer import Administer
from agentic_rag.workspaces.enforce_rate_limits import Admission
from agentic_rag.workspaces.first_access import FirstAccess
from agentic_rag.workspaces.ports import OrganisationRegister
from agentic_rag.workspaces.prefetched_buckets import PrefetchedBuckets


class TenancyParts(StoreParts):
    """The rooms `tenancy` and `workspaces`."""

    @cached_property
    def identity(self) -> Identity:
        """Verifies bearer tokens: those of the issuer that the settings name, and API keys."""
        return IdentityChain(self._owned(PostgresIdentity(self._pool, self.clock)), self._token_identity)

    @cached_property
    def server_identity(self) -> Identity:
        """`identity`, and the server's own token. Errors: `Misconfigured` code TOKEN_TOO_SHORT."""
        token = self.settings.client.token
        return ServerToken(token, self.identity) if opens_servers(token) else self.identity

    @property
    def _token_identity(self) -> Identity | None:
        settings = self.settings.tenancy
        if not settings.jwks_url and not settings.jwt_secret:
            return None
        from agentic_rag.adapters.jwt.issuer import IssuerOptions, token_identity

        identity, aclose = token_identity(
            IssuerOptions(
                jwks_url=settings.jwks_url,
                secret=settings.jwt_secret,
                issuer=settings.jwt_issuer,
                audience=settings.audience.name,
                proxy=self.settings.proxies.of(settings.jwks_url),
            ),
            settings.claims,
            self._organisations,
            self.clock,
            self.telemetry,
        )
        self._closing.push_async_callback(aclose)
        return identity

    @cached_property
    def api_keys(self) -> ManageApiKeys:
        return ManageApiKeys(self.database, self.clock, self.ids, self.telemetry)

    @cached_property
    def _organisations(self) -> PostgresOrganisations:
        return PostgresOrganisations(self._pool)

    @cached_property
    def organisations(self) -> OrganisationRegister:
        """Every organisation, for operators."""
        return PostgresOrganisationRegister(self.settings.stores.migrating_url)

    @cached_property
    def administer(self) -> Administer:
        return Administer(self.database, self.ids, self.telemetry)

    @cached_property
    def first_access(self) -> FirstAccess:
        """The organisation of a newcomer."""
        return FirstAccess(self._organisations, self.telemetry)

    @cached_property
    def admission(self) -> Admission:
        rates = self.settings.workspaces.default_rates
        shared = self._owned(RedisRateBuckets(self.settings.stores.redis_url, prefix=self.key_prefix))
        return Admission(
            self._small_reads,
            PrefetchedBuckets(shared, self.clock),
            MemoryRateBuckets(self.clock, processes=self.processes),
            rates.limits,
            self.clock,
            self.telemetry,
            subject_share=rates.caller_share,
        )

    @cached_property
    def spend_code(self) -> SpendCode:
        return self._owned(RedisSpentCodes(self.settings.stores.redis_url, prefix=self.key_prefix)).spend
