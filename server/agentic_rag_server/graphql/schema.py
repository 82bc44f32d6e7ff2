"""The schema, and the extensions that run around each operation."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from functools import lru_cache

import strawberry
from graphql import (
    DocumentNode,
    ExecutionResult,
    GraphQLError,
    OperationDefinitionNode,
)
from strawberry.extensions import SchemaExtension, ValidationCache
from strawberry.schema.config import StrawberryConfig
from strawberry.schema.exceptions import CannotGetOperationTypeError
from strawberry.types import ExecutionContext

from agentic_rag.kernel.errors import FeatureDisabled, RateLimited
from agentic_rag.workspaces.rate_limits import Demand, remaining_demand
from agentic_rag_server.graphql.documents.uploads import FILE, UploadedFile
from agentic_rag_server.graphql.http.context import RequestContext
from agentic_rag_server.graphql.http.fields import rules_of
from agentic_rag_server.graphql.http.limits import Limits, demand_of, parse_within, uses_introspection
from agentic_rag_server.graphql.http.rows import require_few_rows
from agentic_rag_server.graphql.mutation import Mutation
from agentic_rag_server.graphql.query import Query

CACHED_DOCUMENTS = 256
"""Parsed and validated documents in the cache. Clients send few distinct ones and put values in variables."""


class RagSchema(strawberry.Schema):
    """Leaves error reports to the view, which knows the trace id."""

    def process_errors(self, errors: list[GraphQLError], execution_context: ExecutionContext | None = None) -> None:
        """Does nothing: `errors.present` logs."""


class BoundedParsing(SchemaExtension):
    """Parses within the limits, once per distinct document."""

    def __init__(self, parse: Callable[[str], DocumentNode]) -> None:
        super().__init__()
        self._parse = parse

    def on_parse(self) -> Iterator[None]:
        """Sets the document. Strawberry would run the first of several operations when none is named; the
        specification (GetOperation) demands an error.
        """
        context = self.execution_context
        document = context.graphql_document = self._parse(context.query or "")
        operations = sum(isinstance(node, OperationDefinitionNode) for node in document.definitions)
        if context.context.operation_name is None and operations != 1:
            raise CannotGetOperationTypeError(None)
        yield


class ClosedIntrospection(SchemaExtension):
    """Refuses introspection where it is off. The field fails; the document stays valid."""

    def __init__(self, introspects: Callable[[str], bool]) -> None:
        super().__init__()
        self._introspects = introspects

    def on_execute(self) -> Iterator[None]:
        """Sets the result, so that no field runs."""
        context = self.execution_context
        if self._introspects(context.query or ""):
            refused = FeatureDisabled("Introspection is switched off on this server.", code="INTROSPECTION_DISABLED")
            error = GraphQLError(refused.message, path=["__schema"], original_error=refused)
            context.result = ExecutionResult(data=None, errors=[error])
        yield


class Admitting(SchemaExtension):
    """Counts the objects of a valid operation, and the operation against the limits of its organisation, before any
    field runs.
    """

    def __init__(self, parse: Callable[[str], DocumentNode], demanded: Callable[[str, str | None], Demand]) -> None:
        super().__init__()
        self._parse = parse
        self._demanded = demanded

    async def on_execute(self) -> AsyncIterator[None]:
        """Hands a refusal to the view, which answers the whole request with it."""
        context = self.execution_context
        caller: RequestContext = context.context
        if context.result is None:
            try:
                require_few_rows(self._parse(context.query or ""), context.operation_name, context.variables)
                demand = self._demanded(context.query or "", context.operation_name)
                await caller.parts.admission.admit(caller.principal, remaining_demand(demand, caller.counted))
            except RateLimited as refused:
                caller.refusal = refused
                context.result = ExecutionResult(data=None, errors=[])
            except GraphQLError as refused:
                context.result = ExecutionResult(data=None, errors=[refused])
        yield


def build_schema(*, introspection: bool = True, limits: Limits | None = None) -> RagSchema:
    """The schema of the product. No validation rule is made per request: that would defeat the validation cache.

    Errors: those of `rules_of`.
    """
    bounds = limits or Limits()

    @lru_cache(maxsize=CACHED_DOCUMENTS)
    def parse(text: str) -> DocumentNode:
        return parse_within(text, bounds)

    @lru_cache(maxsize=CACHED_DOCUMENTS)
    def introspects(text: str) -> bool:
        return uses_introspection(parse(text))

    @lru_cache(maxsize=CACHED_DOCUMENTS)
    def read_demand(text: str, operation_name: str | None) -> Demand:
        return demand_of(parse(text), operation_name)

    closed: list[Callable[[], SchemaExtension]] = [] if introspection else [lambda: ClosedIntrospection(introspects)]
    schema = RagSchema(
        query=Query,
        mutation=Mutation,
        config=StrawberryConfig(scalar_map={UploadedFile: FILE}),
        extensions=[
            lambda: BoundedParsing(parse),
            lambda: ValidationCache(maxsize=CACHED_DOCUMENTS),
            *closed,
            lambda: Admitting(parse, read_demand),
        ],
    )
    rules_of(schema)
    return schema
