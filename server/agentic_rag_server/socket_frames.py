"""How many frames of a kind a WebSocket takes."""

MOST_FRAMES = 64
"""Fragments of a message. Clients send one, or pieces of some kilobytes."""

MOST_CONTROLS = 64
"""Pings and pongs in a second: each costs the server what a message does."""


class ControlFrames:
    """Counts the pings and pongs of one connection."""

    def __init__(self) -> None:
        self._since = 0.0
        self._count = 0

    def is_flood(self, now: float) -> bool:
        """One more came at that second; whether it is one too many."""
        if now - self._since > 1:
            self._since, self._count = now, 0
        self._count += 1
        return self._count > MOST_CONTROLS
