"""How input objects are made of what a client sent.

Strawberry looks up name and type of every field anew for each request, also of fields that were left out: of
`RagAnswerInput` and its options that took a seventh of a cached answer. Here both are looked up once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass
from typing import Any

import strawberry
from strawberry.types.arguments import InputContext
from strawberry.types.base import (
    StrawberryList,
    StrawberryObjectDefinition,
    StrawberryOptional,
    has_object_definition,
)
from strawberry.types.lazy_type import LazyType


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
            one.default_value is not MISSING or one.default_factory is not MISSING,
        )
        for one in definition.fields
    ]


def _nested_kind(kind: Any) -> Any:
    """The type of a list or of an input object; None for what needs no conversion."""
    inner = kind.of_type if isinstance(kind, StrawberryOptional) else kind
    return kind if isinstance(inner, StrawberryList | LazyType) or has_object_definition(inner) else None
