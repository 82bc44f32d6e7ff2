"""Storing, removing and rewrapping keys, over the memory adapters."""

import asyncio
from collections.abc import Mapping
from uuid import UUID, uuid4

import pytest
from tests.memory_store.models.provider_keys import MemoryMasterKeyUsage
from tests.memory_store.session.database import MemoryDatabase
from tests.memory_store.session.store import MemoryStore
from tests.memory_store.telemetry import RecordingTelemetry

from agentic_rag.adapters.system.clock import SystemClock
from agentic_rag.adapters.vault.envelope import EnvelopeVault
from agentic_rag.kernel.errors import Misconfigured
from agentic_rag.kernel.pagination import PageRequest
from agentic_rag.kernel.secret import Secret
from agentic_rag.models.providers.manage_keys import ManageProviderKeys
from agentic_rag.models.providers.provider_keys import NewProviderKey, Provider

OLD, NEW = bytes(range(32)), bytes(range(1, 33))
CANARY = "sk-canary-0123456789abcdef"


class World:
    """One store, and the use cases as processes with other master keys see it."""

    def __init__(self) -> None:
        self.store = MemoryStore(SystemClock())
        self.database = MemoryDatabase(self.store)
        self.telemetry = RecordingTelemetry()
        self.changed: list[UUID] = []

    def keys(self, masters: Mapping[str, bytes]) -> ManageProviderKeys:
        return ManageProviderKeys(
            self.database,
            EnvelopeVault(masters),
            MemoryMasterKeyUsage(self.store),
            SystemClock(),
            self.telemetry,
            on_change=self.changed.append,
        )

    async def opened(self, org_id: UUID, masters: Mapping[str, bytes]) -> list[str]:
        async with self.database.transaction(org_id) as transaction:
            held = await transaction.providers.keys()
        return [EnvelopeVault(masters).open(org_id, key.provider.value, key.sealed).reveal() for key in held]


def given_key(text: str = CANARY) -> NewProviderKey:
    return NewProviderKey(Provider.OPENAI, Secret(text))


async def test_a_stored_key_is_audited_and_appears_nowhere_in_the_clear() -> None:
    world, org_id = World(), uuid4()

    stored = await world.keys({"old": OLD}).set(org_id, given_key(), "ada")

    assert stored.hint == "cdef"
    assert world.changed == [org_id]
    async with world.database.transaction(org_id) as transaction:
        [entry] = (await transaction.audit.page(PageRequest(10))).items
    assert (entry.action, entry.subject, entry.actor) == ("provider_key.set", "openai", "ada")
    assert CANARY not in repr((stored, entry, world.store.organisations, world.telemetry.events))
    assert await world.opened(org_id, {"old": OLD}) == [CANARY]


async def test_removing_says_whether_there_was_a_key() -> None:
    world, org_id = World(), uuid4()
    keys = world.keys({"old": OLD})
    await keys.set(org_id, given_key(), "ada")

    assert await keys.remove(org_id, Provider.OPENAI, "ada")
    assert not await keys.remove(org_id, Provider.OPENAI, "ada")
    assert await keys.all(org_id) == []


@pytest.mark.tells("rag_master_key_rotated")
async def test_a_rotation_wraps_every_key_of_every_organisation_once() -> None:
    world = World()
    organisations = [uuid4() for _ in range(5)]
    for org_id in organisations:
        await world.keys({"old": OLD}).set(org_id, given_key(f"{CANARY}-{org_id}"), "ada")

    both = {"new": NEW, "old": OLD}
    first, second = await world.keys(both).rotate(), await world.keys(both).rotate()

    assert (first.rewrapped, first.unreadable, second.rewrapped) == (5, 0, 0)
    for org_id in organisations:
        assert await world.opened(org_id, {"new": NEW}) == [f"{CANARY}-{org_id}"]
        async with world.database.transaction(org_id) as transaction:
            entries = (await transaction.audit.page(PageRequest(10))).items
        assert [one.action for one in entries] == ["provider_key.rotate", "provider_key.set"]


async def test_keys_are_read_and_stored_while_a_rotation_is_under_way() -> None:
    world, both = World(), {"new": NEW, "old": OLD}
    organisations = [uuid4() for _ in range(30)]
    for org_id in organisations:
        await world.keys({"old": OLD}).set(org_id, given_key(f"{CANARY}-{org_id}"), "ada")
    done = asyncio.Event()

    async def read(org_id: UUID) -> int:
        times = 0
        while not done.is_set():
            assert await world.opened(org_id, both) == [f"{CANARY}-{org_id}"]
            times += 1
            await asyncio.sleep(0)  # The store in memory never waits, so readers take turns by themselves.
        return times

    readers = [asyncio.create_task(read(org_id)) for org_id in organisations]
    late = uuid4()
    await asyncio.gather(world.keys(both).rotate(), world.keys({"old": OLD}).set(late, given_key(), "bob"))
    done.set()

    assert min(await asyncio.gather(*readers)) > 0
    assert (await world.keys(both).rotate()).unreadable == 0
    assert await world.opened(late, {"new": NEW}) == [CANARY]


async def test_a_look_tells_which_stored_keys_this_process_cannot_open_and_changes_none() -> None:
    world, both = World(), {"new": NEW, "old": OLD}
    for masters in ({"old": OLD}, {"new": NEW}):
        await world.keys(masters).set(uuid4(), given_key(), "ada")
    before = repr(world.store.organisations)

    whole = await world.keys(both).look_into()
    lost = await world.keys({"new": NEW}).look_into()
    another = await world.keys({"new": NEW, "old": NEW}).look_into()
    none = await world.keys({}).look_into()

    assert (whole.opened, whole.refused) == (2, ())
    assert (lost.opened, [one.code for one in lost.refused]) == (1, ["MASTER_KEY_MISSING"])
    assert (another.opened, [one.code for one in another.refused]) == (1, ["PROVIDER_KEY_UNREADABLE"])
    assert (none.opened, [one.code for one in none.refused]) == (0, ["MASTER_KEY_MISSING"] * 2)
    assert repr(world.store.organisations) == before


@pytest.mark.tells("rag_provider_key_unreadable")
async def test_a_key_that_cannot_be_opened_does_not_stop_the_others() -> None:
    world, spoilt, sound = World(), uuid4(), uuid4()
    await world.keys({"old": NEW}).set(spoilt, given_key(), "ada")
    await world.keys({"old": OLD}).set(sound, given_key(), "ada")

    done = await world.keys({"new": NEW, "old": OLD}).rotate()

    assert (done.rewrapped, done.unreadable) == (1, 1)
    assert await world.opened(sound, {"new": NEW}) == [CANARY]


async def test_without_a_master_key_nothing_is_stored() -> None:
    world, org_id = World(), uuid4()

    with pytest.raises(Misconfigured) as refusal:
        await world.keys({}).set(org_id, given_key(), "ada")

    assert refusal.value.code == "MASTER_KEY_MISSING"
    assert await world.keys({}).all(org_id) == []
