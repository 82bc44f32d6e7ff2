"""How many frames of a kind a WebSocket takes."""

MOST_FRAMES = 64
"""Fragments of a message. Clients send one, or pieces of some kilobytes."""

MOST_A_SECOND = 64
"""Pings and pongs, and messages of a client that has shown no credential: each costs the server time."""

MOST_MESSAGES_A_SECOND = 2048
"""Messages of a client that has shown a credential: twice as many as operations may run on a connection. What they
ask is limited by the minute as well.
"""


class FrameCounts:
    """Counts the frames of one connection."""

    def __init__(self) -> None:
        self.is_admitted = False
        """The client has shown a credential."""
        self._fragments = 0
        self._since = 0.0
        self._count = 0
        self._admitted_messages = 0

    def is_flood(self, now: float, *, is_message: bool) -> bool:
        """A ping, a pong or a message came at that second; whether it is one too many."""
        if is_message:
            self._fragments = 1
        if now - self._since > 1:
            self._since, self._count, self._admitted_messages = now, 0, 0
        if is_message and self.is_admitted:
            self._admitted_messages += 1
            return self._admitted_messages > MOST_MESSAGES_A_SECOND
        self._count += 1
        return self._count > MOST_A_SECOND

    def is_cut_too_small(self) -> bool:
        """A message goes on; whether it has too many fragments."""
        self._fragments += 1
        return self._fragments > MOST_FRAMES
