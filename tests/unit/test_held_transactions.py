"""The guard against models that are called inside a transaction, tried on itself."""

import asyncio
from uuid import uuid4

import pytest
from tests.held_transactions import ModelCalledInTransaction, hold_transaction
from tests.memory_store.session.database import MemoryDatabase
from tests.memory_store.session.store import MemoryStore

from agentic_rag.adapters.deterministic.embedder import DeterministicEmbedder
from agentic_rag.adapters.system.clock import SystemClock


async def test_a_model_is_not_called_inside_a_transaction_nor_by_a_task_that_it_waits_for() -> None:
    async with MemoryDatabase(MemoryStore(SystemClock())).transaction(uuid4()):
        with pytest.raises(ModelCalledInTransaction):
            await DeterministicEmbedder().embed(["a text"])
        with pytest.raises(ModelCalledInTransaction):
            await asyncio.gather(DeterministicEmbedder().embed(["a text"]))


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
