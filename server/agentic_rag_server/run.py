"""Runs the server in one process: uvicorn with httptools on uvloop."""

from __future__ import annotations

import asyncio
import errno
import signal
import socket
from collections.abc import Awaitable, Callable

import uvicorn

from agentic_rag.kernel.errors import Misconfigured
from agentic_rag_server.app import build_app
from agentic_rag_server.connections import ConnectionLimits, Gate, connection_limits, guarded_protocol, guarded_socket
from agentic_rag_server.graphql.http.streams import OpenStreams
from agentic_rag_server.parts import ServerOptions, ServerParts


def listen(options: ServerOptions) -> socket.socket:
    """Bind the port before anything else starts. Errors: `Misconfigured` codes PORT_IN_USE, PORT_FORBIDDEN,
    HOST_UNKNOWN.
    """
    where = f"{options.host}:{options.port}"
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            options.host, options.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except socket.gaierror as error:
        raise Misconfigured(
            f"AGENTIC_RAG_HOST={options.host} is not an address of this machine.", code="HOST_UNKNOWN"
        ) from error
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(2048)
    except OSError as error:
        listener.close()
        raise _listen_error(error, where) from error
    listener.setblocking(False)
    return listener


def _listen_error(error: OSError, where: str) -> Misconfigured:
    if error.errno == errno.EADDRINUSE:
        return Misconfigured(
            f"{where} is in use: stop the other server or set AGENTIC_RAG_PORT to a free port.", code="PORT_IN_USE"
        )
    if error.errno in (errno.EACCES, errno.EPERM):
        return Misconfigured(f"This user may not listen on {where}: set AGENTIC_RAG_PORT.", code="PORT_FORBIDDEN")
    return Misconfigured(f"Cannot listen on {where}: set AGENTIC_RAG_HOST.", code="HOST_UNKNOWN")


class DrainingServer(uvicorn.Server):
    """A server that loses no request when it stops: uvicorn closes connections whose request it has not read yet. Its
    streams of events end, which have no end of their own.
    """

    def __init__(self, config: uvicorn.Config, gate: Gate, open_streams: OpenStreams) -> None:
        super().__init__(config)
        self.gate = gate
        self.open_streams = open_streams

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Take no more connections, so that a balancer tries another server; answer once more on those that are open;
        then as uvicorn does.
        """
        self.open_streams.closing.set()
        # The system has accepted some that the loop has not seen: a turn of the loop takes them.
        for _ in range(2):
            await asyncio.sleep(0)
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
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=parts.options.drain_seconds,
    )
    return DrainingServer(config, gate, app.state.open_streams)


def run(open_parts: Callable[[], Awaitable[ServerParts]], options: ServerOptions) -> None:
    """Take the port, make the parts and serve until SIGINT or SIGTERM. Errors: `Misconfigured`."""
    from agentic_rag.bootstrap import loop_factory, settle_collector

    listener = listen(options)

    async def work() -> None:
        server = build_server(await open_parts())
        settle_collector()
        # uvicorn raises the signal that stopped it once more when all is closed. By default that would kill the
        # process before its callers' own clean-up, and with a status that says it did not drain.
        signal.signal(signal.SIGTERM, lambda *_: setattr(server, "should_exit", True))
        await server.serve(sockets=[listener])

    with listener, asyncio.Runner(loop_factory=loop_factory()) as runner:
        runner.run(work())
