"""Structured logs: one JSON object per line on stderr, each with the current trace id, with secrets redacted."""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Callable, MutableMapping
from typing import Any, TextIO

import structlog

REDACTED = "[redacted]"
_SECRET_KEY = re.compile(r"(?i)secret|passw|authori[sz]ation|api_?key|credential|cookie|bearer|dsn|^token$|_token$")
_SECRET_TEXT = re.compile(r"(?i)(\bbearer\s+)[^\s\"']+|(://[^\s/@:]*:)[^\s/@]+(?=@)|\bsk-[a-z0-9_-]{8,}")

EventDict = MutableMapping[str, Any]


def redact(_: object, __: str, event: EventDict) -> EventDict:
    """A structlog processor that redacts values whose key names a secret, and secrets inside texts (bearer tokens,
    passwords in URLs, provider keys).
    """
    for key, value in event.items():
        if _SECRET_KEY.search(key):
            event[key] = REDACTED
        elif isinstance(value, str):
            event[key] = _SECRET_TEXT.sub(lambda found: (found.group(1) or found.group(2) or "") + REDACTED, value)
    return event


def build_logger(trace_id: Callable[[], str | None], level: str, stream: TextIO | None = None) -> Any:
    """A structlog logger writing JSON lines to `stream` (stderr)."""

    def add_trace(_: object, __: str, event: EventDict) -> EventDict:
        current = trace_id()
        if current is not None:
            event.setdefault("trace_id", current)
        return event

    return structlog.wrap_logger(
        structlog.PrintLogger(stream or sys.stderr),
        processors=[*_common_processors(), add_trace, redact, structlog.processors.JSONRenderer(default=str)],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        cache_logger_on_first_use=True,
    )


_CHATTY = "arq.worker"
"""Logs each delivery by an id unknown elsewhere; our own events report jobs."""


def route_standard_logging(level: str, stream: TextIO | None = None) -> None:
    """Give the log lines of libraries (uvicorn, asyncio …) the same format; entry points call it once."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*_common_processors(), structlog.stdlib.add_logger_name],
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                redact,
                structlog.processors.JSONRenderer(default=str),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    logging.getLogger(_CHATTY).setLevel(logging.NOTSET if level.upper() == "DEBUG" else logging.WARNING)


def _common_processors() -> list[Any]:
    return [
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
