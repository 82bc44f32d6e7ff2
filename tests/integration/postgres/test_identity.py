"""API keys: who a token belongs to, and for how long."""

import hashlib
from collections.abc import AsyncIterator, Callable, Coroutine, Hashable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import pytest
from tests.contract.backends import Backend

from agentic_rag.adapters.postgres.session.pool import PostgresPool
from agentic_rag.adapters.postgres.tenancy.identity import MAX_SECONDS, PostgresIdentity
from agentic_rag.adapters.postgres.workspaces.organisation_register import PostgresOrganisationRegister
from agentic_rag.adapters.postgres.workspaces.organisations import PostgresOrganisations
from agentic_rag.kernel.errors import InvalidInput, NotFound, Unauthenticated
from agentic_rag.tenancy.api_keys import NewApiKey
from agentic_rag.tenancy.principals import KeyScope, Principal, Role, SubjectKind

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

    assert principal == Principal(org_id, "somebody", Role.MEMBER, ("readers",), kind=SubjectKind.KEY)


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


async def test_a_key_held_to_some_scopes_acts_within_them(stores: Backend, pool: PostgresPool) -> None:
    org_id, token = await stores.organisation(), str(uuid4())
    scopes = frozenset({KeyScope.ASK, KeyScope.READ})
    await PostgresOrganisations(pool).ensure_api_key(org_id, replace(key_of(token), scopes=scopes))

    principal = await PostgresIdentity(pool, HandClock()).authenticate(token)

    assert principal.scopes == scopes


async def test_a_remembered_key_is_forgotten_when_it_expires(stores: Backend, pool: PostgresPool) -> None:
    token, clock = str(uuid4()), HandClock()
    await key_for(pool, await stores.organisation(), token, datetime.now(UTC) + timedelta(seconds=5))
    statements = CountingPool(pool)
    identity = PostgresIdentity(statements, clock)  # type: ignore[arg-type]

    await identity.authenticate(token)
    clock.seconds = 4
    await identity.authenticate(token)
    asked_before_expiry = statements.connections
    clock.seconds = 6
    await identity.authenticate(token)

    assert (asked_before_expiry, statements.connections) == (1, 2)
    await identity.aclose()


async def test_the_use_of_a_key_is_written_behind_the_caller_and_once_a_minute(
    stores: Backend, pool: PostgresPool, migrated_url: str
) -> None:
    org_id, token = await stores.organisation(), str(uuid4())
    await key_for(pool, org_id, token)
    times = []
    for _ in range(2):
        identity = PostgresIdentity(pool, HandClock())
        await identity.authenticate(token)
        await identity.aclose()
        server = await asyncpg.connect(migrated_url)
        times.append(await server.fetchval("SELECT last_used_at FROM rag_api_keys WHERE org_id = $1", org_id))
        await server.close()

    assert times[0] is not None
    assert times[0] == times[1]


class CountingPool:
    """Counts how often a connection was asked for."""

    def __init__(self, pool: PostgresPool) -> None:
        self._pool = pool
        self.connections = 0

    def connection(self) -> Any:
        self.connections += 1
        return self._pool.connection()

    def transaction(self, org_id: UUID) -> Any:
        return self._pool.transaction(org_id)

    async def prompt_read(self, key: Hashable, read: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
        return await self._pool.prompt_read(key, read)


async def test_an_organisation_is_found_by_its_id_and_by_the_issuers(
    stores: Backend, pool: PostgresPool, migrated_url: str
) -> None:
    register = PostgresOrganisationRegister(migrated_url)
    org_id, name = uuid4(), f"acme {uuid4()}"
    made = await register.create(org_id, name, f"org_{org_id.hex}")
    directory = PostgresOrganisations(pool)

    assert await directory.find(str(org_id)) == org_id
    assert await directory.find(f"org_{org_id.hex}") == org_id
    assert made in await register.all()
    for unknown in (str(uuid4()), str(org_id).upper(), "", "%", "\0", name):
        assert await directory.find(unknown) is None


@pytest.mark.parametrize("taken", ["name", "reference"])
async def test_an_organisation_of_a_taken_name_or_reference_is_not_made(migrated_url: str, taken: str) -> None:
    register = PostgresOrganisationRegister(migrated_url)
    name, reference = f"acme {uuid4()}", f"org_{uuid4().hex}"
    await register.create(uuid4(), name, reference)

    with pytest.raises(InvalidInput) as refused:
        await register.create(
            uuid4(), name if taken == "name" else "other", reference if taken == "reference" else "else"
        )

    assert refused.value.code == "ORGANISATION_EXISTS"


async def test_the_application_sees_no_organisation_but_its_own(stores: Backend, pool: PostgresPool) -> None:
    org_id = await stores.organisation()
    await stores.organisation()

    async with pool.transaction(org_id) as connection:
        rows = await connection.fetch("SELECT org_id FROM rag_organizations")

    assert [row["org_id"] for row in rows] == [org_id]
