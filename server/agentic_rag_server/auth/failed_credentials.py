"""Slows whoever sends wrong credentials again and again, by address."""

from __future__ import annotations

import asyncio
import ipaddress
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agentic_rag.kernel.clock import Clock
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag_server.auth.bearer import WRONG_CREDENTIAL

REFUSED = "rag_credentials_refused_total"

FREE_FAILURES = 20
"""Wrong credentials a minute that are answered at once: people mistype, and keys expire under a busy client."""

STEP_SECONDS = 0.05
"""How much longer each further one waits."""

LONGEST_SECONDS = 1.0

MOST_WAITING = 32
"""Refusals of one address, and 8 times as many of all, that wait at once: each holds a connection."""

MOST_ADDRESSES = 10_000


@dataclass(slots=True)
class _Failures:
    count: float = 0.0
    """Falls by `FREE_FAILURES` a minute."""
    at: float = 0.0
    waiting: int = 0


class FailedCredentials:
    """ASGI middleware: keeps a 401, or the end of a WebSocket, back that answers a credential. Other answers and other
    addresses are not slowed. Of `processes` that serve together each forgives its share.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        telemetry: Telemetry,
        clock: Clock,
        processes: int = 1,
        wait: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._app = app
        self._telemetry = telemetry
        self._clock = clock
        self._free = FREE_FAILURES / processes
        self._room = max(1, MOST_WAITING // processes)
        self.wait = wait
        self._known: OrderedDict[str, _Failures] = OrderedDict()
        self._waiting = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""

        async def send_slowly(message: Message) -> None:
            if message.get("status") == 401 or message.get("code") == WRONG_CREDENTIAL:
                await self._slow(_network(scope))
            await send(message)

        is_attempt = scope["type"] == "websocket" or (
            scope["type"] == "http" and any(name == b"authorization" for name, _ in scope["headers"])
        )
        await self._app(scope, receive, send_slowly if is_attempt else send)

    async def _slow(self, network: str) -> None:
        failures = self._count(network)
        seconds = min(LONGEST_SECONDS, (failures.count - self._free) * STEP_SECONDS)
        has_room = failures.waiting < self._room and self._waiting < 8 * self._room
        is_slowed = seconds > 0 and has_room
        self._telemetry.count(REFUSED, slowed=str(is_slowed).lower())
        if is_slowed:
            failures.waiting += 1
            self._waiting += 1
            try:
                await self.wait(seconds)
            finally:
                failures.waiting -= 1
                self._waiting -= 1

    def _count(self, network: str) -> _Failures:
        failures = self._known.setdefault(network, _Failures())
        self._known.move_to_end(network)
        if len(self._known) > MOST_ADDRESSES:
            self._known.popitem(last=False)
        now = self._clock.monotonic()
        failures.count = max(0.0, failures.count - (now - failures.at) * self._free / 60) + 1
        failures.at = now
        return failures


def _network(scope: Scope) -> str:
    """The address of the peer; of IPv6 its /64, which one caller has whole."""
    host = scope["client"][0] if scope.get("client") else ""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    return str(ipaddress.ip_network((address, 64), strict=False)) if address.version == 6 else host
