"""How many frames of a kind a WebSocket takes."""

MOST_FRAMES = 64
"""Fragments of a message. Clients send one, or pieces of some kilobytes."""

MOST_A_SECOND = 64
"""Pings and pongs, and messages of a client that has shown no credential: each costs the server time."""


class FrameCounts:
    """Counts the frames of one connection."""

    def __init__(self) -> None:
        self.is_admitted = False
        """The client has shown a credential: its messages are counted by what they ask."""
        self._fragments = 0
        self._since = 0.0
        self._count = 0

    def is_flood(self, now: float, *, is_message: bool) -> bool:
        """A ping, a pong or a message came at that second; whether it is one too many."""
        if is_message:
            self._fragments = 1
            if self.is_admitted:
                return False
        if now - self._since > 1:
            self._since, self._count = now, 0
        self._count += 1
        return self._count > MOST_A_SECOND

    def is_cut_too_small(self) -> bool:
        """A message goes on; whether it has too many fragments."""
        self._fragments += 1
        return self._fragments > MOST_FRAMES
