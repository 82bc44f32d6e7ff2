"""The server as a process on a real socket, loopback only."""

import asyncio
import socket
import sys
from contextlib import ExitStack

import httpx2
import pytest

from agentic_rag.kernel.errors import Misconfigured
from agentic_rag_server.listener import await_accepted, listen, take_no_more
from agentic_rag_server.run import build_server
from tests.api.builders import Container

pytestmark = pytest.mark.network


def test_a_port_in_use_is_a_clear_error_before_anything_starts() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]

        with pytest.raises(Misconfigured) as caught:
            listen("127.0.0.1", port)

    assert caught.value.code == "PORT_IN_USE"
    assert f"127.0.0.1:{port}" in caught.value.message
    assert "AGENTIC_RAG_PORT" in caught.value.message


def test_a_host_that_is_not_ours_is_a_clear_error() -> None:
    with pytest.raises(Misconfigured) as caught:
        listen("203.0.113.1", 0)

    assert caught.value.code == "HOST_UNKNOWN"


@pytest.mark.skipif(sys.platform != "linux", reason="component: packet filters of Linux")
async def test_a_port_that_takes_no_more_still_hands_over_the_connections_that_wait() -> None:
    accepted = 0

    async def count(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal accepted
        accepted += 1
        writer.close()

    with listen("127.0.0.1", 0) as listener, ExitStack() as clients:
        waiting = [clients.enter_context(socket.create_connection(listener.getsockname())) for _ in range(20)]
        take_no_more(listener)
        with pytest.raises(TimeoutError):
            socket.create_connection(listener.getsockname(), timeout=0.1)

        async with await asyncio.start_server(count, sock=listener):
            await await_accepted(listener)
            ends = [await asyncio.to_thread(one.recv, 1) for one in waiting]

    assert ends == [b""] * 20
    assert accepted == 20


async def test_the_server_answers_on_its_socket_and_closes_the_container_when_told_to_stop() -> None:
    container = Container()
    with listen("127.0.0.1", 0) as listener:
        port = listener.getsockname()[1]
        server = build_server(container)
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        async with httpx2.AsyncClient(trust_env=False, base_url=f"http://127.0.0.1:{port}") as http:
            response = await http.post(
                "/graphql", json={"query": "{ __typename }"}, headers={"authorization": "Bearer admin-token"}
            )
        server.should_exit = True
        await serving

    assert response.json() == {"data": {"__typename": "Query"}}
    assert "server" not in response.headers
    assert container.closed
