"""The question's vector and a hypothetical passage's, merged."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.answering.hyde.merge_vectors import merge_vectors

UNIT = st.lists(st.floats(-1, 1), min_size=4, max_size=4).map(np.array).filter(lambda v: np.linalg.norm(v) > 1e-3).map(
    lambda v: (v / np.linalg.norm(v)).astype(np.float32)
)  # fmt: skip


@given(UNIT, UNIT)
def test_the_merged_vector_has_unit_length_and_lies_as_near_to_both(question: np.ndarray, passage: np.ndarray) -> None:
    vector = merge_vectors(question, passage)

    assert np.isclose(np.linalg.norm(vector), 1.0, atol=1e-5)
    if question @ passage > -0.99:
        assert np.isclose(vector @ question, vector @ passage, atol=1e-3)


def test_opposite_vectors_leave_the_question_alone() -> None:
    question = np.array([1.0, 0.0], np.float32)

    assert (merge_vectors(question, -question) == question).all()
