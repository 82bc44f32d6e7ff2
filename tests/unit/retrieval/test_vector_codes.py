"""The bounds of codes hold for every vector and question."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from agentic_rag.retrieval.vector_codes import VectorCodes

component = st.floats(-60_000.0, 60_000.0, width=16) | st.sampled_from([0.0, 6e-8, -6e-8, 1.0])


five = st.lists(component, min_size=5, max_size=5)


@given(st.lists(five, max_size=12), five, five, st.integers(1, 2))
def test_products_lie_between_their_bounds_whatever_the_mean(
    rows: list[list[float]], question: list[float], other: list[float], levels: int
) -> None:
    vectors, query = np.array(rows, np.float16).reshape(len(rows), 5), np.array(question)
    codes = VectorCodes.of(vectors)
    # A patch keeps the mean of other vectors.
    patched = VectorCodes.of(vectors, VectorCodes.of(np.array([other], np.float16)), np.full(len(rows), -1))

    products = vectors.astype(np.float64) @ query
    for made in (codes, patched):
        least, most = made.bounds(query, levels=levels)
        assert (least <= products).all()
        assert (products <= most).all()


def _shared_mean(draw: np.random.Generator, mean: NDArray[np.float64]) -> NDArray[np.float16]:
    vectors = draw.standard_normal((5000, 384)) + mean
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float16)


@pytest.mark.slow
@pytest.mark.parametrize("large", [0.0, 20.0], ids=["a shared mean", "and two large components"])
def test_what_all_vectors_share_leaves_few_to_compare_and_loses_none_of_the_nearest(large: float) -> None:
    draw = np.random.default_rng(6)
    mean = 2 * draw.standard_normal(384)
    mean[5], mean[77] = mean[5] + large, mean[77] - large / 2
    vectors = _shared_mean(draw, mean)
    query = _shared_mean(draw, mean)[0].astype(np.float64)
    products = np.einsum("ij,j->i", vectors.astype(np.float64), query)
    among = np.arange(0, 5000, 2)

    found = VectorCodes.of(vectors).contenders(query, 60, among)

    nearest = among[np.argsort(-products[among], kind="stable")[:60]]
    assert set(nearest.tolist()) <= set(found.tolist()) <= set(among.tolist())
    assert len(found) <= 512, "1,626 and all 2,500 in one pass without the mean"


@pytest.mark.parametrize("dimensions", [1, 63, 64, 384, 1024])
def test_bounds_are_narrow_and_hold_at_all_lengths(dimensions: int) -> None:
    draw = np.random.default_rng(3)
    vectors = draw.standard_normal((500, dimensions)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    query = draw.standard_normal(dimensions)

    codes = VectorCodes.of(vectors)
    least, most = codes.bounds(query)
    nearer_least, nearer_most = codes.bounds(query, levels=2)

    products = vectors.astype(np.float64) @ query
    assert ((least <= products) & (products <= most)).all()
    assert (most - least).max() <= 0.05 * float(np.linalg.norm(query))
    assert ((nearer_least <= products) & (products <= nearer_most)).all()
    assert (nearer_most - nearer_least).max() <= (most - least).max()


def test_codes_of_vectors_that_are_known_are_taken_over() -> None:
    vectors = np.random.default_rng(4).standard_normal((6, 8)).astype(np.float32)
    known = VectorCodes.of(vectors[:4])
    # What is taken over is told from what is made again by an array that says something else.
    known.scales[2] = 7.0

    patched = VectorCodes.of(vectors[[2, 4, 0, 5]], known, np.array([2, -1, 0, -1]))

    again = VectorCodes.of(vectors[[2, 4, 0, 5]], known, np.full(4, -1))
    assert np.array_equal(patched.mean, known.mean), "codes of one mean are compared with one another"
    assert patched.scales.tolist() == [7.0, *again.scales[1:].tolist()]
    assert np.array_equal(patched.codes, again.codes)


@given(st.integers(1, 400), st.sampled_from([1, 3, 7, 384, 1000]), st.integers(0, 2**32))
def test_norms_are_those_of_each_vector_by_itself_to_the_last_bit(count: int, dimensions: int, seed: int) -> None:
    draw = np.random.default_rng(seed)
    vectors = draw.standard_normal((count, dimensions)).astype(np.float16)
    some = draw.permutation(count)[: 1 + count // 3]

    held = VectorCodes.of(vectors).norms

    assert held[some].tolist() == np.linalg.norm(vectors[some].astype(np.float64), axis=1).tolist()
    assert held[:1].tolist() == np.linalg.norm(vectors[:1].astype(np.float64), axis=1).tolist()
