"""Operations of one field: the response of graphql-core, without it."""

import enum
from inspect import isawaitable
from typing import Any, cast

import pytest
import strawberry
from graphql import ExecutionResult, execute, parse

from agentic_rag_server.graphql.http.context import RequestContext
from agentic_rag_server.graphql.http.input_values import read_inputs_by_plan
from agentic_rag_server.graphql.http.plain_values import PlainExecutor
from agentic_rag_server.graphql.http.single_field import SingleField, single_fields
from agentic_rag_server.graphql.schema import build_schema


@strawberry.enum
class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


@strawberry.input
class Part:
    name: str
    share: float = 0.5


@strawberry.input
class Wanted:
    key: strawberry.ID
    count: int | None = None
    colour: Colour = Colour.RED
    is_new: bool | None = strawberry.UNSET
    words: list[str] | None = None
    part: Part | None = None
    parts: list[Part] | None = None
    inner: "Wanted | None" = None


@strawberry.type
class Made:
    text: str
    size: int | None

    @strawberry.field
    def twice(self) -> str:
        return 2 * self.text

    @strawberry.field
    def broken(self) -> str | None:
        raise LookupError("a part of the object cannot be made")

    @strawberry.field
    def repeated(self, times: int = 2) -> str:
        return times * self.text


async def make(info: strawberry.Info, given: Wanted, loud: bool = False) -> Made:
    calls.append(info.field_name)
    if given.key == "refused":
        raise ValueError("no such key")
    return Made(text=None if given.key == "empty" else repr((given, loud, info.context)), size=given.count)  # type: ignore[arg-type]


async def refuse(info: strawberry.Info) -> Made | None:
    raise ValueError("not today")


@strawberry.type
class Query:
    ready: bool = True
    find = strawberry.field(make)
    perhaps = strawberry.field(refuse)


@strawberry.type
class Mutation:
    make = strawberry.mutation(make)


calls: list[str] = []
STRAWBERRY = strawberry.Schema(Query, Mutation)
read_inputs_by_plan(STRAWBERRY)
SCHEMA = STRAWBERRY._schema
CONTEXT = cast(RequestContext, "the context")
MAKE = "mutation M($given: Wanted!) { made: make(given: $given) { text size twice } }"


async def by_core(document: str, variables: dict[str, Any]) -> ExecutionResult:
    result = execute(
        SCHEMA, parse(document), context_value=CONTEXT, variable_values=variables, executor_class=PlainExecutor
    )
    return await result if isawaitable(result) else cast(ExecutionResult, result)


def single(document: str) -> SingleField | None:
    return single_fields(SCHEMA, parse(document)).get(None)


async def never(_: Any) -> ExecutionResult:
    raise AssertionError("the result can be read")


@pytest.mark.parametrize(
    "given",
    [
        {"key": "a"},
        {"key": "a", "count": 7, "colour": "BLUE", "isNew": None, "words": ["x", "y"], "part": {"name": "n"}},
        {"key": "a", "parts": [{"name": "n", "share": 1}, {"name": "m"}], "inner": {"key": "b", "inner": {"key": "c"}}},
        {"key": "a", "count": None, "words": None, "inner": None},
        {"key": "refused"},
    ],
)
async def test_a_response_is_that_of_graphql_core(given: dict[str, Any]) -> None:
    found = single(MAKE)
    assert found is not None
    arguments = found.read_arguments({"given": given, "unused": 1})
    assert arguments is not None

    shown, expected = await found.run(arguments, CONTEXT, never), await by_core(MAKE, {"given": given})

    assert shown.data == expected.data
    assert [one.formatted for one in shown.errors or ()] == [one.formatted for one in expected.errors or ()]


@pytest.mark.parametrize(
    "variables",
    [
        {},
        {"given": None},
        {"given": "a"},
        {"given": {}},
        {"given": {"key": None}},
        {"given": {"key": 1.5}},
        {"given": {"key": "a", "count": 1 << 40}},
        {"given": {"key": "a", "count": True}},
        {"given": {"key": "a", "colour": "GREEN"}},
        {"given": {"key": "a", "colour": ["RED"]}},
        {"given": {"key": "a", "words": "x"}},
        {"given": {"key": "a", "words": ["x", None]}},
        {"given": {"key": "a", "part": [{"name": "n"}]}},
        {"given": {"key": "a", "part": {}}},
        {"given": {"key": "a", "other": 1}},
    ],
)
def test_values_that_are_not_of_their_type_are_left_to_graphql_core(variables: dict[str, Any]) -> None:
    found = single(MAKE)

    assert found is not None
    assert found.read_arguments(variables) is None


@pytest.mark.parametrize(
    "document",
    [
        "{ ready }",
        "{ __typename }",
        "query($given: Wanted!) { find(given: $given) { text } ready }",
        "query($given: Wanted!) { find(given: $given) { text } again: find(given: $given) { text } }",
        "query($given: Wanted!) { find(given: $given) { repeated } }",
        "query($given: Wanted!) { find(given: $given) { ... on Made { text } } }",
        "query($given: Wanted!, $is: Boolean!) { find(given: $given) { text @skip(if: $is) } }",
        "query($given: Wanted!, $is: Boolean!) { find(given: $given) @skip(if: $is) { text } }",
        'query($given: Wanted! = {key: "a"}) { find(given: $given) { text } }',
        '{ find(given: {key: "a"}) { text } }',
        "query($key: ID!) { find(given: {key: $key}) { text } }",
        "query($given: Wanted!) { find(given: $given, loud: true) { text } }",
    ],
)
def test_other_operations_are_left_to_graphql_core(document: str) -> None:
    assert single(document) is None


async def test_a_result_that_cannot_be_read_is_completed_by_graphql_core_and_made_once() -> None:
    document = MAKE.replace("twice", "broken")
    found, completed = single(document), list[Any]()
    assert found is not None

    async def complete(result: Any) -> ExecutionResult:
        completed.append(result)
        return ExecutionResult({})

    calls.clear()
    await found.run(found.read_arguments({"given": {"key": "a"}}) or {}, CONTEXT, complete)
    await found.run(found.read_arguments({"given": {"key": "empty"}}) or {}, CONTEXT, complete)

    assert [type(one) for one in completed] == [Made, Made]
    assert calls == ["make", "make"]


async def test_an_error_of_a_field_that_may_be_null_leaves_null() -> None:
    document = "{ perhaps { text } }"
    found = single(document)
    assert found is not None

    shown, expected = await found.run({}, CONTEXT, never), await by_core(document, {})

    assert shown.data == expected.data == {"perhaps": None}
    assert [str(one) for one in shown.errors or ()] == [str(one) for one in expected.errors or ()]


def test_the_usual_question_runs_without_graphql_core() -> None:
    document = build_schema().read_document(
        "mutation Ask($input: RagAnswerInput!) { ragAnswer(input: $input) { answer outcome run { id } citations "
        "{ marker snippet sourceSpan { start end } } userErrors { code message } debug { timings { stage } } } }"
    )

    assert set(document.single) == {None, "Ask"}
