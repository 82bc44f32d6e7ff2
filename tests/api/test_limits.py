"""What one document may ask for."""

from typing import Any

import httpx2
import pytest
from graphql import (
    FragmentDefinitionNode,
    GraphQLError,
    GraphQLList,
    GraphQLObjectType,
    GraphQLSyntaxError,
    OperationDefinitionNode,
    get_introspection_query,
    get_named_type,
    get_nullable_type,
    parse,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from agentic_rag.documents.where import MAX_FILTER_VALUES
from agentic_rag.workspaces.rate_limits import Traffic
from agentic_rag_server.app import build_app
from agentic_rag_server.auth.roles import Action
from agentic_rag_server.graphql.http.fields import rules_of
from agentic_rag_server.graphql.http.limits import SINGLE, Limits, _CostVisitor, check, demand_of, parse_within
from agentic_rag_server.graphql.http.rows import LISTS, PAGED, WRAPPERS
from agentic_rag_server.graphql.schema import build_schema
from tests.api.asgi_client import Socket
from tests.api.builders import WORKSPACE_ID, Container, client

LIMITS = Limits()
ANSWERS_NOTHING = {
    *(
        "submitFeedback",
        "cancelRun",
        "renameThread",
        "deleteThread",
        "deleteRun",
        "saveQuestion",
        "removeSavedQuestion",
    ),
}
"""Fields that take the action `ASK` and ask nothing."""
AS_ADMIN = {"authorization": "Bearer admin-token"}


def refused(document: str, limits: Limits = LIMITS) -> str | None:
    """The message of a refusal; None when the document passes."""
    try:
        parse_within(document, limits)
    except GraphQLError as error:
        return error.message if (error.extensions or {}).get("code") == "QUERY_TOO_COMPLEX" else f"not a limit: {error}"
    return None


def nested(levels: int, leaf: str = "a") -> str:
    return "{ a " * (levels - 1) + "{ " + leaf + " }" * levels


def chain(length: int, spreads: int) -> str:
    """Fragments of which each spreads the next `spreads` times: spreads ** length fields when followed one by one."""
    parts = ["{ ...F0 }"]
    for at in range(length):
        fields = " ".join(f"a{it}: a {{ ...F{at + 1} }}" for it in range(spreads))
        parts.append(f"fragment F{at} on T {{ {fields} }}")
    return " ".join([*parts, f"fragment F{length} on T {{ a }}"])


SINGLE_FIELDS = f"{' or '.join(SINGLE)} fields"


@pytest.mark.parametrize(
    ("passing", "failing", "what"),
    [
        (nested(8), nested(9), "levels of fields"),
        (
            "{ a { " + " ".join(f"x{it}: a" for it in range(15)) + " } }",
            "{ a { " + " ".join(f"x{it}: a" for it in range(16)) + " } }",
            "aliases",
        ),
        (
            "{ a " + "@skip(if: false) " * 20 + "}",
            "query " + "@x " * 10 + "{ a " + "@skip(if: false) " * 11 + "}",
            "directives",
        ),
        ("{ a b c d e }", "{ a b c d e f }", "root fields"),
        ("{ ...F a b } fragment F on Query { c d e }", "{ ...F a b } fragment F on Query { c d e f }", "root fields"),
        ("{ ragAnswer }", "{ ragAnswer b: ragAnswer }", SINGLE_FIELDS),
        ("{ ragAnswer }", "{ ragAnswer explainRun }", SINGLE_FIELDS),
        (
            "{ ragAnswer }",
            "{ ...F ... { ragAnswer } } fragment F on Query { ragAnswer }",
            SINGLE_FIELDS,
        ),
        (
            "{ a } " + " ".join(f"fragment F{it} on T {{ a }}" for it in range(10)),
            "{ a } " + " ".join(f"fragment F{it} on T {{ a }}" for it in range(11)),
            "fragments",
        ),
        ("{ a(b: " + "[" * 20 + "]" * 20 + ") }", "{ a(b: " + "[" * 60 + "]" * 60 + ") }", "nested brackets"),
        ("{ a { " + "b " * 490 + "} }", "{ a { " + "b " * 1000 + "} }", "tokens"),
        (
            "{ __schema { types { fields { type { fields { name } } } } } }",
            "{ __schema { types { fields { type { fields { type { fields { name } } } } } } } }",
            "nested introspection lists",
        ),
        ('{ a(b: "' + "x" * 60_000 + '") }', '{ a(b: "' + "x" * 70_000 + '") }', "characters"),
    ],
)
def test_each_limit_holds_where_it_says(passing: str, failing: str, what: str) -> None:
    assert refused(passing) is None
    assert what in (refused(failing) or "")


@pytest.mark.parametrize("descriptions", [True, False])
def test_the_standard_introspection_query_passes(descriptions: bool) -> None:
    document = get_introspection_query(
        descriptions=descriptions, specified_by_url=True, directive_is_repeatable=True, schema_description=True
    )

    assert refused(document) is None


@given(length=st.integers(1, 9), spreads=st.integers(2, 5))
@settings(max_examples=40)
def test_chained_fragments_cost_one_visit_each(length: int, spreads: int) -> None:
    document = parse(chain(length, spreads))
    visits = 0

    class Counted(dict):
        def get(self, key, default=None):
            nonlocal visits
            visits += 1
            return super().get(key, default)

    asked = next(one for one in document.definitions if isinstance(one, OperationDefinitionNode))
    spread = {one.name.value: one for one in document.definitions if isinstance(one, FragmentDefinitionNode)}
    cost = _CostVisitor(Counted(spread), Limits(nesting=10_000)).selection_set(asked.selection_set)

    assert visits == length + 1
    assert cost.fields == sum(spreads**level for level in range(1, length + 1)) + spreads**length


@given(st.text(alphabet='{}[]()a:@$!#" \n.,&|=1', max_size=300))
def test_any_text_is_parsed_or_refused_with_a_graphql_error(text: str) -> None:
    try:
        parse_within(text, LIMITS)
    except GraphQLError:
        return
    assert parse(text)


@given(levels=st.integers(1, 400), opening=st.sampled_from(["{a", "{a(b:[", "{...{a", "{a(b:{c:"]))
@settings(max_examples=60)
def test_no_nesting_reaches_the_recursion_limit(levels: int, opening: str) -> None:
    with pytest.raises((GraphQLSyntaxError, GraphQLError)):
        parse_within(opening * levels, LIMITS)


@pytest.mark.parametrize("inner", ["{ a { ...F } }", "{ ...F }", "{ ... { ...F } }"])
def test_a_fragment_inside_itself_ends(inner: str) -> None:
    document = parse(f"{{ ...F }} fragment F on T {inner}")

    check(document, LIMITS)


def test_fragments_do_not_hide_depth() -> None:
    fragment = "fragment F on T { a { a { a { a { a } } } } }"
    document = "{ a { a { a { ...F } } } } " + fragment
    deeper = "{ a { a { a { a { ...F } } } } } " + fragment

    assert refused(document) is None

    assert "levels of fields" in (refused(deeper) or "")


async def test_a_refused_document_never_reaches_validation() -> None:
    async with client(Container()) as http:
        response = await http.post(
            "/graphql",
            json={"query": chain(9, 3)},
            headers={"accept": "application/graphql-response+json"},
        )

    assert response.status_code == 400
    assert [error["extensions"]["code"] for error in response.json()["errors"]] == ["QUERY_TOO_COMPLEX"]


async def test_a_document_is_parsed_and_validated_once() -> None:
    schema = build_schema()
    parts: Any = Container()
    transport = httpx2.ASGITransport(app=build_app(parts, schema))
    async with httpx2.AsyncClient(transport=transport, base_url="http://test", headers=AS_ADMIN) as http:
        replies = [(await http.post("/graphql", json={"query": "{ once: __typename }"})).json() for _ in range(3)]

    assert replies == [{"data": {"once": "Query"}}] * 3
    assert schema.read_document.cache_info().misses == 1


FOUND = "{ nodes { debug { candidates { title } } } }"
SAMPLED = """
query ($n: Int!) {
  samplePassages(workspaceId: W, most: $n) { text }
  b: samplePassages(workspaceId: W, most: $n) { text }
}
"""
ALL_FOUND = "{ nodes { debug { candidates { scores { rank } path { kind } } } } }"


@pytest.mark.parametrize(
    ("query", "variables", "is_refused"),
    [
        ("{ runs(workspaceId: W, first: 100) { nodes { id } } }", {}, False),
        ("{ runs(workspaceId: W, first: 100) { nodes { citations { title } } } }", {}, False),
        (f"{{ runs(workspaceId: W, first: 100) {FOUND} }}", {}, True),
        (f"{{ runs(workspaceId: W) {FOUND} }}", {}, True),
        (SAMPLED, {"n": 1000}, False),
        (SAMPLED, {"n": 1001}, True),
        (f"{{ runs(workspaceId: W, first: 6) {ALL_FOUND} }}", {}, True),
        (f"{{ runs(workspaceId: W, first: 5) {ALL_FOUND} }}", {}, False),
        (f"{{ runs(workspaceId: W, first: 20) {FOUND} }}", {}, False),
        (f"query($n: Int) {{ runs(workspaceId: W, first: $n) {FOUND} }}", {"n": 100}, True),
        (f"query($n: Int) {{ runs(workspaceId: W, first: $n) {FOUND} }}", {"n": 9}, False),
        (f"{{ runs(workspaceId: W, first: 100) {{ ...F }} }} fragment F on RunConnection {FOUND}", {}, True),
        (f"{{ runs(workspaceId: W, first: 100) {{ nodes {{ id }} ... on RunConnection {FOUND} }} }}", {}, True),
    ],
)
async def test_the_objects_of_a_query_are_the_product_of_its_pages(
    query: str, variables: dict[str, object], is_refused: bool
) -> None:
    operation = {"query": query.replace("W", f'"{WORKSPACE_ID}"'), "variables": variables}

    async with client(Container()) as http:
        body = (await http.post("/graphql", json=operation)).json()

    codes = [one["extensions"]["code"] for one in body.get("errors", ())]
    assert ("QUERY_TOO_COMPLEX" in codes) is is_refused, body


def test_every_paged_field_of_the_schema_is_known() -> None:
    kinds = build_schema()._schema.type_map.values()
    paged = {
        name
        for kind in kinds
        for name, field in getattr(kind, "fields", {}).items()
        if "first" in getattr(field, "args", ())
    }

    assert paged == PAGED


def test_every_list_of_objects_in_the_schema_counts_as_many() -> None:
    kinds = [kind for kind in build_schema()._schema.type_map.values() if isinstance(kind, GraphQLObjectType)]
    lists = {
        name
        for kind in kinds
        for name, field in kind.fields.items()
        if isinstance(get_nullable_type(field.type), GraphQLList)
        and isinstance(get_named_type(field.type), GraphQLObjectType)
        and not kind.name.startswith("__")
    }

    assert lists - PAGED - WRAPPERS == LISTS.keys() & lists
    assert LISTS.keys() - lists == {"text"}


async def test_a_long_list_in_the_variables_is_refused_before_it_is_read() -> None:
    query = 'query($s: [DocumentStatus!]) { documents(workspaceId: "x", statuses: $s) { nodes { id } } }'
    operation = {"query": query, "variables": {"s": {"deep": ["READY"] * 10_001}}}

    async with client(Container()) as http:
        refused = await http.post("/graphql", json=operation)

    assert (refused.status_code, refused.json()["errors"][0]["extensions"]["code"]) == (400, "BAD_REQUEST")


NARROWED = 'query($f: DocumentFilterInput) { documents(workspaceId: "x", filter: $f) { nodes { id } } }'
OF_THE_WORKSPACE = NARROWED.replace("query(", "query($w: ID!, ").replace('"x"', "$w")
EVENTS = "subscription($f: RagAnswerInput!) { ragAnswerStream(input: $f) { seq } }"
BY_FRAGMENT = NARROWED.replace("documents(", "...F } fragment F on Query { documents(")
EVALUATED = "mutation($f: StartEvalRunInput!) { startEvalRun(input: $f) { userErrors { code } } }"
ASKED_TOO = f'{EVALUATED[:-1]} resetSimilarity(workspaceId: "x") {{ userErrors {{ code }} }} }}'
NOT_READ = (400, "BAD_REQUEST")
READ = (400, "GRAPHQL_INVALID")
"""What is wrong with the values was found, so they were read."""


def wide(values: int) -> dict[str, Any]:
    """Lists in lists and in objects, none of which fits; one value is the outermost list's."""
    return {"f": {"fields": [["x"] * 99 for _ in range((values - 2) // 100)]}}


@pytest.mark.parametrize(
    ("query", "values", "token", "said"),
    [
        (NARROWED, 5_000, "admin-token", READ),
        (NARROWED, 5_200, "admin-token", NOT_READ),
        (BY_FRAGMENT, 5_200, "admin-token", NOT_READ),
        (EVENTS, 5_200, "admin-token", NOT_READ),
        (EVALUATED, 5_200, "admin-token", READ),
        (EVALUATED, 5_200, "member-token", (403, "FORBIDDEN")),
        (ASKED_TOO, 5_200, "admin-token", NOT_READ),
        (EVALUATED, 200_200, "admin-token", NOT_READ),
    ],
)
async def test_many_values_are_refused_before_they_are_read(
    query: str, values: int, token: str, said: tuple[int, str]
) -> None:
    accept = "text/event-stream" if query is EVENTS else "application/graphql-response+json"
    operation = {"query": query, "variables": wide(values)}

    async with client(Container(), token=token) as http:
        reply = await http.post("/graphql", json=operation, headers={"accept": accept})

    assert (reply.status_code, reply.json()["errors"][0]["extensions"]["code"]) == said


@pytest.mark.parametrize(("conditions", "status"), [(2, 200), (3, 400)])
async def test_two_conditions_of_as_many_values_as_a_filter_takes_are_no_many_values(
    conditions: int, status: int
) -> None:
    full = [{"string": str(at)} for at in range(MAX_FILTER_VALUES)]
    fields = [{"name": f"f{at}", "values": full} for at in range(conditions)]
    operation = {"query": OF_THE_WORKSPACE, "variables": {"w": WORKSPACE_ID, "f": {"fields": fields}}}

    async with client(Container()) as http:
        reply = await http.post("/graphql", json=operation)

    assert (reply.status_code, "`variables` holds 5000 values at most" in reply.text) == (status, status == 400)


async def test_a_websocket_refuses_them_too() -> None:
    parts: Any = Container()
    async with Socket.open(build_app(parts, build_schema())) as socket:
        await socket.ready()
        await socket.subscribe("1", EVENTS, wide(5_200))
        refused = await socket.hear()

    assert [refused["type"], refused["payload"][0]["extensions"]["code"]] == ["error", "BAD_REQUEST"]


def test_every_field_that_asks_is_counted_as_a_question_and_stands_alone() -> None:
    asking = [name.partition(".") for name, rule in rules_of(build_schema()).items() if Action.ASK in rule.actions]
    kinds = {field: kind.lower() for kind, _, field in asking if field not in ANSWERS_NOTHING}

    assert {"ragAnswer", "replayRun", "searchPassages"} <= kinds.keys()
    for field, kind in kinds.items():
        assert demand_of(parse(f"{kind} {{ {field} }}"), None)[Traffic.ASK] == 1, field
        assert refused(f"{kind} {{ {field} b: {field} }}"), field
