"""The guard against models that are called inside a transaction, tried on itself."""

import asyncio
from uuid import uuid4

import pytest
from tests.held_transactions import ProviderAskedInTransaction, hold_transaction
from tests.memory_store.session.database import MemoryDatabase
from tests.memory_store.session.store import MemoryStore

from agentic_rag.adapters.deterministic.embedder import DeterministicEmbedder
from agentic_rag.adapters.system.clock import SystemClock
from agentic_rag.adapters.web.fetcher import GuardedFetcher
from agentic_rag.web.fetch_policy import FetchPolicy
from agentic_rag.web.url_policy import HostList


async def test_a_model_is_not_called_inside_a_transaction_nor_by_a_task_that_it_waits_for() -> None:
    async with MemoryDatabase(MemoryStore(SystemClock())).transaction(uuid4()):
        with pytest.raises(ProviderAskedInTransaction):
            await DeterministicEmbedder().embed(["a text"])
        with pytest.raises(ProviderAskedInTransaction):
            await asyncio.gather(DeterministicEmbedder().embed(["a text"]))


async def test_no_page_is_fetched_inside_a_transaction() -> None:
    fetcher = GuardedFetcher(FetchPolicy(HostList(("*",))))
    with hold_transaction():
        for fetching in (
            fetcher.fetch("https://docs.example.com/"),
            fetcher.fetch_if_new("https://docs.example.com/", "v"),
        ):
            with pytest.raises(ProviderAskedInTransaction):
                await fetching


async def test_a_model_may_be_called_before_and_after_it() -> None:
    embedder = DeterministicEmbedder()
    ended = asyncio.Event()

    async def later() -> int:
        await ended.wait()
        return len(await embedder.embed(["a text"]))

    with hold_transaction():
        begun_inside = asyncio.create_task(later())
        await asyncio.sleep(0)
    ended.set()

    assert await begun_inside == len(await embedder.embed(["a text"])) == 1
