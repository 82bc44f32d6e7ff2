"""An operation that does not declare who may do it does not start."""

from contextlib import nullcontext
from uuid import UUID

import pytest
import strawberry

from agentic_rag.documents.document_access import DocumentRight
from agentic_rag.kernel.errors import Forbidden
from agentic_rag.tenancy.principals import DEFAULT_ORG_ID, Principal, Role
from agentic_rag_server.auth.roles import Action
from agentic_rag_server.auth.rules import Rule, Sight
from agentic_rag_server.graphql.http.context import Info
from agentic_rag_server.graphql.http.fields import field, inner, rules_of
from agentic_rag_server.rest.http.operations import OperationSpec


@strawberry.type
class Thing:
    name: str

    @inner(right=DocumentRight.KNOW, description="Who knows it.")
    async def known_by(self, info: Info) -> str:
        return "ada"


@strawberry.type
class Query:
    @field(Action.READ, right=Sight.ORGANISATION, description="The thing.")
    async def thing(self, info: Info) -> Thing:
        return Thing(name="it")


def test_the_rules_of_a_schema_are_those_that_its_fields_declare() -> None:
    assert rules_of(strawberry.Schema(query=Query)) == {
        "Query.thing": Rule((Action.READ,), Sight.ORGANISATION),
        "Thing.knownBy": Rule((), DocumentRight.KNOW),
    }


def test_a_root_field_without_a_rule_does_not_start() -> None:
    @strawberry.type
    class Open(Query):
        @strawberry.field
        async def other(self) -> str:
            return "open to all"

    with pytest.raises(ValueError, match=r"Open\.other does not declare"):
        rules_of(strawberry.Schema(query=Open))


def test_an_inner_field_that_asks_the_stores_without_a_rule_does_not_start() -> None:
    @strawberry.type
    class Leaking:
        @strawberry.field
        async def secret(self, info: Info) -> str:
            return "open to all"

    @strawberry.type
    class Root:
        @field(Action.READ, right=Sight.ORGANISATION, description="The thing.")
        async def thing(self, info: Info) -> Leaking:
            return Leaking()

    with pytest.raises(ValueError, match=r"Leaking\.secret does not declare"):
        rules_of(strawberry.Schema(query=Root))


def test_a_field_without_an_action_cannot_be_made() -> None:
    with pytest.raises(ValueError, match="an action"):
        field(right=Sight.ORGANISATION, description="Open to all.")


def test_a_rest_operation_without_a_rule_cannot_be_made() -> None:
    with pytest.raises(TypeError, match="rule"):
        OperationSpec(  # type: ignore[call-arg]
            method="GET",
            path="/x",
            name="x",
            tag="x",
            summary="x",
            serve=None,
            answers=(),  # type: ignore[arg-type]
        )


@pytest.mark.parametrize(
    ("org_id", "role", "is_let_in"),
    [
        (DEFAULT_ORG_ID, Role.OPERATOR, True),
        (DEFAULT_ORG_ID, Role.ADMIN, False),
        (UUID(int=7), Role.OPERATOR, False),
    ],
)
def test_what_concerns_all_organisations_is_for_operators_of_the_default_one(
    org_id: UUID, role: Role, is_let_in: bool
) -> None:
    rule = Rule((Action.RUN_PLATFORM,), Sight.PLATFORM)

    with nullcontext() if is_let_in else pytest.raises(Forbidden):
        rule.authorise(Principal(org_id, "ada", role))
