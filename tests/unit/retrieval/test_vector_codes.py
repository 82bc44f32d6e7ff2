"""The bounds of codes hold for every vector and question."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.retrieval.vector_codes import VectorCodes

component = st.floats(-60_000.0, 60_000.0, width=16) | st.sampled_from([0.0, 6e-8, -6e-8, 1.0])


@given(st.lists(st.lists(component, min_size=5, max_size=5), max_size=12), st.lists(component, min_size=5, max_size=5))
def test_products_lie_between_their_bounds(rows: list[list[float]], question: list[float]) -> None:
    vectors, query = np.array(rows, np.float32).reshape(len(rows), 5), np.array(question)

    least, most = VectorCodes.of(vectors).bounds(query)

    products = vectors.astype(np.float64) @ query
    assert (least <= products).all()
    assert (products <= most).all()


@pytest.mark.parametrize("dimensions", [1, 63, 64, 384, 1024])
def test_bounds_are_narrow_and_hold_at_all_lengths(dimensions: int) -> None:
    draw = np.random.default_rng(3)
    vectors = draw.standard_normal((500, dimensions)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    query = draw.standard_normal(dimensions)

    least, most = VectorCodes.of(vectors).bounds(query)

    products = vectors.astype(np.float64) @ query
    assert ((least <= products) & (products <= most)).all()
    assert (most - least).max() <= 0.05 * float(np.linalg.norm(query))


def test_codes_of_vectors_that_are_known_are_taken_over() -> None:
    vectors = np.random.default_rng(4).standard_normal((6, 8)).astype(np.float32)
    known = VectorCodes.of(vectors[:4])
    # What is taken over is told from what is made again by an array that says something else.
    known.scales[2] = 7.0

    patched = VectorCodes.of(vectors[[2, 4, 0, 5]], known, np.array([2, -1, 0, -1]))

    assert patched.scales.tolist() == [7.0, *VectorCodes.of(vectors[[4, 0, 5]]).scales.tolist()]
    assert np.array_equal(patched.codes, VectorCodes.of(vectors[[2, 4, 0, 5]]).codes)
