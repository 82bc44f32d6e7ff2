"""Erasures, their proof and `verify` where the graph is in Neo4j; and a graph that an operator moves there."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import neo4j
import pytest
from tests.contract.backends import Watched, lease_graph_job
from tests.graph_contents import expected_graph, held_graph
from tests.integration.jobs.data_plane import QUICK, DataPlane, paragraphs, until
from tests.integration.jobs.in_order import ingest_in_order
from tests.integration.jobs.pictures import outside_picture
from tests.integration.jobs.test_erasure_oracle import text_of, write

from agentic_rag.adapters.neo4j.traces import Neo4jTraces
from agentic_rag.adapters.postgres.operations.inspection import PostgresInspector
from agentic_rag.adapters.postgres.retrieval.vector_indexes import PostgresIndexBuilder
from agentic_rag.erasure.certificate import ErasedStore, StoreErasure
from agentic_rag.erasure.erase_workspace import EraseWorkspace
from agentic_rag.erasure.request_erasure import RequestErasure
from agentic_rag.jobs.job import JobKind, MaintenanceTask
from agentic_rag.operations.graph.sync import GraphCheck
from agentic_rag.operations.prove_erased import ErasureProof, ProveErasure
from agentic_rag.operations.prove_workspace_erased import ProveWorkspaceErasure
from agentic_rag.operations.verify import VerificationReport, VerifyStores
from agentic_rag_worker.job_handlers import Handler

pytestmark = [pytest.mark.integration, pytest.mark.network]


@pytest.fixture
async def followed(
    migrated_database: str, fresh_redis: str, neo4j_url: str, tmp_path: Path
) -> AsyncIterator[DataPlane]:
    """The data plane with its graph in Neo4j."""
    plane = DataPlane(migrated_database, fresh_redis, tmp_path / "blobs", neo4j_uri=neo4j_url)
    await plane.prepare()
    yield plane
    await plane.aclose()


async def follow(plane: DataPlane) -> None:
    lease = await lease_graph_job(plane.database, plane.workspace)
    assert lease is not None, "no graph job waits"
    assert await plane.graph_sync.run(lease, Watched())


async def prove(plane: DataPlane, document_id: UUID) -> ErasureProof:
    assert plane.neo4j is not None
    return await ProveErasure(plane.database, plane.cache, Neo4jTraces(plane.neo4j)).run(plane.workspace, document_id)


async def verify(plane: DataPlane) -> VerificationReport:
    checks = [GraphCheck(plane.graph_sync).run]
    inspector = PostgresInspector(plane.pool)
    verify = VerifyStores(inspector, plane.database, plane.blobs, lambda: plane.embedder.space, checks)
    return await verify.run(plane.workspace)


def line_of(proof: ErasureProof) -> StoreErasure:
    assert proof.certificate is not None
    [found] = [one for one in proof.certificate.stores if one.store is ErasedStore.GRAPH]
    return found


async def plant(plane: DataPlane, statement: str) -> None:
    assert plane.neo4j_uri is not None
    key = f"{plane.workspace.org_id}/{plane.workspace.workspace_id}"
    async with neo4j.AsyncGraphDatabase.driver(plane.neo4j_uri) as driver:
        await driver.execute_query(statement, key=key, document=str(await plane.id_of("one.md")))  # type: ignore[arg-type]


async def two_documents(plane: DataPlane, folder: Path) -> UUID:
    (folder / "one.md").write_text(paragraphs("Kelpie", "Brannoch", of=40))
    (folder / "two.md").write_text(paragraphs("Kelpie", "Otter Voe", of=40))
    await ingest_in_order(plane, folder)
    await follow(plane)
    return await plane.id_of("one.md")


async def test_an_erasure_is_proven_when_the_graph_has_followed_and_not_before(
    followed: DataPlane, neo4j_url: str, folder: Path
) -> None:
    document_id = await two_documents(followed, folder)
    before = await held_graph(neo4j_url, followed.workspace)
    nodes = 1 + sum(source == str(document_id) for _, source in before.chunks.values())

    await followed.delete.run(followed.workspace, document_id)
    waiting = await prove(followed, document_id)
    await follow(followed)
    proven = await prove(followed, document_id)

    assert line_of(waiting) == StoreErasure(ErasedStore.GRAPH, 0, done=False)
    assert not waiting.is_complete
    assert line_of(proven) == StoreErasure(ErasedStore.GRAPH, nodes)
    assert proven.findings == ()
    assert proven.is_complete
    assert proven.certificate is not None
    assert proven.certificate.is_complete
    assert (await verify(followed)).findings == ()


async def test_a_graph_that_nobody_can_ask_proves_nothing(followed: DataPlane, folder: Path) -> None:
    document_id = await two_documents(followed, folder)
    await followed.delete.run(followed.workspace, document_id)

    blind = await ProveErasure(followed.database, followed.cache).run(followed.workspace, document_id)

    assert not blind.is_complete
    assert ErasedStore.GRAPH.value in {one.store for one in blind.findings}


async def test_a_deleted_workspace_leaves_no_node(followed: DataPlane, neo4j_url: str, folder: Path) -> None:
    await two_documents(followed, folder)
    assert followed.neo4j is not None
    traces = Neo4jTraces(followed.neo4j)
    before = await traces.workspace_nodes(followed.workspace)
    request = RequestErasure(followed.database, followed.telemetry)
    await request.workspace(followed.workspace, str(followed.workspace.workspace_id), "test")
    prove = ProveWorkspaceErasure(followed.database, followed.cache, followed.blobs, traces)

    waiting = await prove.run(*followed.workspace.key)
    eraser = EraseWorkspace(
        followed.database, followed.cache, followed.blobs, PostgresIndexBuilder(followed.database_url), traces,
        followed.telemetry,
    )  # fmt: skip
    followed.more_handlers[JobKind.ERASE] = Handler(eraser.run, 600.0, 300.0)

    async def is_erased() -> bool:
        return (await prove.run(*followed.workspace.key)).is_complete

    async with followed.worker():
        await until(is_erased, "the workspace is erased")
    proof = await prove.run(*followed.workspace.key)

    assert before > 4
    assert "external_graph" in {one.store for one in waiting.findings}
    assert proof.erasure.counts["external_graph"] == before
    assert not (await held_graph(neo4j_url, followed.workspace)).chunks


@pytest.mark.parametrize(
    "stray",
    [
        "CREATE (:RagSource {workspaceId: $key, id: $document, title: 'stray'})",
        "CREATE (:RagEntity {workspaceId: $key, id: 'stray', name: 'stray', sourceId: $document})",
        "MERGE (s:RagSource {workspaceId: $key, id: $document}) "
        "CREATE (:RagChunk {workspaceId: $key, id: 'stray', ordinal: 900})-[:DERIVED_FROM]->(s)",
    ],
)
async def test_a_stray_node_is_found_by_proof_and_verify(followed: DataPlane, folder: Path, stray: str) -> None:
    document_id = await two_documents(followed, folder)
    await followed.delete.run(followed.workspace, document_id)
    await follow(followed)

    await plant(followed, stray)

    proof = await prove(followed, document_id)
    report = await verify(followed)
    assert [(one.store, one.kind) for one in proof.findings] == [("external_graph", "TRACE_LEFT")]
    assert [one.kind for one in report.findings] == ["GRAPH_DIFFERS"]
    assert report.has_errors


async def test_verify_says_that_the_graph_is_behind_or_lost(followed: DataPlane, folder: Path) -> None:
    await two_documents(followed, folder)
    await plant(followed, "MATCH (n) WHERE n.workspaceId = $key OR n.id = $key DETACH DELETE n")
    lost = await verify(followed)
    (folder / "three.md").write_text(paragraphs("Munro", of=40))
    await ingest_in_order(followed, folder)

    behind = await verify(followed)

    assert [one.kind for one in lost.findings] == ["GRAPH_BEHIND"]
    assert dict(behind.counts)["GRAPH_BEHIND"] == 1


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in range(1, 4))])
async def test_neo4j_equals_that_of_a_corpus_that_never_held_the_document(
    plane: DataPlane, twin: DataPlane, neo4j_url: str, tmp_path: Path, seed: int
) -> None:
    dice = random.Random(100 + seed)
    names = [f"{letter}.md" for letter in "abcde"[: dice.randint(3, 5)]]
    gone = dice.choice(names)
    first = {name: text_of(dice) for name in names}
    # Some change afterwards, the erased one always, so that the graph followed more than one version.
    second = {name: text_of(dice) if dice.random() < 0.4 or name == gone else text for name, text in first.items()}
    held = outside(plane, neo4j_url, tmp_path / "held")
    never = outside(twin, neo4j_url, tmp_path / "never")

    await ingest_states(held, [first, second], tmp_path / "with")
    await held.delete.run(held.workspace, await held.id_of(gone))
    await follow(held)
    left = await outside_picture(neo4j_url, held.workspace)
    # The same workspace by its id: its graph is emptied first, for this database never filled it.
    await ingest_states(never, [_without(texts, gone) for texts in (first, second)], tmp_path / "without")
    expected = await outside_picture(neo4j_url, never.workspace)

    assert left == expected
    assert left.entities
    await held.aclose()
    await never.aclose()


async def test_an_operator_who_names_a_neo4j_gets_a_filled_graph_without_a_command(
    plane: DataPlane, neo4j_url: str, folder: Path, tmp_path: Path
) -> None:
    (folder / "one.md").write_text(paragraphs("Kelpie", "Brannoch", of=40))
    await plane.ingest_folder(folder)
    moved = outside(plane, neo4j_url, tmp_path / "blobs")

    async with moved.worker(timings=replace(QUICK, upkeep=0.1)):
        await until(lambda: _is_equal(moved), "the graph is filled")
        await until(moved._idle, "no job is left")

    assert await held_graph(neo4j_url, moved.workspace) == await expected_graph(moved.database_url, moved.workspace)
    assert await _due(moved) == []
    await moved.aclose()


async def test_a_graph_that_missed_an_erasure_while_it_was_switched_off_is_filled_anew(
    followed: DataPlane, neo4j_url: str, folder: Path, tmp_path: Path
) -> None:
    document_id = await two_documents(followed, folder)
    alone = outside(followed, None, tmp_path / "blobs")
    await alone.delete.run(alone.workspace, document_id)
    assert [task.kind for task in await _due(alone)] == []

    [task] = await _due(followed)
    async with followed.worker(timings=replace(QUICK, upkeep=0.1)):
        await until(lambda: _is_equal(followed), "the graph is filled")

    assert task.kind is JobKind.GRAPH
    assert str(document_id) not in (await held_graph(neo4j_url, followed.workspace)).sources
    assert (await verify(followed)).findings == ()
    await alone.aclose()


async def test_a_switch_of_embedding_spaces_leaves_the_graph_behind_for_a_job_only(
    followed: DataPlane, folder: Path
) -> None:
    await two_documents(followed, folder)
    await followed.switch.begin(followed.workspace, "openai:wide:16", None)

    async with followed.worker(timings=replace(QUICK, upkeep=0.1)):
        await until(lambda: _is_equal(followed, version=3), "the graph follows the switch")

    assert (await followed.graph_sync.status(followed.workspace)).lag == 0


def outside(plane: DataPlane, neo4j_url: str | None, blobs: Path) -> DataPlane:
    """The same database and workspace, with the graph elsewhere."""
    return DataPlane(
        plane.database_url, plane.redis_url, blobs, queue_name=plane.queue_name, workspace=plane.workspace,
        neo4j_uri=neo4j_url,
    )  # fmt: skip


async def ingest_states(plane: DataPlane, states: list[Mapping[str, str]], folder: Path) -> None:
    folder.mkdir()
    for texts in states:
        write(folder, texts)
        await ingest_in_order(plane, folder)
        await follow(plane)


def _without(texts: Mapping[str, str], gone: str) -> Mapping[str, str]:
    return {name: text for name, text in texts.items() if name != gone}


async def _due(plane: DataPlane) -> list[MaintenanceTask]:
    board = plane.job_board()
    try:
        return await board.upkeep()
    finally:
        await board.aclose()


async def _is_equal(plane: DataPlane, version: int = 1) -> bool:
    status = await plane.graph_sync.status(plane.workspace)
    return status.is_equal and status.corpus_version >= version
