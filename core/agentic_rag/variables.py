"""What an environment variable is: its documentation, how its text becomes a value, and how it may be shown."""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"0", "false", "no", "off"})


@dataclass(frozen=True, slots=True)
class Variable:
    """What is known of one environment variable."""

    name: str
    default: object
    meaning: str
    group: str
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()
    secret: bool = False
    """Never shown at all."""
    url: bool = False
    """Shown without its password."""


def parse(raw: str, hint: object, variable: Variable) -> object:
    """The value of a variable of type `hint`. Errors: ValueError with a message that says what was expected."""
    value = _PARSERS[typing.cast(type, hint)](raw.strip())
    if variable.choices and value not in variable.choices:
        raise ValueError(f"expected one of {', '.join(variable.choices)}")
    if isinstance(value, int | float) and not isinstance(value, bool):
        if variable.minimum is not None and value < variable.minimum:
            raise ValueError(f"must be at least {variable.minimum:g}")
        if variable.maximum is not None and value > variable.maximum:
            raise ValueError(f"must be at most {variable.maximum:g}")
    return value


def _parse_bool(raw: str) -> bool:
    lowered = raw.lower()
    if lowered in _TRUE:
        return True
    if lowered in _FALSE:
        return False
    raise ValueError("expected true or false")


def _parse_int(raw: str) -> int:
    try:
        return int(raw)
    except ValueError:
        raise ValueError("expected a whole number") from None


def _parse_float(raw: str) -> float:
    try:
        value = float(raw)
    except ValueError:
        raise ValueError("expected a number") from None
    if value != value or value in (float("inf"), float("-inf")):
        raise ValueError("expected a finite number")
    return value


_PARSERS: Mapping[type, Callable[[str], object]] = types.MappingProxyType(
    {bool: _parse_bool, int: _parse_int, float: _parse_float, str: str, Path: lambda raw: Path(raw).expanduser()}
)


def display_value(text: str, variable: Variable) -> str:
    """A value as it may be printed."""
    if not text:
        return ""
    if variable.secret:
        return "********"
    if variable.url:
        return without_password(text)
    return text


def without_password(url: str) -> str:
    """A URL with its password replaced, fit for logs."""
    parts = urlsplit(url)
    if parts.password is None:
        return url
    netloc = parts.netloc.replace(f":{parts.password}@", ":********@", 1)
    return urlunsplit(parts._replace(netloc=netloc))
