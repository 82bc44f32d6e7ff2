"""Structured logs: one JSON object per line on stderr, each with the current trace id, with secrets redacted."""

from __future__ import annotations

import json
import logging
import re
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TextIO

REDACTED = "[redacted]"
_SECRET_KEY = re.compile(r"(?i)secret|passw|authori[sz]ation|api_?key|credential|cookie|bearer|dsn|^token$|_token$")
_SECRET_TEXT = re.compile(r"(?i)(\bbearer\s+)[^\s\"']+|(://[^\s/@:]*:)[^\s/@]+(?=@)|\bsk-[a-z0-9_-]{8,}")

_CHATTY = "arq.worker"
"""Logs each delivery by an id unknown elsewhere; our own events report jobs."""


class JsonLog:
    """Writes the events of this process from a level on."""

    def __init__(self, trace_id: Callable[[], str | None], level: str, stream: TextIO | None = None) -> None:
        self._trace_id = trace_id
        self._least = _number_of(level)
        self._stream = stream or sys.stderr

    def write(self, level: str, event: str, /, **fields: object) -> None:
        """Write a line, unless its level is below the least."""
        if _number_of(level) < self._least:
            return
        trace_id = self._trace_id()
        traced = {} if trace_id is None else {"trace_id": trace_id}
        # In one piece: threads write lines too.
        self._stream.write(_line(level, event, {**traced, **fields}) + "\n")
        self._stream.flush()


class JsonFormatter(logging.Formatter):
    """Gives the records of libraries the same form."""

    def format(self, record: logging.LogRecord) -> str:
        """One line, without its end."""
        raised = {"exception": self.formatException(record.exc_info)} if record.exc_info else {}
        return _line(record.levelname.lower(), record.getMessage(), {"logger": record.name, **raised})


def route_standard_logging(level: str, stream: TextIO | None = None) -> None:
    """Give the log lines of libraries (uvicorn, asyncio …) the same format; entry points call it once."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    logging.getLogger(_CHATTY).setLevel(logging.NOTSET if level.upper() == "DEBUG" else logging.WARNING)


def _number_of(level: str) -> int:
    return logging.getLevelNamesMapping()[level.upper()]


def _line(level: str, event: str, fields: dict[str, object]) -> str:
    timestamp = datetime.now(UTC).isoformat().replace("+00:00", "Z")
    told = {"event": event, "level": level, "timestamp": timestamp, **fields}
    return json.dumps({name: _redact(name, value) for name, value in told.items()}, default=str)


def _redact(name: str, value: object) -> object:
    """Hide a value whose name tells of a secret, and secrets inside texts (bearer tokens, passwords in URLs, provider
    keys).
    """
    if _SECRET_KEY.search(name):
        return REDACTED
    if not isinstance(value, str):
        return value
    return _SECRET_TEXT.sub(lambda found: (found.group(1) or found.group(2) or "") + REDACTED, value)
