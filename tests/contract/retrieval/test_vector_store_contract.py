"""What every `VectorReader` promises."""

import numpy as np
import pytest
from tests.builders import DIMENSIONS, EVERYBODY, half, vector_of
from tests.contract.backends import Backend

from agentic_rag.kernel.errors import SpaceMismatch
from agentic_rag.retrieval.candidates import SearchScope

SCOPE = SearchScope(EVERYBODY)
EAST = np.eye(DIMENSIONS, dtype=np.float32)[0]


async def test_hits_equal_a_float64_scan_of_the_stored_vectors(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    passages = [f"passage {index}" for index in range(60)]
    await adapter.publish(workspace, "a.md", passages)
    query = np.random.default_rng(7).standard_normal(DIMENSIONS).astype(np.float32)
    stored = np.array([np.frombuffer(vector_of(text), "<f2") for text in passages], np.float64)
    wide = query.astype(np.float64)
    cosines = np.round(stored @ wide / (np.linalg.norm(stored, axis=1) * np.linalg.norm(wide)), 6)
    expected = sorted(range(60), key=lambda ordinal: (-cosines[ordinal], ordinal))[:20]

    async with adapter.database.snapshot(workspace) as snapshot:
        hits = await snapshot.vectors.nearest(query, 1, 20, SCOPE)

    assert [hit.ordinal for hit in hits] == expected
    assert [hit.raw for hit in hits] == [cosines[ordinal] for ordinal in expected]
    assert all(hit.score == max(0.0, hit.raw) for hit in hits)


async def test_cosines_of_given_chunks_are_those_of_the_search(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    await adapter.publish(workspace, "a.md", [f"passage {index}" for index in range(20)])
    query = np.random.default_rng(8).standard_normal(DIMENSIONS).astype(np.float32)

    async with adapter.database.snapshot(workspace) as snapshot:
        hits = await snapshot.vectors.nearest(query, 1, 20, SCOPE)
        cosines = await snapshot.vectors.cosines(query, 1, [7, 3, 99])
        none = await snapshot.vectors.cosines(query, 1, [])

    assert cosines == {hit.ordinal: hit.raw for hit in hits if hit.ordinal in (3, 7)}
    assert none == {}


async def test_equal_vectors_are_ordered_by_ordinal(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    passages = [f"passage {index}" for index in range(30)]
    await adapter.publish(workspace, "a.md", passages, vectors=dict.fromkeys(passages, half([2, 1, 0, 0, 0, 0, 0, 0])))

    async with adapter.database.snapshot(workspace) as snapshot:
        hits = await snapshot.vectors.nearest(EAST, 1, 5, SCOPE)

    assert [hit.ordinal for hit in hits] == [0, 1, 2, 3, 4]
    assert len({hit.raw for hit in hits}) == 1


async def test_removed_chunks_are_found_only_at_versions_that_had_them(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    await adapter.publish(workspace, "a.md", ["old"], vectors={"old": half(EAST)})
    await adapter.publish(workspace, "a.md", ["new"], vectors={"new": half(-EAST)})

    async with adapter.database.snapshot(workspace) as now, adapter.database.snapshot(workspace, 1) as then:
        newest = await now.vectors.nearest(EAST, 1, 5, SCOPE)
        oldest = await then.vectors.nearest(EAST, 1, 5, SCOPE)

    assert [(hit.ordinal, hit.raw, hit.score) for hit in newest] == [(1, -1.0, 0.0)]
    assert [(hit.ordinal, hit.raw, hit.score) for hit in oldest] == [(0, 1.0, 1.0)]


async def test_a_scope_restricts_to_its_ordinals_and_access_sets(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    await adapter.publish(workspace, "a.md", ["one", "two", "three"])

    async with adapter.database.snapshot(workspace) as snapshot:
        narrowed = await snapshot.vectors.nearest(EAST, 1, 5, SearchScope(EVERYBODY, frozenset({2, 99})))
        nothing = await snapshot.vectors.nearest(EAST, 1, 5, SearchScope(EVERYBODY, frozenset()))
        strangers = await snapshot.vectors.nearest(EAST, 1, 5, SearchScope((7,)))

    assert [hit.ordinal for hit in narrowed] == [2]
    assert nothing == strangers == []


async def test_a_query_of_another_space_is_an_error_never_an_empty_result(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    await adapter.publish(workspace, "a.md", ["one"])

    async with adapter.database.snapshot(workspace) as snapshot:
        with pytest.raises(SpaceMismatch):
            await snapshot.vectors.nearest(np.ones(DIMENSIONS + 1, np.float32), 1, 5, SCOPE)
        with pytest.raises(SpaceMismatch):
            await snapshot.vectors.nearest(EAST, 2, 5, SCOPE)


async def test_a_vector_without_direction_has_cosine_zero_and_comes_after_those_that_match(adapter: Backend) -> None:
    workspace = await adapter.workspace()
    vectors = {"null": half([0] * DIMENSIONS), "east": half(EAST)}
    await adapter.publish(workspace, "a.md", ["null", "east"], vectors=vectors)

    async with adapter.database.snapshot(workspace) as snapshot:
        hits = await snapshot.vectors.nearest(EAST, 1, 5, SCOPE)

    assert [(hit.ordinal, hit.raw) for hit in hits] == [(1, 1.0), (0, 0.0)]
