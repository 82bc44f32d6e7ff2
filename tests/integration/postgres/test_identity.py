"""API keys: who a token belongs to, and for how long."""

import hashlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import asyncpg
import pytest
from tests.contract.backends import Backend

from agentic_rag.adapters.postgres.identity import MAX_SECONDS, PostgresIdentity
from agentic_rag.adapters.postgres.organisations import PostgresOrganisations
from agentic_rag.adapters.postgres.pool import PostgresPool
from agentic_rag.domain.errors import NotFound, Unauthenticated
from agentic_rag.domain.tenancy import Principal, Role
from agentic_rag.ports.organisations import NewApiKey

pytestmark = pytest.mark.integration


@dataclass
class HandClock:
    """Stands still unless moved."""

    seconds: float = 0.0

    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return self.seconds


@pytest.fixture
async def pool(migrated_url: str) -> AsyncIterator[PostgresPool]:
    made = PostgresPool(migrated_url)
    yield made
    await made.aclose()


def key_of(token: str, *, role: Role = Role.MEMBER, expires_at: datetime | None = None) -> NewApiKey:
    digest = hashlib.sha256(token.encode()).digest()
    return NewApiKey(digest, "a key", "somebody", role, groups=("readers",), expires_at=expires_at)


async def key_for(pool: PostgresPool, org_id: UUID, token: str, expires_at: datetime | None = None) -> None:
    await PostgresOrganisations(pool).ensure_api_key(org_id, key_of(token, expires_at=expires_at))


async def revoke(url: str, token: str) -> None:
    server = await asyncpg.connect(url)
    digest = hashlib.sha256(token.encode()).digest()
    tag = await server.execute("UPDATE rag_api_keys SET revoked_at = now() WHERE key_hash = $1", digest)
    await server.close()
    assert tag == "UPDATE 1"


async def test_a_token_is_known_by_its_hash(stores: Backend, pool: PostgresPool) -> None:
    org_id, token = await stores.organisation(), str(uuid4())
    await key_for(pool, org_id, token)

    principal = await PostgresIdentity(pool, HandClock()).authenticate(token)

    assert principal == Principal(org_id, "somebody", Role.MEMBER, ("readers",))


@pytest.mark.parametrize("token", ["", "unknown", "\ud800", "\x00"])
async def test_an_unknown_token_is_refused(pool: PostgresPool, token: str) -> None:
    with pytest.raises(Unauthenticated):
        await PostgresIdentity(pool, HandClock()).authenticate(token)


async def test_an_expired_key_is_refused(stores: Backend, pool: PostgresPool) -> None:
    token = str(uuid4())
    await key_for(pool, await stores.organisation(), token, datetime.now(UTC) - timedelta(seconds=1))

    with pytest.raises(Unauthenticated):
        await PostgresIdentity(pool, HandClock()).authenticate(token)


async def test_a_revoked_key_works_no_longer_than_it_is_remembered(
    stores: Backend, pool: PostgresPool, migrated_url: str
) -> None:
    token, clock = str(uuid4()), HandClock()
    await key_for(pool, await stores.organisation(), token)
    identity = PostgresIdentity(pool, clock, seconds=10 * MAX_SECONDS)
    known = await identity.authenticate(token)
    await revoke(migrated_url, token)

    clock.seconds = MAX_SECONDS - 0.1
    assert await identity.authenticate(token) == known
    clock.seconds = MAX_SECONDS
    with pytest.raises(Unauthenticated):
        await identity.authenticate(token)


async def test_a_key_ensured_twice_is_stored_once_and_stays_as_it_was(
    stores: Backend, pool: PostgresPool, migrated_url: str
) -> None:
    org_id, token = await stores.organisation(), str(uuid4())
    organisations = PostgresOrganisations(pool)
    await organisations.ensure_api_key(org_id, key_of(token))
    await organisations.ensure_api_key(org_id, key_of(token, role=Role.OPERATOR))

    server = await asyncpg.connect(migrated_url)
    rows = await server.fetch("SELECT role FROM rag_api_keys WHERE org_id = $1", org_id)
    await server.close()
    assert [row["role"] for row in rows] == ["member"]


async def test_a_key_of_an_unknown_organisation_is_refused(pool: PostgresPool) -> None:
    with pytest.raises(NotFound):
        await PostgresOrganisations(pool).ensure_api_key(uuid4(), key_of("a token"))
