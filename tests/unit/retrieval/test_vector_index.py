"""When a workspace gets an approximate index."""

import pytest

from agentic_rag.retrieval.candidates import ArmHit
from agentic_rag.retrieval.vector_index import IndexAction, IndexRecord, IndexState, next_index_action, recall_of

LIMIT = 8_000
"""1,000 vectors of 4 dimensions."""


def step(state: IndexState | None, rows: int, seen: int = 1_500) -> IndexAction:
    record = None if state is None else IndexRecord(1, state, seen)
    return next_index_action(record, rows, 4, LIMIT)


@pytest.mark.parametrize("state", [None, IndexState.REJECTED, IndexState.FAILED])
def test_above_the_limit_one_is_built_and_below_none(state: IndexState | None) -> None:
    assert step(state, 1_001) is IndexAction.BUILD
    assert step(state, 1_000) is IndexAction.NOTHING


def test_what_a_crashed_build_or_drop_left_is_built_or_dropped() -> None:
    assert step(IndexState.BUILDING, 1_001) is IndexAction.BUILD
    assert step(IndexState.BUILDING, 1_000) is IndexAction.DROP


@pytest.mark.parametrize(
    ("rows", "expected"),
    [(499, "DROP"), (500, "NOTHING"), (1_000, "NOTHING"), (2_999, "NOTHING"), (3_000, "MEASURE")],
)
def test_a_ready_one_is_dropped_when_small_and_measured_again_when_grown(rows: int, expected: str) -> None:
    assert step(IndexState.READY, rows) is IndexAction[expected]


def hits(*scores: float) -> list[ArmHit]:
    return [ArmHit(place, score, score) for place, score in enumerate(scores)]


def test_recall_counts_hits_as_good_as_the_last_exact_one() -> None:
    assert recall_of(hits(0.9, 0.7, 0.5), hits(0.9, 0.8, 0.7)) == pytest.approx(2 / 3)
    assert recall_of(hits(0.9, 0.7, 0.7), hits(0.9, 0.7)) == 1.0
    assert recall_of([], hits()) == 1.0
