"""A Neo4j that ends transactions before they are done: smaller ones follow, and no job gives up."""

from __future__ import annotations

import pytest
from tests.contract.backends import Watched
from tests.integration.neo4j.world import SENTENCES, GraphWorld
from tests.line import Line

from agentic_rag.adapters.neo4j.connection import Neo4jConnection
from agentic_rag.adapters.neo4j.writer import Neo4jGraphWriter
from agentic_rag.operations.graph.ports import TransactionEnded
from agentic_rag.operations.graph.projection import GraphChange, GraphWatermark
from agentic_rag.operations.graph.sync import GraphSync
from agentic_rag.settings.addresses import parse_neo4j
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag_cli.commands.operations.doctor import check_neo4j

pytestmark = [pytest.mark.integration, pytest.mark.network]

AT_ONCE = (0.0, 0.0, 0.0)


class ImpatientWriter(Neo4jGraphWriter):
    """Bears so many chunks in a transaction. A transaction that it ends may have been committed all the same."""

    def __init__(self, connection: Neo4jConnection, most: int, *, commits: bool = False) -> None:
        super().__init__(connection)
        self.most = most
        self._commits = commits
        self.sizes: list[int] = []

    async def apply(self, workspace: WorkspaceRef, fence: int, target: int, change: GraphChange) -> None:
        size = len(change.added) + len(change.removed)
        self.sizes.append(size)
        if size <= self.most or self._commits:
            await super().apply(workspace, fence, target, change)
        if size > self.most:
            raise TransactionEnded("ended")


@pytest.mark.parametrize("commits", [False, True])
@pytest.mark.tells("rag_graph_step_repeated", "workspace_id")
async def test_a_change_that_is_too_large_goes_in_smaller_slices(world: GraphWorld, commits: bool) -> None:
    await world.publish("a.md", *list(SENTENCES)[:9])
    await world.publish("b.md", *list(SENTENCES)[9:12])
    writer = ImpatientWriter(world.connection, most=2, commits=commits)
    world.sync = GraphSync(world.feed, writer, world.telemetry, documents=8, chunks=8, pauses=AT_ONCE)

    assert await world.follow()

    assert await world.is_equal()
    assert writer.sizes[0] == 8
    repeated = [one for one in world.telemetry.events if one.name == "rag_graph_step_repeated"]
    assert [one.fields["chunks"] for one in repeated][:1] == [2]


async def test_a_job_tells_that_it_goes_on_between_any_two_statements_of_its_claim(world: GraphWorld) -> None:
    await world.publish("a.md", next(iter(SENTENCES)))
    progress, steps = Watched(), list[int]()

    class NotingWriter(Neo4jGraphWriter):
        async def watermark(self, workspace: WorkspaceRef) -> GraphWatermark:
            steps.append(progress.steps)
            return await super().watermark(workspace)

        async def claim(self, workspace: WorkspaceRef, fence: int) -> GraphWatermark:
            steps.append(progress.steps)
            return await super().claim(workspace, fence)

    lease = await world.lease()
    assert lease is not None
    assert await GraphSync(world.feed, NotingWriter(world.connection), world.telemetry).run(lease, progress)

    assert steps == [0, 1]


class RecoveringWriter(Neo4jGraphWriter):
    """Ends its first transactions, then bears all."""

    def __init__(self, connection: Neo4jConnection, ended: int) -> None:
        super().__init__(connection)
        self._ended = ended
        self.sizes: list[int] = []

    async def apply(self, workspace: WorkspaceRef, fence: int, target: int, change: GraphChange) -> None:
        self.sizes.append(len(change.added))
        if len(self.sizes) <= self._ended:
            raise TransactionEnded("ended")
        await super().apply(workspace, fence, target, change)


async def test_transactions_grow_again_once_the_graph_is_quick(world: GraphWorld) -> None:
    for number, sentence in enumerate(list(SENTENCES)[:16]):
        await world.publish(f"{number}.md", sentence)
    writer = RecoveringWriter(world.connection, ended=2)
    world.sync = GraphSync(world.feed, writer, world.telemetry, documents=16, chunks=16, pauses=AT_ONCE)

    assert await world.follow()

    assert await world.is_equal()
    assert writer.sizes == [16, 4, 1, 4, 11]


async def test_a_step_goes_on_while_its_transactions_pass_now_and_then(world: GraphWorld) -> None:
    for number, sentence in enumerate(list(SENTENCES)[:12]):
        await world.publish(f"{number}.md", sentence)
    writer = MoodyWriter(world.connection)
    world.sync = GraphSync(world.feed, writer, world.telemetry, documents=12, chunks=12, pauses=AT_ONCE)

    assert await world.follow()

    assert await world.is_equal()
    assert writer.ended > len(AT_ONCE)


class MoodyWriter(Neo4jGraphWriter):
    """Ends each transaction of more than one chunk, and every second one else."""

    def __init__(self, connection: Neo4jConnection) -> None:
        super().__init__(connection)
        self.ended = 0
        self._passed_last = True

    async def apply(self, workspace: WorkspaceRef, fence: int, target: int, change: GraphChange) -> None:
        self._passed_last = not self._passed_last
        if len(change.added) > 1 or not self._passed_last:
            self.ended += 1
            raise TransactionEnded("ended")
        await super().apply(workspace, fence, target, change)


async def test_a_graph_that_ends_every_transaction_fails_no_job_and_is_asked_again_later(world: GraphWorld) -> None:
    await world.publish("a.md", *list(SENTENCES)[:3])
    writer = ImpatientWriter(world.connection, most=0)
    sync = GraphSync(world.feed, writer, world.telemetry, pauses=AT_ONCE)
    lease = await world.lease()
    assert lease is not None
    progress = Watched()

    assert await sync.run(lease, progress) is False

    assert len(writer.sizes) == len(AT_ONCE) + 1
    assert progress.steps > len(AT_ONCE)
    (told,) = [one for one in world.telemetry.events if one.name == "rag_graph_unreachable"]
    assert told.fields["code"] == "GRAPH_CONFLICT"
    writer.most = 10
    await world.lapse(lease)
    assert await world.follow()
    assert await world.is_equal()


async def test_emptying_a_graph_goes_in_smaller_slices_too(world: GraphWorld) -> None:
    await world.publish("a.md", *list(SENTENCES)[:6])
    await world.follow()
    limits: list[int] = []

    class ImpatientClearing(Neo4jGraphWriter):
        async def clear(self, workspace: WorkspaceRef, fence: int, limit: int) -> int:
            limits.append(limit)
            if limit > 40:
                raise TransactionEnded("ended")
            return await super().clear(workspace, fence, limit)

    await world.sync.rebuild(world.workspace, "ada")
    world.sync = GraphSync(world.feed, ImpatientClearing(world.connection), world.telemetry, chunks=8, pauses=AT_ONCE)

    assert await world.follow()

    assert await world.is_equal()
    assert limits[:2] == [128, 32]


async def test_doctor_tells_a_server_that_takes_connections_and_answers_no_statement(neo4j_url: str) -> None:
    line = Line(neo4j_url)
    await line.mend()
    line.slow(60.0)

    while_slow = await check_neo4j(parse_neo4j(line.url), answer_seconds=1.0)
    await line.mend()
    after = await check_neo4j(parse_neo4j(line.url))

    await line.cut()
    assert (while_slow.status, while_slow.code) == ("degraded", "TIMEOUT")
    assert "load" in (while_slow.remedy or "")
    assert after.status == "ok"
