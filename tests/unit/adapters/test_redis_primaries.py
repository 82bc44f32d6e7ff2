"""Which node of a cluster is gone to, by what the named ones answer."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from redis.exceptions import ConnectionError as NotFound
from redis.exceptions import NoPermissionError, ReadOnlyError, ResponseError

from agentic_rag.adapters.redis.primaries import ClusterPrimary
from agentic_rag.jobs.redis_address import ClusterAddress

LOOPBACK = "127.0.0.1"


@asynccontextmanager
async def node(answer: str) -> AsyncIterator[tuple[str, int]]:
    """A server that accepts what a client says of itself, and answers thus when it is asked for a key."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            if line in (b"SETINFO\r\n", b"EXISTS\r\n"):
                writer.write(b"+OK\r\n" if line == b"SETINFO\r\n" else answer.encode() + b"\r\n")
        writer.close()

    server = await asyncio.start_server(serve, LOOPBACK, 0)
    async with server:
        yield server.sockets[0].getsockname()[:2]


@pytest.mark.network
@pytest.mark.parametrize(
    ("answer", "found"),
    [
        (":0", None),
        ("-ASK 4658 10.0.0.2:7002", None),
        ("-MOVED 4658 10.0.0.2:7002", ("10.0.0.2", 7002)),
        ("-MOVED 4658 redis-2.example:7002", ("redis-2.example", 7002)),
        ("-MOVED 4658 fe80::2:7002", ("fe80::2", 7002)),
        ("-MOVED 4658 :7002", (LOOPBACK, 7002)),
    ],
)
async def test_a_node_that_is_asked_has_the_slot_or_names_who_has(answer: str, found: tuple[str, int] | None) -> None:
    async with node(answer) as asked:
        assert await ClusterPrimary(ClusterAddress(hosts=(asked,))).find() == (found or asked)


@pytest.mark.network
@pytest.mark.parametrize("answer", ["-CLUSTERDOWN The cluster is down", "-MOVED 4658 ?:7002", "-NOAUTH Authenticate."])
async def test_the_next_node_is_asked_where_one_cannot_tell(answer: str) -> None:
    async with node(answer) as first, node("-MOVED 4658 10.0.0.2:7002") as second:
        assert await ClusterPrimary(ClusterAddress(hosts=(first, second))).find() == ("10.0.0.2", 7002)
        with pytest.raises(NotFound, match=answer.split()[1]):
            await ClusterPrimary(ClusterAddress(hosts=(first,))).find()


@pytest.mark.parametrize(
    ("answer", "is_confirmed"),
    [
        (0, True),
        (ResponseError("ASK 4658 10.0.0.2:7002"), True),
        (ResponseError("MOVED 4658 10.0.0.2:7002"), False),
        (ResponseError("CLUSTERDOWN Hash slot not served"), False),
    ],
)
def test_who_was_named_must_have_the_slot(answer: object, is_confirmed: bool) -> None:
    assert ClusterPrimary(ClusterAddress(hosts=())).is_confirmed_by(answer) == is_confirmed


def test_an_answer_that_tells_nothing_of_the_slot_is_raised() -> None:
    with pytest.raises(NoPermissionError):
        ClusterPrimary(ClusterAddress(hosts=())).is_confirmed_by(NoPermissionError("no right to EXISTS"))


@pytest.mark.parametrize(
    ("error", "has_moved"),
    [
        (ResponseError("MOVED 4658 10.0.0.2:7002"), True),
        (ResponseError("ASK 4658 10.0.0.2:7002"), True),
        (ResponseError("TRYAGAIN Multiple keys request during rehashing of slot"), True),
        (ResponseError("CLUSTERDOWN The cluster is down"), True),
        (ResponseError("UNBLOCKED force unblock from blocking operation"), True),
        (ReadOnlyError("You can't write against a read only replica."), True),
        (ResponseError("WRONGTYPE Operation against a key"), False),
    ],
)
def test_a_connection_is_left_where_the_slot_is_elsewhere_or_on_its_way(error: ResponseError, has_moved: bool) -> None:
    assert ClusterPrimary(ClusterAddress(hosts=())).has_moved(error) == has_moved
