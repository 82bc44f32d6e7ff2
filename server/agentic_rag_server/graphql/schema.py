"""The schema, and how a document becomes a result."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache

import strawberry
from graphql import (
    ASTValidationRule,
    DocumentNode,
    GraphQLError,
    NoSchemaIntrospectionCustomRule,
    OperationDefinitionNode,
)
from strawberry.extensions import AddValidationRules, SchemaExtension, ValidationCache
from strawberry.schema.config import StrawberryConfig
from strawberry.schema.exceptions import CannotGetOperationTypeError
from strawberry.types import ExecutionContext

from agentic_rag_server.graphql.limits import Limits, parse_within
from agentic_rag_server.graphql.mutation import Mutation
from agentic_rag_server.graphql.query import Query
from agentic_rag_server.graphql.uploads import FILE, UploadedFile

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
        """Sets the document; a refusal ends the request before validation. Strawberry would run the first of several
        operations when none is named; the specification (GetOperation) wants an error.
        """
        context = self.execution_context
        document = context.graphql_document = self._parse(context.query or "")
        if context.context.operation_name is None and not _names_one_operation(document):
            raise CannotGetOperationTypeError(None)
        yield


def _names_one_operation(document: DocumentNode) -> bool:
    return sum(isinstance(definition, OperationDefinitionNode) for definition in document.definitions) == 1


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
        config=StrawberryConfig(scalar_map={UploadedFile: FILE}),
        extensions=[
            lambda: BoundedParsing(parse),
            lambda: AddValidationRules(rules),
            lambda: ValidationCache(maxsize=CACHED_DOCUMENTS),
        ],
    )
