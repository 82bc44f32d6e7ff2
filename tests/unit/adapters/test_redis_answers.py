"""What a busy event loop does to the time-outs of Redis."""

import asyncio
import time

import pytest
from redis.exceptions import TimeoutError

from agentic_rag.adapters.redis.connection import answer_within


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(await reader.readline())
    writer.close()


async def ask(port: int) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"PING\n")
    try:
        return await reader.readline()
    finally:
        writer.close()


@pytest.mark.network
async def test_an_answer_that_came_while_the_loop_was_busy_is_no_time_out() -> None:
    listening = await asyncio.start_server(echo, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]

    async def hog() -> None:
        for _ in range(8):
            time.sleep(0.15)  # noqa: ASYNC251 - what is tried
            await asyncio.sleep(0)

    hogging = asyncio.create_task(hog())
    assert await answer_within(0.1, ask(port)) == b"PING\n"
    await hogging
    listening.close()


async def test_a_server_that_does_not_answer_costs_the_time_it_has() -> None:
    began = time.monotonic()

    with pytest.raises(TimeoutError):
        await answer_within(0.1, asyncio.Event().wait())

    assert time.monotonic() - began < 1.0


async def test_an_error_of_the_call_passes() -> None:
    async def fail() -> None:
        raise ConnectionError("gone")

    with pytest.raises(ConnectionError):
        await answer_within(1.0, fail())
