"""Values of the core as values of the schema."""

from __future__ import annotations

from dataclasses import fields
from functools import lru_cache
from typing import Any, TypeVar

_Shown = TypeVar("_Shown")


def to_schema(kind: type[_Shown], /, *values: object, **different: Any) -> _Shown:
    """A value of the type `kind`. Each field takes the attribute of its name, from the first of `values` that has it,
    or what `different` gives for it.

    Strawberry reads fields by name, so a nested value of the core needs no conversion when its names are the schema's.
    """
    copied = {
        name: next(getattr(value, name) for value in values if hasattr(value, name))
        for name in _names(kind)
        if name not in different
    }
    return kind(**copied, **different)


@lru_cache(maxsize=128)
def _names(kind: Any) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind) if field.init)
