"""Objects whose selected fields are attributes of a value, or computed from it alone, read without graphql-core.

graphql-core makes a path, a description of the field and five calls for each field of each object: of a cached answer
that took a fifth. What a document selects of an object is looked at once, when the document is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from types import MappingProxyType
from typing import Any

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    GraphQLBoolean,
    GraphQLError,
    GraphQLID,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLResolveInfoHelpers,
    GraphQLSchema,
    GraphQLString,
    InlineFragmentNode,
    OperationDefinitionNode,
    SelectionSetNode,
    Undefined,
    get_named_type,
    is_leaf_type,
)
from strawberry.schema.schema import StrawberryGraphQLCoreExecutionContext

Read = Callable[[Any], Any]
"""What the response shows of a value. Errors: those of `UNREADABLE`."""

PlainObjects = Mapping[int, Read]
"""By the `id` of the field's node, which lives as long as its document."""


class NotPlain(Exception):
    """A value that is not what its type says: graphql-core reports it."""


UNREADABLE = (NotPlain, AttributeError, TypeError, ValueError, GraphQLError)

STRAWBERRY_DEFINITION = "strawberry-definition"
"""Where graphql-core's types and fields hold Strawberry's."""
AS_IT_IS: Mapping[Any, type] = {GraphQLString: str, GraphQLID: str, GraphQLBoolean: bool}
"""Values of these types are shown as they are."""


class PlainExecutor(StrawberryGraphQLCoreExecutionContext):
    """Executes an operation, plain objects by their readers."""

    def __init__(self, *args: Any, plain: PlainObjects = MappingProxyType({}), **options: Any) -> None:
        super().__init__(*args, **options)
        self._plain = plain

    def _helpers(self) -> GraphQLResolveInfoHelpers:
        return GraphQLResolveInfoHelpers(gather=self.gather_async_work, track=self.track_async_work)

    async_helpers: Any = property(_helpers, lambda *_: None)
    """What resolvers are told. graphql-core keeps it in the executor, to which it refers: each request would stay with
    all that it names until garbage in cycles is looked for.
    """

    def collect_and_execute_subfields(
        self, return_type: Any, field_details_list: Any, path: Any, result: Any, position_context: Any
    ) -> Any:
        if len(field_details_list) == 1:
            read = self._plain.get(id(field_details_list[0].node))
            if read is not None:
                try:
                    return read(result)
                except UNREADABLE:
                    # Read once more by graphql-core, which says where the fault is.
                    pass
        return super().collect_and_execute_subfields(return_type, field_details_list, path, result, position_context)


def plain_objects(schema: GraphQLSchema, document: DocumentNode) -> PlainObjects:
    """The readers of a valid document: of the outermost objects that hold nothing but what their value tells."""
    found: dict[int, Read] = {}
    for one in document.definitions:
        if isinstance(one, OperationDefinitionNode):
            _find(schema, schema.get_root_type(one.operation), one.selection_set, found)
        elif isinstance(one, FragmentDefinitionNode):
            _find(schema, schema.type_map.get(one.type_condition.name.value), one.selection_set, found)
    return found


def _find(schema: GraphQLSchema, kind: Any, selected: SelectionSetNode, found: dict[int, Read]) -> None:
    if not isinstance(kind, GraphQLObjectType):
        return
    for one in selected.selections:
        if isinstance(one, InlineFragmentNode):
            narrowed = kind if one.type_condition is None else schema.type_map.get(one.type_condition.name.value)
            _find(schema, narrowed, one.selection_set, found)
        elif isinstance(one, FieldNode) and one.selection_set is not None and one.name.value in kind.fields:
            inner = get_named_type(kind.fields[one.name.value].type)
            read = _object_reader(inner, one.selection_set)
            if read is None:
                _find(schema, inner, one.selection_set, found)
            else:
                found[id(one)] = read


def _object_reader(kind: Any, selected: SelectionSetNode) -> Read | None:
    """The reader of an object; None unless every selected field is told by the value alone."""
    if not isinstance(kind, GraphQLObjectType):
        return None
    fields: dict[str, tuple[Read, Read]] = {}
    for one in selected.selections:
        field = kind.fields.get(one.name.value) if isinstance(one, FieldNode) else None
        if field is None or not isinstance(one, FieldNode) or one.directives or field.args:
            return None
        shown = one.name.value if one.alias is None else one.alias.value
        find, read = _finder(field.extensions[STRAWBERRY_DEFINITION]), value_reader(field.type, one.selection_set)
        if read is None or shown in fields or find is None:
            return None
        fields[shown] = find, read
    places: Sequence[tuple[str, Read, Read]] = [(shown, *place) for shown, place in fields.items()]
    return lambda value: {shown: read(find(value)) for shown, find, read in places}


def _finder(definition: Any) -> Read | None:
    """Finds the value of a field in that of its object: an attribute, or what a method without arguments computes of
    it; None for a field that asks anything else.
    """
    if definition.is_basic_field:
        return attrgetter(definition.python_name)
    resolver = definition.base_resolver
    if resolver is None or resolver.is_async or definition.extensions or not resolver.self_parameter:
        return None
    if resolver.arguments or resolver.info_parameter or resolver.parent_parameter or resolver.root_parameter:
        return None
    compute: Read = resolver.wrapped_func

    def find(value: Any) -> Any:
        try:
            return compute(value)
        except Exception as error:
            raise NotPlain from error

    return find


def value_reader(kind: Any, selected: SelectionSetNode | None) -> Read | None:
    """The reader of the value of a field of this type; None where graphql-core must look at the value."""
    if isinstance(kind, GraphQLNonNull):
        return _required(value_reader(kind.of_type, selected))
    if isinstance(kind, GraphQLList):
        return _list_reader(value_reader(kind.of_type, selected))
    if is_leaf_type(kind):
        return _leaf_reader(kind)
    if selected is None:
        return None
    read, is_type_of = _object_reader(kind, selected), getattr(kind, "is_type_of", None)
    if read is None:
        return None

    def read_object(value: Any) -> Any:
        if value is None:
            return None
        if is_type_of is not None and is_type_of(value, None) is not True:
            raise NotPlain
        return read(value)

    return read_object


def _required(read: Read | None) -> Read | None:
    if read is None:
        return None

    def read_required(value: Any) -> Any:
        shown = read(value)
        if shown is None:
            raise NotPlain
        return shown

    return read_required


def _list_reader(read: Read | None) -> Read | None:
    if read is None:
        return None

    def read_list(value: Any) -> Any:
        if value is None:
            return None
        if not isinstance(value, list | tuple):
            raise NotPlain
        return [read(one) for one in value]

    return read_list


def _leaf_reader(kind: Any) -> Read:
    shown_as_is, coerce = AS_IT_IS.get(kind), kind.coerce_output_value

    def read_leaf(value: Any) -> Any:
        if value is None or type(value) is shown_as_is:
            return value
        shown = coerce(value)
        if shown is None or shown is Undefined:
            raise NotPlain
        return shown

    return read_leaf
