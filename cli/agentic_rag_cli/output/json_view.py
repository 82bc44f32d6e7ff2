"""Plain JSON values of the product's own values."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID


def json_fields(value: object, *names: str) -> dict[str, Any]:
    """The named attributes under their names in camel case, in that order."""
    return {_camel(name): _plain(getattr(value, name)) for name in names}


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))


def _plain(value: Any) -> Any:
    match value:
        case datetime():
            return value.isoformat()
        case enum.Enum():
            return value.value
        case UUID():
            return str(value)
        case tuple() | list():
            return [_plain(one) for one in value]
        case Mapping():
            return dict(value)
    return value
