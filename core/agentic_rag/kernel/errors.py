"""Every error of the product: one root, a stable code, a message that a person can act on.

    AgenticRagError
    ├── InvalidInput          the caller must change the request
    │   ├── IdempotencyConflict
    │   ├── UploadTooLarge
    │   └── ContentRefused    the file is empty or protected
    │       └── ContentUnsupported    the file is of no kind that can be read, or not what its name says
    ├── NotFound              nothing of that id is visible to the caller
    ├── Unauthenticated / Forbidden / FeatureDisabled
    ├── MissingProviderKey    402: store a key first
    ├── BudgetExceeded
    ├── PolicyRefused
    ├── RunCancelled          the caller, or who manages the workspace, cancelled the run
    ├── Misconfigured         an operator must change a setting or a server
    ├── DependencyUnavailable a server did not answer; the work may be tried again
    ├── Retryable             try again, after `retry_after_seconds` when given
    │   ├── Overloaded        this process has as much to do as it can; another may have room
    │   ├── RateLimited       the organisation, or the caller, sent too many requests within a minute
    │   ├── JobPostponed      the job makes room for others and comes back; the attempt does not count
    │   ├── LeaseLost         another worker holds the job now: stop, change nothing
    │   ├── SnapshotOutdated  the corpus is another than this process remembers: open the snapshot again
    │   └── SpaceSwitched     the workspace answers in another embedding space by now: embed again
    └── Permanent             trying again cannot help
        ├── ParseFailed       the document cannot be read (code says why)
        └── SpaceMismatch     vectors of two embedding spaces met

Branch by what the caller must do, never by message. Adapters convert foreign exceptions and keep `__cause__`; server,
worker
and cli each turn these into their own outcome in one table.
"""

from __future__ import annotations

import errno
from datetime import datetime
from typing import Self

_DISK_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def is_disk_full(error: OSError) -> bool:
    """Whether a disk, or what its user may have of it, has no room left."""
    return error.errno in _DISK_FULL


class AgenticRagError(Exception):
    """Root of all product errors. `code` is stable API, listed in docs/errors.md."""

    code: str = "INTERNAL"

    def __init__(self, message: str, *, code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        if code is not None:
            self.code = code

    def __str__(self) -> str:
        return self.message

    def anew(self) -> Self:
        """The same error as a new instance with the same cause. An instance that is raised again and again gathers
        the frames of all who raised it, and what they hold.
        """
        made = type(self).__new__(type(self), *self.args)
        made.__dict__.update(self.__dict__)
        made.__cause__ = self.__cause__
        return made

    @property
    def reason(self) -> str:
        """What the foreign exception behind this one said, for logs and terminals; empty when there is none.

        It may name hosts, roles or tables, so it never leaves the process: `message` is what callers see.
        """
        cause = self.__cause__
        if cause is None or isinstance(cause, AgenticRagError):
            return ""
        return str(cause) or type(cause).__name__


class InvalidInput(AgenticRagError):
    """The request cannot be carried out as it stands. `path` names the offending argument, outermost first."""

    code = "INVALID_INPUT"

    def __init__(self, message: str, *, code: str | None = None, path: tuple[str, ...] = ()) -> None:
        super().__init__(message, code=code)
        self.path = path


class IdempotencyConflict(InvalidInput):
    """The idempotency key was used before with another body."""

    code = "IDEMPOTENCY_CONFLICT"


class UploadTooLarge(InvalidInput):
    """The file has more bytes than the limit."""

    code = "UPLOAD_TOO_LARGE"


class ContentRefused(InvalidInput):
    """The file holds nothing to read, as its first bytes say. Codes: UPLOAD_EMPTY, CONTENT_ENCRYPTED."""

    code = "CONTENT_REFUSED"


class ContentUnsupported(ContentRefused):
    """The file is of a kind that no loader reads. Codes: CONTENT_UNSUPPORTED, CONTENT_MISMATCH (with its name)."""

    code = "CONTENT_UNSUPPORTED"


class NotFound(AgenticRagError):
    """Nothing with that id is visible to the caller (foreign ids look the same as missing ones)."""

    code = "NOT_FOUND"


def no_such_document() -> NotFound:
    """What is said of a document that is not there, and, word for word, of one that the caller may not know of."""
    return NotFound("There is no such document.", code="DOCUMENT_NOT_FOUND")


def no_such_workspace() -> NotFound:
    """What is said of a workspace that is not there, and, word for word, of one that the caller may not enter."""
    return NotFound("There is no such workspace.", code="WORKSPACE_NOT_FOUND")


def no_such_thread() -> NotFound:
    """What is said of a thread that is not there, and, word for word, of somebody else's."""
    return NotFound(
        "There is no such thread: it was deleted, its runs are past their retention, or it is not yours.",
        code="THREAD_NOT_FOUND",
    )


class Unauthenticated(AgenticRagError):
    """The request carries no valid credential."""

    code = "UNAUTHENTICATED"


class KeyUnknown(Unauthenticated):
    """The store of API keys answered that it has no such key. Other refusals may have asked nobody."""


class Forbidden(AgenticRagError):
    """The caller is known and lacks the role for this action."""

    code = "FORBIDDEN"


class FeatureDisabled(AgenticRagError):
    """The feature is switched off by configuration; the message names the switch."""

    code = "FEATURE_DISABLED"


class MissingProviderKey(AgenticRagError):
    """No provider key is configured for work that needs one."""

    code = "PROVIDER_KEY_MISSING"


class BudgetExceeded(AgenticRagError):
    """A ceiling on costs would be crossed: its amount and what is spent of it (US dollars), and when it begins anew."""

    code = "BUDGET_EXCEEDED"

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        limit_usd: float | None = None,
        spent_usd: float | None = None,
        resets_at: datetime | None = None,
    ) -> None:
        super().__init__(message, code=code)
        self.limit_usd = limit_usd
        self.spent_usd = spent_usd
        self.resets_at = resets_at


class PolicyRefused(AgenticRagError):
    """A policy forbids the action."""

    code = "POLICY_REFUSED"


class RunCancelled(AgenticRagError):
    """The run was cancelled while it went on: there is no answer, and nothing of it is stored."""

    code = "RUN_CANCELLED"


class Misconfigured(AgenticRagError):
    """A setting or a server must be changed by an operator; the message names the remedy."""

    code = "MISCONFIGURED"


class DependencyUnavailable(AgenticRagError):
    """A server this process depends on did not answer. `dependency` is its name as /readyz shows it."""

    code = "DEPENDENCY_UNAVAILABLE"

    def __init__(self, message: str, *, dependency: str, code: str | None = None) -> None:
        super().__init__(message, code=code)
        self.dependency = dependency


class Retryable(AgenticRagError):
    """A transient failure. `retry_after_seconds` is the server's own wish when it stated one."""

    code = "TRANSIENT"

    def __init__(self, message: str, *, code: str | None = None, retry_after_seconds: float | None = None) -> None:
        super().__init__(message, code=code)
        self.retry_after_seconds = retry_after_seconds


class RateLimited(Retryable):
    """Too many requests within a minute; `retry_after_seconds` is always given."""

    code = "RATE_LIMITED"


class Overloaded(Retryable):
    """This process has as many questions as it can answer in time; `retry_after_seconds` is always given."""

    code = "OVERLOADED"


class JobPostponed(Retryable):
    """The job makes room for others of its worker, and is queued again; `retry_after_seconds` is always given."""

    code = "JOB_POSTPONED"


class LeaseLost(Retryable):
    """The job's fencing token is no longer current: another worker owns it. Stop without any further effect."""

    code = "LEASE_LOST"


class SnapshotOutdated(Retryable):
    """The first read of a deferred snapshot found another corpus than the one that the process remembers."""

    code = "SNAPSHOT_OUTDATED"


class SpaceSwitched(Retryable):
    """The workspace was switched to another embedding space while vectors for the last one were computed."""

    code = "EMBEDDING_SPACE_SWITCHED"


class Permanent(AgenticRagError):
    """Trying again cannot help."""

    code = "PERMANENT"


class ParseFailed(Permanent):
    """A document cannot be read. Codes: PARSE_EMPTY, PARSE_NO_TEXT, PARSE_ENCRYPTED, PARSE_CORRUPT,
    PARSE_TYPE_MISMATCH, PARSE_UNSUPPORTED, PARSE_TOO_LARGE, PARSE_TIMEOUT, PARSE_ENCODING, PARSE_GARBLED."""

    code = "PARSE_CORRUPT"


class SpaceMismatch(Permanent):
    """Vectors of one embedding space were about to be compared with, or stored in, another; or this process cannot
    embed in the space it is asked for.
    """

    code = "EMBEDDING_SPACE_MISMATCH"
