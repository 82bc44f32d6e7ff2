"""What a busy event loop does to the time-outs of Redis."""

import asyncio
import time

import pytest
from redis.exceptions import ConnectionError as Gone
from redis.exceptions import OutOfMemoryError, ReadOnlyError, ResponseError, TimeoutError

from agentic_rag.adapters.redis.connection import answer_within, redis_errors
from agentic_rag.embedded.loopback import redis_answers
from agentic_rag.kernel.errors import DependencyUnavailable


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


@pytest.mark.slow
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


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ResponseError("MISCONF Errors writing to the AOF file: No space left on device"), "STORE_READ_ONLY"),
        (OutOfMemoryError("command not allowed when used memory > 'maxmemory'."), "STORE_READ_ONLY"),
        (ReadOnlyError("You can't write against a read only replica."), "STORE_READ_ONLY"),
        (ResponseError("MOVED 4658 127.0.0.1:7002"), "REDIS_CLUSTER"),
        (ResponseError("CROSSSLOT Keys in request don't hash to the same slot"), "REDIS_CLUSTER"),
        (ResponseError("SELECT is not allowed in cluster mode"), "REDIS_CLUSTER"),
        (Gone("Connection refused"), "DEPENDENCY_UNAVAILABLE"),
    ],
)
def test_a_server_that_refuses_is_not_told_to_be_away(error: Exception, code: str) -> None:
    with pytest.raises(DependencyUnavailable) as told, redis_errors():
        raise error

    assert told.value.code == code
    assert ("did not answer" in told.value.message) == (code == "DEPENDENCY_UNAVAILABLE")


@pytest.mark.network
@pytest.mark.parametrize(
    ("reply", "is_there"),
    [
        (b"+OK\r\n+PONG\r\n", True),
        (b"+OK\r\n-MISCONF Errors writing to the AOF file: No space left on device\r\n", True),
        (b"+OK\r\n-LOADING Valkey is loading the dataset in memory\r\n", False),
        (b"-WRONGPASS invalid username-password pair\r\n", False),
    ],
)
async def test_an_embedded_server_on_a_full_disk_is_found(reply: bytes, is_there: bool) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.write(reply)
        writer.close()

    listening = await asyncio.start_server(serve, "127.0.0.1", 0)
    found = await asyncio.to_thread(redis_answers, listening.sockets[0].getsockname()[1], "secret")

    assert found == is_there
    listening.close()
