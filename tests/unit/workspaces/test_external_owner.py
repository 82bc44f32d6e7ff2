"""What a project's or agent's workspace is called."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.tenancy.principals import DEFAULT_ORG_ID, validate_name
from agentic_rag.workspaces.workspace import agent, project

REFERENCES = st.text(min_size=1, max_size=200).filter(lambda text: text.isprintable() and text.strip())


def test_a_workspace_is_named_after_its_holder() -> None:
    assert project(DEFAULT_ORG_ID, "web-shop").names[0] == "project web-shop"
    assert agent(DEFAULT_ORG_ID, "web-shop").names[0] == "agent web-shop"


@given(REFERENCES)
def test_both_names_are_legal_and_differ(reference: str) -> None:
    first, second = agent(DEFAULT_ORG_ID, reference).names

    assert validate_name(first, ("name",)) == first
    assert validate_name(second, ("name",)) == second
    assert first != second


@given(REFERENCES, REFERENCES)
def test_long_references_that_begin_alike_still_find_a_name(one: str, other: str) -> None:
    alike = "a" * 180
    first, second = (project(DEFAULT_ORG_ID, (alike + text)[:200]) for text in (one, other))

    assert first == second or first.names[1] != second.names[1]


@pytest.mark.parametrize("reference", ["", " ", "a" * 201, "a\0b", "\u202e"])
def test_a_reference_that_no_screen_shows_is_refused(reference: str) -> None:
    with pytest.raises(InvalidInput):
        project(DEFAULT_ORG_ID, reference)
