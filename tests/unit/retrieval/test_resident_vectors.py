"""Vectors in this process find what a scan of the table does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from agentic_rag.retrieval.resident_vectors import STILL_VISIBLE, ResidentVectors
from agentic_rag.retrieval.vector_codes import VectorCodes

small = st.sampled_from([-1.0, -0.5, 0.0, 0.25, 0.5, 1.0, 3.0])
"""Few values, so that many vectors are equal."""


@st.composite
def held(draw: st.DrawFn) -> ResidentVectors:
    count, dimensions = draw(st.integers(0, 30)), 3
    ordinals = sorted(draw(st.sets(st.integers(0, 60), min_size=count, max_size=count)))
    since = draw(st.lists(st.integers(1, 4), min_size=count, max_size=count))
    until = draw(st.lists(st.sampled_from([2, 3, 4, STILL_VISIBLE]), min_size=count, max_size=count))
    access = draw(st.lists(st.integers(0, 2), min_size=count, max_size=count))
    row = st.lists(small, min_size=dimensions, max_size=dimensions)
    vectors = draw(st.lists(row, min_size=count, max_size=count))
    stored = np.array(vectors, np.float16).reshape(count, dimensions)
    numbers = [np.array(one, np.int32) for one in (ordinals, access, since, until)]
    return ResidentVectors(*numbers, stored, VectorCodes.of(stored))


@given(held(), st.integers(1, 5), st.lists(st.integers(0, 2), unique=True), st.none() | st.sets(st.integers(0, 60)))
def test_a_reader_sees_what_version_access_and_filter_let_through(
    vectors: ResidentVectors, version: int, access_ids: list[int], among: set[int] | None
) -> None:
    shown = vectors.visible(version, access_ids, among)

    rows = zip(vectors.ordinals, vectors.access, vectors.visible_from, vectors.visible_to, strict=True)
    assert shown.tolist() == [
        since <= version < until and access in access_ids and (among is None or ordinal in among)
        for ordinal, access, since, until in rows
    ]


@given(held(), st.lists(small, min_size=3, max_size=3), st.integers(1, 8), st.data())
def test_the_nearest_are_those_of_exact_products_and_ties_go_by_ordinal(
    vectors: ResidentVectors, query: list[float], limit: int, data: st.DataObject
) -> None:
    shown = np.array(data.draw(st.lists(st.booleans(), min_size=len(vectors.ordinals), max_size=len(vectors.ordinals))))
    products = [float(np.dot(row.astype(np.float64), query)) for row in vectors.vectors]

    rows = vectors.nearest(np.array(query, np.float32), limit, shown.astype(np.bool_))

    expected = sorted((row for row in range(len(products)) if shown[row]), key=lambda row: (-products[row], row))
    assert rows.tolist() == expected[:limit]


def _many(scale: float) -> tuple[ResidentVectors, NDArray[np.float32]]:
    """2,000 vectors of 384 half-precision components, near to one another, the first 50 equal; a query."""
    draw = np.random.default_rng(5)
    vectors = draw.standard_normal(384) + 0.01 * draw.standard_normal((2000, 384))
    vectors[:50] = vectors[0]
    stored = (scale * vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float16)
    numbers = [np.arange(2000, dtype=np.int32), np.zeros(2000, np.int32), np.ones(2000, np.int32)]
    query = draw.standard_normal(384).astype(np.float32)
    return ResidentVectors(*numbers, np.full(2000, STILL_VISIBLE, np.int32), stored, VectorCodes.of(stored)), query


@pytest.mark.parametrize("scale", [1.0, 40.0])
def test_eight_bits_lose_none_of_the_nearest(scale: float) -> None:
    vectors, query = _many(scale)
    exact = vectors.vectors.astype(np.float64) @ query.astype(np.float16).astype(np.float64)

    rows = vectors.nearest(query, 76, np.ones(2000, np.bool_))

    assert set(rows.tolist()) == set(np.argsort(-exact, kind="stable")[:76].tolist())


@given(held(), st.lists(st.integers(0, 60)))
def test_rows_are_found_by_ordinal(vectors: ResidentVectors, asked: list[int]) -> None:
    place: dict[Any, int] = {ordinal: row for row, ordinal in enumerate(vectors.ordinals.tolist())}

    assert vectors.rows_of(np.array(asked, np.int64)).tolist() == [place.get(ordinal, -1) for ordinal in asked]
