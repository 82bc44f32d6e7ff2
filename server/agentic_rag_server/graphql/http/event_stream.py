"""An operation as server-sent events, in the "distinct connections" mode of the graphql-sse protocol."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from contextlib import suppress
from typing import Any

import orjson
from graphql import ExecutionResult, GraphQLError
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from agentic_rag.kernel.errors import Unauthenticated
from agentic_rag.tenancy.record_audit import on_behalf_of
from agentic_rag_server.auth.bearer import address_of, token_of
from agentic_rag_server.graphql.http.context import RequestContext
from agentic_rag_server.graphql.http.streams import OpenStreams, ReaderGone, check_credential, pass_on, result_body
from agentic_rag_server.request_telemetry import mark_stream
from agentic_rag_server.rest.http.models import NOT_STORED

EVENT_STREAM = "text/event-stream"
_COMPLETE = b"event: complete\ndata: \n\n"
_SIGN_OF_LIFE = b":\n\n"


def wants_events(accept: str) -> bool:
    """Whether the client asks for events."""
    return EVENT_STREAM in (part.partition(";")[0].strip().lower() for part in accept.split(","))


class EventStream(Response):
    """A response that ends with its results, with its client, or when the server stops."""

    def __init__(self, results: AsyncGenerator[ExecutionResult], context: RequestContext, open_: OpenStreams) -> None:
        super().__init__(media_type=EVENT_STREAM, headers={**NOT_STORED, "x-accel-buffering": "no"})
        del self.headers["content-length"]
        self._results = results
        self._context = context
        self._open = open_

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events."""
        mark_stream(scope)
        request, context = Request(scope), self._context
        with self._open.enter(context.principal.org_id), on_behalf_of(context.principal, address_of(request)):
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            await _first_of(
                self._send_events(send, token_of(request)), _until_disconnect(receive), self._open.closing.wait()
            )

    async def _send_events(self, send: Send, token: str) -> None:
        context = self._context

        async def write(piece: bytes, *, more: bool = True) -> None:
            await send({"type": "http.response.body", "body": piece, "more_body": more})

        async def deliver(result: ExecutionResult) -> None:
            body = result_body(result, context.trace_id, context.parts.telemetry)
            await write(b"event: next\ndata: " + orjson.dumps(body) + b"\n\n")

        async def tick() -> None:
            await check_credential(context, token)
            await write(_SIGN_OF_LIFE)

        with suppress(ReaderGone):
            try:
                await pass_on(self._results, deliver, tick)
            except Unauthenticated as gone:
                await deliver(ExecutionResult(None, [GraphQLError(gone.message, original_error=gone)]))
            await write(_COMPLETE, more=False)


async def _until_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _first_of(*works: Coroutine[Any, Any, Any]) -> None:
    """Run all until one has ended; cancel the others. Errors: those of the one."""
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
    for task in tasks:
        if not task.cancelled():
            task.result()
