"""Postings made by earlier rules are made again."""

import numpy as np
import pytest
from tests.builders import EVERYBODY
from tests.contract.backends import Backend
from tests.contract.jobs.test_upkeep_contract import due_in

from agentic_rag.adapters.postgres.ingestion.compaction import DROP_SEGMENTS
from agentic_rag.adapters.postgres.retrieval.segments import ADD_SEGMENT, segment_arguments
from agentic_rag.adapters.postgres.session.pool import PostgresPool
from agentic_rag.jobs.job import JobKind
from agentic_rag.language.term_counts import count_terms
from agentic_rag.language.tokenizer import TERMS_VERSION, search_terms, term_key, tokenize
from agentic_rag.retrieval.candidates import ArmHit, SearchScope
from agentic_rag.retrieval.lexical.postings import Segment, SegmentRow, build_segment
from agentic_rag.tenancy.principals import WorkspaceRef

pytestmark = pytest.mark.integration

OUTDATE = "UPDATE rag_segments SET terms_version = 1 WHERE workspace_id = $1"
SIZES = "SELECT chunk_count, terms_version FROM rag_segments WHERE workspace_id = $1 ORDER BY chunk_count"

TEXT = "Die Kündigungsfristen der Verträge stehen in der Anlage."
QUESTION = "Welche Kündigungsfrist hat der Vertrag?"


def earlier_segment() -> Segment:
    """Without stems."""
    keys = np.array([term_key(term) for term in tokenize(TEXT)], np.uint64)
    return build_segment([SegmentRow(0, 0, 1, count_terms(keys, np.zeros(0, np.uint64)))])


async def found(stores: Backend, workspace: WorkspaceRef) -> list[ArmHit]:
    async with stores.database.snapshot(workspace) as snapshot:
        return await snapshot.lexical.search(search_terms(QUESTION), 5, SearchScope(EVERYBODY))


async def test_a_segment_of_earlier_rules_is_due_and_is_made_again_from_its_texts(
    stores: Backend, migrated_url: str
) -> None:
    workspace = await stores.workspace()
    await stores.publish(workspace, "vertrag.md", [TEXT])
    pool = PostgresPool(migrated_url)
    async with pool.transaction(workspace.org_id) as connection:
        ids = [row["segment_id"] for row in await connection.fetch("SELECT segment_id FROM rag_segments")]
        await connection.execute(DROP_SEGMENTS, *workspace.key, ids)
        await connection.execute(ADD_SEGMENT, *workspace.key, *segment_arguments(earlier_segment(), 1))
    await pool.aclose()

    before, due = await found(stores, workspace), await due_in(stores, workspace)
    slices: list[int | None] = []
    while not slices or slices[-1] is None:
        async with stores.database.transaction(workspace.org_id) as transaction:
            slices.append(await transaction.publisher.compact(workspace))

    assert before == []
    assert [task.kind for task in due] == [JobKind.COMPACT]
    assert slices == [None, 0]
    assert [hit.ordinal for hit in await found(stores, workspace)] == [0]
    assert await due_in(stores, workspace) == []


async def test_a_long_segment_of_earlier_rules_is_split_before_its_texts_are_read(
    stores: Backend, migrated_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("retrieval.lexical.postings", "adapters.postgres.ingestion.compaction"):
        monkeypatch.setattr(f"agentic_rag.{module}.MOST_CHUNKS", 2)
    workspace = await stores.workspace()
    await stores.publish(workspace, "vertrag.md", [f"{TEXT} {number}" for number in range(5)])
    pool = PostgresPool(migrated_url)

    async def held() -> list[tuple[int, int]]:
        async with pool.transaction(workspace.org_id) as connection:
            rows = await connection.fetch(SIZES, workspace.workspace_id)
        return [(row["chunk_count"], row["terms_version"]) for row in rows]

    async with pool.transaction(workspace.org_id) as connection:
        await connection.execute(OUTDATE, workspace.workspace_id)
    before, steps = await held(), 0
    async with stores.database.transaction(workspace.org_id) as transaction:
        first = await transaction.publisher.compact(workspace)
    split = await held()
    merged = None
    while merged is None and steps < 10:
        steps += 1
        async with stores.database.transaction(workspace.org_id) as transaction:
            merged = await transaction.publisher.compact(workspace)
    after = await held()
    await pool.aclose()

    assert (before, first) == ([(5, 1)], None)
    assert split == [(1, 1), (2, 1), (2, 1)]
    assert (steps, after) == (4, [(1, TERMS_VERSION), (2, TERMS_VERSION), (2, TERMS_VERSION)])
    assert [hit.ordinal for hit in await found(stores, workspace)] == [0, 1, 2, 3, 4]
