"""Answers as JSON objects with their fields by name, for stored runs and for the cache.

A later version reads what this one wrote: decoding ignores unknown fields and fills missing ones with their defaults.
"""

from __future__ import annotations

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


def _plain(value: object) -> dict[str, Any]:
    if isinstance(value, MappingProxyType):
        return dict(cast("MappingProxyType[str, Any]", value))
    raise NotImplementedError(f"an answer holds no {type(value).__name__}")


_ENCODER = msgspec.json.Encoder(enc_hook=_plain)
_DECODER = msgspec.json.Decoder(Answer)
