"""The table that maps errors to exit codes, and the error line on standard error."""

from __future__ import annotations

import enum

from agentic_rag.embedded.errors import EmbeddedServerError
from agentic_rag.kernel.errors import (
    AgenticRagError,
    DependencyUnavailable,
    FeatureDisabled,
    InvalidInput,
    Misconfigured,
    Permanent,
    Retryable,
    is_disk_full,
)
from agentic_rag.settings import SettingsInvalid


class ExitCode(enum.IntEnum):
    """Stable exit codes for scripts; docs/cli.md has the same table."""

    OK = 0
    FAILED = 1
    USAGE = 2
    PARTIAL = 3
    UNAVAILABLE = 4
    THRESHOLD = 5
    INTERRUPTED = 130


PRODUCT_ERRORS = (AgenticRagError, EmbeddedServerError)
"""Errors that are shown as `error [CODE]: message`, never as a traceback."""

_EXIT_CODES: tuple[tuple[type[Exception], ExitCode], ...] = (
    (InvalidInput, ExitCode.USAGE),
    (SettingsInvalid, ExitCode.USAGE),
    (Misconfigured, ExitCode.UNAVAILABLE),
    (DependencyUnavailable, ExitCode.UNAVAILABLE),
    (EmbeddedServerError, ExitCode.UNAVAILABLE),
    (FeatureDisabled, ExitCode.UNAVAILABLE),
    (AgenticRagError, ExitCode.FAILED),
)
"""The first match counts, so specific errors come before general ones."""


def full_disk(error: OSError) -> AgenticRagError | None:
    """The product's error for a disk without room, whoever met it first; None for any other."""
    if not is_disk_full(error):
        return None
    place = f" of {error.filename}" if error.filename else ""
    return DependencyUnavailable(
        f"The disk{place} is full ({error.strerror}): free some space, then try again. `rag doctor` looks at it.",
        dependency="disk",
        code="STORAGE_FULL",
    )


def exit_code_for(error: AgenticRagError | EmbeddedServerError) -> ExitCode:
    """The exit code of a command that ended with this error."""
    return next(code for kind, code in _EXIT_CODES if isinstance(error, kind))


def error_line(error: AgenticRagError | EmbeddedServerError) -> str:
    """An error as text: its stable code, its remedy, and the message of the server that refused."""
    return f"error [{error.code}]: {error.message}{_reason_suffix(error)}"


def _reason_suffix(error: AgenticRagError | EmbeddedServerError) -> str:
    about_servers = isinstance(error, DependencyUnavailable | Misconfigured | Permanent | Retryable)
    return f" ({error.reason})" if about_servers and error.reason and error.reason not in error.message else ""
