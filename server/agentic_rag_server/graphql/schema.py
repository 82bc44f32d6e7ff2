"""The schema, and how an operation of it is executed: what is read of a document is kept, so that it is read once."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from functools import lru_cache
from inspect import isawaitable
from typing import Any

import strawberry
from graphql import (
    DocumentNode,
    ExecutionResult,
    GraphQLError,
    GraphQLResolveInfo,
    OperationDefinitionNode,
    OperationType,
    execute,
    subscribe,
    validate,
)
from strawberry.execution.is_awaitable import optimized_is_awaitable
from strawberry.schema.config import StrawberryConfig

from agentic_rag.kernel.errors import FeatureDisabled
from agentic_rag.workspaces.rate_limits import Demand, remaining_demand
from agentic_rag_server.graphql.documents.uploads import FILE, UploadedFile
from agentic_rag_server.graphql.http.context import RequestContext
from agentic_rag_server.graphql.http.fields import rules_of
from agentic_rag_server.graphql.http.input_values import read_inputs_by_plan
from agentic_rag_server.graphql.http.limits import Limits, demand_of, parse_within, root_fields, uses_introspection
from agentic_rag_server.graphql.http.plain_values import PlainExecutor, PlainObjects, plain_objects
from agentic_rag_server.graphql.http.responses import FEW_VALUES, GraphQLRequest, RequestFault, too_many_values
from agentic_rag_server.graphql.http.rows import pages_by_variable, require_few_rows
from agentic_rag_server.graphql.http.single_field import SingleField, single_fields
from agentic_rag_server.graphql.mutation import Mutation
from agentic_rag_server.graphql.query import Query
from agentic_rag_server.graphql.subscription import Subscription

CACHED_DOCUMENTS = 256
"""Documents that are kept as they were read. Clients send few distinct ones and put values in variables."""

TAKES_QUESTIONS = frozenset({"startEvalRun", "switchEmbeddingSpace"})
"""Fields that take a list of thousands."""

_IS_AWAITABLE: Any = optimized_is_awaitable
"""Typed as it says; graphql-core asks for a guard."""

QUERIES = frozenset({OperationType.QUERY})
QUERIES_AND_MUTATIONS = frozenset({OperationType.QUERY, OperationType.MUTATION})
QUERIES_AND_EVENTS = frozenset({OperationType.QUERY, OperationType.SUBSCRIPTION})
EVERYTHING = frozenset(OperationType)


@dataclass(frozen=True, slots=True)
class ReadDocument:
    """A document that is within the limits, and what is wrong with it."""

    parsed: DocumentNode
    operations: Mapping[str | None, OperationType]
    """The operations by name; under None the one that runs when none is named."""
    errors: tuple[GraphQLError, ...]
    introspects: bool
    pages_by_variable: bool
    plain: PlainObjects
    """The objects in it that are read without graphql-core; none where something is wrong."""
    single: Mapping[str | None, SingleField]
    """The operations that run without graphql-core, by name as `operations`; none where something is wrong."""


class RagSchema(strawberry.Schema):
    """The schema of the product. Operations are executed by `run`: Strawberry's `execute` makes a context manager for
    each step of each extension and hashes the document to find out whether it is valid.
    """

    def __init__(self, *, introspection: bool, limits: Limits) -> None:
        super().__init__(
            query=Query,
            mutation=Mutation,
            subscription=Subscription,
            config=StrawberryConfig(scalar_map={UploadedFile: FILE}),
            execution_context_class=PlainExecutor,
        )
        self._introspection = introspection
        self._limits = limits
        self._rules = rules_of(self)
        self.read_document = lru_cache(maxsize=CACHED_DOCUMENTS)(self._read_document)
        self._demand = lru_cache(maxsize=CACHED_DOCUMENTS)(self._read_demand)
        self._require_few_in = lru_cache(maxsize=CACHED_DOCUMENTS)(self._count_rows)

    async def run(
        self, request: GraphQLRequest, context: RequestContext, allowed: Collection[OperationType]
    ) -> ExecutionResult:
        """Execute a query or a mutation. Errors: those of `admit`. What else is wrong is in the result."""
        document = await self.admit(request, context, allowed)
        return document if isinstance(document, ExecutionResult) else await self._execute(document, request, context)

    async def results(
        self, document: ReadDocument, request: GraphQLRequest, context: RequestContext
    ) -> AsyncGenerator[ExecutionResult]:
        """The results of an admitted operation: of a subscription each event's, of others their one. An error of
        a subscription is its last result.
        """
        if document.operations[request.operation_name] is not OperationType.SUBSCRIPTION:
            yield await self._execute(document, request, context)
            return
        source: Any = subscribe(
            self._schema,
            document.parsed,
            context_value=context,
            variable_values=request.variables,
            operation_name=request.operation_name,
            executor_class=self.execution_context_class,
            plain=document.plain,
        )
        results = await source if isawaitable(source) else source
        if isinstance(results, ExecutionResult):
            yield results
            return
        async with aclosing(results):
            try:
                async for result in results:
                    context.forget_loaded()
                    yield result
            except Exception as error:  # noqa: BLE001 - as a field's: a fault of the program is logged and masked
                yield ExecutionResult(None, [GraphQLError(str(error), original_error=error)])

    async def admit(
        self, request: GraphQLRequest, context: RequestContext, allowed: Collection[OperationType]
    ) -> ReadDocument | ExecutionResult:
        """The document of a request that may run; else what is wrong with it. Its objects are counted, and it against
        the limits of its organisation.

        Errors: `RequestFault` for an operation that is not there or not allowed, or that takes less than `variables`
        holds; `Forbidden` for who may not send as much; `RateLimited`; those of `Admission.admit`.
        """
        try:
            document = self.read_document(request.query)
        except GraphQLError as refused:
            return ExecutionResult(data=None, errors=[refused])
        kind = document.operations.get(request.operation_name)
        if kind is None:
            raise RequestFault(400, "UNKNOWN_OPERATION", "`operationName` must name one operation.")
        if kind not in allowed:
            raise _wrong_operation(allowed)
        if document.errors:
            return ExecutionResult(data=None, errors=list(document.errors))
        if document.introspects and not self._introspection:
            return ExecutionResult(data=None, errors=[_introspection_refusal()])
        if request.values > FEW_VALUES:
            self._require_taker(document, request, context)
        try:
            self._require_few_rows(document, request)
        except GraphQLError as refused:
            return ExecutionResult(data=None, errors=[refused])
        demand = self._demand(request.query, request.operation_name)
        await context.parts.admission.admit(context.principal, remaining_demand(demand, context.counted))
        return document

    async def _execute(
        self, document: ReadDocument, request: GraphQLRequest, context: RequestContext
    ) -> ExecutionResult:
        single = document.single.get(request.operation_name)
        arguments = None if single is None else single.read_arguments(request.variables)
        if single is None or arguments is None:
            return await self._execute_by_core(document, request, context)

        def complete(result: Any) -> Awaitable[ExecutionResult]:
            return self._execute_by_core(document, request, context, [_answering(result)])

        return await single.run(arguments, context, complete)

    async def _execute_by_core(
        self,
        document: ReadDocument,
        request: GraphQLRequest,
        context: RequestContext,
        middleware: list[Callable[..., Any]] | None = None,
    ) -> ExecutionResult:
        result = execute(
            self._schema,
            document.parsed,
            context_value=context,
            variable_values=request.variables,
            operation_name=request.operation_name,
            executor_class=self.execution_context_class,
            is_awaitable=_IS_AWAITABLE,
            middleware=middleware,
            plain=document.plain,
        )
        return await result if isawaitable(result) else result

    def _read_document(self, text: str) -> ReadDocument:
        """Errors: `GraphQLError`."""
        document = parse_within(text, self._limits)
        operations = [one for one in document.definitions if isinstance(one, OperationDefinitionNode)]
        by_name: dict[str | None, OperationType] = {
            one.name.value: one.operation for one in reversed(operations) if one.name
        }
        # The first of several would run where none is named; the specification (GetOperation) demands an error.
        if len(operations) == 1:
            by_name[None] = operations[0].operation
        errors = tuple(validate(self._schema, document))
        plain = {} if errors else plain_objects(self._schema, document)
        single = {} if errors else single_fields(self._schema, document)
        return ReadDocument(
            document, by_name, errors, uses_introspection(document), pages_by_variable(document), plain, single
        )

    def _require_taker(self, document: ReadDocument, request: GraphQLRequest, context: RequestContext) -> None:
        """Variables are read as their types before a field looks who asks. Errors: `RequestFault`, `Forbidden`."""
        for name in root_fields(document.parsed, request.operation_name):
            if name not in TAKES_QUESTIONS:
                raise too_many_values(FEW_VALUES)
            self._rules[f"Mutation.{name}"].authorise(context.principal)

    def _require_few_rows(self, document: ReadDocument, request: GraphQLRequest) -> None:
        """Errors: those of `require_few_rows`."""
        if document.pages_by_variable:
            require_few_rows(document.parsed, request.operation_name, request.variables)
        else:
            self._require_few_in(request.query, request.operation_name)

    def _count_rows(self, text: str, operation_name: str | None) -> None:
        require_few_rows(self.read_document(text).parsed, operation_name, None)

    def _read_demand(self, text: str, operation_name: str | None) -> Demand:
        return demand_of(self.read_document(text).parsed, operation_name)


def _answering(result: Any) -> Callable[..., Any]:
    """Middleware of graphql-core by which the field of the root has a result already."""

    def answer(resolve: Callable[..., Any], source: Any, info: GraphQLResolveInfo, **arguments: Any) -> Any:
        return result if info.path.prev is None else resolve(source, info, **arguments)

    return answer


def _wrong_operation(allowed: Collection[OperationType]) -> RequestFault:
    if OperationType.MUTATION in allowed:
        return RequestFault(
            400,
            "BAD_REQUEST",
            "A subscription is asked for with `Accept: text/event-stream`, or over a WebSocket with the subprotocol "
            "graphql-transport-ws.",
        )
    return RequestFault(405, "METHOD_NOT_ALLOWED", "Send mutations by POST.", {"allow": "POST"})


def _introspection_refusal() -> GraphQLError:
    refused = FeatureDisabled("Introspection is switched off on this server.", code="INTROSPECTION_DISABLED")
    return GraphQLError(refused.message, path=["__schema"], original_error=refused)


def build_schema(*, introspection: bool = True, limits: Limits | None = None) -> RagSchema:
    """The schema of the product. Errors: those of `rules_of`."""
    schema = RagSchema(introspection=introspection, limits=limits or Limits())
    read_inputs_by_plan(schema)
    return schema
