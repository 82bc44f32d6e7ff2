"""What the application that serves a WebSocket and the protocol below it tell each other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

HEAD_SECONDS = 6.0
"""How long a stranger may take for a head, or for a credential."""

SOCKET_USE = "socket_use"
"""Where the `state` of a WebSocket has a `SocketUse` for the application."""


@dataclass(frozen=True, slots=True)
class SocketUse:
    """What the application tells the server of a WebSocket. By default nobody listens."""

    seconds: float = HEAD_SECONDS
    """How long the application waits for a credential."""
    admit: Callable[[], None] = lambda: None
    """A credential came."""
    set_busy: Callable[[bool], None] = lambda is_busy: None
    """Whether operations run."""
    count_refusal: Callable[[str], None] = lambda reason: None
    """The application closes it before a credential came, for a reason that operators see."""
