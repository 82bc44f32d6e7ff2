"""A load client thin enough not to be what is measured: HTTP/1.1 keep-alive over plain asyncio streams, loopback
only.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Any


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where to post, and as whom."""

    port: int
    token: str
    path: str = "/graphql"


class Connection:
    """One keep-alive connection."""

    def __init__(self, endpoint: Endpoint, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._endpoint = endpoint
        self._reader = reader
        self._writer = writer

    @classmethod
    async def open(cls, endpoint: Endpoint) -> Connection:
        return cls(endpoint, *await asyncio.open_connection("127.0.0.1", endpoint.port))

    async def post(self, body: bytes) -> bytes:
        head = (
            f"POST {self._endpoint.path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            f"Accept: application/json\r\nAuthorization: Bearer {self._endpoint.token}\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        self._writer.write(head.encode() + body)
        status = await self._reader.readuntil(b"\r\n\r\n")
        if b" 200 " not in status.split(b"\r\n", 1)[0]:
            raise RuntimeError(status.decode(errors="replace"))
        lowered = status.lower()
        at = lowered.index(b"content-length:") + 15
        return await self._reader.readexactly(int(lowered[at : lowered.index(b"\r\n", at)]))

    async def close(self) -> None:
        self._writer.close()
        await self._writer.wait_closed()


def body_of(query: str, variables: dict[str, Any]) -> bytes:
    return json.dumps({"query": query, "variables": variables}).encode()


async def sequential(endpoint: Endpoint, bodies: Sequence[bytes]) -> tuple[list[float], list[dict[str, Any]]]:
    """Seconds of each, one request after the other on one connection, and the replies."""
    connection = await Connection.open(endpoint)
    seconds: list[float] = []
    replies: list[dict[str, Any]] = []
    for body in bodies:
        began = time.perf_counter()
        raw = await connection.post(body)
        seconds.append(time.perf_counter() - began)
        replies.append(_checked(raw))
    await connection.close()
    return seconds, replies


async def throughput(endpoint: Endpoint, bodies: Sequence[bytes], clients: int, requests: int) -> float:
    """Requests per second of `clients` connections sharing `requests` requests, the bodies in turn."""
    connections = [await Connection.open(endpoint) for _ in range(clients)]
    left = islice(cycle(bodies), requests)

    async def drain(connection: Connection) -> None:
        for body in left:
            await connection.post(body)

    began = time.perf_counter()
    await asyncio.gather(*(drain(connection) for connection in connections))
    elapsed = time.perf_counter() - began
    await asyncio.gather(*(connection.close() for connection in connections))
    return requests / elapsed


def _checked(raw: bytes) -> dict[str, Any]:
    reply: dict[str, Any] = json.loads(raw)
    if reply.get("errors"):
        raise RuntimeError(json.dumps(reply["errors"])[:500])
    return reply["data"]
