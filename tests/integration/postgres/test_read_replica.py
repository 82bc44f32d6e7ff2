"""Searches read a real streaming replica where it has what the primary told, and the primary wherever it has not."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Iterator
from typing import Any

import asyncpg
import pytest
from tests.builders import new_document
from tests.contract.backends import Backend
from tests.contract.tenancy.test_access_store_contract import NIGHT, restrict
from tests.memory_store.telemetry import RecordingTelemetry
from tests.operate.upgrades import copy_rows
from tests.stack import open_home
from tests.streaming_replica import Primary, Replica, caught_up
from tests.waiting import eventually

from agentic_rag.adapters.postgres.session.database import PostgresDatabase
from agentic_rag.adapters.postgres.session.pool import PostgresPool
from agentic_rag.adapters.postgres.session.replica import ReadReplica
from agentic_rag.documents.document import document_id_for
from agentic_rag.kernel.errors import DependencyUnavailable, Misconfigured, SnapshotOutdated
from agentic_rag.retrieval.candidates import SearchScope
from agentic_rag.retrieval.query import RetrievalQuery
from agentic_rag.retrieval.retrieve import Retrieve
from agentic_rag.tenancy.access import ANONYMOUS_READER
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag_cli.commands.operations.replica_check import check_replica
from agentic_rag_migrations import HEAD
from agentic_rag_migrations.upgrade import upgrade

pytestmark = [pytest.mark.integration, pytest.mark.slow, pytest.mark.timeout(180)]


@pytest.fixture(scope="module")
def primary_url() -> Iterator[str]:
    home = open_home("agentic-rag-primary-")
    with Primary(home) as primary:
        asyncio.run(upgrade(primary.url))
        yield primary.url
    shutil.rmtree(home)


@pytest.fixture
def migrated_url(primary_url: str) -> str:
    return primary_url


@pytest.fixture
def server(primary_url: str) -> Iterator[Replica]:
    home = open_home("agentic-rag-replica-")
    with Replica(home, primary_url) as server:
        yield server
    shutil.rmtree(home)


class Process:
    """A serving process with a replica."""

    def __init__(self, primary: str, replica: str) -> None:
        self.telemetry = RecordingTelemetry()
        pool = PostgresPool(primary)
        self.replica = ReadReplica(replica, 4, self.telemetry, pool)
        self.database = PostgresDatabase(pool, HEAD, replica=self.replica)

    async def ask(self, workspace: WorkspaceRef, *, may_lag: bool = True) -> tuple[list[str], str]:
        """The texts that a question finds, as a run reads them, and what became of the replica."""
        before = self.outcomes()
        for _ in range(2):
            try:
                texts = await self._search(workspace, may_defer=True, may_lag=may_lag)
            except SnapshotOutdated:
                texts = await self._search(workspace)
            except DependencyUnavailable:
                continue
            new = {name: count - before.get(name, 0) for name, count in self.outcomes().items()}
            return texts, " ".join(sorted(name for name, count in new.items() if count))
        raise AssertionError("a run that is repeated failed again")

    async def _search(self, workspace: WorkspaceRef, **how: Any) -> list[str]:
        await self.database.head(workspace, ANONYMOUS_READER)
        async with self.database.snapshot(workspace, **how) as snapshot:
            scope = SearchScope(snapshot.access.access_ids)
            query = RetrievalQuery(workspace.workspace_id, "rotor", None, scope, top_k=8, with_beside=True)
            found = await Retrieve(RecordingTelemetry()).run(snapshot, query)
            return sorted(chunk.text for chunk, _ in found.chunks)

    def outcomes(self) -> dict[str, float]:
        counted = self.telemetry.counters.get
        name = "rag_replica_snapshots_total"
        return {one: counted((name, (("outcome", one),)), 0.0) for one in ("used", "behind", "away")}


@pytest.fixture
async def process(primary_url: str, server: Replica) -> AsyncIterator[Process]:
    process = Process(primary_url, server.url)
    yield process
    await process.replica.aclose()
    await process.database.aclose()


async def used_for(process: Process, workspace: WorkspaceRef, texts: list[str]) -> None:
    """Ask until the replica is read; each answer is `texts`, whoever gives it."""

    async def is_so() -> bool:
        found, outcome = await process.ask(workspace)
        assert found == texts
        return outcome == "used"

    await eventually(is_so, "the replica is read", 30.0)


async def on(url: str, statement: str) -> None:
    server = await asyncpg.connect(url)
    await server.execute(statement)
    await server.close()


async def test_a_search_reads_the_replica_once_it_has_what_was_written_and_never_before(
    stores: Backend, process: Process, primary_url: str, server: Replica
) -> None:
    workspace = await stores.workspace()
    await stores.publish(workspace, "a.md", ["The rotor of unit 1"])
    await caught_up(primary_url, server.url)
    assert await process.ask(workspace) == (["The rotor of unit 1"], ""), "nothing is known of the workspace yet"
    await used_for(process, workspace, ["The rotor of unit 1"])
    assert await process.ask(workspace, may_lag=False) == (["The rotor of unit 1"], ""), "whoever wants no lag"

    await on(server.url, "SELECT pg_wal_replay_pause()")
    await stores.publish(workspace, "a.md", ["The rotor of unit 2"])
    assert (await process.ask(workspace))[0] == ["The rotor of unit 2"], "what was written is read"
    assert await process.ask(workspace) == (["The rotor of unit 2"], "behind")
    await restrict(stores, workspace, "a.md", NIGHT)
    assert (await process.ask(workspace))[0] == [], "rights that were taken away"
    await stores.publish(workspace, "b.md", ["A rotor of unit 3"])
    async with stores.database.transaction(workspace.org_id) as transaction:
        await transaction.publisher.erase(workspace, document_id_for(workspace, "b.md"))
    assert (await process.ask(workspace))[0] == [], "what was erased"
    await stores.register(workspace, new_document(workspace, "a.md", title="Another"))
    assert await process.ask(workspace) == ([], "behind")

    await on(server.url, "SELECT pg_wal_replay_resume()")
    await used_for(process, workspace, [])


@pytest.mark.tells("rag_replica_lost")
async def test_a_killed_replica_costs_no_question_its_answer(
    stores: Backend, process: Process, primary_url: str, server: Replica
) -> None:
    workspace = await stores.workspace()
    await stores.publish(workspace, "a.md", ["The rotor of unit 1"])
    await caught_up(primary_url, server.url)
    await process.ask(workspace)
    await process.replica.check()

    async def ask_on(times: int) -> None:
        for _ in range(times):
            assert (await process.ask(workspace))[0] == ["The rotor of unit 1"]

    async def is_used() -> bool:
        return process.outcomes()["used"] > 5

    asking = asyncio.gather(*(ask_on(30) for _ in range(4)))
    await eventually(is_used, "questions read the replica", 30.0)
    server.kill()
    await asking
    assert process.outcomes()["away"] > 0
    with pytest.raises(DependencyUnavailable):
        await process.replica.check()


async def test_a_server_that_is_no_replica_is_not_read(stores: Backend, primary_url: str) -> None:
    process = Process(primary_url, primary_url)
    workspace = await stores.workspace()
    await stores.publish(workspace, "a.md", ["The rotor of unit 1"])
    await process.ask(workspace)
    assert await process.ask(workspace) == (["The rotor of unit 1"], "behind")
    with pytest.raises(Misconfigured, match="no streaming replica"):
        await process.replica.check()
    await process.replica.aclose()
    await process.database.aclose()


async def test_a_replica_of_another_server_is_not_read_though_it_has_the_same_workspace_at_the_same_version(
    stores: Backend, primary_url: str, server: Replica
) -> None:
    workspace = await stores.workspace()
    await stores.publish(workspace, "a.md", ["The rotor of unit 1"])
    await caught_up(primary_url, server.url)
    home = open_home("agentic-rag-restored-")
    with Primary(home) as restored:
        await upgrade(restored.url)
        await copy_rows(primary_url, restored.url)
        process = Process(restored.url, server.url)
        await process.ask(workspace)
        assert await process.ask(workspace) == (["The rotor of unit 1"], "behind")
        with pytest.raises(Misconfigured, match="another server"):
            await process.replica.check()
        told = await check_replica(server.url, restored.url)
        assert (told.status, told.code) == ("degraded", "READ_REPLICA_OF_ANOTHER")
        await process.replica.aclose()
        await process.database.aclose()
    shutil.rmtree(home)


async def test_doctor_says_whether_the_replica_follows_and_how_far_it_is_behind(
    primary_url: str, server: Replica
) -> None:
    await caught_up(primary_url, server.url)
    assert (await check_replica(server.url, primary_url)).status == "ok"

    await on(server.url, "SELECT pg_wal_replay_pause()")
    behind = await check_replica(server.url, primary_url)
    await on(server.url, "SELECT pg_wal_replay_resume()")
    assert (behind.status, behind.code) == ("degraded", "READ_REPLICA_BEHIND")

    none = await check_replica(primary_url, primary_url)
    assert (none.status, none.code) == ("degraded", "READ_REPLICA_NOT_STANDBY")
    server.kill()
    away = await check_replica(server.url, primary_url)
    assert (away.status, away.code) == ("degraded", "DEPENDENCY_UNAVAILABLE")
