"""JSON objects with camel-case names as the dataclasses of `values`. Members that this version does not know are left
out.
"""

from __future__ import annotations

import types
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")


def read(kind: type[T], shown: Any) -> T:
    """Errors: `KeyError`, `TypeError` and `AttributeError` for what does not fit."""
    return kind(**{name: _value(hint, shown[member]) for name, member, hint in _members(kind)})


def camel(name: str) -> str:
    """`source_path` as `sourcePath`."""
    first, *others = name.split("_")
    return first + "".join(one.capitalize() for one in others)


@cache
def _members(kind: type) -> tuple[tuple[str, str, Any], ...]:
    hints = get_type_hints(kind)
    return tuple((one.name, camel(one.name), hints[one.name]) for one in fields(kind))


def _value(hint: Any, shown: Any) -> Any:
    if get_origin(hint) in (Union, types.UnionType):
        (inner,) = [one for one in get_args(hint) if one is not types.NoneType]
        return None if shown is None else _value(inner, shown)
    if get_origin(hint) is tuple:
        return tuple(_value(get_args(hint)[0], one) for one in shown)
    return read(hint, shown) if isinstance(hint, type) and is_dataclass(hint) else shown
