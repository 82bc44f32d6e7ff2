"""The envelope `{status, message, data}` around every answer to paths under `/organization/`."""

from __future__ import annotations

from typing import Literal

from agentic_rag_server.rest.http.models import ErrorDetail, Model

ENVELOPED = "/organization/"
"""What a path begins with whose answers have the envelope, whoever gives them."""


class Success(Model, frozen=True):
    """What an envelope of an answer below 400 begins with."""

    status: Literal["success"]
    message: str


class EnvelopedRefusal(Model, frozen=True):
    """The body of every answer from 400 on: the envelope, and beside it what all refusals of this API hold."""

    status: Literal["error"]
    message: str
    data: None
    error: ErrorDetail


def wrap_refusal(detail: ErrorDetail) -> EnvelopedRefusal:
    """A refusal in its envelope."""
    return EnvelopedRefusal(status="error", message=detail.message, data=None, error=detail)
