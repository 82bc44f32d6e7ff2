"""What both transports of subscriptions share: how results are passed on, who may go on reading, how many read."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import aclosing, contextmanager
from typing import Any
from uuid import UUID

from graphql import ExecutionResult

from agentic_rag.kernel.errors import DependencyUnavailable, Overloaded
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag_server.graphql.http.context import RequestContext
from agentic_rag_server.graphql.http.errors import present

TICK_SECONDS = 10.0
"""Between two looks whether the credential is still good, and, on a silent stream, between two signs of life."""

SEND_SECONDS = 30.0
"""How long a reader may not read before its stream ends."""

MOST_STREAMS = 1000
"""Open subscriptions of one organisation in one server, however many connections that takes."""


class ReaderGone(Exception):
    """The client takes nothing any more."""


class OpenStreams:
    """The subscriptions of a process that takes so many `connections`, of which an organisation's take half at most. Of
    `processes` that serve together each takes its share of `MOST_STREAMS`. `closing` is set when the server stops:
    streams have no end of their own.
    """

    def __init__(self, connections: int = 2 * MOST_STREAMS, processes: int = 1) -> None:
        self._most = min(MOST_STREAMS // processes, connections // 2)
        self.closing = asyncio.Event()
        self._open: Counter[UUID] = Counter()

    @contextmanager
    def enter(self, org_id: UUID) -> Generator[None]:
        """Count a stream while the block runs. Errors: `Overloaded`."""
        if self._open[org_id] >= self._most:
            raise Overloaded(
                f"This organisation has {self._most} subscriptions open here: end some of them.",
                retry_after_seconds=TICK_SECONDS,
            )
        self._open[org_id] += 1
        try:
            yield
        finally:
            self._open[org_id] -= 1
            if not self._open[org_id]:
                del self._open[org_id]

    def __len__(self) -> int:
        return self._open.total()


def result_body(result: ExecutionResult, trace_id: str, telemetry: Telemetry) -> dict[str, Any]:
    """What a client gets of a result."""
    if not result.errors:
        return {"data": result.data}
    errors = present(result.errors, trace_id, telemetry)
    return {"errors": errors} if result.data is None else {"data": result.data, "errors": errors}


async def check_credential(context: RequestContext, token: str) -> None:
    """Look again who the caller is: keys are revoked and roles change while a stream is open. Errors:
    `Unauthenticated`. A database that is away ends no stream.
    """
    try:
        context.principal = await context.parts.identity.authenticate(token)
    except DependencyUnavailable:
        return


async def pass_on(
    results: AsyncGenerator[ExecutionResult],
    deliver: Callable[[ExecutionResult], Awaitable[None]],
    tick: Callable[[], Awaitable[None]],
) -> None:
    """Deliver every result, and call `tick` every `TICK_SECONDS`. The next result is asked for when the last one was
    taken: a reader who is slow holds the source back. Errors: `ReaderGone` for one who takes nothing for
    `SEND_SECONDS`; those of `tick`.
    """
    loop = asyncio.get_running_loop()
    due = loop.time() + TICK_SECONDS
    reading: asyncio.Future[ExecutionResult | None] | None = None
    async with aclosing(results):
        try:
            while True:
                reading = asyncio.ensure_future(anext(results, None))
                while not reading.done() or loop.time() >= due:
                    if loop.time() >= due:
                        due = loop.time() + TICK_SECONDS
                        await _in_time(tick())
                    await asyncio.wait([reading], timeout=due - loop.time())
                result = reading.result()
                if result is None:
                    return
                await _in_time(deliver(result))
        finally:
            if reading is not None and not reading.done():
                reading.cancel()
                await asyncio.wait([reading])


async def _in_time(sending: Awaitable[None]) -> None:
    try:
        async with asyncio.timeout(SEND_SECONDS):
            await sending
    except TimeoutError as late:
        raise ReaderGone from late
