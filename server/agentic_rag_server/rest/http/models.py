"""Bodies that several REST operations share. Every body is a typed value: what is sent and what the OpenAPI document
says of it are made from the same class.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import msgspec
from msgspec import Meta
from starlette.responses import Response

NOT_STORED = {"cache-control": "no-store"}

Instant = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]
"""ISO 8601 with its offset."""


class Model(msgspec.Struct, frozen=True, rename="camel"):
    """A JSON object with camel-case names. All members are always there; null where there is no value."""


class ErrorDetail(Model, frozen=True):
    """A refusal. `code` is stable; docs/errors.md lists them all."""

    code: str
    message: str
    trace_id: Annotated[str, Meta(description="Quote it when you report the error; 32 hex digits.")]


class Refusal(Model, frozen=True):
    """The body of every answer from 400 on."""

    error: ErrorDetail


def instant(moment: datetime) -> str:
    """A moment as `Instant`."""
    return moment.isoformat()


def answer(body: Model, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """A body as a response."""
    return Response(msgspec.json.encode(body), status, headers, media_type="application/json")
