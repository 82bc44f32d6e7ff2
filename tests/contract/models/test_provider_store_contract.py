"""Every store of provider keys: one key of a provider, nobody else's, and rewrapping that loses no newer key."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from tests.contract.backends import Backend

from agentic_rag.models.providers.provider_keys import Provider, ProviderKey, SealedKey

THEN = datetime(2026, 1, 1, tzinfo=UTC)


def sealed(number: int, master_id: str = "one") -> SealedKey:
    return SealedKey(master_id, bytes([number] * 12), bytes([number] * 48), bytes(12), b"ciphertext %d" % number)


def a_key(number: int, provider: Provider = Provider.OPENAI) -> ProviderKey:
    return ProviderKey(provider, sealed(number), "abcd", None, "ada", THEN, THEN)


async def test_a_stored_key_is_read_back_as_it_was(adapter: Backend) -> None:
    org_id = await adapter.organisation()
    url = "http://127.0.0.1:11434/v1"
    async with adapter.database.transaction(org_id) as transaction:
        await transaction.providers.put(replace(a_key(1, Provider.COMPATIBLE), base_url=url))

    async with adapter.database.transaction(org_id) as transaction:
        [held] = await transaction.providers.keys()

    assert (held.provider, held.sealed, held.hint, held.base_url, held.set_by) == (
        Provider.COMPATIBLE,
        sealed(1),
        "abcd",
        url,
        "ada",
    )


async def test_a_second_key_takes_the_place_of_the_first(adapter: Backend) -> None:
    org_id = await adapter.organisation()
    async with adapter.database.transaction(org_id) as transaction:
        first = await transaction.providers.put(a_key(1))
    async with adapter.database.transaction(org_id) as transaction:
        second = await transaction.providers.put(a_key(2))
        held = await transaction.providers.keys()

    assert held == [second]
    assert second.sealed == sealed(2)
    assert second.created_at == first.created_at
    assert second.updated_at >= first.updated_at


async def test_keys_of_another_organisation_are_out_of_reach(adapter: Backend) -> None:
    ours, theirs = await adapter.organisation(), await adapter.organisation()
    async with adapter.database.transaction(theirs) as transaction:
        await transaction.providers.put(a_key(1))

    async with adapter.database.transaction(ours) as transaction:
        assert await transaction.providers.keys() == []
        assert not await transaction.providers.remove(Provider.OPENAI)
        assert not await transaction.providers.rewrap(Provider.OPENAI.value, sealed(1), sealed(2, "two"))
    async with adapter.database.transaction(theirs) as transaction:
        assert [key.sealed for key in await transaction.providers.keys()] == [sealed(1)]


async def test_a_transaction_that_fails_stores_no_key(adapter: Backend) -> None:
    org_id = await adapter.organisation()

    async def fail() -> None:
        async with adapter.database.transaction(org_id) as transaction:
            await transaction.providers.put(a_key(1))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()

    async with adapter.database.transaction(org_id) as transaction:
        assert await transaction.providers.keys() == []


async def test_a_removed_key_is_gone(adapter: Backend) -> None:
    org_id = await adapter.organisation()
    async with adapter.database.transaction(org_id) as transaction:
        await transaction.providers.put(a_key(1))
    async with adapter.database.transaction(org_id) as transaction:
        assert await transaction.providers.remove(Provider.OPENAI)
        assert await transaction.providers.keys() == []
        assert not await transaction.providers.remove(Provider.OPENAI)


async def test_rewrapping_keeps_a_key_that_was_stored_meanwhile(adapter: Backend) -> None:
    org_id = await adapter.organisation()
    async with adapter.database.transaction(org_id) as transaction:
        await transaction.providers.put(a_key(1))
        rewrapped = replace(sealed(1, "two"), wrapped_key=b"w" * 48)
        assert await transaction.providers.rewrap(Provider.OPENAI.value, sealed(1), rewrapped)
        assert [key.sealed for key in await transaction.providers.keys()] == [rewrapped]
        await transaction.providers.put(a_key(3))
        assert not await transaction.providers.rewrap(Provider.OPENAI.value, rewrapped, sealed(1, "three"))
        assert [key.sealed for key in await transaction.providers.keys()] == [sealed(3)]


async def test_organisations_of_other_master_keys_are_found(adapter: Backend) -> None:
    before, after = await adapter.organisation(), await adapter.organisation()
    async with adapter.database.transaction(before) as transaction:
        await transaction.providers.put(a_key(1))
    async with adapter.database.transaction(after) as transaction:
        await transaction.providers.put(replace(a_key(2), sealed=sealed(2, "two")))

    found = set(await adapter.key_homes.organisations_to_rewrap("two"))

    assert before in found
    assert after not in found
