"""A setting: an annotated field of a group, the environment variable behind it, and how its text is read and shown."""

from __future__ import annotations

import math
import typing
from collections.abc import Callable, Collection, Iterator
from dataclasses import KW_ONLY, dataclass, fields
from pathlib import Path
from typing import Any

import msgspec

from agentic_rag.settings.addresses import MASK, mask_password

UNSET_PATH = Path()
_BOOLEANS = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}
_KINDS = {bool: "true or false", int: "a whole number", float: "a number"}


@dataclass(frozen=True, slots=True)
class Env:
    """The environment variable of a field."""

    name: str
    _: KW_ONLY
    is_secret: bool = False
    """Never shown at all."""
    is_url: bool = False
    """Shown without its password."""
    check: Callable[[str], object] | None = None
    """Parses the text further and raises ValueError where it cannot."""


@dataclass(frozen=True, slots=True)
class Variable:
    """Everything known about one setting. `group` and `field` say where `Settings` keeps its value."""

    group: str
    field: str
    hint: Any
    kind: Any
    env: Env
    meta: msgspec.Meta
    default: object

    @property
    def name(self) -> str:
        """The name of the environment variable."""
        return self.env.name

    @property
    def choices(self) -> tuple[str, ...]:
        """The values of a `Literal`; empty for every other type."""
        return typing.get_args(self.kind)

    @property
    def limits(self) -> str:
        """The accepted range as documentation and problems state it; empty where there is none."""
        low, high = self.meta.ge, self.meta.le
        if low is None:
            return ""
        return f"at least {low:g}" if high is None else f"{low:g} to {high:g}"

    def read(self, raw: str) -> object:
        """The value of a text. Errors: ValueError with what was expected."""
        text = raw.strip()
        given = _BOOLEANS.get(text.lower(), text) if self.kind is bool else text
        try:
            value = msgspec.convert(given, self.hint, strict=False, dec_hook=_read_path)
        except msgspec.ValidationError:
            value = None
        if value is None or (isinstance(value, float) and not math.isfinite(value)):
            raise ValueError(f"expected {self._expectation}")
        if self.env.check is not None:
            self.env.check(text)
        return value

    @property
    def _expectation(self) -> str:
        kind = f"one of {', '.join(self.choices)}" if self.choices else _KINDS[self.kind]
        return f"{kind}, {self.limits}" if self.limits else kind

    def show(self, value: object) -> str:
        """A value or raw text as it may be printed: secrets and passwords are masked."""
        if value == UNSET_PATH or value == "":
            return ""
        if self.env.is_secret:
            return MASK
        text = str(value).lower() if isinstance(value, bool) else str(value)
        return mask_password(text) if self.env.is_url else text


def variables_of(group: str, of: type) -> Iterator[Variable]:
    """The settings of a group's class, in the order of its fields."""
    hints = typing.get_type_hints(of, include_extras=True)
    for field in fields(of):
        kind, env, *limits = typing.get_args(hints[field.name])
        meta = limits[0] if limits else msgspec.Meta()
        yield Variable(group, field.name, hints[field.name], kind, env, meta, field.default)


def split_list(text: str) -> list[str]:
    """The parts of `a, b, c`, without empty ones."""
    return [part.strip() for part in text.split(",") if part.strip()]


def parse_pairs(text: str, keys: Collection[str]) -> dict[str, str]:
    """The pairs of `key=value,key=value`. Errors: ValueError for a part without a value and for another key."""
    pairs: dict[str, str] = {}
    for part in split_list(text):
        key, _, value = (side.strip() for side in part.partition("="))
        if key not in keys or not value:
            raise ValueError(f"{part!r}: expected KEY=VALUE pairs, separated by commas, with keys {', '.join(keys)}")
        pairs[key] = value
    return pairs


def _read_path(kind: type, text: object) -> object:
    if kind is Path:
        return Path(str(text)).expanduser()
    raise NotImplementedError(kind)
