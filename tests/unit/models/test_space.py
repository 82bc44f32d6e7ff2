"""The life of an embedding space, how a person names one, and the gate before a switch."""

from datetime import UTC, datetime
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.kernel.errors import InvalidInput, SpaceMismatch
from agentic_rag.models.embedding.recall_gate import (
    RecallGate,
    RecallQuestion,
    build_recall_gate,
    compare_recall,
    recall_at_k,
)
from agentic_rag.models.embedding.space import (
    SPACE_TRANSITIONS,
    EmbeddingSpace,
    RegisteredSpace,
    SpaceChoice,
    SpaceRecord,
    SpaceState,
    must_start_fill,
    parse_choice,
)

NOW = datetime(2026, 11, 21, tzinfo=UTC)
LEGAL = {
    ("FILLING", "ACTIVE"),
    ("FILLING", "ABANDONED"),
    ("ACTIVE", "RETIRED"),
    ("RETIRED", "ACTIVE"),
    ("RETIRED", "FILLING"),
    ("RETIRED", "DROPPED"),
    ("ABANDONED", "FILLING"),
    ("ABANDONED", "DROPPED"),
}


def record(state: SpaceState, number: int = 1) -> SpaceRecord:
    return SpaceRecord(RegisteredSpace(number, EmbeddingSpace("openai", f"model-{number}", 8)), state, 0, 0, NOW)


@pytest.mark.parametrize(("before", "after"), list(product(SpaceState, SpaceState)))
def test_exactly_these_moves_are_legal(before: SpaceState, after: SpaceState) -> None:
    assert (after in SPACE_TRANSITIONS[before]) == ((before.value, after.value) in LEGAL)


def test_no_space_that_answers_can_be_dropped_or_abandoned_without_a_switch_away() -> None:
    assert SPACE_TRANSITIONS[SpaceState.ACTIVE] == {SpaceState.RETIRED}


@pytest.mark.parametrize(
    ("state", "changes"), [(None, True), ("RETIRED", True), ("ABANDONED", True), ("FILLING", False)]
)
def test_a_switch_starts_from_every_state_but_the_active_one(state: str | None, changes: bool) -> None:
    assert must_start_fill(None if state is None else record(SpaceState(state)), []) is changes


def test_a_switch_to_the_space_that_answers_is_refused() -> None:
    with pytest.raises(InvalidInput) as refused:
        must_start_fill(record(SpaceState.ACTIVE), [])

    assert refused.value.code == "SPACE_ALREADY_ACTIVE"


def test_one_switch_at_a_time() -> None:
    under_way = record(SpaceState.FILLING, 2)

    with pytest.raises(InvalidInput) as refused:
        must_start_fill(None, [under_way])

    assert refused.value.code == "SWITCH_UNDER_WAY"
    assert must_start_fill(under_way, [under_way]) is False


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        ("deterministic", SpaceChoice("deterministic")),
        ("onnx", SpaceChoice("onnx")),
        ("onnx:bge-small", SpaceChoice("onnx", "bge-small-en-v1.5-int8", 384)),
        ("openai:text-embedding-3-small", SpaceChoice("openai", "text-embedding-3-small")),
        ("openai:text-embedding-3-small:512", SpaceChoice("openai", "text-embedding-3-small", 512)),
        ("openai:nomic-embed-text:latest", SpaceChoice("openai", "nomic-embed-text:latest")),
        ("openai:nomic-embed-text:latest:768", SpaceChoice("openai", "nomic-embed-text:latest", 768)),
    ],
)
def test_a_space_is_named_by_provider_model_and_dimensions(text: str, choice: SpaceChoice) -> None:
    assert parse_choice(text) == choice


@pytest.mark.parametrize(
    "text", ["", "openai", "openai:", "deterministic:x", "onnx:magic", "cohere:embed", "openai:m:0", "openai:m:4001"]
)
def test_what_names_no_space_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        parse_choice(text)

    assert refused.value.code == "SPACE_UNKNOWN"


def names(*found: str) -> list[frozenset[str]]:
    return [frozenset({name}) for name in found]


def test_recall_counts_documents_once_and_only_the_first_k() -> None:
    assert recall_at_k(names("a", "a", "b", "c"), ("b", "c"), 2) == 0.5
    assert recall_at_k([frozenset({"a.md", "id-1"})], ("id-1",), 1) == 1.0


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_equal_recall_passes_a_gate_without_tolerance(recalls: list[float]) -> None:
    gate = RecallGate((RecallQuestion("q", ("a",)),))

    assert compare_recall(gate, recalls, list(reversed(recalls))).passed


@pytest.mark.parametrize(("tolerance", "passed"), [(0.0, False), (0.05, False), (0.1, True)])
def test_a_fall_beyond_the_tolerance_is_refused(tolerance: float, passed: bool) -> None:
    gate = RecallGate((RecallQuestion("q", ("a",)),), tolerance=tolerance)

    verdict = compare_recall(gate, [1.0, 0.8], [1.0, 0.6])

    assert (verdict.before, verdict.after, verdict.passed) == (0.9, 0.8, passed)


@pytest.mark.parametrize(
    ("questions", "k", "tolerance"),
    [
        ([], 8, 0.0),
        ([RecallQuestion("unanswerable", ())], 8, 0.0),
        ([RecallQuestion("q", ("a",))] * 1001, 8, 0.0),
        ([RecallQuestion("q" * 1_000_001, ("a",))], 8, 0.0),
        ([RecallQuestion("q", ("a",))], 0, 0.0),
        ([RecallQuestion("q", ("a",))], 8, 1.5),
    ],
)
def test_a_gate_that_cannot_judge_is_refused(questions: list[RecallQuestion], k: int, tolerance: float) -> None:
    with pytest.raises(InvalidInput) as refused:
        build_recall_gate(questions, k, tolerance)

    assert refused.value.code == "GATE_INVALID"


@pytest.mark.parametrize(("space_id", "dimensions"), [(2, 8), (1, 16)])
def test_a_vector_of_another_space_is_told_which_one_answers(space_id: int, dimensions: int) -> None:
    space = record(SpaceState.ACTIVE).registered
    space.require(1, 8)

    with pytest.raises(SpaceMismatch, match=rf"space {space_id} with {dimensions} dimensions.* space 1 "):
        space.require(space_id, dimensions)
