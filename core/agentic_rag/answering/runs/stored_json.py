"""Answers as they are kept with a run: one JSON object with the names of the domain, readable by any later version.

Reading ignores names it does not know and fills missing ones with their defaults. (The cache has a faster layout of its
own, `answering.runs.cache_codec`, which need not outlive a release.)
"""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any
from uuid import UUID

import orjson

from agentic_rag.answering.answer import Answer

_Reader = Callable[[Any], Any]


class JsonAnswerCodec:
    """Implements `answering.ports.AnswerCodec`."""

    def encode(self, answer: Answer) -> bytes:
        """The answer as one JSON object."""
        return orjson.dumps(answer, default=_plain)

    def decode(self, stored: bytes) -> Answer:
        """The inverse. Errors: `ValueError` when this is no stored answer."""
        try:
            return typing.cast(Answer, _reader_of(Answer)(orjson.loads(stored)))
        except (KeyError, TypeError, AttributeError) as problem:
            raise ValueError(f"this is no stored answer: {problem}") from problem


def _plain(value: object) -> object:
    if isinstance(value, UUID):
        return str(value)  # a driver's own kind of UUID, which orjson does not know
    if isinstance(value, Mapping):
        return dict(typing.cast(Mapping[str, object], value))
    raise TypeError(f"an answer holds no {type(value).__name__}")


@lru_cache(maxsize=256)
def _reader_of(hint: Any) -> _Reader:
    """How a value of that type is read back from plain JSON."""
    origin = typing.get_origin(hint)
    if origin in (types.UnionType, typing.Union):
        present = _reader_of(next(one for one in typing.get_args(hint) if one is not types.NoneType))
        return lambda value: None if value is None else present(value)
    if origin is tuple:
        item = _reader_of(typing.get_args(hint)[0])
        return lambda values: tuple(item(value) for value in values)
    if origin is not None:
        return dict
    kind = typing.cast(type, hint)
    if kind is datetime:
        return datetime.fromisoformat
    if is_dataclass(kind):
        return _dataclass_reader(kind)
    return typing.cast(_Reader, kind)


def _dataclass_reader(kind: type) -> _Reader:
    hints = typing.get_type_hints(kind)
    readers = {one.name: _reader_of(hints[one.name]) for one in fields(kind)}
    needed = {one.name for one in fields(kind) if one.default is MISSING and one.default_factory is MISSING}

    def read(value: Mapping[str, Any]) -> Any:
        missing = needed - value.keys()
        if missing:
            raise KeyError(f"{kind.__name__} lacks {', '.join(sorted(missing))}")
        return kind(**{name: reader(value[name]) for name, reader in readers.items() if name in value})

    return read
