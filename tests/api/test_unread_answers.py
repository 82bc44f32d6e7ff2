"""What a client that does not read its answers may hold, over raw sockets."""

import asyncio
import logging
import socket
from dataclasses import replace

import pytest

from agentic_rag.bootstrap import loop_factory
from agentic_rag_server.connections import GuardedProtocol
from agentic_rag_server.guarded_sockets import GuardedSocket
from tests.api.test_connections import HEAD, QUICK, Door, opened
from tests.api.test_half_open_sockets import UPGRADE
from tests.waiting import eventually

pytestmark = pytest.mark.network

LARGE = b"GET /openapi.json HTTP/1.1\r\nHost: x\r\n"
MOST = 16
"""Requests that may wait on a connection."""
IMPATIENT = replace(QUICK, unread_seconds=0.5, idle_seconds=30)


def unread(door: Door, requests: bytes) -> socket.socket:
    """A connection whose client sends and reads nothing: the system takes a few kilobytes for it."""
    made = socket.socket()
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    made.settimeout(10)
    made.connect(("127.0.0.1", door.port))
    made.sendall(requests)
    return made


async def none_left(door: Door) -> bool:
    return not door.server.server_state.connections and not door.server.server_state.tasks


async def has_come(door: Door) -> bool:
    return bool(door.server.server_state.connections)


async def an_answer_waits(door: Door) -> bool:
    """For its client to read it."""
    held = [one for one in door.server.server_state.connections if isinstance(one, GuardedProtocol)]
    return any(one.transport.get_write_buffer_size() for one in held)


async def is_socket(door: Door) -> bool:
    return any(isinstance(one, GuardedSocket) for one in door.server.server_state.connections)


async def send_and_await_answer(client: socket.socket, served: GuardedProtocol) -> None:
    """Returns when the answer is made, read or not."""
    before = served.cycle

    async def is_made() -> bool:
        return served.cycle is not before and served.cycle.response_complete

    client.sendall(LARGE + b"\r\n")
    await eventually(is_made, "the answer is made")


@pytest.mark.parametrize("last", [b"", b"Connection: close\r\n"], ids=["kept open", "closing"])
async def test_a_connection_whose_answers_are_not_read_ends(last: bytes) -> None:
    async with opened(IMPATIENT) as door:
        silent = [unread(door, (LARGE + b"\r\n") * (MOST - 1) + LARGE + last + b"\r\n") for _ in range(3)]
        await eventually(lambda: an_answer_waits(door), "answers wait for their clients")
        await eventually(lambda: none_left(door), "the server ends what nobody reads")
        for one in silent:
            one.close()

    assert door.refused == {"answer_rate": 3}


async def test_an_answer_that_no_transport_waits_for_is_not_waited_for_when_its_connection_is_idle() -> None:
    async with opened(replace(IMPATIENT, idle_seconds=1)) as door:
        silent = unread(door, b"")
        await eventually(lambda: has_come(door), "the server has the connection")
        (served,) = door.server.server_state.connections
        assert isinstance(served, GuardedProtocol)
        served.transport.set_write_buffer_limits(high=10_000_000)
        silent.sendall((LARGE + b"\r\n") * MOST)
        await eventually(lambda: an_answer_waits(door), "the answer waits for its client")
        await eventually(lambda: none_left(door), "the server ends what nobody reads")
        silent.close()

    assert door.refused == {"answer_rate": 1}


async def test_a_client_that_reads_slowly_gets_its_whole_answer() -> None:
    async with opened(replace(IMPATIENT, unread_seconds=0.05)) as door:
        client = unread(door, (LARGE + b"\r\n") * (MOST - 1) + LARGE + b"Connection: close\r\n\r\n")
        await eventually(lambda: an_answer_waits(door), "answers wait for their client")
        client.setblocking(False)
        read, loop = bytearray(), asyncio.get_running_loop()
        while piece := await loop.sock_recv(client, 65_536):
            read += piece
            await asyncio.sleep(0.001)
        client.close()

    assert read.count(b"HTTP/1.1 200") == MOST
    assert read.endswith(b"}")
    assert door.refused == {}


async def test_clients_that_do_not_read_shut_nobody_out() -> None:
    async with opened(replace(QUICK, unread_seconds=60.0, idle_seconds=60, connections=8)) as door:
        silent = [unread(door, (LARGE + b"\r\n") * MOST) for _ in range(8)]
        await eventually(lambda: an_answer_waits(door), "answers wait for their clients")
        statuses = [await door.status(HEAD + b"Connection: close\r\n\r\n") for _ in range(3)]
        for one in silent:
            one.close()

    assert statuses == [200, 200, 200]


async def test_an_upgrade_behind_an_answer_that_is_not_read_leaves_nothing_that_waits() -> None:
    """What waits is closed for a newcomer, and a connection that is gone cannot be."""
    async with opened(replace(QUICK, unread_seconds=60.0, idle_seconds=60, connections=2)) as door:
        silent = unread(door, b"")
        await eventually(lambda: has_come(door), "the server has the connection")
        (served,) = door.server.server_state.connections
        assert isinstance(served, GuardedProtocol)
        served.transport.set_write_buffer_limits(high=0)
        while not served.flow.write_paused:
            await send_and_await_answer(silent, served)
        silent.sendall(UPGRADE)
        await eventually(lambda: is_socket(door), "the connection is a WebSocket")
        waiting = [type(one).__mro__[1] for one in served.gate.waiting]
        silent.close()
        await eventually(lambda: none_left(door), "the server forgets the connection")
        idle = [unread(door, b"") for _ in range(3)]
        statuses = [await door.status(HEAD + b"Connection: close\r\n\r\n") for _ in range(3)]
        for one in idle:
            one.close()

    assert waiting == [GuardedSocket]
    assert statuses == [200, 200, 200]


def test_a_client_that_leaves_its_requests_behind_is_no_fault_of_the_server(caplog: pytest.LogCaptureFixture) -> None:
    """On the loop of the product: others take what is written to a line that is gone."""

    async def leave() -> None:
        async with opened() as door:
            leaving = unread(door, (LARGE + b"\r\n") * MOST)
            await eventually(lambda: an_answer_waits(door), "answers wait for their clients")
            leaving.close()
            await eventually(lambda: none_left(door), "the server forgets the connection")

    with caplog.at_level(logging.ERROR), asyncio.Runner(loop_factory=loop_factory()) as runner:
        runner.run(leave())

    assert [record.message for record in caplog.records] == []
