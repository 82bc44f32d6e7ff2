"""A request that is refused behind an answer under way ends that answer, and writes nothing into it."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import uvicorn

from agentic_rag_server.connections import ConnectionLimits, Gate, guarded_protocol
from agentic_rag_server.guarded_sockets import guarded_socket
from tests.memory_store.telemetry import RecordingTelemetry
from tests.waiting import eventually

pytestmark = pytest.mark.network

LENGTH = 1000


@asynccontextmanager
async def half_answering() -> AsyncIterator[tuple[int, asyncio.Event]]:
    """A server on a port whose answer has `LENGTH` bytes; the second half comes with the event."""
    rest = asyncio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        start = {"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % LENGTH)]}
        await send(start)
        await send({"type": "http.response.body", "body": b"a" * (LENGTH // 2), "more_body": True})
        await rest.wait()
        await send({"type": "http.response.body", "body": b"a" * (LENGTH // 2)})

    gate = Gate(RecordingTelemetry(), ConnectionLimits())
    with socket.create_server(("127.0.0.1", 0)) as listener:
        kinds: Any = {"http": guarded_protocol(gate), "ws": guarded_socket(gate)}
        server = uvicorn.Server(uvicorn.Config(app, **kinds, lifespan="off", log_config=None))
        serving = asyncio.create_task(server.serve(sockets=[listener]))

        async def is_started() -> bool:
            return server.started

        await eventually(is_started, "the server has started")
        yield listener.getsockname()[1], rest
        rest.set()
        server.should_exit = True
        await serving


@pytest.mark.parametrize(
    "refused",
    [
        b"GET /b HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
        b"GET /b HTTP/1.1\r\nHost: x\r\n" + b"A: b\r\n" * 200 + b"\r\n",
        b"GET /b HTTP/1.1\r\nHost: x\r\n\r\nnonsense\r\n\r\n",
    ],
    ids=["upgrade", "headers", "malformed"],
)
@pytest.mark.parametrize("between", [b"", b"GET /c HTTP/1.1\r\nHost: x\r\n\r\n"], ids=["next", "behind another"])
async def test_a_refusal_behind_an_answer_under_way_writes_nothing_into_it(between: bytes, refused: bytes) -> None:
    async with half_answering() as (port, _):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n")
        await reader.readuntil(b"\r\n\r\n")
        first = await reader.readexactly(LENGTH // 2)
        writer.write(between + refused)
        rest = await asyncio.wait_for(reader.read(), 10)
        writer.close()

    assert (first + rest).strip(b"a") == b""
