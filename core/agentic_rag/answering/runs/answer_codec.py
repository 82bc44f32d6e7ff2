"""Answers as JSON objects with their fields by name, for the cache, and compressed for stored runs.

A later version reads what this one wrote: decoding ignores unknown fields and fills missing ones with their defaults.
"""

from __future__ import annotations

import zlib
from types import MappingProxyType
from typing import Any, cast

import msgspec

from agentic_rag.answering.answer import Answer


def encode(answer: Answer) -> bytes:
    """The answer as JSON in UTF-8; equal answers give equal bytes."""
    return _ENCODER.encode(answer)


def decode(stored: bytes) -> Answer:
    """The answer that `encode` wrote. Errors: `ValueError`."""
    return _DECODER.decode(stored)


def pack(encoded: bytes) -> bytes:
    """What `encode` gave, compressed to a quarter."""
    return zlib.compress(encoded, _LEVEL)


def unpack(stored: bytes) -> Answer:
    """The answer that `encode` and `pack` wrote. Errors: `ValueError`."""
    try:
        return decode(zlib.decompress(stored, bufsize=_MOST_ANSWERS_BYTES))
    except zlib.error as error:
        raise ValueError(str(error)) from error


def _plain(value: object) -> dict[str, Any]:
    if isinstance(value, MappingProxyType):
        return dict(cast("MappingProxyType[str, Any]", value))
    raise NotImplementedError(f"an answer holds no {type(value).__name__}")


_LEVEL = 1
"""The levels above save a tenth of the bytes and take three times as long."""
_MOST_ANSWERS_BYTES = 32_768
"""How long most are. A longer one is read too, by more than one allocation."""

_ENCODER = msgspec.json.Encoder(enc_hook=_plain)
_DECODER = msgspec.json.Decoder(Answer)
