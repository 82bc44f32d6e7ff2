"""An outage in the log: one line when it begins and one when it ends."""

from __future__ import annotations

from agentic_rag.kernel.telemetry import Telemetry


class OutageLog:
    """What is met again and again by a loop that tries until a server answers."""

    def __init__(self, telemetry: Telemetry, began: str, ended: str, **fields: str) -> None:
        self._telemetry = telemetry
        self._began = began
        self._ended = ended
        self._fields = fields
        self._code: str | None = None

    def begin(self, code: str, message: str) -> None:
        """Tell it, unless the same was told and has not ended since."""
        if code != self._code:
            self._code = code
            self._telemetry.event(self._began, level="warning", **self._fields, code=code, message=message)

    def end(self) -> None:
        """Tell its end, if one lasts."""
        if self._code is not None:
            self._code = None
            self._telemetry.event(self._ended, level="warning", **self._fields)
