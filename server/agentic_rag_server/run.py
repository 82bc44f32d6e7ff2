"""Runs the server in one process: uvicorn with httptools on uvloop."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import uvicorn

from agentic_rag_server.app import build_app
from agentic_rag_server.connections import ConnectionLimits, Gate, connection_limits, guarded_protocol
from agentic_rag_server.graphql.http.streams import OpenStreams
from agentic_rag_server.guarded_sockets import guarded_socket
from agentic_rag_server.listener import await_accepted, listen, take_no_more
from agentic_rag_server.parts import ServerOptions, ServerParts


class DrainingServer(uvicorn.Server):
    """A server that loses no request when it stops: uvicorn closes connections whose request it has not read yet. Its
    streams of events end, which have no end of their own.
    """

    def __init__(self, config: uvicorn.Config, gate: Gate, open_streams: OpenStreams, *, shares_port: bool) -> None:
        super().__init__(config)
        self.gate = gate
        self.open_streams = open_streams
        self.shares_port = shares_port
        """Other processes accept on it; who started them ends that."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Take no more connections, so that a balancer tries another server; answer once more on those that are open;
        then as uvicorn does.
        """
        self.open_streams.closing.set()
        for listener in sockets or []:
            if not self.shares_port:
                take_no_more(listener)
            await await_accepted(listener)
        for listener in (*self.servers, *(sockets or [])):
            listener.close()
        for connection in [one for one in self.server_state.connections if one not in self.gate.waiting]:
            connection.shutdown()
        await self.gate.await_last_requests()
        await super().shutdown()


def build_server(parts: ServerParts, limits: ConnectionLimits | None = None) -> uvicorn.Server:
    """A uvicorn server of the application, by default with the limits that this process allows. `should_exit`, SIGINT
    and SIGTERM stop it.
    """
    limits = limits or connection_limits()
    app = build_app(parts)
    gate = Gate(parts.telemetry, limits)
    config = uvicorn.Config(
        app,
        http=guarded_protocol(gate),
        limit_concurrency=limits.connections + 1,
        timeout_keep_alive=limits.idle_seconds,
        ws=guarded_socket(gate),
        ws_max_size=parts.options.max_body_bytes,
        # Compressed replies would let who sees their sizes guess what stands in them; and each connection would hold
        # a window of memory.
        ws_per_message_deflate=False,
        # Whoever sends X-Forwarded-For chooses what it says: the audit log and the slowing of wrong credentials go by
        # the connection.
        proxy_headers=False,
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=parts.options.drain_seconds,
    )
    return DrainingServer(config, gate, app.state.open_streams, shares_port=parts.options.processes > 1)


@dataclass(frozen=True, slots=True)
class Opened:
    """What a server is made of."""

    parts: ServerParts
    watch: asyncio.Task[None]
    """Ends with an error when the server may not go on."""


def run(open_parts: Callable[[], Awaitable[Opened]], options: ServerOptions, descriptor: int | None = None) -> None:
    """Take the port, or the one of the descriptor, make the parts and serve until SIGINT or SIGTERM, or until their
    watch fails. Errors: `Misconfigured`; that of the watch.
    """
    from agentic_rag.bootstrap import limit_arenas, loop_factory, settle_collector

    limit_arenas()
    listener = listen(options.host, options.port) if descriptor is None else socket.socket(fileno=descriptor)

    async def work() -> None:
        opened = await open_parts()
        server = build_server(opened.parts)

        def stop_if_failed(watch: asyncio.Task[None]) -> None:
            if not watch.cancelled() and watch.exception() is not None:
                server.should_exit = True

        settle_collector()
        # uvicorn raises the signal that stopped it once more when all is closed. By default that would kill the
        # process before its callers' own clean-up, and with a status that says it did not drain.
        signal.signal(signal.SIGTERM, lambda *_: setattr(server, "should_exit", True))
        opened.watch.add_done_callback(stop_if_failed)
        await server.serve(sockets=[listener])
        if opened.watch.done():
            opened.watch.result()
        opened.watch.cancel()

    with listener, asyncio.Runner(loop_factory=loop_factory()) as runner:
        runner.run(work())
