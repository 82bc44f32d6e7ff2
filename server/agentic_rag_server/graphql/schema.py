"""The schema, and how a document becomes a result."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache

import strawberry
from graphql import ASTValidationRule, DocumentNode, GraphQLError, NoSchemaIntrospectionCustomRule
from strawberry.extensions import AddValidationRules, SchemaExtension, ValidationCache
from strawberry.types import ExecutionContext

from agentic_rag_server.graphql.limits import Limits, parse_within
from agentic_rag_server.graphql.mutation import Mutation
from agentic_rag_server.graphql.query import Query

CACHED_DOCUMENTS = 256
"""Parsed and validated documents kept; clients send few distinct ones and put values in variables."""


class RagSchema(strawberry.Schema):
    """Leaves reporting errors to the view, which knows the request's trace id."""

    def process_errors(self, errors: list[GraphQLError], execution_context: ExecutionContext | None = None) -> None:
        """Logged where they are presented."""


class BoundedParsing(SchemaExtension):
    """Parses within the limits, once for each distinct document."""

    def __init__(self, parse: Callable[[str], DocumentNode]) -> None:
        super().__init__()
        self._parse = parse

    def on_parse(self) -> Iterator[None]:
        """Sets the document; a refusal ends the request before validation."""
        self.execution_context.graphql_document = self._parse(self.execution_context.query or "")
        yield


def build_schema(*, introspection: bool = True, limits: Limits | None = None) -> RagSchema:
    """The schema of the product. Rules are built once: a rule made per request would defeat the validation cache."""
    bounds = limits or Limits()

    @lru_cache(maxsize=CACHED_DOCUMENTS)
    def parse(text: str) -> DocumentNode:
        return parse_within(text, bounds)

    rules: list[type[ASTValidationRule]] = [] if introspection else [NoSchemaIntrospectionCustomRule]
    return RagSchema(
        query=Query,
        mutation=Mutation,
        extensions=[
            lambda: BoundedParsing(parse),
            lambda: AddValidationRules(rules),
            lambda: ValidationCache(maxsize=CACHED_DOCUMENTS),
        ],
    )
