"""The one error of this package."""

from __future__ import annotations

LATE = "CLIENT_TIMEOUT"
"""The time of a call was over before its answer came."""
UNREACHABLE = "SERVER_UNREACHABLE"
"""No server answered at the address."""
NOT_OURS = "SERVER_FAULT"
"""What answered is no agentic-rag server, or is broken."""
DEPENDENCY = "DEPENDENCY_UNAVAILABLE"
"""The server's code for something behind it that does not answer."""


class RagError(Exception):
    """A call that failed. `code` is stable: the server's docs/errors.md lists its codes, this module the client's."""

    def __init__(
        self,
        message: str,
        *,
        code: str,
        status: int | None = None,
        is_transient: bool = False,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(f"{code}: {message}")
        self.message = message
        self.code = code
        self.status = status
        """Of the HTTP response; None without one."""
        self.is_transient = is_transient
        """Whether the same call may succeed later."""
        self.retry_after = retry_after
        """Seconds that the server asks to wait."""
