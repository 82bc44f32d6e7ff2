"""Readers and publishers together, and what a retrieval costs in round trips."""

import asyncio
import json
import random
from collections import Counter
from datetime import timedelta

import numpy as np
import pytest
from tests.builders import DIMENSIONS, EVERYBODY, entities_of, revision_of
from tests.contract.backends import Backend
from tests.integration.postgres.statements import WatchedPool
from tests.subgraphs import mentions_of

from agentic_rag.adapters.postgres.documents.document_reader_sql import REVISION_SPANS
from agentic_rag.adapters.postgres.operations.history import purge_history
from agentic_rag.adapters.postgres.session.database import PostgresDatabase
from agentic_rag.adapters.postgres.session.pool import PostgresPool
from agentic_rag.documents.document import DocumentFilter, document_id_for
from agentic_rag.ingestion.group_commit import compaction_job
from agentic_rag.ingestion.maintenance import CompactSegments
from agentic_rag.kernel.database import CorpusSnapshot
from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.language.tokenizer import query_terms
from agentic_rag.retrieval.candidates import SearchScope
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.workspaces.settings import WorkspaceSettings
from agentic_rag_migrations import HEAD

pytestmark = pytest.mark.integration

SCOPE = SearchScope(EVERYBODY)
CHUNKS = 4


def edition(number: int) -> list[str]:
    return [f"marker part{part} edition{number}" for part in range(CHUNKS)]


async def faults_of(snapshot: CorpusSnapshot) -> list[str]:
    """What a reader of one document, republished whole each time, must never see."""
    ordinals = sorted(await snapshot.documents.ordinals_matching(DocumentFilter(), EVERYBODY))
    chunks = await snapshot.documents.chunks(ordinals, EVERYBODY)
    editions = Counter(chunk.text.rsplit("edition", 1)[1] for chunk in chunks)
    dense = await snapshot.vectors.nearest(np.ones(DIMENSIONS, np.float32), 1, 50, SCOPE)
    words = await snapshot.lexical.search(query_terms("marker"), 50, SCOPE)
    mentions = list(mentions_of(await snapshot.graph.vicinity([], ordinals, 10)))
    faults = []
    if editions != {str(snapshot.version): CHUNKS}:
        faults.append(f"texts of {editions} at version {snapshot.version}")
    for arm, seen in (("dense", dense), ("lexical", words), ("graph", mentions)):
        if sorted(hit.ordinal for hit in seen) != ordinals:
            faults.append(f"{arm} differs at version {snapshot.version}")
    return faults


@pytest.mark.parametrize("publishes", [80, pytest.param(200, marks=pytest.mark.nightly)])
async def test_readers_never_see_a_mixed_version_or_half_a_document(stores: Backend, publishes: int) -> None:
    workspace = await stores.workspace()
    entities = {text: entities_of("Marker") for number in range(publishes + 1) for text in edition(number)}
    await stores.publish(workspace, "a.md", edition(1), entities=entities)
    done = asyncio.Event()
    versions: set[int] = set()
    faults: list[str] = []

    async def write() -> None:
        for number in range(2, publishes + 1):
            await stores.publish(workspace, "a.md", edition(number), entities=entities)
            if number % 20 == 0:
                async with stores.database.transaction(workspace.org_id) as transaction:
                    await transaction.publisher.compact(workspace)
        done.set()

    async def read() -> None:
        while not done.is_set():
            async with stores.database.snapshot(workspace) as snapshot:
                versions.add(snapshot.version)
                faults.extend(await faults_of(snapshot))

    await asyncio.gather(write(), read(), read(), read())

    assert faults == []
    assert await stores.database.corpus_version(workspace) == publishes
    assert len(versions) > 20


async def test_concurrent_publishers_of_one_workspace_lose_nothing(stores: Backend) -> None:
    workspace = await stores.workspace()
    entities = {f"text {number}": entities_of("Shared", f"Own {number}") for number in range(24)}

    results = await asyncio.gather(
        *[stores.publish(workspace, f"{number}.md", [f"text {number}"], entities=entities) for number in range(24)]
    )

    assert sorted(result.version or 0 for result in results) == list(range(1, 25))
    async with stores.database.snapshot(workspace) as snapshot:
        ordinals = await snapshot.documents.ordinals_matching(DocumentFilter(), EVERYBODY)
    assert ordinals == frozenset(range(24))


async def test_a_hybrid_retrieval_waits_for_four_round_trips_and_a_version_for_one(
    stores: Backend, migrated_url: str
) -> None:
    workspace = await stores.workspace()
    for number in range(3):
        await stores.publish(workspace, f"{number}.md", edition(number))
    pool = WatchedPool(migrated_url)
    database = PostgresDatabase(pool, HEAD)

    async def retrieve() -> int:
        before = len(pool.statements)
        async with database.snapshot(workspace) as snapshot:
            dense = await snapshot.vectors.nearest(np.ones(DIMENSIONS, np.float32), 1, 10, SCOPE)
            words = await snapshot.lexical.search(query_terms("marker"), 10, SCOPE)
            await snapshot.lexical.rarity(list(query_terms("marker")), SCOPE)
            await snapshot.documents.chunks([hit.ordinal for hit in (*dense, *words)], EVERYBODY)
        return len(pool.statements) - before

    cold, warm = await retrieve(), await retrieve()
    before = len(pool.statements)
    await database.corpus_version(workspace)
    await database.aclose()

    # Begin with the tenant, header, dense, texts; cold also the caller's access sets, segments, closed and moved
    # ordinals. Nobody waits for the end.
    assert (cold, warm) == (8, 4)
    assert len(pool.statements) - before == 1


async def test_a_span_at_the_end_of_a_long_text_costs_what_one_at_its_beginning_costs(
    stores: Backend, migrated_url: str
) -> None:
    workspace = await stores.workspace()
    # Of no pattern: Postgres would store a text that repeats itself in so few blocks that all of it costs nothing.
    passage = "".join(random.Random(8).choices("abcdefghijklmnopqrstuvwxyz äöüß³. ", k=1_200_000))
    await stores.publish(workspace, "a.md", [passage])
    revision = revision_of(document_id_for(workspace, "a.md"), [passage]).revision_id
    pool = PostgresPool(migrated_url)

    async def blocks_read(first: int) -> int:
        """The blocks that reading 200 characters takes."""
        statement = f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {REVISION_SPANS}"
        async with pool.transaction(workspace.org_id) as connection:
            told = await connection.fetchval(statement, *workspace.key, [revision], [first], [first + 200])
        plan = json.loads(told)[0]["Plan"]
        return plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]

    await blocks_read(0)
    beginning, end = await blocks_read(0), await blocks_read(len(passage) - 200)
    await pool.aclose()

    assert end <= beginning + 5


async def oldest_readable(stores: Backend, workspace: WorkspaceRef, newest: int) -> int:
    for version in range(newest + 1):
        try:
            async with stores.database.snapshot(workspace, version):
                return version
        except InvalidInput:
            continue
    raise AssertionError("no version can be read")


async def test_history_is_kept_for_its_days_and_then_refused(stores: Backend) -> None:
    kept = await stores.workspace(settings=WorkspaceSettings(history_days=7))
    dropped = await stores.workspace(settings=WorkspaceSettings(history_days=0))
    for workspace in (kept, dropped):
        for passages in (["alpha", "beta"], ["alpha", "gamma"], ["alpha", "delta"]):
            await stores.publish(workspace, "a.md", passages)
        async with stores.database.transaction(workspace.org_id) as transaction:
            await transaction.publisher.compact(workspace)

    assert await oldest_readable(stores, kept, 3) == 0
    assert await oldest_readable(stores, dropped, 3) == 3
    async with stores.database.snapshot(dropped) as snapshot:
        ordinals = sorted(await snapshot.documents.ordinals_matching(DocumentFilter(), EVERYBODY))
        chunks = await snapshot.documents.chunks(ordinals, EVERYBODY)
    assert [chunk.text for chunk in chunks] == ["alpha", "delta"]
    assert len({chunk.revision_id for chunk in chunks}) == 1


async def test_history_is_purged_in_bounded_slices(stores: Backend, migrated_url: str) -> None:
    workspace = await stores.workspace(settings=WorkspaceSettings(history_days=0))
    for version in range(3):
        await stores.publish(workspace, "a.md", ["kept", *[f"passage {one} of {version}" for one in range(5)]])
    pool = PostgresPool(migrated_url)

    left: list[int] = []
    vectors: list[int] = []
    more = True
    while more:
        async with pool.transaction(workspace.org_id) as connection:
            more = await purge_history(connection, workspace, 4)
            left.append(await connection.fetchval("SELECT count(*) FROM rag_chunks"))
            vectors.append(await connection.fetchval("SELECT count(*) FROM rag_embeddings"))
    async with pool.transaction(workspace.org_id) as connection:
        revisions = await connection.fetchval("SELECT count(*) FROM rag_revisions")
    await pool.aclose()

    assert left == [12, 8, 6]
    assert vectors == [12, 8, 6]
    assert revisions == 1
    assert await oldest_readable(stores, workspace, 3) == 3


async def test_slices_of_history_leave_no_mention_of_passages_that_are_gone(stores: Backend, migrated_url: str) -> None:
    workspace = await stores.workspace(settings=WorkspaceSettings(history_days=0))
    named = {"old": entities_of("Ida", "Otto", "Klara", "Varde", "Ribe"), "new": entities_of("Elbow")}
    for text in ("old", "new"):
        await stores.publish(workspace, "a.md", [text], entities=named)
    pool = PostgresPool(migrated_url)

    more = True
    while more:
        async with pool.transaction(workspace.org_id) as connection:
            more = await purge_history(connection, workspace, 2)
    async with pool.transaction(workspace.org_id) as connection:
        left = await connection.fetchrow(
            "SELECT (SELECT count(*) FROM rag_mentions) AS mentions, (SELECT count(*) FROM rag_entities) AS entities"
        )
    await pool.aclose()

    assert left is not None
    assert (left["mentions"], left["entities"]) == (1, 1)


class Steps:
    """Counts the steps that a job reports."""

    def __init__(self) -> None:
        self.taken = 0

    def advance(self) -> None:
        self.taken += 1


async def test_a_compaction_purges_history_in_bounded_slices(stores: Backend, migrated_url: str) -> None:
    workspace, steps = await stores.workspace(settings=WorkspaceSettings(history_days=0)), Steps()
    await stores.publish(workspace, "a.md", [f"passage {one}" for one in range(2_200)])
    await stores.publish(workspace, "a.md", ["kept"])
    async with stores.database.transaction(workspace.org_id) as transaction:
        ref, _ = await transaction.jobs.enqueue(compaction_job(workspace))
        lease = await transaction.jobs.lease(ref, "worker", timedelta(minutes=1))
        assert lease is not None
        first = await transaction.publisher.compact(workspace)
    pool = PostgresPool(migrated_url)

    async def left() -> tuple[int, int]:
        async with pool.transaction(workspace.org_id) as connection:
            chunks = await connection.fetchval("SELECT count(*) FROM rag_chunks")
            return chunks, await connection.fetchval("SELECT count(*) FROM rag_segments")

    sliced = await left()
    await CompactSegments(stores.database).run(lease, steps)
    merged = await left()
    await pool.aclose()

    assert (first, sliced) == (None, (1_201, 2))
    assert (merged, steps.taken) == ((1, 1), 2)
