"""Plain objects: the response of graphql-core, with fewer steps."""

import enum
from types import SimpleNamespace
from typing import Any

import pytest
import strawberry
from graphql import ExecutionResult, execute, parse

from agentic_rag_server.graphql.http.plain_values import PlainExecutor, plain_objects


@strawberry.enum
class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


@strawberry.type
class Span:
    start: int
    end: int


@strawberry.type
class Quote:
    chunk_id: strawberry.ID
    text: str
    page: int | None
    colour: Colour
    score: float
    is_verified: bool
    span: Span
    spans: list[Span | None]
    words: list[str] | None
    parent: Span | None = None

    @strawberry.field
    def length(self, more: int = 0) -> int:
        return len(self.text) + more


@strawberry.type
class Query:
    @strawberry.field
    def quotes(self) -> list[Quote]:
        return self  # type: ignore[return-value]

    @strawberry.field
    def quote(self) -> Quote | None:
        return self[0]  # type: ignore[index]


def stored(**different: Any) -> SimpleNamespace:
    """A value of the core, which the schema shows as a `Quote`."""
    whole = {
        "chunk_id": "c1", "text": "words", "page": 3, "colour": Colour.RED, "score": 0.5, "is_verified": True,
        "span": Span(start=1, end=2), "spans": (Span(start=1, end=2), None), "words": ("a", "b"), "parent": None,
    }  # fmt: skip
    return SimpleNamespace(**{**whole, **different})


SCHEMA = strawberry.Schema(Query)._schema
ALL = """{ quotes { __typename chunkId text page colour score isVerified span { start end } spans { start }
           named: words parent { end } } quote { page } }"""


def ways(document: str, *values: Any) -> tuple[ExecutionResult, ExecutionResult, int]:
    """The response of graphql-core alone, that with readers, and how many readers there are."""
    parsed = parse(document)
    plain = plain_objects(SCHEMA, parsed)
    alone, with_readers = (
        execute(SCHEMA, parsed, root_value=list(values), executor_class=PlainExecutor, plain=readers)
        for readers in ({}, plain)
    )
    assert isinstance(alone, ExecutionResult)
    assert isinstance(with_readers, ExecutionResult)
    return alone, with_readers, len(plain)


@pytest.mark.parametrize(
    "document",
    [
        ALL.replace("__typename", ""),
        "{ quotes { text again: text } quote { span { end } } }",
        "query($is: Boolean = true) { quotes { text @skip(if: $is) page } }",
        "{ quotes { text ...More } } fragment More on Quote { page span { start } parent { start } }",
        "{ quotes { text } quotes { page } }",
        "{ quotes { length(more: 2) span { start } } }",
        "{ quotes { ... on Quote { span { start } length } } }",
        "{ __typename quotes { __typename span { __typename start } } }",
    ],
)
def test_a_response_is_that_of_graphql_core(document: str) -> None:
    alone, with_readers, _ = ways(
        document, stored(), stored(text="", page=None, words=None, parent=Span(start=5, end=6))
    )

    assert with_readers == alone
    assert alone.errors is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"text": None},
        {"page": "no number"},
        {"page": 1 << 40},
        {"score": float("nan")},
        {"colour": "no colour"},
        {"span": None},
        {"span": Span(start=None, end=2)},  # type: ignore[arg-type]
        {"spans": (Span(start="x", end=2),)},  # type: ignore[arg-type]
        {"words": 7},
        {"words": (None,)},
        {"parent": object()},
    ],
)
def test_an_error_is_that_of_graphql_core(wrong: dict[str, Any]) -> None:
    alone, with_readers, readers = ways(ALL.replace("__typename", ""), stored(), stored(**wrong))

    assert readers == 2
    assert alone.errors
    assert with_readers.data == alone.data
    assert [str(one) for one in with_readers.errors or ()] == [str(one) for one in alone.errors]
