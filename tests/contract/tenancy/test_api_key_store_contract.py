"""What every `ApiKeyStore` promises."""

from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest
from tests.contract.backends import Backend

from agentic_rag.kernel.errors import NotFound
from agentic_rag.tenancy.api_keys import ApiKey, NewApiKey, token_hash
from agentic_rag.tenancy.principals import KeyScope, Role

LATER = datetime.now(UTC).replace(microsecond=0) + timedelta(days=30)


def new_key(name: str = "ci") -> NewApiKey:
    scopes = frozenset({KeyScope.UPLOAD, KeyScope.READ})
    return NewApiKey(token_hash(str(uuid4())), name, "robot", Role.MEMBER, ("build",), scopes, LATER)


async def added(adapter: Backend, org_id: UUID, key: NewApiKey) -> ApiKey:
    async with adapter.database.transaction(org_id) as transaction:
        return await transaction.api_keys.add(uuid4(), key)


async def keys_of(adapter: Backend, org_id: UUID) -> list[ApiKey]:
    async with adapter.database.transaction(org_id) as transaction:
        return await transaction.api_keys.all()


async def test_a_key_is_kept_as_it_was_wished(adapter: Backend) -> None:
    org_id = await adapter.organisation()

    made = await added(adapter, org_id, new_key())

    assert await keys_of(adapter, org_id) == [made]
    assert (made.name, made.subject, made.role, made.groups) == ("ci", "robot", Role.MEMBER, ("build",))
    assert made.scopes == {KeyScope.UPLOAD, KeyScope.READ}
    assert (made.expires_at, made.revoked_at, made.last_used_at) == (LATER, None, None)


async def test_keys_of_another_organisation_are_not_seen_and_cannot_be_revoked(adapter: Backend) -> None:
    org_id, foreign = await adapter.organisation(), await adapter.organisation()
    theirs = await added(adapter, foreign, new_key())

    async with adapter.database.transaction(org_id) as transaction:
        revoked = await transaction.api_keys.revoke(theirs.key_id)

    assert revoked is None
    assert await keys_of(adapter, org_id) == []
    assert await keys_of(adapter, foreign) == [theirs]


async def test_a_key_is_revoked_once_and_stays_in_the_list(adapter: Backend) -> None:
    org_id = await adapter.organisation()
    made = await added(adapter, org_id, new_key())
    times = []
    for _ in range(2):
        async with adapter.database.transaction(org_id) as transaction:
            revoked = await transaction.api_keys.revoke(made.key_id)
        assert revoked is not None
        times.append(revoked.revoked_at)

    assert times[0] is not None
    assert times[0] == times[1]
    assert [key.revoked_at for key in await keys_of(adapter, org_id)] == times[:1]


async def test_the_newest_key_comes_first(adapter: Backend) -> None:
    org_id = await adapter.organisation()
    for name in ("first", "second", "third"):
        await added(adapter, org_id, new_key(name))

    assert [key.name for key in await keys_of(adapter, org_id)] == ["third", "second", "first"]


async def test_an_organisation_that_was_never_made_has_no_keys(adapter: Backend) -> None:
    with pytest.raises(NotFound):
        await added(adapter, uuid4(), new_key())
