"""The table that maps errors to exit codes, and the error line on standard error."""

from __future__ import annotations

import enum
import errno
import re

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
from agentic_rag.kernel.public_ids import NodeKind
from agentic_rag.settings import SettingsInvalid
from agentic_rag_cli.client.ids import LISTS


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


_PATHS = (
    errno.EACCES,
    errno.EBUSY,
    errno.EISDIR,
    errno.ELOOP,
    errno.ENAMETOOLONG,
    errno.ENOENT,
    errno.ENOTDIR,
    errno.ENOTEMPTY,
    errno.EPERM,
    errno.EROFS,
)
"""Where a file that was named is not what it was named for."""


def error_of_system(error: OSError) -> AgenticRagError | None:
    """The product's error for a disk without room or a file that cannot be used, whoever met it first; None for any
    other.
    """
    if not is_disk_full(error):
        if error.filename is None or error.errno not in _PATHS:
            return None
        told = f"{error.filename} cannot be used: {error.strerror}. Check the path and the rights on it."
        return InvalidInput(told, code="PATH_UNUSABLE")
    place = f" of {error.filename}" if error.filename else ""
    return DependencyUnavailable(
        f"The disk{place} is full ({error.strerror}): free some space, then try again. `rag doctor` looks at it.",
        dependency="disk",
        code="STORAGE_FULL",
    )


def exit_code_for(error: AgenticRagError | EmbeddedServerError) -> ExitCode:
    """The exit code of a command that ended with this error."""
    return next(code for kind, code in _EXIT_CODES if isinstance(error, kind))


_LISTS = {
    "API_KEY_NOT_FOUND": LISTS[NodeKind.API_KEY],
    "DOCUMENT_NOT_FOUND": LISTS[NodeKind.DOCUMENT],
    "JOB_NOT_FOUND": LISTS[NodeKind.JOB],
    "RUN_NOT_FOUND": LISTS[NodeKind.RUN],
    "SAVED_QUESTION_NOT_FOUND": LISTS[NodeKind.SAVED],
    "SNAPSHOT_NOT_FOUND": LISTS[NodeKind.SNAPSHOT],
    "TEMPLATE_NOT_FOUND": "rag template list",
    "THREAD_NOT_FOUND": LISTS[NodeKind.THREAD],
    "WORKSPACE_NOT_FOUND": "rag workspace list",
}
"""The command that shows what is there, where the message names none."""

_ENDLESS = re.compile(r"\S{200,}")
"""What was typed stands in messages, whatever its length. A path ends with the name of its file."""


def error_line(error: AgenticRagError | EmbeddedServerError) -> str:
    """An error as text: its stable code, its remedy, and the message of the server that refused."""
    message = _ENDLESS.sub(lambda found: f"{found[0][:80]}…{found[0][-80:]}", f"{error.message}{_reason_suffix(error)}")
    command = _LISTS.get(error.code, "")
    helps = f" `{command}` shows what there is." if command and "`rag " not in message else ""
    return f"error [{error.code}]: {message}{helps}"


def _reason_suffix(error: AgenticRagError | EmbeddedServerError) -> str:
    about_servers = isinstance(error, DependencyUnavailable | Misconfigured | Permanent | Retryable)
    return f" ({error.reason})" if about_servers and error.reason and error.reason not in error.message else ""
