"""What a connection may cost before a request exists, over raw sockets: time, memory and others are the judges."""

import asyncio
import resource
import socket
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing, suppress
from dataclasses import replace
from time import monotonic

import pytest
import uvicorn

from agentic_rag_server.connections import ConnectionLimits, connection_limits
from agentic_rag_server.listener import listen
from agentic_rag_server.run import build_server
from agentic_rag_server.socket_use import SocketUse
from tests.api.builders import Container
from tests.waiting import eventually

pytestmark = pytest.mark.network

QUICK = ConnectionLimits(head_seconds=0.4, window_seconds=0.4, idle_seconds=1)
HEAD = b"GET /healthz HTTP/1.1\r\nHost: x\r\n"
POST = b"POST /graphql HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer admin-token\r\nContent-Type: application/json\r\n"


class Door:
    """A running server."""

    def __init__(self, server: uvicorn.Server, listener: socket.socket, container: Container) -> None:
        self.server = server
        self.listener = listener
        self.port = listener.getsockname()[1]
        self.container = container

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", self.port)

    async def status(self, *pieces: bytes, pause: float = 0.0) -> int:
        """The status of the first answer to the pieces; 0 for a connection that closes without one."""
        reader, writer = await self.connect()
        answer = asyncio.create_task(asyncio.wait_for(reader.readline(), 10))
        with suppress(ConnectionError):
            for piece in pieces:
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(pause)
        try:
            return int((await answer).split(b" ")[1])
        except (ConnectionError, IndexError):
            return 0
        finally:
            writer.close()

    async def is_shut(self) -> bool:
        """Whether it takes no connection any more."""
        return self.listener.fileno() == -1

    @property
    def refused(self) -> Counter[str]:
        """Refusals by reason."""
        counted: Counter[str] = Counter()
        for (name, labels), value in self.container.telemetry.counters.items():
            if name == "rag_connections_refused_total":
                counted[dict(labels)["reason"]] += int(value)
        return counted


@asynccontextmanager
async def opened(limits: ConnectionLimits = QUICK, container: Container | None = None) -> AsyncIterator[Door]:
    container = container or Container()
    with listen("127.0.0.1", 0) as listener:
        server = build_server(container, limits)  # pyright: ignore[reportArgumentType]
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        yield Door(server, listener, container)
        server.should_exit = True
        await serving


async def test_a_large_head_is_refused_before_it_is_read_whole() -> None:
    async with opened(replace(QUICK, head_seconds=10)) as door:
        fits = await door.status(HEAD + b"X-A: " + b"a" * 60_000 + b"\r\n\r\n")
        before, started = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, monotonic()
        too_large = await door.status(HEAD + b"X-A: ", *[b"a" * 1_000_000] * 200)
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before

    assert (fits, too_large in (0, 431)) == (200, True)
    assert monotonic() - started < 5
    assert grown < 20_000
    assert door.refused == {"head_size": 1}


async def test_a_head_has_so_many_headers() -> None:
    async with opened() as door:
        fits = await door.status(HEAD + b"X-A: a\r\n" * 99 + b"\r\n")
        too_many = await door.status(HEAD + b"X-A: a\r\n" * 100 + b"\r\n")

    assert (fits, too_many) == (200, 431)
    assert door.refused == {"head_count": 1}


def test_a_stranger_holds_a_connection_for_clearly_less_than_10_s_by_default() -> None:
    """What a busy machine adds must fit between these times and the 10 s that are promised."""
    limits = ConnectionLimits()

    assert max(limits.head_seconds, SocketUse().seconds) + limits.farewell_seconds <= 7
    assert limits.window_seconds <= 7


@pytest.mark.parametrize("pieces", [[], [b"\r\n"] * 9, [HEAD], [HEAD, *[b"X: 1\r\n"] * 9]], ids=str)
async def test_a_head_that_does_not_end_in_time_is_refused(pieces: list[bytes]) -> None:
    async with opened() as door:
        started = monotonic()
        status = await door.status(*pieces, pause=0.1)

    assert status == 408
    assert monotonic() - started < 2
    assert door.refused == {"head_time": 1}


async def test_a_slow_body_is_refused_and_a_steady_one_is_not() -> None:
    query = b'{"query": "{ __typename }"}'
    steady = [query[:1], *[b" " * 300] * 9, query[1:]]
    length = sum(map(len, steady))
    async with opened(replace(QUICK, body_rate=500.0)) as door:
        slow = await door.status(POST + b"Content-Length: 100\r\n\r\n", *[b"a"] * 12, pause=0.1)
        endless = await door.status(POST + b"Transfer-Encoding: chunked\r\n\r\n", b"1;", *[b"a" * 2000] * 9, pause=0.1)
        enough = await door.status(POST + b"Content-Length: %d\r\n\r\n" % length, *steady, pause=0.1)

    assert (slow, endless, enough) == (408, 408, 200)
    assert door.refused == {"body_rate": 2}


async def test_a_body_has_no_trailers() -> None:
    async with opened() as door:
        await door.status(POST + b"Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX-Late: 1\r\n\r\n")

    assert door.refused == {"trailers": 1}


async def test_requests_follow_one_another_on_a_connection_that_is_closed_when_idle() -> None:
    async with opened() as door:
        reader, writer = await door.connect()
        for _ in range(3):
            writer.write(HEAD + b"\r\n")
            assert b" 200 " in await reader.readline()
            await reader.readuntil(b"}")
            await asyncio.sleep(0.5)
        rest = await asyncio.wait_for(reader.read(), 3)
        writer.close()

    assert rest == b""
    assert door.refused == {}


async def test_few_requests_wait_for_the_answer_to_the_first() -> None:
    async with opened() as door:
        reader, writer = await door.connect()
        writer.write((HEAD + b"\r\n") * 5)
        answered = [await reader.readuntil(b"}") for _ in range(5)]
        writer.close()
        await door.status((HEAD + b"\r\n") * 20_000)

    assert [b" 200 " in one for one in answered] == [True] * 5
    assert door.refused == {"pipeline": 1}


async def test_half_open_connections_shut_nobody_out() -> None:
    async with opened(replace(QUICK, head_seconds=10, connections=50)) as door:
        half_open = [await door.connect() for _ in range(300)]
        for _, writer in half_open:
            if not writer.is_closing():
                writer.write(HEAD)
        started = monotonic()
        healthy = [await door.status(HEAD + b"\r\n") for _ in range(20)]
        for _, writer in half_open:
            writer.close()

    assert healthy == [200] * 20
    assert monotonic() - started < 1
    assert door.refused["connections"] >= 250


async def test_half_open_connections_that_come_again_and_again_shut_nobody_out() -> None:
    """Each makes room for another one, and what is closing does not count."""

    async def come_again(door: Door) -> None:
        while True:
            reader, writer = await door.connect()
            with closing(writer), suppress(ConnectionError):
                writer.write(HEAD)
                await reader.read()

    async with opened(replace(QUICK, head_seconds=10, connections=50)) as door:
        crowd = [asyncio.create_task(come_again(door)) for _ in range(80)]

        async def is_crowded() -> bool:
            return door.refused["connections"] > 500

        await eventually(is_crowded, "connections make room")
        statuses = [await door.status(HEAD + b"\r\n") for _ in range(20)]
        for one in crowd:
            one.cancel()
        await asyncio.gather(*crowd, return_exceptions=True)

    assert statuses == [200] * 20


async def test_a_request_that_has_come_is_answered_however_many_connections_come_behind_it() -> None:
    """All of them before the server reads: what it has not read yet was not waited for."""
    async with opened(replace(QUICK, connections=8)) as door:
        requests = [a_request(door.port) for _ in range(3)]
        silent = [socket.create_connection(("127.0.0.1", door.port)) for _ in range(8)]
        answers = [await asyncio.to_thread(one.recv, 20) for one in requests]

        async def is_crowded() -> bool:
            return door.refused["connections"] >= 3

        await eventually(is_crowded, "silent connections make room")
        for one in (*requests, *silent):
            one.close()

    assert [one.split(b" ")[1] for one in answers] == 3 * [b"200"]


def a_request(port: int) -> socket.socket:
    """A connection with a whole request, sent."""
    made = socket.create_connection(("127.0.0.1", port))
    made.sendall(HEAD + b"\r\n")
    made.settimeout(10)
    return made


async def test_unfinished_heads_take_so_much_memory_together() -> None:
    async with opened(replace(QUICK, head_seconds=10, waiting_bytes=300_000)) as door:
        waiting = [await door.connect() for _ in range(20)]
        for _, writer in waiting:
            writer.write(HEAD + b"X-A: " + b"a" * 50_000)
        healthy = [await door.status(HEAD + b"\r\n") for _ in range(5)]
        for _, writer in waiting:
            writer.close()

    assert healthy == [200] * 5
    assert door.refused["connections"] >= 12


@pytest.mark.parametrize(("descriptors", "connections"), [(64, 32), (1_024, 768), (2_304, 2_048), (1_000_000, 2_048)])
async def test_the_number_of_connections_leaves_descriptors_for_everything_else(
    descriptors: int, connections: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (descriptors, descriptors))

    server = build_server(Container())  # pyright: ignore[reportArgumentType]

    assert connection_limits().connections == connections
    # One more than the gate holds: it is the gate that makes room.
    assert server.config.limit_concurrency == connections + 1


def test_a_connection_may_be_idle_for_half_a_minute() -> None:
    server = build_server(Container())  # pyright: ignore[reportArgumentType]

    assert server.config.timeout_keep_alive == 30


async def test_connections_beyond_what_the_descriptors_allow_make_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (64, 64))
    async with opened(replace(connection_limits(), head_seconds=30)) as door:
        waiting = [await door.connect() for _ in range(40)]
        healthy = await door.status(HEAD + b"\r\n")
        for _, writer in waiting:
            writer.close()

    assert healthy == 200
    assert door.refused["connections"] >= 8


async def test_a_server_that_stops_answers_what_came_before_it_refused() -> None:
    async with opened(replace(QUICK, head_seconds=10)) as door:
        silent, used = [await door.connect() for _ in range(2)]
        used[1].write(HEAD + b"\r\n")
        first = await used[0].readuntil(b"}")
        door.server.should_exit = True
        await eventually(door.is_shut, "the server takes no connection any more")
        last: list[bytes] = []
        for reader, writer in (silent, used):
            writer.write(HEAD + b"\r\n")
            last.append(await reader.read())
            writer.close()

    assert b"connection: close" not in first
    assert [(b" 200 " in one, b"connection: close" in one) for one in last] == [(True, True)] * 2


async def test_a_server_that_stops_does_not_wait_for_a_connection_that_was_long_silent() -> None:
    async with opened(replace(QUICK, head_seconds=10, last_seconds=0.0)) as door:
        reader, writer = await door.connect()
        door.server.should_exit = True
        rest = await asyncio.wait_for(reader.read(), 5)
        writer.close()

    assert rest == b""
