"""How many WebSockets there may be at once whose clients have shown no credential."""

from __future__ import annotations

import asyncio
import select
from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agentic_rag_server.guarded_sockets import GuardedSocket


@dataclass(slots=True)
class SocketTurns:
    """Each such WebSocket costs some 20 kB, a connection before its upgrade a third of it. Past `most` an upgrade waits
    until one of them shows a credential or ends; one that had its turn of `seconds` makes room. So a crowd of clients
    that begin at once is served in turns, and one that only waits shuts nobody out.
    """

    most: int
    seconds: float
    _strangers: dict[GuardedSocket, float] = field(default_factory=dict["GuardedSocket", float])
    """Longest first, with the time of the loop since when; those whose handshake this process has not answered yet are
    none of those that make room.
    """
    waited: float = 0.0
    """How many seconds the upgrade that is made waited."""
    _upgrades: dict[Any, tuple[Callable[[], None], float]] = field(
        default_factory=dict[Any, tuple[Callable[[], None], float]]
    )
    """Those that wait, by connection, first come first, with the time since when."""
    _timer: asyncio.TimerHandle | None = None
    _due: float = 0.0
    """When the timer runs out."""

    def begin(self, connection: object, upgrade: Callable[[], None]) -> bool:
        """Upgrade the connection, now or when there is room; whether it was now."""
        if self._upgrades or len(self._strangers) >= self.most:
            self._upgrades[connection] = upgrade, asyncio.get_running_loop().time()
            self._look_in(self._seconds_left())
            return False
        self.waited = 0.0
        upgrade()
        return True

    def give_up(self, connection: object) -> None:
        """The connection waits no more."""
        self._upgrades.pop(connection, None)

    def add(self, socket: GuardedSocket) -> None:
        """Its client has to show a credential, once the handshake is answered."""
        self._strangers[socket] = inf

    def answered(self, socket: GuardedSocket) -> None:
        """Its turn begins."""
        if socket in self._strangers:
            self._strangers[socket] = asyncio.get_running_loop().time()

    def discard(self, socket: GuardedSocket) -> None:
        """Its client showed one, or it ends."""
        if self._strangers.pop(socket, None) is not None and self._upgrades:
            self._look_in(0.0)

    def _look_in(self, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        due = loop.time() + seconds
        if self._timer is not None:
            if self._due <= due:
                return
            self._timer.cancel()
        self._timer, self._due = loop.call_later(seconds, self._look), due

    def _look(self) -> None:
        self._timer = None
        now = asyncio.get_running_loop().time()
        while self._upgrades:
            if len(self._strangers) >= self.most:
                socket, since = next(iter(self._strangers.items()))
                if since + self.seconds > now:
                    self._look_in(self._seconds_left())
                    return
                if has_unread_bytes(socket.transport):
                    # It waits for this process.
                    self._strangers[socket] = self._strangers.pop(socket) + self.seconds
                    continue
                socket.refuse("connections", 503)
            upgrade, begun = self._upgrades.pop(next(iter(self._upgrades)))
            self.waited = now - begun
            upgrade()

    def _seconds_left(self) -> float:
        """Until the WebSocket that waits longest for its client has had its turn."""
        since = next(iter(self._strangers.values()), 0.0)
        left = since + self.seconds - asyncio.get_running_loop().time()
        return min(self.seconds, max(0.0, left))


def has_unread_bytes(transport: asyncio.BaseTransport) -> bool:
    """Whether the system holds bytes that this process has not read yet."""
    ready = select.poll()
    ready.register(transport.get_extra_info("socket").fileno(), select.POLLIN)
    return bool(ready.poll(0))
