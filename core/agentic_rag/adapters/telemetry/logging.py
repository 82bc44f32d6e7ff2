"""Structured logs: one JSON object per line on stderr, each with the ids it belongs to, with secrets redacted."""

from __future__ import annotations

import json
import logging
import re
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import TextIO

REDACTED = "[redacted]"
_SECRET_KEY = re.compile(r"(?i)secret|passw|authori[sz]ation|api_?key|credential|cookie|bearer|dsn|^token$|_token$")
_SECRET_TEXT = re.compile(r"(?i)(\bbearer\s+)[^\s\"']+|(://[^\s/@:]*:)[^\s/@]+(?=@)|\bsk-[a-z0-9_-]{8,}")

_EXCEPTIONS = logging.Formatter()
_CHATTY = "arq.worker"
"""Logs each delivery by an id unknown elsewhere; our own events report jobs."""


class JsonLog:
    """Writes the events of this process from a level on, each with what `ids` names. `also` gets each redacted line."""

    def __init__(self, ids: Callable[[], Mapping[str, str]], level: str, stream: TextIO | None = None) -> None:
        self._ids = ids
        self._least = _number_of(level)
        self._stream = stream or sys.stderr
        self.also: Callable[[Mapping[str, object]], None] | None = None

    def write(self, level: str, event: str, /, **fields: object) -> None:
        """Write a line, unless its level is below the least."""
        if _number_of(level) < self._least:
            return
        line = _redact_record(level, event, {**self._ids(), **fields})
        # In one piece: threads write lines too.
        self._stream.write(json.dumps(line, default=str) + "\n")
        self._stream.flush()
        if self.also is not None:
            self.also(line)


class JsonFormatter(logging.Formatter):
    """Gives the records of libraries the same form."""

    def format(self, record: logging.LogRecord) -> str:
        """One line, without its end."""
        return json.dumps(library_fields(record), default=str)


def library_fields(record: logging.LogRecord) -> Mapping[str, object]:
    """The fields of a library's line, redacted."""
    raised = {"exception": _EXCEPTIONS.formatException(record.exc_info)} if record.exc_info else {}
    return _redact_record(record.levelname.lower(), record.getMessage(), {"logger": record.name, **raised})


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


def _redact_record(level: str, event: str, fields: dict[str, object]) -> dict[str, object]:
    timestamp = datetime.now(UTC).isoformat().replace("+00:00", "Z")
    told = {"event": event, "level": level, "timestamp": timestamp, **fields}
    return {name: _redact(name, value) for name, value in told.items()}


@lru_cache(256)
def _names_secret(name: str) -> bool:
    return _SECRET_KEY.search(name) is not None


def _may_hold_secret(folded: str) -> bool:
    """False only for what the pattern cannot match; it takes a third of the time of a log line to find that out."""
    return "bearer" in folded or "://" in folded or "sk-" in folded


def _redact(name: str, value: object) -> object:
    """Hide a value whose name tells of a secret, and secrets inside texts (bearer tokens, passwords in URLs, provider
    keys).
    """
    if _names_secret(name):
        return REDACTED
    if not isinstance(value, str) or not _may_hold_secret(value.casefold()):
        return value
    return _SECRET_TEXT.sub(lambda found: (found.group(1) or found.group(2) or "") + REDACTED, value)
