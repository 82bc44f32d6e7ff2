"""How input objects are made of what a client sent.

Strawberry looks up name and type of every field anew for each request, also of fields that were left out: of
`RagAnswerInput` and its options that took a seventh of a cached answer. Here both are looked up once, for values that
graphql-core coerced (`read_inputs_by_plan`) and for those that it need not look at (`input_reader`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field
from typing import Any

import strawberry
from graphql import (
    GraphQLInputObjectType,
    GraphQLList,
    GraphQLNonNull,
    is_leaf_type,
    is_required_input_field,
)
from strawberry.types.arguments import InputContext
from strawberry.types.base import (
    StrawberryList,
    StrawberryObjectDefinition,
    StrawberryOptional,
    has_object_definition,
)
from strawberry.types.lazy_type import LazyType

from agentic_rag_server.graphql.http.plain_values import AS_IT_IS, STRAWBERRY_DEFINITION, NotPlain, Read


@dataclass(frozen=True, slots=True)
class _InputField:
    """A field: its name in the schema, and in Python."""

    name: str
    attribute: str
    kind: Any
    """Its type; None for a scalar or an enum, which is taken as it is."""
    has_default: bool


@dataclass(frozen=True, slots=True)
class _InputReader:
    """Makes the values of one input type; Strawberry calls it as the type's `from_input`."""

    fields: tuple[_InputField, ...]

    def __call__(self, kind: type, value: Mapping[str, Any], context: InputContext) -> Any:
        given: dict[str, Any] = {}
        for one in self.fields:
            if one.name in value:
                sent = value[one.name]
                if one.kind is not None and sent is not None:
                    sent = context.convert(sent, one.kind, one.name)
                given[one.attribute] = sent
            elif not one.has_default:
                given[one.attribute] = None
        return kind(**given)


def read_inputs_by_plan(schema: strawberry.Schema) -> None:
    """Give every input type of the schema its reader."""
    for shown in schema.schema_converter.type_map.values():
        definition = shown.definition
        if isinstance(definition, StrawberryObjectDefinition) and definition.is_input:
            definition.from_input = _InputReader(tuple(_fields(schema, definition)))


def _fields(schema: strawberry.Schema, definition: StrawberryObjectDefinition) -> list[_InputField]:
    return [
        _InputField(
            schema.config.name_converter.from_field(one),
            one.python_name,
            _nested_kind(one.resolve_type(type_definition=definition)),
            _has_default(one),
        )
        for one in definition.fields
    ]


def _nested_kind(kind: Any) -> Any:
    """The type of a list or of an input object; None for what needs no conversion."""
    inner = kind.of_type if isinstance(kind, StrawberryOptional) else kind
    return kind if isinstance(inner, StrawberryList | LazyType) or has_object_definition(inner) else None


def _has_default(defined: Any) -> bool:
    return defined.default_value is not MISSING or defined.default_factory is not MISSING


@dataclass(frozen=True, slots=True)
class _ObjectReader:
    """Reads an object of JSON as a value of an input type. Errors: `NotPlain`, those of its fields' readers."""

    made: Any
    """The class of Strawberry."""
    fields: dict[str, tuple[str, Read, bool, bool]] = field(default_factory=dict)
    """By name: the attribute, the reader, whether it must be given, whether it has a default."""

    def __call__(self, value: Any) -> Any:
        if value is None:
            return None
        if not isinstance(value, dict) or not value.keys() <= self.fields.keys():
            raise NotPlain
        given: dict[str, Any] = {}
        for name, (attribute, read, is_required, has_default) in self.fields.items():
            if name in value:
                given[attribute] = read(value[name])
            elif is_required:
                raise NotPlain
            elif not has_default:
                given[attribute] = None
        return self.made(**given)


def input_reader(kind: Any) -> Read | None:
    """The reader of a value of an input type of graphql-core, as a client sent it; None where one of its fields is of a
    type that is not known here. Errors of the reader, for a value that is not of the type or takes a conversion:
    `NotPlain`, `UNREADABLE`, `RecursionError`.
    """
    return _input_reader(kind, {})


def _input_reader(kind: Any, known: dict[str, Read]) -> Read | None:
    if isinstance(kind, GraphQLNonNull):
        return _given_reader(_input_reader(kind.of_type, known))
    if isinstance(kind, GraphQLList):
        return _items_reader(_input_reader(kind.of_type, known))
    if is_leaf_type(kind):
        return _leaf_reader(kind)
    if not isinstance(kind, GraphQLInputObjectType) or kind.is_one_of:
        return None
    if kind.name in known:
        return known[kind.name]
    definition = kind.extensions[STRAWBERRY_DEFINITION]
    by_attribute = {one.python_name: one for one in definition.fields}
    known[kind.name] = reader = _ObjectReader(definition.origin)
    for name, shown in kind.fields.items():
        read = _input_reader(shown.type, known)
        if read is None:
            return None
        one = shown.extensions[STRAWBERRY_DEFINITION]
        defined = by_attribute[one.python_name]
        reader.fields[name] = one.python_name, read, is_required_input_field(shown), _has_default(defined)
    return reader


def _given_reader(read: Read | None) -> Read | None:
    if read is None:
        return None

    def read_given(value: Any) -> Any:
        if value is None:
            raise NotPlain
        return read(value)

    return read_given


def _items_reader(read: Read | None) -> Read | None:
    if read is None:
        return None

    def read_items(value: Any) -> Any:
        if value is None:
            return None
        if not isinstance(value, list):
            raise NotPlain
        return [read(one) for one in value]

    return read_items


def _leaf_reader(kind: Any) -> Read:
    taken_as_is, coerce = AS_IT_IS.get(kind), kind.coerce_input_value
    return lambda value: value if value is None or type(value) is taken_as_is else coerce(value)
