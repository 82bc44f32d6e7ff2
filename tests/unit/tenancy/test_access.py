"""Who becomes a reader of a document by naming its readers."""

from __future__ import annotations

from uuid import UUID

import pytest

from agentic_rag.tenancy.access import include_setter
from agentic_rag.tenancy.principals import Principal, Role

NIGHT = ("group:night",)


def caller(role: Role, *groups: str) -> Principal:
    return Principal(UUID(int=1), "ada", role, groups)


def test_a_member_who_names_others_stays_a_reader() -> None:
    assert include_setter(NIGHT, caller(Role.MEMBER)) == ("group:night", "user:ada")


@pytest.mark.parametrize("role", [Role.ADMIN, Role.OPERATOR])
def test_whoever_manages_the_workspace_becomes_no_reader(role: Role) -> None:
    assert include_setter(NIGHT, caller(role)) == NIGHT


def test_a_reader_among_the_named_and_a_document_for_everybody_need_no_further_name() -> None:
    assert include_setter(NIGHT, caller(Role.MEMBER, "night")) == NIGHT
    assert include_setter((), caller(Role.MEMBER)) == ()
