"""Operations over a WebSocket, in the protocol graphql-transport-ws (github.com/enisdenjo/graphql-ws, PROTOCOL.md)."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import Any, cast

import orjson
from graphql import ExecutionResult
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from agentic_rag.kernel.errors import AgenticRagError, DependencyUnavailable, Unauthenticated
from agentic_rag.tenancy.record_audit import on_behalf_of
from agentic_rag_server.auth.bearer import WRONG_CREDENTIAL, address_of, bearer_token
from agentic_rag_server.graphql.http.context import RequestContext
from agentic_rag_server.graphql.http.errors import INTERNAL_MESSAGE, error_entry, report_internal, response_error
from agentic_rag_server.graphql.http.persisted import PersistedOperations
from agentic_rag_server.graphql.http.responses import RequestFault, operation_from
from agentic_rag_server.graphql.http.streams import OpenStreams, ReaderGone, check_credential, pass_on, result_body
from agentic_rag_server.graphql.schema import EVERYTHING, RagSchema
from agentic_rag_server.parts import ServerParts
from agentic_rag_server.socket_use import SOCKET_USE, SocketUse

SUBPROTOCOL = "graphql-transport-ws"
MOST_OPERATIONS = 1000
"""Of one connection at a time."""

_REASON_BYTES = 120

_COUNTED = {4400: "malformed", 4401: "socket_early"}
"""Refusals before a credential, by code; a wrong credential has a metric of its own."""


class _Closed(Exception):
    """The connection ends, by a fault of the client."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason


class SocketEndpoint:
    """The WebSocket at `/graphql`."""

    def __init__(
        self,
        parts: ServerParts,
        schema: RagSchema,
        persisted: PersistedOperations,
        open_: OpenStreams,
        origins: Collection[str],
    ) -> None:
        self.parts = parts
        self.schema = schema
        self.persisted = persisted
        self.open = open_
        self._origins = origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        socket = WebSocket(scope, receive, send)
        use: SocketUse = scope.get("state", {}).get(SOCKET_USE, SocketUse())
        if not _is_own_page(socket, self._origins):
            use.count_refusal("socket_origin")
            await socket.close()
            return
        if SUBPROTOCOL not in scope["subprotocols"]:
            use.count_refusal("socket_protocol")
            await socket.accept()
            await socket.close(4406, f"Ask for the subprotocol {SUBPROTOCOL}")
            return
        await socket.accept(SUBPROTOCOL)
        await _Conversation(self, socket, use).run()


def _is_own_page(socket: WebSocket, origins: Collection[str]) -> bool:
    """Whether a browser came from a page of this server, or of an origin that the operator named. Other clients send no
    origin.
    """
    origin = socket.headers.get("origin")
    return origin is None or origin in origins or origin.partition("://")[2] == socket.headers.get("host")


class _Conversation:
    """One connection: its caller, and the operations that run."""

    def __init__(self, endpoint: SocketEndpoint, socket: WebSocket, use: SocketUse) -> None:
        self._endpoint = endpoint
        self._socket = socket
        self._use = use
        self._token = ""
        self._is_ready = False
        self._has_begun = False
        self._running: dict[str, asyncio.Task[None]] = {}

    async def run(self) -> None:
        """Read until the client leaves, or breaks the protocol."""
        try:
            async with asyncio.timeout(self._use.seconds) as patience:
                while True:
                    await self._read(await self._receive())
                    if self._is_ready:
                        patience.reschedule(None)
        except TimeoutError:
            self._use.count_refusal("socket_time")
            await self._close(4408, "Connection initialisation timeout")
        except _Closed as fault:
            if not self._is_ready and fault.code in _COUNTED:
                self._use.count_refusal(_COUNTED[fault.code])
            await self._close(fault.code, fault.reason)
        except WebSocketDisconnect:
            return
        finally:
            tasks = list(self._running.values())
            for task in tasks:
                task.cancel()
            if tasks:
                await asyncio.wait(tasks)

    async def _receive(self) -> Mapping[str, Any]:
        message = await self._socket.receive()
        if message["type"] == "websocket.disconnect":
            raise WebSocketDisconnect(message.get("code", 1000))
        text = message.get("text")
        try:
            given: Any = orjson.loads(text or "")
        except orjson.JSONDecodeError as wrong:
            raise _Closed(4400, "A message must be a JSON object, sent as text") from wrong
        if not isinstance(given, dict):
            raise _Closed(4400, "A message must be a JSON object")
        return cast(dict[str, Any], given)

    async def _read(self, message: Mapping[str, Any]) -> None:
        kind = message.get("type")
        if kind == "connection_init":
            await self._begin(message.get("payload"))
        elif kind == "ping":
            await self._send(type="pong")
        elif kind == "subscribe":
            self._subscribe(message)
        elif kind == "complete" and isinstance(message.get("id"), str):
            if (task := self._running.pop(message["id"], None)) is not None:
                task.cancel()
                self._use.set_busy(bool(self._running))
        elif kind != "pong":
            raise _Closed(4400, "The message has no type that a client may send")

    async def _begin(self, payload: Any) -> None:
        if self._has_begun:
            raise _Closed(4429, "Too many initialisation requests")
        self._has_begun = True
        given = cast(dict[str, Any], payload) if isinstance(payload, dict) else {}
        named = next((one for name, one in given.items() if name.lower() == "authorization"), None)
        try:
            self._token = bearer_token(named if isinstance(named, str) else self._socket.headers.get("authorization"))
            await self._endpoint.parts.identity.authenticate(self._token)
        except Unauthenticated as refused:
            raise _Closed(WRONG_CREDENTIAL, refused.message) from refused
        except DependencyUnavailable as away:
            raise _Closed(1013, away.message) from away
        self._is_ready = True
        self._use.admit()
        await self._send(type="connection_ack")

    def _subscribe(self, message: Mapping[str, Any]) -> None:
        if not self._is_ready:
            raise _Closed(4401, "Unauthorized")
        name, payload = message.get("id"), message.get("payload")
        if not isinstance(name, str) or not name or not isinstance(payload, dict):
            raise _Closed(4400, "`subscribe` takes an `id` and a `payload`")
        if name in self._running:
            raise _Closed(4409, f"Subscriber for {name} already exists")
        if len(self._running) >= MOST_OPERATIONS:
            raise _Closed(4429, f"A connection has {MOST_OPERATIONS} operations at most")
        task = asyncio.ensure_future(self._operate(name, cast(dict[str, Any], payload)))
        self._running[name] = task
        self._use.set_busy(True)

    async def _operate(self, name: str, payload: dict[str, Any]) -> None:
        parts = self._endpoint.parts
        with parts.telemetry.span("graphql.operation", {"network.protocol.name": SUBPROTOCOL}) as span:
            try:
                errors = await self._run(name, payload, span.trace_id)
            except RequestFault as fault:
                errors = [error_entry(fault.message, fault.code, span.trace_id)]
            except AgenticRagError as error:
                errors = [response_error(error, span.trace_id)]
            except ReaderGone:
                await self._close(4499, "The client does not read")
                return
            except WebSocketDisconnect:
                return
            except Exception as error:  # noqa: BLE001 - a fault of the program ends this operation, not the connection
                report_internal(error, parts.telemetry)
                errors = [error_entry(INTERNAL_MESSAGE, "INTERNAL", span.trace_id)]
        if self._running.pop(name, None) is not None:
            self._use.set_busy(bool(self._running))
            with suppress(WebSocketDisconnect):
                if errors:
                    await self._send(type="error", id=name, payload=errors)
                else:
                    await self._send(type="complete", id=name)

    async def _run(self, name: str, payload: dict[str, Any], trace_id: str) -> list[dict[str, Any]]:
        """Run an operation; what is wrong with it, if anything. Errors: `RequestFault`, product errors,
        `ReaderGone`.
        """
        parts, schema = self._endpoint.parts, self._endpoint.schema
        principal = await parts.identity.authenticate(self._token)
        request = self._endpoint.persisted.resolve_document(operation_from(payload), principal.org_id)
        context = RequestContext(parts, principal, trace_id, request.operation_name, base_url=self._base_url)
        with self._endpoint.open.enter(principal.org_id), on_behalf_of(principal, address_of(self._socket)):
            admitted = await schema.admit(request, context, EVERYTHING)
            if isinstance(admitted, ExecutionResult):
                return result_body(admitted, trace_id, parts.telemetry)["errors"]
            refused: list[dict[str, Any]] = []

            async def deliver(result: ExecutionResult) -> None:
                body = result_body(result, trace_id, parts.telemetry)
                if "data" in body:
                    await self._send(type="next", id=name, payload=body)
                else:
                    refused.extend(body["errors"])

            await pass_on(
                schema.results(admitted, request, context), deliver, lambda: check_credential(context, self._token)
            )
            return refused

    def _base_url(self) -> str:
        return str(self._socket.base_url).rstrip("/").replace("ws", "http", 1)

    async def _send(self, **message: Any) -> None:
        """Errors: `WebSocketDisconnect`, also where the connection was ended below, for what its client did."""
        try:
            await self._socket.send({"type": "websocket.send", "text": orjson.dumps(message).decode()})
        except RuntimeError as ended:
            raise WebSocketDisconnect(1006) from ended

    async def _close(self, code: int, reason: str) -> None:
        try:
            short = reason.encode()[:_REASON_BYTES].decode(errors="ignore")
            async with asyncio.timeout(1):
                await self._socket.close(code, short)
        except (WebSocketDisconnect, RuntimeError, TimeoutError):
            return
