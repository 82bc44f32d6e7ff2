"""The one error of the embedded servers."""

_DISK_FULL = ("No space left on device", "Disk quota exceeded")
"""What servers write to their logs before they end for want of room."""


class EmbeddedServerError(Exception):
    """An embedded server could not be found, started or reached; `message` says what to do about it.

    Codes: EMBEDDED_POSTGRES_MISSING, EMBEDDED_REDIS_MISSING, EMBEDDED_HOME_UNUSABLE,
    EMBEDDED_VERSION_MISMATCH, EMBEDDED_STATE_BROKEN, EMBEDDED_START_FAILED, EMBEDDED_NOT_RUNNING,
    PORT_IN_USE, STORAGE_FULL.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message


def start_failure(finding: str) -> EmbeddedServerError:
    """The error for a server that did not start, by what it said. Of a full disk only that is told: what else a
    database fears of its data while it cannot write is not so.
    """
    first, *log = finding.splitlines()
    full = [line for line in (first, *log) if any(phrase in line for phrase in _DISK_FULL)]
    if full:
        return storage_full("\n".join(dict.fromkeys((first, full[-1]))))
    return EmbeddedServerError("EMBEDDED_START_FAILED", finding)


def storage_full(finding: str) -> EmbeddedServerError:
    """The error for a disk without room."""
    return EmbeddedServerError("STORAGE_FULL", f"The disk is full: free some space, then try again. {finding}")
