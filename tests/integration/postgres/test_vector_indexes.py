"""Approximate indexes of large workspaces on a real Postgres."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta

import asyncpg
import numpy as np
import pytest
from numpy.typing import NDArray
from tests.builders import half
from tests.contract.backends import Backend
from tests.memory_store.telemetry import RecordingTelemetry

from agentic_rag.adapters.postgres.jobs.job_board import PostgresJobBoard
from agentic_rag.adapters.postgres.retrieval.vector_indexes import PostgresIndexBuilder, index_name
from agentic_rag.documents.document import document_id_for
from agentic_rag.jobs.job import GiveUp, JobKind, JobRef, Lease, NewJob
from agentic_rag.kernel.errors import Misconfigured, Retryable
from agentic_rag.models.embedding.space import EmbeddingSpace, RegisteredSpace
from agentic_rag.models.providers.embedder_registry import only
from agentic_rag.operations.vector_index import IndexLimits, MaintainVectorIndex
from agentic_rag.retrieval.candidates import ArmHit, SearchScope
from agentic_rag.retrieval.measure_recall import MeasureRecall, fragment
from agentic_rag.retrieval.ports import VectorSearch
from agentic_rag.retrieval.vector_index import IndexRecord, IndexState
from agentic_rag.tenancy.principals import WorkspaceRef

pytestmark = [pytest.mark.integration, pytest.mark.network]

SPACE = EmbeddingSpace("test", "hashed", 8)
CHUNKS = 400
TINY = IndexLimits(exact_bytes=1_000, max_indexes=1_000)


def vector_near(number: int) -> NDArray[np.float32]:
    """One of 20 directions, and a little of its own: a corpus with topics."""
    topic = np.random.default_rng(number % 20).standard_normal(8)
    own = np.random.default_rng(1_000 + number).standard_normal(8)
    vector = topic + 0.3 * own
    return (vector / np.linalg.norm(vector)).astype(np.float32)


class TopicEmbedder:
    """Embeds a text by the number in it."""

    space = SPACE
    batch_size = 64

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.stack([vector_near(int(text.split()[-1])) for text in texts])

    async def aclose(self) -> None:
        """Nothing to release."""


class Steps:
    def advance(self) -> None:
        """Nobody watches."""


def text_of(number: int) -> str:
    return f"passage {number}"


@pytest.fixture
async def large(stores: Backend) -> WorkspaceRef:
    """A workspace with more vectors than the limit of these tests."""
    workspace = await stores.workspace()
    texts = [text_of(number) for number in range(CHUNKS)]
    vectors = {text_of(number): half(vector_near(number)) for number in range(CHUNKS)}
    await stores.publish(workspace, "a.md", texts, vectors=vectors)
    return workspace


def keeper(stores: Backend, url: str, limits: IndexLimits = TINY, role: str = "rag_owner") -> MaintainVectorIndex:
    recall = MeasureRecall(stores.database, only(TopicEmbedder()))
    return MaintainVectorIndex(stores.database, PostgresIndexBuilder(url, role), recall, RecordingTelemetry(), limits)


async def lease_of(stores: Backend, workspace: WorkspaceRef) -> Lease:
    async with stores.database.transaction(workspace.org_id) as transaction:
        ref, _ = await transaction.jobs.enqueue(NewJob(workspace, JobKind.INDEX, "vectors", {}))
        lease = await transaction.jobs.lease(ref, "tester", timedelta(minutes=5))
        assert lease is not None
        return lease


async def keep(stores: Backend, url: str, workspace: WorkspaceRef, limits: IndexLimits = TINY) -> None:
    lease = await lease_of(stores, workspace)
    await keeper(stores, url, limits).run(lease, Steps())
    async with stores.database.transaction(workspace.org_id) as transaction:
        await transaction.jobs.finish(JobRef(workspace, lease.job.job_id), lease.fence)


async def records(stores: Backend, workspace: WorkspaceRef) -> list[IndexRecord]:
    async with stores.database.transaction(workspace.org_id) as transaction:
        return list(await transaction.indexes.all(workspace))


async def put(stores: Backend, workspace: WorkspaceRef, record: IndexRecord) -> None:
    async with stores.database.transaction(workspace.org_id) as transaction:
        await transaction.indexes.put(workspace, record)


async def switch_to_wide(stores: Backend, workspace: WorkspaceRef, grace: timedelta) -> None:
    async with stores.database.transaction(workspace.org_id) as transaction:
        await transaction.spaces.begin(workspace, EmbeddingSpace("test", "wide", 12), None)
        missing = await transaction.spaces.missing(workspace, 2, -1, CHUNKS)
        await transaction.spaces.fill(workspace, 2, {one.ordinal: half([1.0] * 12) for one in missing})
        await transaction.spaces.activate(workspace, 2, grace)


async def is_there(url: str, workspace: WorkspaceRef, space_id: int = 1) -> bool | None:
    """Whether the index is complete; None without one."""
    server = await asyncpg.connect(url)
    try:
        return await server.fetchval(
            "SELECT indisvalid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE c.relname = $1",
            index_name(workspace, space_id),
        )
    finally:
        await server.close()


async def due(url: str, workspace: WorkspaceRef, exact_bytes: int) -> list[JobKind]:
    board = PostgresJobBoard(url, exact_scan_bytes=exact_bytes)
    try:
        return [task.kind for task in await board.upkeep() if task.workspace == workspace]
    finally:
        await board.aclose()


async def nearest(
    stores: Backend, workspace: WorkspaceRef, number: int, search: VectorSearch, scope: SearchScope | None = None,
    as_of: int | None = None,
) -> list[ArmHit]:  # fmt: skip
    async with stores.database.snapshot(workspace, as_of) as snapshot:
        return await snapshot.vectors.nearest(vector_near(number), 1, 10, scope or SearchScope((0,)), search)


async def test_a_large_workspace_is_due_and_gets_an_index_that_serves(
    stores: Backend, migrated_url: str, large: WorkspaceRef
) -> None:
    before = await due(migrated_url, large, 1_000)
    await keep(stores, migrated_url, large)

    [record] = await records(stores, large)
    assert before == [JobKind.INDEX]
    assert await due(migrated_url, large, 1_000) == []
    assert (record.state, record.rows_seen) == (IndexState.READY, CHUNKS)
    assert record.recall is not None
    assert record.recall >= 0.95
    assert await is_there(migrated_url, large)


async def test_a_workspace_below_the_limit_is_not_due(stores: Backend, migrated_url: str, large: WorkspaceRef) -> None:
    assert await due(migrated_url, large, 1_000_000) == []


async def test_scores_by_the_index_equal_those_of_the_scan(
    stores: Backend, migrated_url: str, large: WorkspaceRef
) -> None:
    await keep(stores, migrated_url, large)

    for number in range(0, CHUNKS, 40):
        exact = await nearest(stores, large, number, VectorSearch.EXACT)
        served = await nearest(stores, large, number, VectorSearch.SERVED)
        scores = {hit.ordinal: hit.raw for hit in exact}
        assert served[0] == exact[0]
        assert all(scores[hit.ordinal] == hit.raw for hit in served if hit.ordinal in scores)
        assert [hit.raw for hit in served] == sorted((hit.raw for hit in served), reverse=True)


@pytest.mark.tells("rag_vector_index_measured")
async def test_a_ready_index_is_what_the_planner_uses(stores: Backend, migrated_url: str, large: WorkspaceRef) -> None:
    await keep(stores, migrated_url, large)
    server = await asyncpg.connect(migrated_url)
    try:
        async with server.transaction():
            await server.execute(f"SET LOCAL rag.org_id = '{large.org_id}'; SET LOCAL ROLE rag_app")
            await server.execute("SET LOCAL enable_sort = off; SET LOCAL enable_seqscan = off")
            plan = await server.fetch(
                f"EXPLAIN SELECT ordinal FROM rag_embeddings WHERE org_id = '{large.org_id}'::uuid "
                f"AND workspace_id = '{large.workspace_id}'::uuid AND space_id = 1::smallint AND visible_from <= 9 "
                "ORDER BY v::halfvec(8) <#> '[1,0,0,0,0,0,0,0]'::halfvec(8) LIMIT 20"
            )
    finally:
        await server.close()

    assert index_name(large, 1) in "\n".join(row[0] for row in plan)


async def test_a_search_that_the_index_leaves_short_is_exact(
    stores: Backend, migrated_url: str, large: WorkspaceRef
) -> None:
    await keep(stores, migrated_url, large)
    few = SearchScope((0,), frozenset(range(5)))

    assert len(await nearest(stores, large, 3, VectorSearch.SERVED, few)) == 5
    assert await nearest(stores, large, 3, VectorSearch.SERVED, SearchScope((7,))) == []


async def test_older_versions_and_removed_passages_are_told_apart_by_the_index_too(
    stores: Backend, migrated_url: str, large: WorkspaceRef
) -> None:
    await keep(stores, migrated_url, large)
    half_of_it = [text_of(number) for number in range(CHUNKS // 2)]
    await stores.publish(large, "a.md", half_of_it)

    now = await nearest(stores, large, CHUNKS - 1, VectorSearch.SERVED)
    then = await nearest(stores, large, CHUNKS - 1, VectorSearch.SERVED, as_of=1)

    assert len(now) == 10
    assert max(hit.ordinal for hit in now) < CHUNKS // 2
    assert then[0].ordinal == CHUNKS - 1


async def test_an_index_that_misses_too_much_is_dropped_and_search_stays_exact(
    stores: Backend, migrated_url: str, large: WorkspaceRef
) -> None:
    await keep(stores, migrated_url, large, IndexLimits(1_000, 1_000, recall=1.01))

    [record] = await records(stores, large)
    assert record.state is IndexState.REJECTED
    assert await is_there(migrated_url, large) is None
    assert await due(migrated_url, large, 1_000) == []


async def test_past_the_cap_a_workspace_stays_exact_and_says_so(
    stores: Backend, migrated_url: str, large: WorkspaceRef
) -> None:
    await keep(stores, migrated_url, large, IndexLimits(1_000, max_indexes=0))

    [record] = await records(stores, large)
    assert record.state is IndexState.REJECTED
    assert "the most of all workspaces" in (record.reason or "")
    assert await is_there(migrated_url, large) is None


async def test_an_index_that_is_there_already_does_not_stand_in_its_own_way_at_the_cap(
    stores: Backend, migrated_url: str, large: WorkspaceRef
) -> None:
    await keep(stores, migrated_url, large)
    await put(stores, large, IndexRecord(1, IndexState.BUILDING, CHUNKS))
    others = await PostgresIndexBuilder(migrated_url).others(large, 1)

    await keep(stores, migrated_url, large, IndexLimits(1_000, max_indexes=others + 1))

    assert [record.state for record in await records(stores, large)] == [IndexState.READY]


class InterruptedBuilder(PostgresIndexBuilder):
    """Something happens while an index is made, which takes minutes in a large workspace."""

    def __init__(self, url: str, meanwhile: Callable[[], Awaitable[None]]) -> None:
        super().__init__(url)
        self._meanwhile = meanwhile

    async def build(self, workspace: WorkspaceRef, space: RegisteredSpace) -> None:
        await super().build(workspace, space)
        await self._meanwhile()


async def test_an_index_is_measured_in_its_own_space_whatever_answers_by_then(
    stores: Backend, migrated_url: str, large: WorkspaceRef
) -> None:
    async def switch() -> None:
        await switch_to_wide(stores, large, timedelta(days=1))

    builder = InterruptedBuilder(migrated_url, switch)
    recall = MeasureRecall(stores.database, only(TopicEmbedder()))
    lease = await lease_of(stores, large)

    await MaintainVectorIndex(stores.database, builder, recall, RecordingTelemetry(), TINY).run(lease, Steps())

    [record] = await records(stores, large)
    assert (record.space_id, record.state) == (1, IndexState.READY)


async def test_what_a_crashed_build_left_is_built_again(
    stores: Backend, migrated_url: str, large: WorkspaceRef
) -> None:
    await put(stores, large, IndexRecord(1, IndexState.BUILDING, CHUNKS))
    await keep(stores, migrated_url, large)
    server = await asyncpg.connect(migrated_url)
    try:
        await server.execute(
            "UPDATE pg_index i SET indisvalid = false FROM pg_class c WHERE c.oid = i.indexrelid AND c.relname = $1",
            index_name(large, 1),
        )
    finally:
        await server.close()
    await put(stores, large, IndexRecord(1, IndexState.BUILDING, CHUNKS))

    assert await is_there(migrated_url, large) is False
    assert await due(migrated_url, large, 1_000) == [JobKind.INDEX]
    await keep(stores, migrated_url, large)
    assert await is_there(migrated_url, large) is True
    assert (await records(stores, large))[0].state is IndexState.READY


async def test_two_builders_do_not_meet(stores: Backend, migrated_url: str, large: WorkspaceRef) -> None:
    server = await asyncpg.connect(migrated_url)
    try:
        await server.fetchval("SELECT pg_advisory_lock(hashtextextended($1, 2))", index_name(large, 1))
        with pytest.raises(Retryable) as busy:
            await keep(stores, migrated_url, large)
    finally:
        await server.close()

    assert busy.value.code == "INDEX_BUSY"


async def test_a_login_without_rights_leaves_the_workspace_exact_with_the_reason(
    stores: Backend, migrated_url: str, large: WorkspaceRef
) -> None:
    lease = await lease_of(stores, large)
    weak = keeper(stores, migrated_url, role="rag_app")
    with pytest.raises(Misconfigured) as refused:
        await weak.run(lease, Steps())
    async with stores.database.transaction(large.org_id) as transaction:
        await weak.record_failure(transaction, lease, refused.value, GiveUp())

    [record] = await records(stores, large)
    assert record.state is IndexState.FAILED
    assert refused.value.code in (record.reason or "")
    assert len(await nearest(stores, large, 3, VectorSearch.SERVED)) == 10


async def test_a_workspace_that_shrank_loses_its_index(stores: Backend, migrated_url: str, large: WorkspaceRef) -> None:
    await keep(stores, migrated_url, large)
    async with stores.database.transaction(large.org_id) as transaction:
        await transaction.publisher.erase(large, document_id_for(large, "a.md"))
    await keep(stores, migrated_url, large)

    assert await is_there(migrated_url, large) is None
    assert await records(stores, large) == []


async def test_the_index_of_a_space_that_is_gone_is_due_and_dropped(
    stores: Backend, migrated_url: str, large: WorkspaceRef
) -> None:
    await keep(stores, migrated_url, large)
    await switch_to_wide(stores, large, timedelta(0))
    async with stores.database.transaction(large.org_id) as transaction:
        assert not await transaction.spaces.drop_old_spaces(large, 10_000)

    assert JobKind.INDEX in await due(migrated_url, large, 1_000_000)
    await keep(stores, migrated_url, large, IndexLimits(1_000_000, 1_000))
    assert await is_there(migrated_url, large) is None
    assert [record.space_id for record in await records(stores, large)] == [2]


async def test_recall_as_served_is_reported(stores: Backend, large: WorkspaceRef) -> None:
    report = await MeasureRecall(stores.database, only(TopicEmbedder())).run(large)

    assert (report.passages, report.questions, report.recall) == (CHUNKS, 80, 1.0)


def test_a_fragment_is_as_long_as_a_question() -> None:
    assert len(fragment(" ".join(str(number) for number in range(200))).split()) == 12
    assert fragment("short text") == "short text"
