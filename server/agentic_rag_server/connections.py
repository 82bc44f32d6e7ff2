"""What a connection may cost before a request exists: size, number and time of heads, pace of bodies, connections."""

from __future__ import annotations

import asyncio
import resource
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag_server.socket_turns import SocketTurns, has_unread_bytes
from agentic_rag_server.socket_use import HEAD_SECONDS
from agentic_rag_server.unread_answers import UnreadAnswer

if TYPE_CHECKING:
    from agentic_rag_server.guarded_sockets import GuardedSocket

REFUSALS = "rag_connections_refused_total"

PIECE = 16 * 1024
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
    """Bytes a second of a body, on average over `window_seconds`, and of an answer that is read, over
    `unread_seconds`.
    """
    window_seconds: float = 6.0
    unread_seconds: float = 30.0
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
    half_open_sockets: int = 256
    """WebSockets whose clients have shown no credential, while other upgrades wait."""
    turn_seconds: float = 0.5
    """How long such a WebSocket stays in any case, while others wait."""
    message_bytes: int = 16 * 1024
    """Of a WebSocket's message before its client has shown a credential."""
    farewell_seconds: float = 1.0
    """How long a connection that the server closes waits for its client to read what is left, and a WebSocket for its
    client to close it too.
    """


def connection_limits() -> ConnectionLimits:
    """The limits that this process' descriptors allow."""
    descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return ConnectionLimits(connections=max(32, min(2048, descriptors - _SPARE_DESCRIPTORS)))


@dataclass(slots=True)
class Gate:
    """The connections of a server that wait for their clients: without a request under way, with an answer that is not
    read, or WebSockets without an operation; longest first. At the limit the first of them makes room for a new one,
    so half-open connections shut nobody out.
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
    sockets: SocketTurns = field(init=False)

    def __post_init__(self) -> None:
        self.sockets = SocketTurns(self.limits.half_open_sockets, self.limits.turn_seconds)

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
        victim = next((one for one in oldest if not has_unread_bytes(one.transport)), None)
        (victim or next(iter(oldest), newest)).refuse("connections", 503)


class GuardedProtocol(HttpToolsProtocol):
    """uvicorn's protocol with limits. Each refusal is counted by its reason."""

    gate: Gate
    """Set by `guarded_protocol`."""
    parser: Any

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._in_head = True
        self._is_head_only = True
        """No head ended in the piece that is parsed."""
        self._head_bytes = 0
        self._body_bytes = 0
        self._was_paused = False
        self._is_socket = False
        self._answering: RequestResponseCycle | None = None
        """The request whose answer is made, or was made last; uvicorn keeps the newest, which may wait for it."""
        self._timer: asyncio.TimerHandle | None = None
        self._unread: UnreadAnswer

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Wait for a head; past the limit another connection is closed, or this one."""
        super().connection_made(transport)
        limits = self.gate.limits
        self._unread = UnreadAnswer(transport, limits.body_rate, limits.unread_seconds, self._end_unread)
        self.gate.waiting[self] = self.loop.time()
        self._arm(limits.head_seconds, self._end_head)
        if len(self.connections) > limits.connections:
            self.gate.make_room(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection, and end the request whose answer is made."""
        self._disarm()
        self._unread.forget()
        self._forget_head()
        self.gate.waiting.pop(self, None)
        self.gate.sockets.give_up(self)
        self.pipeline.clear()
        if self._answering is not None:
            self._answering.disconnected = True
            self._answering.message_event.set()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse in pieces, and refuse a head as soon as it is too large."""
        view = memoryview(data)
        for start in range(0, len(view), PIECE):
            if self.transport.is_closing() or self._is_socket:
                return
            piece = bytes(view[start : start + PIECE])
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
        if not self.flow.write_paused:
            self.gate.waiting.pop(self, None)
        if self.parser.should_upgrade() and self._should_upgrade() and not self._may_upgrade():
            self._stop("malformed", 400)
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
        self._watch_closing()

    def pause_writing(self) -> None:
        """The client reads more slowly than it is answered: the connection waits for it."""
        super().pause_writing()
        self._unread.begin()
        self.gate.waiting.setdefault(self, self.loop.time())

    def resume_writing(self) -> None:
        """The client reads."""
        super().resume_writing()
        self._unread.stop()
        if self._is_answering():
            self.gate.waiting.pop(self, None)

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection."""
        super().timeout_keep_alive_handler()
        self._watch_closing()

    def handle_websocket_upgrade(self) -> None:
        """From here on the connection is a WebSocket's, with rules of its own."""
        self._is_socket = True
        self._disarm()
        if not self.gate.sockets.begin(self, self._upgrade):
            self.gate.waiting[self] = self.loop.time()
            self.flow.pause_reading()

    def send_400_response(self, msg: str) -> None:
        """Once refused, nothing more is said."""
        if self.transport.is_closing():
            return
        self.gate.telemetry.count(REFUSALS, reason="malformed")
        if self._has_begun_an_answer():
            self.transport.close()
        else:
            super().send_400_response(msg)
        self._watch_closing()

    def refuse(self, reason: str, status: int) -> None:
        """Close the connection, with a status where no answer is under way."""
        self._disarm()
        self.gate.waiting.pop(self, None)
        # What is closing counts no more: uvicorn would answer others with 503.
        self.connections.discard(self)
        self.gate.telemetry.count(REFUSALS, reason=reason)
        if not self._has_begun_an_answer():
            self.transport.write(STATUS_LINE[status] + b"content-length: 0\r\nconnection: close\r\n\r\n")
        self.transport.close()
        if self.transport.get_write_buffer_size():
            self.loop.call_later(self.gate.limits.farewell_seconds, self.transport.abort)

    def _upgrade(self) -> None:
        self.gate.waiting.pop(self, None)
        if not self.transport.is_closing():
            super().handle_websocket_upgrade()
            self.flow.resume_reading()
            # What holds this protocol is held by it: a crowd would stay in memory until the collector comes.
            self._unread.forget()
            self.parser = None

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._answering = cycle
        super()._start_asgi_task(cycle, app)

    def _is_answering(self) -> bool:
        return self._answering is not None and not self._answering.response_complete

    def _has_begun_an_answer(self) -> bool:
        """Whether a status would stand in the middle of one."""
        answer = self._answering
        return answer is not None and answer.response_started and not answer.response_complete

    def _may_upgrade(self) -> bool:
        """Whether a WebSocket may follow: a request with a body, or one behind an answer that is still made, would be
        waited for by nobody.
        """
        has_body = any(
            name == b"transfer-encoding" or (name == b"content-length" and value.strip(b"0"))
            for name, value in self.headers
        )
        return self.parser.get_method() == b"GET" and not has_body and not self._is_answering()

    def _watch_closing(self) -> None:
        """A transport that closes waits until the client has read what is left."""
        if self.transport.is_closing() and self.transport.get_write_buffer_size():
            self._unread.begin()

    def _end_unread(self) -> None:
        self.gate.telemetry.count(REFUSALS, reason="answer_rate")
        self.connections.discard(self)
        self.transport.abort()

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


def guarded_protocol(gate: Gate) -> type[GuardedProtocol]:
    """The protocol of one server."""
    return type("ServerProtocol", (GuardedProtocol,), {"gate": gate})
