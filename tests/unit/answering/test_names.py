"""Names in a question, by their capitals."""

from __future__ import annotations

import pytest

from agentic_rag.answering.figures.names import find_names


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("What did Harbour's Blue Ferry earn in Norway?", [("Harbour",), ("Blue", "Ferry"), ("Norway",)]),
        ("What did Harbour’s Blue Ferry earn?", [("Harbour", "Blue", "Ferry")]),
        ("How much did eFerry earn?", [("eFerry",)]),
        ("What did the Company report in its Form 10-Q for the Third Quarter of June 2023?", []),
        ("Which ferry sails?", []),
    ],
)
def test_what_names_something_has_a_capital_and_does_not_open_the_question(question: str, names: list[tuple[str, ...]]):
    assert find_names(question) == names
