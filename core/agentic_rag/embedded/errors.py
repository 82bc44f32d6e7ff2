"""The one error of the embedded servers."""


class EmbeddedServerError(Exception):
    """An embedded server could not be found, started or reached; `message` says what to do about it.

    Codes: EMBEDDED_POSTGRES_MISSING, EMBEDDED_REDIS_MISSING, EMBEDDED_HOME_UNUSABLE,
    EMBEDDED_VERSION_MISMATCH, EMBEDDED_STATE_BROKEN, EMBEDDED_START_FAILED, EMBEDDED_NOT_RUNNING,
    PORT_IN_USE.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
