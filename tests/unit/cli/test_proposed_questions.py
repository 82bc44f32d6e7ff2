"""What is asked of a folder when nobody gave a question: what its documents define, measure, date and head."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.cli.product import HANDBOOK, Product, document

from agentic_rag.documents.document import DocumentStatus
from agentic_rag.kernel.errors import NotFound
from agentic_rag_cli.commands.programs.demo import workspace_name
from agentic_rag_cli.commands.programs.proposed_questions import PROPOSED, propose_questions, questions_from
from agentic_rag_cli.in_process import System

TEXT = "# Handbook\n\n## Exclusion zones\n\nThe wave limit for crew transfer is 1.5 m. Nobody may sail above it.\n"


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("The wave limit for crew transfer is 1.5 m.", "What is the wave limit for crew transfer?"),
        ("The north pier was opened in 2019.", "When was the north pier opened?"),
        ("Corrand Tidal was founded in 2009 by two friends.", "When was Corrand Tidal founded?"),
        ("The shift lead signs off the handover sheet before noon.", "Who signs off the handover sheet?"),
        ("**Availability.** The share of hours in which a turbine runs.", "What is meant by “Availability”?"),
        ("## Exclusion zones", "What does “Handbook” say about exclusion zones?"),
    ],
)
def test_a_question_is_made_from_what_a_text_states(text: str, question: str) -> None:
    assert [one for _, one in questions_from(text, "Handbook")] == [question]


def test_what_states_a_value_comes_before_a_heading() -> None:
    assert min(questions_from(TEXT, "Handbook"))[1] == "What is the wave limit for crew transfer?"


@given(st.text())
def test_any_text_makes_questions_or_none(text: str) -> None:
    assert all(question.endswith("?") for _, question in questions_from(text, "Handbook"))


async def test_three_ready_documents_are_asked_about_once_each() -> None:
    held = [document("a.pdf", 1, DocumentStatus.FAILED), *(document(f"{n}.pdf", 2 + n) for n in range(4))]

    proposed = await propose_questions(System(Product(held=held, text=TEXT)), HANDBOOK)  # type: ignore[arg-type]

    assert len({one.source_path for one in proposed}) == len(proposed) == PROPOSED
    assert "a.pdf" not in {one.source_path for one in proposed}


async def test_a_corpus_without_anything_to_ask_about_says_so() -> None:
    with pytest.raises(NotFound, match="--question"):
        await propose_questions(System(Product(text="too short.")), HANDBOOK)  # type: ignore[arg-type]


def test_each_folder_has_a_workspace_of_its_own(tmp_path: Path) -> None:
    one, other = tmp_path / "x" / "My Reports!", tmp_path / "y" / "My Reports!"

    assert workspace_name(one) != workspace_name(other)
    assert workspace_name(one).startswith("demo-my-reports-")
    assert workspace_name(one) == workspace_name(one)
