"""What a request made goes when it ends: what is left in cycles stays until garbage is looked for, which is seldom, and
meanwhile other memory is taken, between whose blocks what goes then leaves holes.
"""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Awaitable, Callable, Iterator
from contextvars import ContextVar
from typing import Any

import pytest
import strawberry
from graphql import execute, parse
from tests.unit.answering.answering_world import Embedder, Telemetry
from tests.unit.answering.corpus import SPACE, WORKSPACE, Corpus

from agentic_rag.adapters.postgres.session.pool import PoolOptions, PostgresPool
from agentic_rag.adapters.postgres.session.silence import Pulse
from agentic_rag.adapters.system.collector import loop_factory
from agentic_rag.kernel.errors import SnapshotOutdated
from agentic_rag.retrieval.candidates import SearchScope
from agentic_rag.retrieval.query import QueryVector, RetrievalQuery
from agentic_rag.retrieval.retrieve import Retrieve
from agentic_rag_server.graphql.http.plain_values import PlainExecutor


class Noted:
    """Anything that can be referred to weakly."""


@strawberry.type
class Query:
    @strawberry.field
    async def named(self, info: strawberry.Info) -> str:
        return type(info.context).__name__


SCHEMA = strawberry.Schema(Query)._schema
request: ContextVar[Noted] = ContextVar("request")


@pytest.fixture
def unlooked() -> Iterator[None]:
    """Nothing looks for garbage."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


async def left_of(work: Callable[[Noted], Awaitable[None]]) -> object:
    """What is left of what it was given."""
    given = Noted()
    found = weakref.ref(given)
    await work(given)
    del given
    # uvloop frees a timer when it comes round.
    for _ in range(3):
        await asyncio.sleep(0)
    return found()


async def test_a_search_that_was_broken_off_leaves_nothing(unlooked: None) -> None:
    corpus = Corpus()
    corpus.add_short(("a.md", "Pump", "The pump lifts water."))

    async def search(given: Noted) -> None:
        async def fail(*_: object) -> None:
            raise SnapshotOutdated(f"The corpus changed for {given}.")

        async with corpus.snapshot(WORKSPACE) as snapshot:
            snapshot.vectors.nearest = fail
            vector = QueryVector(SPACE, (await Embedder().embed(["pump"]))[0])
            query = RetrievalQuery(WORKSPACE.workspace_id, "the pump", vector, SearchScope((0,)), top_k=8)
            with pytest.raises(SnapshotOutdated):
                await Retrieve(Telemetry()).rank(snapshot, query)

    assert await left_of(search) is None


def test_a_block_that_watched_the_server_leaves_nothing(unlooked: None) -> None:
    async def watch(given: Noted) -> None:
        request.set(given)
        async with Pulse().while_answering(9.0):
            pass

    async def in_a_task(given: Noted) -> None:
        await asyncio.create_task(watch(given))

    # asyncio's own loop keeps the contexts of timers that were cancelled.
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        assert runner.run(left_of(in_a_task)) is None


async def test_an_operation_that_was_executed_leaves_nothing(unlooked: None) -> None:
    async def run(given: Noted) -> None:
        result: Any = execute(SCHEMA, parse("{ named }"), context_value=given, executor_class=PlainExecutor)
        assert (await result).data == {"named": "Noted"}

    assert await left_of(run) is None


@pytest.mark.integration
def test_a_statement_that_a_connection_keeps_holds_nothing_of_who_was_first(unlooked: None, migrated_url: str) -> None:
    async def ask(pool: PostgresPool, statement: str, given: Noted | None = None) -> None:
        request.set(given or Noted())
        async with pool.connection() as connection:
            await connection.fetchval(statement)

    async def keep() -> None:
        pool = PostgresPool(migrated_url, PoolOptions(max_size=1))
        try:
            # A connection holds who opened it, and who gave it back last.
            await asyncio.create_task(ask(pool, "SELECT 1"))

            async def between(given: Noted) -> None:
                await asyncio.create_task(ask(pool, "SELECT 2", given))
                await asyncio.create_task(ask(pool, "SELECT 1"))

            assert await left_of(between) is None
        finally:
            await pool.aclose()

    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        runner.run(keep())
