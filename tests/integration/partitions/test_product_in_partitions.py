"""The product on tables in partitions: what it did before it does there, and rows go over in either direction."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest
from tests.bench.corpus import generated_corpus
from tests.bench.product import Servers, as_documents, create_workspace
from tests.contract.backends import Backend, postgres_backend
from tests.integration.jobs.data_plane import DataPlane, paragraphs
from tests.integration.jobs.test_snapshots import contents, lose_everything, place_of, snapshot_of, state_of
from tests.integration.partitions.conftest import PARTS
from tests.integration.postgres.test_backups import backup_of
from tests.integration.postgres.test_vector_indexes import (
    CHUNKS,
    due,
    half,
    is_there,
    keep,
    nearest,
    records,
    text_of,
    vector_near,
)
from tests.operate.drill import answer, empty_places, product_on
from tests.stack import Stack

from agentic_rag.adapters.postgres.retrieval.vector_indexes import PostgresIndexBuilder, index_name
from agentic_rag.bootstrap import open_directory
from agentic_rag.erasure.certificate import ErasedStore
from agentic_rag.kernel.errors import Permanent
from agentic_rag.operations.prove_erased import ProveErasure
from agentic_rag.retrieval.ports import VectorSearch
from agentic_rag.retrieval.vector_index import IndexState
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag_migrations import HEAD
from agentic_rag_migrations.partitions import layouts, partition

pytestmark = [pytest.mark.integration, pytest.mark.network]

CORPUS = generated_corpus(60)
QUESTIONS = [item.question for item in CORPUS.questions[:6]]

INDEXED = """
SELECT i.indrelid::regclass::text AS table, i.indisvalid AS valid,
       EXISTS (SELECT FROM rag_embeddings e WHERE e.workspace_id = $2 AND e.tableoid = i.indrelid) AS holds
FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE c.relname = $1
"""


@pytest.fixture
async def places(
    postgres_url: str, session_stack: Stack, fresh_redis: str, tmp_path: Path
) -> AsyncIterator[tuple[Servers, Servers]]:
    """Two migrated databases without rows."""
    async with empty_places(postgres_url, session_stack, fresh_redis, tmp_path) as made:
        yield made


async def ask_all(servers: Servers, workspace: WorkspaceRef) -> list[bytes]:
    async with product_on(servers) as system:
        return [await answer(system, workspace, question) for question in QUESTIONS]


async def with_corpus(servers: Servers) -> WorkspaceRef:
    async with product_on(servers) as system:
        await system.first_access.ensure_organisation()
        workspace = await create_workspace(system, "kept")
        await system.ingest_chunks.run(workspace, as_documents(CORPUS.chunks), "kept")
        return workspace


async def test_a_workspace_answers_as_before_the_move(places: tuple[Servers, Servers]) -> None:
    servers, _ = places
    workspace = await with_corpus(servers)
    before = await ask_all(servers, workspace)
    await partition(servers.database_url, PARTS)
    after = await ask_all(servers, workspace)
    async with product_on(servers) as system:
        report = await system.verify.run(workspace, full=True)

    assert after == before
    assert len({*before}) == len(QUESTIONS)
    assert report.findings == ()


@pytest.mark.parametrize(("source", "target"), [(PARTS, 0), (0, PARTS)])
async def test_a_backup_comes_back_however_the_rows_lie(
    places: tuple[Servers, Servers], source: int, target: int, tmp_path: Path
) -> None:
    before, after = places
    backup = open_directory(tmp_path / "backup")
    workspace = await with_corpus(before)
    await partition(before.database_url, source)
    await partition(after.database_url, target)
    async with product_on(before) as system:
        manifest = await system.create_backup.run(backup, lambda *_: None)
    async with product_on(after) as system:
        await system.restore_backup.run(backup, lambda *_: None)
        report = await system.verify.run(workspace, full=True)

    assert {one.parts for one in await layouts(after.database_url)} == {target}
    assert manifest.counts_of("rag_chunks", "rag_embeddings") == {"rag_chunks": 60, "rag_embeddings": 60}
    assert report.findings == ()
    assert await ask_all(after, workspace) == await ask_all(before, workspace)


async def test_a_restore_into_partitions_finds_rows_without_what_they_refer_to(
    places: tuple[Servers, Servers],
) -> None:
    before, after = places
    await with_corpus(before)
    await partition(after.database_url, PARTS)
    async with backup_of(before.database_url).dump() as dump:
        shape = next(one.shape for one in dump.tables if one.shape.name == "rag_chunks")
        with pytest.raises(Permanent, match="its rows name others") as refused:
            async with backup_of(after.database_url).load(HEAD) as database:
                await database.write(shape, dump.rows_of(shape))

    assert refused.value.code == "BACKUP_DAMAGED"


async def test_a_document_comes_is_erased_with_a_certificate_and_a_snapshot_brings_the_others(
    plane: DataPlane, tmp_path: Path
) -> None:
    folder = tmp_path / "source"
    folder.mkdir()
    (folder / "a.md").write_text(paragraphs("amber", "bronze"))
    (folder / "b.md").write_text(paragraphs("cobalt", "amber"))
    await plane.ingest_folder(folder)
    mentions = await plane.rows("rag_mentions", await plane.id_of("a.md"))
    gone = await plane.id_of("a.md")
    await plane.delete.run(plane.workspace, gone)
    proof = await ProveErasure(plane.database, plane.cache).run(plane.workspace, gone)
    before, originals = await state_of(plane, plane.workspace), await contents(plane, plane.workspace)
    record = await snapshot_of(plane)
    await lose_everything(plane)
    await plane.restore_snapshot.run(plane.workspace.org_id, await place_of(plane, record))

    assert {one.parts for one in await layouts(plane.database_url)} == {PARTS}
    assert mentions > 0
    assert proof.is_complete
    assert proof.certificate is not None
    assert proof.certificate.count(ErasedStore.CHUNKS) == proof.certificate.count(ErasedStore.VECTORS) > 1
    assert await state_of(plane, plane.workspace) == before
    assert await contents(plane, plane.workspace) == originals
    assert (len(before["rag_documents"]), before["rag_chunks"] != []) == (1, True)


async def large_workspace(stores: Backend) -> WorkspaceRef:
    workspace = await stores.workspace()
    texts = [text_of(number) for number in range(CHUNKS)]
    vectors = {text_of(number): half(vector_near(number)) for number in range(CHUNKS)}
    await stores.publish(workspace, "a.md", texts, vectors=vectors)
    return workspace


async def indexed(url: str, workspace: WorkspaceRef) -> asyncpg.Record:
    server = await asyncpg.connect(url)
    try:
        await server.execute("SET search_path = public")
        [found] = await server.fetch(INDEXED, index_name(workspace, 1), workspace.workspace_id)
        return found
    finally:
        await server.close()


async def test_the_index_of_a_large_workspace_is_built_on_the_partition_that_holds_it(
    stores: Backend, migrated_url: str
) -> None:
    large, other = await large_workspace(stores), await large_workspace(stores)
    exact = await nearest(stores, large, 3, VectorSearch.EXACT)
    for workspace in (large, other):
        await keep(stores, migrated_url, workspace)
    built = [await indexed(migrated_url, workspace) for workspace in (large, other)]
    served = await nearest(stores, large, 3, VectorSearch.SERVED)
    others = await PostgresIndexBuilder(migrated_url).others(large, 1)
    await PostgresIndexBuilder(migrated_url).drop(large, 1)

    assert [(one["valid"], one["holds"]) for one in built] == [(True, True)] * 2
    assert all(one["table"].startswith("rag_partitions.rag_embeddings_") for one in built)
    assert (await records(stores, large))[0].state is IndexState.READY
    assert served[0] == exact[0]
    assert others == 1
    assert await is_there(migrated_url, large) is None
    assert await is_there(migrated_url, other) is True
    assert await due(migrated_url, other, 1_000) == []


class Given:
    """What the stores ask of a request."""

    def __init__(self, url: str) -> None:
        self._url = url

    def getfixturevalue(self, name: str) -> str:
        assert name == "migrated_url"
        return self._url


async def test_an_index_goes_along_in_either_direction(migrated_database: str) -> None:
    async with postgres_backend(Given(migrated_database)) as stores:  # type: ignore[arg-type]
        large = await large_workspace(stores)
        await keep(stores, migrated_database, large)
        found = [await indexed(migrated_database, large)]
        for layout in (PARTS, 3, 0):
            await partition(migrated_database, layout, ["rag_embeddings"])
            found.append(await indexed(migrated_database, large))
        served = await nearest(stores, large, 3, VectorSearch.SERVED)

    assert [(one["valid"], one["holds"]) for one in found] == [(True, True)] * 4
    assert [one["table"].rpartition("_of_")[2] for one in found] == ["rag_embeddings", "004", "003", "rag_embeddings"]
    assert len(served) == 10
