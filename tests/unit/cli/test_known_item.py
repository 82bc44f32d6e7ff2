"""A question made from the corpus asks for a sentence that stands in it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.cli.product import HANDBOOK, Product, document

from agentic_rag.documents.document import DocumentStatus
from agentic_rag.kernel.errors import NotFound
from agentic_rag_cli.commands.programs.demo import make_known_item, question_from, workspace_name
from agentic_rag_cli.in_process import System

TEXT = """# Heading

FORM 10-Q For The Quarter Ended June 25, 2022 TABLE OF CONTENTS Page Part One. Short one.
The committee met and it talked about some things for a while then.
On 14 March the site at Skelder returned all of its 42 turbines to the team of its manager. And so on.
"""


def test_it_asks_about_the_prose_sentence_with_most_figures_and_names() -> None:
    question = question_from(TEXT)

    assert question == "What is said about: On 14 March the site at Skelder returned all of its 42 turbines to?"


@given(st.text())
def test_what_is_asked_stands_in_the_text_or_nothing_is_asked(text: str) -> None:
    question = question_from(text)

    if question is not None:
        asked = question.removeprefix("What is said about: ").removesuffix("?")
        assert asked in " ".join(text.split())


async def test_the_first_ready_document_is_asked_about() -> None:
    held = [document("a.pdf", 1, DocumentStatus.FAILED), document("b.pdf", 2)]

    item = await make_known_item(System(Product(held=held, text=TEXT)), HANDBOOK)  # type: ignore[arg-type]

    assert item.source_path == "b.pdf"


async def test_a_corpus_without_a_usable_sentence_says_so() -> None:
    with pytest.raises(NotFound, match="--question"):
        await make_known_item(System(Product(text="too short.")), HANDBOOK)  # type: ignore[arg-type]


def test_each_folder_has_a_workspace_of_its_own(tmp_path: Path) -> None:
    one, other = tmp_path / "x" / "My Reports!", tmp_path / "y" / "My Reports!"

    assert workspace_name(one) != workspace_name(other)
    assert workspace_name(one).startswith("demo-my-reports-")
    assert workspace_name(one) == workspace_name(one)
