"""What a WebSocket may cost while its client shows no credential, or while nothing runs on it."""

from __future__ import annotations

import asyncio
from typing import Any, cast

from uvicorn._types import ASGISendEvent
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import CloseCode, Frame
from websockets.http11 import Request

from agentic_rag_server.connections import PIECE, REFUSALS, Gate
from agentic_rag_server.socket_frames import FrameCounts
from agentic_rag_server.socket_use import SOCKET_USE, SocketUse


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
        self._has_ended = False
        self.conn.max_message_size = self.gate.limits.message_bytes
        self.close_timeout = self.gate.limits.farewell_seconds

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Wait for a credential."""
        super().connection_made(transport)
        self.gate.waiting[self] = self.loop.time()
        self.gate.sockets.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self.gate.waiting.pop(self, None)
        self.gate.sockets.discard(self)
        self.connections.add(self)  # uvicorn takes it out.
        super().connection_lost(exc)
        self._free()

    def on_task_complete(self, task: asyncio.Task[None]) -> None:
        """The application has ended."""
        super().on_task_complete(task)
        self._has_ended = True
        self._free()

    def data_received(self, data: bytes) -> None:
        """Parse in pieces: what comes behind a refusal is not parsed."""
        for start in range(0, len(data), PIECE):
            if not self.transport.is_closing():
                super().data_received(data[start : start + PIECE])

    def handle_connect(self, event: Request) -> None:
        """The application says when a credential came, and when operations run."""
        limits, waited = self.gate.limits, self.gate.sockets.waited
        seconds = max(limits.turn_seconds, limits.head_seconds - waited)
        use = SocketUse(seconds, self._admit, self._set_busy, self._count_refusal)
        self.app_state = {**self.app_state, SOCKET_USE: use}
        super().handle_connect(event)

    async def send(self, message: ASGISendEvent) -> None:
        """Its client's turn begins with the answer to the handshake."""
        had_answer = self.handshake_complete
        await super().send(message)
        if not had_answer:
            self.gate.sockets.answered(self)

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
        self.gate.sockets.discard(self)
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

    def _free(self) -> None:
        """Drop what holds this protocol and is held by it once both ends are gone: a crowd would stay in memory until
        the collector comes.
        """
        if self._has_ended and self.disconnected:
            self.conn.parser.close()
            self.app_state, self.scope = {}, cast(Any, None)

    def _count_refusal(self, reason: str) -> None:
        """Count it, unless this protocol refused the connection before its application read what came."""
        if not self.transport.is_closing():
            self.gate.telemetry.count(REFUSALS, reason=reason)

    def _admit(self) -> None:
        self._counts.is_admitted = True
        self.gate.sockets.discard(self)
        self.conn.max_message_size = self.config.ws_max_size
        self._set_busy(False)

    def _set_busy(self, is_busy: bool) -> None:
        self.gate.waiting.pop(self, None)
        if not is_busy and not self.disconnected:
            self.gate.waiting[self] = self.loop.time()


def guarded_socket(gate: Gate) -> type[GuardedSocket]:
    """The WebSocket of one server."""
    return type("ServerSocket", (GuardedSocket,), {"gate": gate})
