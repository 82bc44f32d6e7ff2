"""/metrics, /healthz and /readyz of a worker: plain HTTP/1.1 for probes and scrapers, GET only."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping

from agentic_rag.kernel.telemetry import Telemetry

READ_SECONDS = 5.0
MAX_HEAD = 16 * 1024

_REASONS = {200: "OK", 400: "Bad Request", 404: "Not Found", 405: "Method Not Allowed", 503: "Service Unavailable"}
_JSON = "application/json"


class MetricsServer:
    """One answer per connection."""

    def __init__(
        self, telemetry: Telemetry, readiness: Callable[[], Awaitable[Mapping[str, str | None]]], host: str, port: int
    ) -> None:
        self._telemetry = telemetry
        self._readiness = readiness
        self._host = host
        self._port = port
        self._server: asyncio.Server | None = None

    @property
    def port(self) -> int:
        """The port it listens on (asked for 0: the one the system chose)."""
        if self._server is None:
            return self._port
        return self._server.sockets[0].getsockname()[1]

    async def start(self) -> None:
        """Listen. Errors: `OSError` (port in use)."""
        self._server = await asyncio.start_server(self._serve, self._host, self._port, limit=MAX_HEAD)

    async def aclose(self) -> None:
        """Stop listening."""
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(READ_SECONDS):
                head = await reader.readuntil(b"\r\n\r\n")
                status, kind, body = await self._answer(head)
                writer.write(_response(status, kind, body))
                await writer.drain()
        except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            return
        finally:
            writer.close()

    async def _answer(self, head: bytes) -> tuple[int, str, bytes]:
        parts = head.split(b"\r\n", 1)[0].decode("latin-1").split(" ")
        if len(parts) != 3 or not parts[2].startswith("HTTP/1."):
            return 400, _JSON, b'{"error":"bad request"}'
        if parts[0] not in ("GET", "HEAD"):
            return 405, _JSON, b'{"error":"GET only"}'
        match parts[1].split("?", 1)[0]:
            case "/metrics":
                body, kind = self._telemetry.exposition()
                return 200, kind, body
            case "/healthz":
                return 200, _JSON, b'{"status":"ok"}'
            case "/readyz":
                faults = await self._readiness()
                status = 503 if any(fault is not None for fault in faults.values()) else 200
                return status, _JSON, json.dumps({name: fault or "ok" for name, fault in faults.items()}).encode()
            case _:
                return 404, _JSON, b'{"error":"not found"}'


def _response(status: int, kind: str, body: bytes) -> bytes:
    head = (
        f"HTTP/1.1 {status} {_REASONS[status]}\r\nContent-Type: {kind}\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode("latin-1") + body
