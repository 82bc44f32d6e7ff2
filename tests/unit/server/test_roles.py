"""Who may do what: a table of roles, narrowed by the scopes of a credential."""

from uuid import UUID

import pytest

from agentic_rag.kernel.errors import Forbidden
from agentic_rag.tenancy.principals import KeyScope, Principal, Role
from agentic_rag_server.auth.roles import Action, authorise, can_perform

ORG = UUID(int=1)
MEMBERS = {Action.UPLOAD_DOCUMENT, Action.DELETE_DOCUMENT, Action.REINGEST_DOCUMENT}
VIEWERS = {Action.READ, Action.ASK}


@pytest.mark.parametrize("action", list(Action))
def test_an_operator_may_do_everything_that_is_asked_of_a_server(action: Action) -> None:
    assert can_perform(Principal(ORG, "olga", Role.OPERATOR), action)


@pytest.mark.parametrize(
    ("role", "allowed"),
    [(Role.VIEWER, VIEWERS), (Role.MEMBER, VIEWERS | MEMBERS)],
)
def test_viewers_and_members_may_do_what_the_table_says_and_nothing_else(role: Role, allowed: set[Action]) -> None:
    assert {action for action in Action if can_perform(Principal(ORG, "x", role), action)} >= allowed
    assert not can_perform(Principal(ORG, "x", role), Action.MANAGE_KEYS)
    assert not can_perform(Principal(ORG, "x", role), Action.CHANGE_ORGANISATION)


@pytest.mark.parametrize("scope", list(KeyScope))
def test_a_key_of_one_scope_does_what_that_scope_is_for_whatever_its_role(scope: KeyScope) -> None:
    key = Principal(ORG, "robot", Role.OPERATOR, scopes=frozenset({scope}))

    assert {action for action in Action if can_perform(key, action)} == {
        action for action in Action if action.scope is scope
    }


def test_a_scope_makes_no_role_stronger() -> None:
    key = Principal(ORG, "robot", Role.VIEWER, scopes=frozenset(KeyScope))

    with pytest.raises(Forbidden, match="role admin"):
        authorise(key, Action.MANAGE_KEYS)


def test_a_refusal_names_the_scope_that_is_missing() -> None:
    key = Principal(ORG, "robot", Role.ADMIN, scopes=frozenset({KeyScope.ASK}))

    with pytest.raises(Forbidden, match="scope upload"):
        authorise(key, Action.UPLOAD_DOCUMENT)
