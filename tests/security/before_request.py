"""What may reach a server before it knows who sends: every part of a request, and of a WebSocket without a credential,
× {size, count, time, number}.
"""

from __future__ import annotations

import asyncio
import enum
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from time import monotonic

_GET = b"GET /healthz HTTP/1.1\r\nHost: x\r\n"
_POST = b"POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
_CHUNKED = _POST + b"Transfer-Encoding: chunked\r\n\r\n"
_UPGRADE = (
    b"GET /graphql HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n"
)


@dataclass(frozen=True)
class Part:
    """A part of a request: what stands before it, and what it is made of."""

    before: bytes
    unit: bytes


PARTS: Mapping[str, Part] = {
    "nothing": Part(b"", b""),
    "empty lines": Part(b"", b"\r\n"),
    "method": Part(b"", b"A"),
    "path": Part(b"GET /", b"a"),
    "version": Part(b"GET / HTTP/1.1", b"1"),
    "name of a header": Part(_GET, b"X"),
    "value of a header": Part(_GET + b"X: ", b"a"),
    "credential": Part(_GET + b"Authorization: Bearer ", b"a"),
    "folded header": Part(_GET + b"X: a\r\n", b" a\r\n"),
    "headers": Part(_GET, b"X: a\r\n"),
    "declared body": Part(_POST + b"Content-Length: 900000000\r\n\r\n", b"a"),
    "body that waits for 100": Part(_POST + b"Expect: 100-continue\r\nContent-Length: 900000000\r\n\r\n", b"a"),
    "form": Part(
        b"POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=b\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n",
        b"3\r\n--b\r\n",
    ),
    "size of a chunk": Part(_CHUNKED, b"0"),
    "extension of a chunk": Part(_CHUNKED + b"1;", b"a"),
    "chunks": Part(_CHUNKED, b"1\r\na\r\n"),
    "trailers": Part(_CHUNKED + b"0\r\n", b"X: a\r\n"),
    "requests": Part(b"", _GET + b"\r\n"),
    "body of an upgrade": Part(_UPGRADE[:-2] + b"Content-Length: 900000000\r\n\r\n", b"a"),
    "chunks of an upgrade": Part(_UPGRADE[:-2] + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\na\r\n"),
    "socket": Part(_UPGRADE, b""),
    # A text of 1,000,000 bytes is announced, and one of 16,000 that fits.
    "large message of a socket": Part(_UPGRADE + b"\x81\xff" + (1_000_000).to_bytes(8, "big") + bytes(4), b"a"),
    "message of a socket": Part(_UPGRADE + b"\x81\xff" + (16_000).to_bytes(8, "big") + bytes(4), b"a"),
    "fragments of a socket": Part(_UPGRADE + b"\x01\x80" + bytes(4), b"\x00\x80" + bytes(4)),
    "pings of a socket": Part(_UPGRADE, b"\x89\x80" + bytes(4)),
    "small messages of a socket": Part(_UPGRADE, b"\x81\x80" + bytes(4)),
    "pings in messages of a socket": Part(_UPGRADE, b"\x81\x8f" + bytes(4) + b'{"type":"ping"}'),
}


class Kind(enum.Enum):
    """How a part is overdone."""

    SIZE = "size"
    """Bytes without end, as fast as they are taken."""
    COUNT = "count"
    """Its smallest piece again and again."""
    TIME = "time"
    """A piece now and then."""
    NUMBER = "number"
    """Begun on many connections at once."""


@dataclass(frozen=True)
class Scale:
    """How much is sent, and what is borne: `seconds` until a connection is refused, and the judges' lines."""

    sent_bytes: int = 16_000_000
    pieces: int = 20_000
    connections: int = 400
    pause: float = 1.0
    trickle: float = 20.0
    """Seconds in which pieces come now and then."""
    seconds: float = 10.0
    grown_bytes: int = 20_000_000


@dataclass
class Target:
    """A running server. `pid` is the process whose memory is judged."""

    port: int
    pid: int

    def memory(self) -> int:
        with open(f"/proc/{self.pid}/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    async def health_seconds(self) -> float:
        """How long a stranger waits for /healthz; infinite for anything but 200."""
        began = monotonic()
        with suppress(OSError, TimeoutError):
            async with asyncio.timeout(20):
                reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
                writer.write(_GET + b"Connection: close\r\n\r\n")
                line = await reader.readline()
                writer.close()
                if b" 200 " in line:
                    return monotonic() - began
        return float("inf")


@dataclass
class Verdict:
    """What the judges saw of one cell."""

    cell: str
    borne: float = 0.0
    """The longest time in seconds that a connection was borne whose requests were not answered with success."""
    grown: int = 0
    health: float = 0.0

    def faults(self, scale: Scale) -> list[str]:
        found: list[str] = []
        if self.borne > scale.seconds:
            found.append(f"{self.cell}: borne for {self.borne:.1f} s")
        if self.grown > scale.grown_bytes:
            found.append(f"{self.cell}: {self.grown / 1e6:.0f} MB")
        return found


async def judged(target: Target, name: str, kind: Kind, scale: Scale) -> Verdict:
    """Overdo one part, while a stranger asks /healthz and the server's memory is read."""
    verdict = Verdict(f"{name} × {kind.value}")
    before = target.memory()
    done = asyncio.Event()

    async def watch() -> None:
        while not done.is_set():
            verdict.health = max(verdict.health, await target.health_seconds())
            verdict.grown = max(verdict.grown, target.memory() - before)
            with suppress(TimeoutError):
                await asyncio.wait_for(done.wait(), 0.1)

    watching = asyncio.create_task(watch())
    count = scale.connections if kind is Kind.NUMBER else 1
    ends = await asyncio.gather(*(_overdone(target, PARTS[name], kind, scale) for _ in range(count)))
    done.set()
    await watching
    verdict.borne = max(ends)
    return verdict


async def _overdone(target: Target, part: Part, kind: Kind, scale: Scale) -> float:
    """Seconds until the server ended the connection; 0 for one that it served."""
    began = monotonic()
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", target.port)
    except OSError:
        return 0.0
    answered, has_answer = bytearray(), asyncio.Event()

    async def read() -> None:
        with suppress(OSError):
            while piece := await reader.read(1 << 16):
                answered.extend(piece[:64] if not answered else b"")
                has_answer.set()
        has_answer.set()

    reading = asyncio.create_task(read())
    with suppress(OSError, TimeoutError):
        async with asyncio.timeout(scale.seconds + 1):
            if part.before.startswith(_UPGRADE):
                # What comes in one piece with the upgrade is not read as frames.
                writer.write(_UPGRADE)
                await has_answer.wait()
            writer.write(part.before.removeprefix(_UPGRADE))
            async for piece in _pieces(part, kind, scale):
                if reading.done() or writer.is_closing():
                    break
                writer.write(piece)
                await writer.drain()
            await reading
    seconds = monotonic() - began
    reading.cancel()
    writer.transport.abort()
    return 0.0 if answered.startswith(b"HTTP/1.1 200") else seconds


async def _pieces(part: Part, kind: Kind, scale: Scale) -> AsyncIterator[bytes]:
    if not part.unit:
        return
    if kind is Kind.SIZE:
        block = part.unit * (65_536 // len(part.unit))
        for _ in range(0, scale.sent_bytes, len(block)):
            yield block
    elif kind is Kind.COUNT:
        for _ in range(scale.pieces):
            yield part.unit
    elif kind is Kind.TIME:
        end = monotonic() + scale.trickle
        while monotonic() < end:
            yield part.unit
            await asyncio.sleep(scale.pause)
    else:
        yield part.unit


CELLS = tuple(product(PARTS, Kind))
"""Every part, overdone in every way."""
