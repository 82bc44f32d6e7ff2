"""Operations of one field, executed without graphql-core.

For such an operation graphql-core makes an executor, coerces the variables by the schema, converts them once more to
Strawberry's inputs, and completes the result field by field: a quarter of a cached answer. Here the field's arguments
and its result have readers that are made when the document is read. What a reader does not know is left to
graphql-core, which also says what is wrong with a value.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from graphql import (
    DocumentNode,
    ExecutionResult,
    FieldNode,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLSchema,
    NonNullTypeNode,
    OperationDefinitionNode,
    OperationType,
    VariableNode,
    get_nullable_type,
    is_non_null_type,
    located_error,
    print_ast,
)
from strawberry.utils.str_converters import to_camel_case

from agentic_rag_server.graphql.http.context import Info, RequestContext
from agentic_rag_server.graphql.http.input_values import input_reader
from agentic_rag_server.graphql.http.plain_values import STRAWBERRY_DEFINITION, UNREADABLE, Read, value_reader

UNUSABLE = (*UNREADABLE, KeyError, RecursionError)
"""Errors of a reader of arguments: the request goes to graphql-core."""


@dataclass(frozen=True, slots=True)
class FieldInfo:
    """What a resolver of the roots asks of Strawberry's `Info`."""

    context: RequestContext
    field_name: str


@dataclass(frozen=True, slots=True)
class SingleField:
    """The one field of an operation."""

    node: FieldNode
    shown: str
    """Its name in the response."""
    resolve: Callable[..., Awaitable[Any]]
    arguments: Mapping[str, tuple[str, Read]]
    """By the variable's name: the name of the argument in Python, and the reader of the value sent."""
    read: Read
    """The reader of the result."""
    is_required: bool

    def read_arguments(self, variables: Mapping[str, Any] | None) -> dict[str, Any] | None:
        """The arguments of a request; None for those that graphql-core must look at."""
        given = variables or {}
        try:
            return {python: read(given[name]) for name, (python, read) in self.arguments.items()}
        except UNUSABLE:
            return None

    async def run(
        self,
        arguments: Mapping[str, Any],
        context: RequestContext,
        complete: Callable[[Any], Awaitable[ExecutionResult]],
    ) -> ExecutionResult:
        """Execute the field. `complete` makes the response of a result that its reader cannot read."""
        info = cast(Info, FieldInfo(context, self.node.name.value))
        try:
            result = await self.resolve(info=info, **arguments)
        except Exception as error:  # noqa: BLE001 - as graphql-core: an error of a field is part of the response
            located = located_error(error, [self.node], [self.shown])
            return ExecutionResult(None if self.is_required else {self.shown: None}, [located])
        try:
            return ExecutionResult({self.shown: self.read(result)})
        except UNREADABLE:
            return await complete(result)


def single_fields(schema: GraphQLSchema, document: DocumentNode) -> Mapping[str | None, SingleField]:
    """The operations of a valid document that run without graphql-core, by name; under None the only one."""
    operations = [one for one in document.definitions if isinstance(one, OperationDefinitionNode)]
    found: dict[str | None, SingleField] = {}
    for operation in operations:
        single = _single_field(schema, operation)
        if single is None:
            continue
        if operation.name is not None:
            found[operation.name.value] = single
        if len(operations) == 1:
            found[None] = single
    return found


def _single_field(schema: GraphQLSchema, operation: OperationDefinitionNode) -> SingleField | None:
    root, nodes = schema.get_root_type(operation.operation), operation.selection_set.selections
    node = nodes[0]
    if root is None or operation.operation is OperationType.SUBSCRIPTION or operation.directives or len(nodes) != 1:
        return None
    if not isinstance(node, FieldNode) or node.directives or node.name.value not in root.fields:
        return None
    defined = root.fields[node.name.value]
    definition = defined.extensions.get(STRAWBERRY_DEFINITION)
    if definition is None or definition.extensions or not _takes_info_alone(definition.base_resolver):
        return None
    read, arguments = value_reader(defined.type, node.selection_set), _arguments(root, operation, node)
    if read is None or arguments is None:
        return None
    shown = node.name.value if node.alias is None else node.alias.value
    resolve = definition.base_resolver.wrapped_func
    return SingleField(node, shown, resolve, arguments, read, is_non_null_type(defined.type))


def _takes_info_alone(resolver: Any) -> bool:
    """Whether a resolver is one of `http.fields`, which ask `info` and their arguments."""
    if resolver is None or not resolver.is_async or not resolver.info_parameter:
        return False
    return not (resolver.self_parameter or resolver.parent_parameter or resolver.root_parameter)


def _arguments(
    root: GraphQLObjectType, operation: OperationDefinitionNode, node: FieldNode
) -> Mapping[str, tuple[str, Read]] | None:
    """The readers of the arguments; None unless each is a variable of its own, without a default, of a known type."""
    variables = {one.variable.name.value: one for one in operation.variable_definitions or ()}
    defined = root.fields[node.name.value]
    python = {
        one.graphql_name or to_camel_case(one.python_name): one.python_name
        for one in defined.extensions[STRAWBERRY_DEFINITION].arguments
    }
    readers: dict[str, tuple[str, Read]] = {}
    for one in node.arguments or ():
        value, kind = one.value, defined.args[one.name.value].type
        variable = variables.pop(value.name.value, None) if isinstance(value, VariableNode) else None
        if variable is None or variable.default_value is not None or variable.directives:
            return None
        wanted = GraphQLNonNull(get_nullable_type(kind)) if isinstance(variable.type, NonNullTypeNode) else kind
        if print_ast(variable.type).rstrip("!") != str(kind).rstrip("!"):
            return None
        read = input_reader(wanted)
        if read is None:
            return None
        readers[variable.variable.name.value] = python[one.name.value], read
    return None if variables else readers
