"""What a connection may cost before a request exists: size, number and time of heads, pace of bodies, connections."""

from __future__ import annotations

import asyncio
import resource
import select
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import CloseCode, Frame
from websockets.http11 import Request

from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag_server.socket_frames import FrameCounts
from agentic_rag_server.socket_use import HEAD_SECONDS, SOCKET_USE, SocketUse

REFUSALS = "rag_connections_refused_total"

_PIECE = 16 * 1024
"""Bytes given to the parser at once, which copies a header again with each of its parts."""

_LOOK_SECONDS = 0.02
_LOOKS = 32
"""Connections that are looked at for one to close; each look is a system call."""

_SPARE_DESCRIPTORS = 256
"""Descriptors for database, Redis, files and listeners."""


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """The limits of every connection."""

    head_bytes: int = 64 * 1024
    headers: int = 100
    head_seconds: float = HEAD_SECONDS
    """From the first byte, or from the connection, to the end of the head."""
    body_rate: float = 1000.0
    """Bytes a second, on average over `window_seconds`."""
    window_seconds: float = 6.0
    pipelined: int = 16
    """Requests of a connection that wait for the answer to an earlier one."""
    idle_seconds: int = 30
    connections: int = 1024
    waiting_bytes: int = 8 * 1024 * 1024
    """Bytes of unfinished heads, of all connections together."""
    last_seconds: float = 2.0
    """A server that stops awaits one more request of a connection that was busy in so many seconds; its answer says
    that it is the last. Longer than a busy client's pause between two requests.
    """
    message_bytes: int = 16 * 1024
    """Of a WebSocket's message before its client has shown a credential."""
    farewell_seconds: float = 1.0
    """How long a WebSocket that the server closes waits for its client to do so too."""


def connection_limits() -> ConnectionLimits:
    """The limits that this process' descriptors allow."""
    descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return ConnectionLimits(connections=max(32, min(2048, descriptors - _SPARE_DESCRIPTORS)))


@dataclass(slots=True)
class Gate:
    """The connections of a server that have no request under way, or are WebSockets without an operation, longest
    first. At the limit the first of them makes room for a new one, so half-open connections shut nobody out.
    """

    telemetry: Telemetry
    limits: ConnectionLimits
    waiting: dict[GuardedProtocol | GuardedSocket, float] = field(
        default_factory=dict["GuardedProtocol | GuardedSocket", float]
    )
    """With the time of the loop since when."""
    waiting_bytes: int = 0
    is_closing: bool = False
    """Each answer ends its connection."""

    async def await_last_requests(self) -> None:
        """Return when each connection that was just busy had one more answer, or let `last_seconds` pass."""
        self.is_closing = True
        now = asyncio.get_running_loop().time
        while any(now() - since < self.limits.last_seconds for since in self.waiting.values()):  # noqa: ASYNC110 - time
            await asyncio.sleep(_LOOK_SECONDS)

    def make_room(self, newest: GuardedProtocol) -> None:
        """Close the connection that waits longest for its client, or the newest when none waits. One whose bytes are
        not read yet waits for this process: many connections may come before it reads.
        """
        oldest = [one for one in islice(self.waiting, _LOOKS) if one is not newest]
        victim = next((one for one in oldest if not _has_unread_bytes(one.transport)), None)
        (victim or next(iter(oldest), newest)).refuse("connections", 503)


def _has_unread_bytes(transport: asyncio.BaseTransport) -> bool:
    ready = select.poll()
    ready.register(transport.get_extra_info("socket").fileno(), select.POLLIN)
    return bool(ready.poll(0))


class GuardedProtocol(HttpToolsProtocol):
    """uvicorn's protocol with limits. Each refusal is counted by its reason."""

    gate: Gate
    """Set by `guarded_protocol`."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._in_head = True
        self._is_head_only = True
        """No head ended in the piece that is parsed."""
        self._head_bytes = 0
        self._body_bytes = 0
        self._was_paused = False
        self._is_socket = False
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Wait for a head; past the limit another connection is closed, or this one."""
        super().connection_made(transport)
        self.gate.waiting[self] = self.loop.time()
        self._arm(self.gate.limits.head_seconds, self._end_head)
        if len(self.connections) > self.gate.limits.connections:
            self.gate.make_room(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._disarm()
        self._forget_head()
        self.gate.waiting.pop(self, None)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse in pieces, and refuse a head as soon as it is too large."""
        view = memoryview(data)
        for start in range(0, len(view), _PIECE):
            if self.transport.is_closing() or self._is_socket:
                return
            piece = bytes(view[start : start + _PIECE])
            self._is_head_only = self._in_head
            super().data_received(piece)
            if self._is_head_only and not self.transport.is_closing():
                self._count_head(len(piece))
        if self._timer is None and not self._is_socket and not self.transport.is_closing():
            if not self._in_head:
                self._body_bytes, self._was_paused = 0, False
                self._arm(self.gate.limits.window_seconds, self._judge_body)
            elif self._head_bytes:
                self._arm(self.gate.limits.head_seconds, self._end_head)

    def on_message_begin(self) -> None:
        """A head begins."""
        self._in_head = True
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Count headers. A header behind a body is a trailer."""
        if not self._in_head:
            self._stop("trailers", 400)
        super().on_header(name, value)
        if len(self.headers) > self.gate.limits.headers:
            self._stop("head_count", 431)

    def on_headers_complete(self) -> None:
        """The request is under way."""
        self._in_head = self._is_head_only = False
        self._disarm()
        self._forget_head()
        self.gate.waiting.pop(self, None)
        super().on_headers_complete()
        if self.gate.is_closing and self.cycle is not None:
            self.cycle.keep_alive = False
        if len(self.pipeline) > self.gate.limits.pipelined:
            self._stop("pipeline", 429)

    def on_body(self, body: bytes) -> None:
        """Count the body's bytes."""
        self._body_bytes += len(body)
        super().on_body(body)
        self._was_paused |= self.flow.read_paused

    def on_message_complete(self) -> None:
        """What follows is another head."""
        self._disarm()
        self._in_head = True
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        if self._in_head and not self.pipeline:
            self.gate.waiting[self] = self.loop.time()
        super().on_response_complete()

    def handle_websocket_upgrade(self) -> None:
        """From here on the connection is a WebSocket's, with rules of its own."""
        self._is_socket = True
        self._disarm()
        super().handle_websocket_upgrade()

    def send_400_response(self, msg: str) -> None:
        """Once refused, nothing more is said."""
        if not self.transport.is_closing():
            self.gate.telemetry.count(REFUSALS, reason="malformed")
            super().send_400_response(msg)

    def refuse(self, reason: str, status: int) -> None:
        """Close the connection, with a status where no answer has begun."""
        self._disarm()
        self.gate.waiting.pop(self, None)
        # What is closing counts no more: uvicorn would answer others with 503.
        self.connections.discard(self)
        self.gate.telemetry.count(REFUSALS, reason=reason)
        if self.cycle is None or self.cycle.response_complete or not self.cycle.response_started:
            self.transport.write(STATUS_LINE[status] + b"content-length: 0\r\nconnection: close\r\n\r\n")
        self.transport.close()

    def _stop(self, reason: str, status: int) -> None:
        """Refuse, and leave the parser. Errors: `ConnectionAbortedError`, which the parser turns into its own."""
        self.refuse(reason, status)
        raise ConnectionAbortedError(reason)

    def _count_head(self, size: int) -> None:
        self._head_bytes += size
        self.gate.waiting_bytes += size
        if self._head_bytes > self.gate.limits.head_bytes:
            self.refuse("head_size", 431)
        elif self.gate.waiting_bytes > self.gate.limits.waiting_bytes:
            self.gate.make_room(self)

    def _forget_head(self) -> None:
        self.gate.waiting_bytes -= self._head_bytes
        self._head_bytes = 0

    def _end_head(self) -> None:
        self._timer = None
        self.refuse("head_time", 408)

    def _judge_body(self) -> None:
        """Refuse a body that came too slowly in the last window, unless the server itself did not read."""
        self._timer = None
        least = self.gate.limits.body_rate * self.gate.limits.window_seconds
        waited = self._was_paused or self.flow.read_paused or self.cycle.waiting_for_100_continue
        if self._body_bytes < least and not waited:
            self.refuse("body_rate", 408)
            return
        self._body_bytes, self._was_paused = 0, False
        self._arm(self.gate.limits.window_seconds, self._judge_body)

    def _arm(self, seconds: float, act: Any) -> None:
        self._timer = self.loop.call_later(seconds, act)

    def _disarm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class GuardedSocket(WebSocketsSansIOProtocol):
    """uvicorn's WebSocket. While no operation runs on it, it is a connection without a request, which makes room for
    others; until its client has shown a credential its messages are small. One whose client answers no ping is dropped
    with what it did not read: closing would wait for it to be read.
    """

    gate: Gate
    """Set by `guarded_socket`."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._counts = FrameCounts()
        self.conn.max_message_size = self.gate.limits.message_bytes
        self.close_timeout = self.gate.limits.farewell_seconds

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Wait for a credential."""
        super().connection_made(transport)
        self.gate.waiting[self] = self.loop.time()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self.gate.waiting.pop(self, None)
        self.connections.add(self)  # uvicorn takes it out.
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse in pieces: what comes behind a refusal is not parsed."""
        for start in range(0, len(data), _PIECE):
            if not self.transport.is_closing():
                super().data_received(data[start : start + _PIECE])

    def handle_connect(self, event: Request) -> None:
        """The application says when a credential came, and when operations run."""
        use = SocketUse(self.gate.limits.head_seconds, self._admit, self._set_busy, self._count_refusal)
        self.app_state = {**self.app_state, SOCKET_USE: use}
        super().handle_connect(event)

    def handle_text(self, event: Frame) -> None:
        """A message begins."""
        if not self._is_flooded(is_message=True):
            super().handle_text(event)

    def handle_bytes(self, event: Frame) -> None:
        """A message begins."""
        if not self._is_flooded(is_message=True):
            super().handle_bytes(event)

    def handle_cont(self, event: Frame) -> None:
        """A message goes on: each of its fragments costs memory, also an empty one."""
        if self._counts.is_cut_too_small():
            self.conn.fail(CloseCode.MESSAGE_TOO_BIG)
            self.handle_parser_exception()
            return
        super().handle_cont(event)

    def handle_ping(self) -> None:
        """Answer, unless the client does not read: what waits for it would grow with each ping."""
        if self._is_flooded() or not self.writable.is_set():
            self.conn.data_to_send()
        else:
            super().handle_ping()

    def handle_pong(self, event: Frame) -> None:
        """The client lives."""
        if not self._is_flooded():
            super().handle_pong(event)

    def handle_parser_exception(self) -> None:
        """A frame that is none, or too much of a message."""
        if not self.transport.is_closing():
            is_large = self.conn.close_sent is not None and self.conn.close_sent.code == CloseCode.MESSAGE_TOO_BIG
            self.gate.telemetry.count(REFUSALS, reason="socket_size" if is_large else "malformed")
            super().handle_parser_exception()

    def keepalive_timeout(self) -> None:
        """No pong came."""
        super().keepalive_timeout()
        self.transport.abort()

    def refuse(self, reason: str, status: int) -> None:
        """Close the connection for now: its answer has begun, so there is no status."""
        del status
        self.gate.waiting.pop(self, None)
        self.connections.discard(self)
        self.gate.telemetry.count(REFUSALS, reason=reason)
        if self.handshake_complete and not self.close_sent and self.writable.is_set():
            self.conn.send_close(CloseCode.TRY_AGAIN_LATER)
            self.transport.write(b"".join(self.conn.data_to_send()))
            self.close_sent = True
            self.queue.put_nowait({"type": "websocket.disconnect", "code": CloseCode.TRY_AGAIN_LATER})
            self.transport.close()
        else:
            self.transport.abort()

    def _is_flooded(self, *, is_message: bool = False) -> bool:
        """Whether frames came too fast; the first that did closes the connection."""
        is_flood = self._counts.is_flood(self.loop.time(), is_message=is_message)
        if is_flood and not self.transport.is_closing():
            self.refuse("socket_rate", 0)
        return is_flood

    def _count_refusal(self, reason: str) -> None:
        """Count it, unless this protocol refused the connection before its application read what came."""
        if not self.transport.is_closing():
            self.gate.telemetry.count(REFUSALS, reason=reason)

    def _admit(self) -> None:
        self._counts.is_admitted = True
        self.conn.max_message_size = self.config.ws_max_size
        self._set_busy(False)

    def _set_busy(self, is_busy: bool) -> None:
        self.gate.waiting.pop(self, None)
        if not is_busy and not self.disconnected:
            self.gate.waiting[self] = self.loop.time()


def guarded_protocol(gate: Gate) -> type[GuardedProtocol]:
    """The protocol of one server."""
    return type("ServerProtocol", (GuardedProtocol,), {"gate": gate})


def guarded_socket(gate: Gate) -> type[GuardedSocket]:
    """The WebSocket of one server."""
    return type("ServerSocket", (GuardedSocket,), {"gate": gate})
