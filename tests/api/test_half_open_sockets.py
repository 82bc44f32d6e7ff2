"""What a WebSocket may cost before its client has shown a credential, or while nothing runs on it, over raw sockets."""

import asyncio
import gc
import json
import struct

import pytest
from websockets.server import ServerProtocol

from agentic_rag_server.connections import ConnectionLimits, GuardedProtocol
from agentic_rag_server.graphql.http.socket import MOST_OPERATIONS
from agentic_rag_server.guarded_sockets import GuardedSocket
from agentic_rag_server.socket_frames import MOST_A_SECOND, MOST_FRAMES, MOST_MESSAGES_A_SECOND
from agentic_rag_server.socket_use import SOCKET_USE
from tests.api.test_connections import HEAD, Door, opened
from tests.waiting import eventually

pytestmark = pytest.mark.network

UPGRADE = (
    b"GET /graphql HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n"
)
TEXT, BINARY, CONTINUATION, PING, PONG, LAST = 0x01, 0x02, 0x00, 0x09, 0x0A, 0x80
UNMASKED = bytes(4)


def frame(first: int, payload: bytes, announced: int | None = None) -> bytes:
    """A masked frame; `announced` is the length that it claims."""
    length = len(payload) if announced is None else announced
    # A control frame says its length in seven bits.
    size = bytes([0x80 | length]) if length < 126 else b"\xff" + struct.pack(">Q", length)
    return bytes([first]) + size + UNMASKED + payload


class RawSocket:
    """A WebSocket that never answers, as far as the test does not."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    def send(self, first: int, payload: bytes, announced: int | None = None) -> None:
        """Send a frame."""
        self.writer.write(frame(first, payload, announced))

    async def ends(self, seconds: float = 5.0) -> bytes:
        """What the server sent until it closed the connection. Errors: `TimeoutError`."""
        try:
            return await asyncio.wait_for(self.reader.read(), seconds)
        except ConnectionError:
            return b""
        finally:
            self.writer.close()

    async def message(self) -> dict[str, object]:
        """The next message of the server, of 125 to 65,535 bytes or fewer."""
        _, length = await self.reader.readexactly(2)
        size = length if length < 126 else struct.unpack(">H", await self.reader.readexactly(2))[0]
        return json.loads(await self.reader.readexactly(size))


async def half_open(door: Door) -> RawSocket:
    reader, writer = await door.connect()
    writer.write(UPGRADE)
    head = await reader.readuntil(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 101")
    return RawSocket(reader, writer)


async def test_a_large_message_is_refused_as_soon_as_it_is_announced() -> None:
    async with opened() as door:
        socket = await half_open(door)
        socket.send(TEXT, b"{", announced=1_000_000)
        said = await socket.ends()

    assert said[2:4] == struct.pack(">H", 1009)
    assert door.refused == {"socket_size": 1}


@pytest.mark.parametrize(
    ("kind", "payload"), [(PING, b""), (PONG, b""), (TEXT, b""), (TEXT, b'{"type":"ping"}'), (BINARY, b"")]
)
async def test_frames_in_a_flood_end_the_connection_before_the_rest_is_parsed(
    kind: int, payload: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """16 MB of them took a server 10 s in which it answered nobody."""
    seen: list[int] = []
    judged = GuardedSocket._is_flooded
    monkeypatch.setattr(GuardedSocket, "_is_flooded", lambda self, **of: (seen.append(1), judged(self, **of))[1])
    async with opened() as door:
        socket = await half_open(door)
        socket.writer.write(frame(LAST | kind, payload) * 200_000)
        await socket.ends()

    assert door.refused == {"socket_rate": 1}
    assert len(seen) < 3_000


async def test_a_ping_now_and_then_is_answered() -> None:
    async with opened() as door:
        socket = await half_open(door)
        for number in range(MOST_A_SECOND):
            socket.send(LAST | PING, bytes([number]))
        answers = await asyncio.wait_for(socket.reader.readexactly(3 * MOST_A_SECOND), 5)
        socket.writer.close()

    assert answers[::3] == bytes([LAST | PONG]) * MOST_A_SECOND
    assert door.refused == {}


async def test_a_message_has_so_many_fragments() -> None:
    async with opened() as door:
        socket = await half_open(door)
        socket.send(TEXT, b"")
        for _ in range(MOST_FRAMES):
            socket.send(CONTINUATION, b"")
        said = await socket.ends()

    assert said[2:4] == struct.pack(">H", 1009)
    assert door.refused == {"socket_size": 1}


async def begun(door: Door) -> RawSocket:
    """A WebSocket with a credential on which nothing runs."""
    socket = await half_open(door)
    begin = {"type": "connection_init", "payload": {"authorization": "Bearer admin-token"}}
    socket.send(LAST | TEXT, json.dumps(begin).encode())
    assert await socket.message() == {"type": "connection_ack"}
    return socket


async def test_idle_sockets_of_one_caller_shut_nobody_out() -> None:
    async with opened(ConnectionLimits(connections=8, head_seconds=60.0)) as door:
        sockets = [await begun(door) for _ in range(8)]
        used = json.dumps({"type": "subscribe", "id": "1", "payload": {"query": "{ __typename }"}}).encode()
        for socket in sockets:
            socket.send(LAST | TEXT, used)
            assert [(await socket.message())["type"] for _ in range(2)] == ["next", "complete"]
        statuses = [await door.status(HEAD + b"Connection: close\r\n\r\n") for _ in range(3)]
        said = await sockets[0].ends()
        for socket in sockets[1:]:
            socket.writer.close()

    assert statuses == [200, 200, 200]
    assert said[2:4] == struct.pack(">H", 1013)


async def test_whoever_showed_a_credential_may_send_long_operations() -> None:
    async with opened() as door:
        socket = await begun(door)
        operation = {"query": "{ __typename }", "extensions": {"long": "x" * 200_000}}
        socket.send(LAST | TEXT, json.dumps({"type": "subscribe", "id": "1", "payload": operation}).encode())
        answered = await socket.message()
        socket.writer.close()

    assert (answered["type"], answered["payload"]) == ("next", {"data": {"__typename": "Query"}})


async def test_pings_of_a_client_that_does_not_read_are_not_answered_into_memory() -> None:
    async with opened() as door:
        socket = await half_open(door)
        (served,) = door.server.server_state.connections
        assert isinstance(served, GuardedSocket)
        served.pause_writing()
        served.data_received(frame(LAST | PING, b"unread"))
        served.resume_writing()
        served.data_received(frame(LAST | PING, b"read"))
        answer = await socket.reader.readexactly(6)
        socket.writer.close()

    assert answer == bytes([LAST | PONG, 4]) + b"read"


async def test_half_open_sockets_shut_nobody_out() -> None:
    async with opened(ConnectionLimits(connections=8, head_seconds=60.0)) as door:
        sockets = [await half_open(door) for _ in range(8)]
        statuses = [await door.status(HEAD + b"Connection: close\r\n\r\n") for _ in range(3)]
        await sockets[0].ends()
        for socket in sockets[1:]:
            socket.writer.close()

    assert statuses == [200, 200, 200]
    assert door.refused["connections"] >= 1


async def test_a_client_that_begins_nothing_is_gone_when_a_head_would_be() -> None:
    async with opened() as door:
        socket = await half_open(door)
        said = await socket.ends(seconds=5)

    assert said[2:4] == struct.pack(">H", 4408)
    assert door.refused == {"socket_time": 1}


@pytest.mark.parametrize(
    ("message", "code", "reason"),
    [
        (b"{nope", 4400, "malformed"),
        (b'{"type": "drop tables"}', 4400, "malformed"),
        (b'{"type": "subscribe", "id": "1", "payload": {"query": "{ a }"}}', 4401, "socket_early"),
    ],
)
async def test_a_refusal_by_the_protocol_is_counted_before_a_credential(message: bytes, code: int, reason: str) -> None:
    async with opened() as door:
        socket = await half_open(door)
        socket.send(LAST | TEXT, message)
        said = await socket.ends()

    assert said[2:4] == struct.pack(">H", code)
    assert door.refused == {reason: 1}


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        (b"Host: x\r\n", b"Host: x\r\nOrigin: https://elsewhere.example\r\n", "socket_origin"),
        (b"graphql-transport-ws", b"graphql-ws", "socket_protocol"),
    ],
)
async def test_a_handshake_that_is_refused_is_counted(before: bytes, after: bytes, reason: str) -> None:
    async with opened() as door:
        reader, writer = await door.connect()
        writer.write(UPGRADE.replace(before, after))
        said = await RawSocket(reader, writer).ends()

    assert (b" 403 " in said) is (reason == "socket_origin")
    assert (struct.pack(">H", 4406) in said) is (reason == "socket_protocol")
    assert door.refused == {reason: 1}


async def test_a_flood_of_messages_ends_the_socket_of_a_caller_as_well() -> None:
    ping, known = json.dumps({"type": "ping"}).encode(), json.dumps({"type": "complete", "id": "1"}).encode()
    async with opened() as door:
        patient, flooding = await begun(door), await begun(door)
        for _ in range(MOST_OPERATIONS):
            patient.send(LAST | TEXT, known)
        patient.send(LAST | TEXT, ping)
        assert await patient.message() == {"type": "pong"}
        for _ in range(2 * MOST_MESSAGES_A_SECOND):
            flooding.send(LAST | TEXT, known)
        said = await flooding.ends()
        patient.writer.close()

    # What the server has not read when it closes may reset the line, and with it what it said.
    assert said[2:4] in (struct.pack(">H", 1013), b"")
    assert door.refused == {"socket_rate": 1}


async def test_a_wrong_credential_is_counted_as_such_and_a_caller_s_mistake_is_no_refusal() -> None:
    async with opened() as door:
        stranger, caller = await half_open(door), await begun(door)
        stranger.send(LAST | TEXT, b'{"type": "connection_init"}')
        caller.send(LAST | TEXT, b'{"type": "connection_init"}')
        said = [(await socket.ends())[2:4] for socket in (stranger, caller)]

    assert said == [struct.pack(">H", 4403), struct.pack(">H", 4429)]
    assert door.refused == {}
    assert door.container.telemetry.counters[("rag_credentials_refused_total", (("slowed", "false"),))] == 1


@pytest.mark.parametrize(
    "request_",
    [
        UPGRADE[:-2] + b"Content-Length: 900000\r\n\r\n",
        UPGRADE[:-2] + b"Transfer-Encoding: chunked\r\n\r\n",
        UPGRADE.replace(b"GET", b"POST"),
        HEAD + b"\r\n" + UPGRADE,
    ],
    ids=["a body", "chunks", "another method", "behind a request that is answered"],
)
async def test_an_upgrade_that_nobody_would_wait_for_is_refused(request_: bytes) -> None:
    """Of a request with a body the parser tells only at the end of it, which may never come."""
    async with opened() as door:
        reader, writer = await door.connect()
        writer.write(request_)
        said = await RawSocket(reader, writer).ends()

    assert b" 101 " not in said
    assert door.refused == {"malformed": 1}


async def test_an_empty_body_is_none() -> None:
    async with opened() as door:
        reader, writer = await door.connect()
        writer.write(UPGRADE[:-2] + b"Content-Length: 0\r\n\r\n")
        said = await reader.readuntil(b"\r\n\r\n")
        writer.close()

    assert said.startswith(b"HTTP/1.1 101")


TWO = ConnectionLimits(half_open_sockets=2, turn_seconds=0.3)


async def test_a_crowd_of_sockets_that_begin_at_once_is_served_in_turns() -> None:
    async with opened(TWO) as door:
        sockets = await asyncio.gather(*(begun(door) for _ in range(12)))
        for socket in sockets:
            socket.writer.close()

    assert door.refused == {}


async def test_a_crowd_of_sockets_without_a_credential_makes_room_for_who_comes_behind_it() -> None:
    async with opened(TWO) as door:
        crowd = [await door.connect() for _ in range(6)]
        for _, writer in crowd:
            writer.write(UPGRADE)
        caller = await begun(door)
        held = [one for one in door.server.server_state.connections if isinstance(one, GuardedSocket)]
        for _, writer in crowd:
            writer.close()
        caller.writer.close()

    assert len(held) <= 3
    assert door.refused["connections"] >= 4


async def test_a_client_that_leaves_before_its_turn_takes_none() -> None:
    async with opened(TWO) as door:
        crowd = [await door.connect() for _ in range(6)]
        for _, writer in crowd:
            writer.write(UPGRADE)
        for _, writer in crowd[2:]:
            writer.transport.abort()
        caller = await begun(door)
        for _, writer in crowd:
            writer.close()
        caller.writer.close()

    assert door.refused["connections"] <= 2


async def test_all_sockets_wait_for_no_turn_where_there_is_room() -> None:
    async with opened(ConnectionLimits(half_open_sockets=8, turn_seconds=60.0)) as door:
        sockets = [await half_open(door) for _ in range(8)]
        for socket in sockets:
            socket.writer.close()

    assert door.refused == {}


async def test_the_time_for_a_turn_is_time_for_a_credential() -> None:
    now = asyncio.get_running_loop().time
    async with opened(ConnectionLimits(half_open_sockets=1, turn_seconds=0.5, head_seconds=60.0)) as door:
        first, began = await half_open(door), now()
        sockets = first, await half_open(door)
        lasted = now() - began
        (served,) = [one for one in door.server.server_state.connections if isinstance(one, GuardedSocket)]
        seconds = served.app_state[SOCKET_USE].seconds
        for socket in sockets:
            socket.writer.close()

    assert 0.0 < 60.0 - seconds <= lasted


async def test_a_socket_that_ended_leaves_nothing_for_the_collector() -> None:
    async with opened() as door:
        await begun_and_ended(door)
        gc.collect()
        gc.disable()
        try:
            for _ in range(3):
                await begun_and_ended(door)
            left = [
                one for one in gc.get_objects() if isinstance(one, (GuardedSocket, GuardedProtocol, ServerProtocol))
            ]
        finally:
            gc.enable()

    assert left == []


async def begun_and_ended(door: Door) -> None:
    socket = await begun(door)
    socket.writer.close()

    async def is_forgotten() -> bool:
        return not door.server.server_state.connections and not door.server.server_state.tasks

    await eventually(is_forgotten, "the server forgets the connection")


async def test_a_socket_whose_credential_this_process_has_not_read_keeps_its_place() -> None:
    async with opened(ConnectionLimits(half_open_sockets=1, turn_seconds=0.2)) as door:
        first = await half_open(door)
        (served,) = [one for one in door.server.server_state.connections if isinstance(one, GuardedSocket)]
        served.transport.pause_reading()
        begin = {"type": "connection_init", "payload": {"authorization": "Bearer admin-token"}}
        first.send(LAST | TEXT, json.dumps(begin).encode())
        second = asyncio.create_task(half_open(door))
        await asyncio.wait([second], timeout=0.7)
        was_served = second.done()
        served.transport.resume_reading()
        acknowledged = await first.message()
        for socket in (first, await second):
            socket.writer.close()

    assert not was_served
    assert acknowledged == {"type": "connection_ack"}
