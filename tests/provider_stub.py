"""An OpenAI-compatible provider on loopback with faults that tests script: the only fake at the provider boundary."""

from __future__ import annotations

import asyncio
import base64
import enum
import hashlib
import json
import re
import socket
import struct
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from uvicorn.protocols.http.h11_impl import H11Protocol

from tests.waiting import wait_until


class Shape(enum.Enum):
    """How an otherwise successful answer is wrong."""

    TRUNCATED_JSON = "truncated json"
    NO_DATA = "no data"
    WRONG_DIMENSIONS = "wrong dimensions"
    REVERSED = "reversed, with right indexes"
    MISSING_ITEM = "one item missing"
    REPEATED_INDEX = "an index twice"
    ZERO_VECTOR = "a vector of zeros"
    BASE64 = "base64 although float was asked for"
    REFUSAL = "the model declines"
    FILTERED = "the provider's filter ended the reply"
    CUT_SHORT = "the reply reaches its token limit"
    EMPTY = "a reply of nothing"
    NO_USAGE = "no token counts"
    PARTS = "content in parts instead of a text"


@dataclass(frozen=True, slots=True)
class Fault:
    """What happens to one request; the default is nothing."""

    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    message: str = "scripted failure"
    shape: Shape | None = None
    delay_seconds: float = 0.0
    hang: bool = False
    """Never answer, until the stub stops."""
    reset: bool = False
    """Reset the connection."""


@dataclass(frozen=True, slots=True)
class Received:
    """A request as it came in."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]
    connection: tuple[str, int]
    """The client's end: equal for requests over one connection."""


class _Connection(H11Protocol):
    """Remembers its transport, so that a fault can reset the connection."""

    open: dict[tuple[str, int], asyncio.Transport] = {}  # noqa: RUF012 - one registry for all connections

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._peer: tuple[str, int] = transport.get_extra_info("peername")[:2]
        self.open[self._peer] = transport

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self.open.pop(self._peer, None)


def vector_for(text: str, dimensions: int) -> list[float]:
    """The stub's embedding: a function of the text only, not of unit length."""
    digest = hashlib.shake_256(text.encode("utf-8", "surrogatepass")).digest(dimensions)
    return [(byte - 127.5) / 64 for byte in digest]


class _Server(uvicorn.Server):
    """Sees at once that it should end: uvicorn's own loop looks every 100 ms."""

    async def main_loop(self) -> None:
        while not await self.on_tick(0):  # noqa: ASYNC110 - as uvicorn's own loop does
            await asyncio.sleep(0.01)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Close without uvicorn's pause of 100 ms: nobody waits for the replies of a stub that ends."""
        for one in [*self.servers, *(sockets or [])]:
            one.close()
        for connection in list(self.server_state.connections):
            connection.shutdown()


class ProviderStub:
    """A context manager: a server in a thread. `script` faults are taken one per request, in order; then all is well.

    Chat completions answer with `replies` in order, then with what `scribe` writes for a request. A request for
    structured output is held to OpenAI's rules for strict schemas.
    """

    def __init__(self, dimensions: int = 8, key: str = "test-key") -> None:
        self.dimensions = dimensions
        self.key = key
        self.accepts_any_key = False
        self.script: deque[Fault] = deque()
        self.otherwise: Callable[[Received], Fault] = lambda _: Fault()
        """What happens to requests once the script is used up."""
        self.replies: deque[str] = deque()
        self.scribe: Callable[[Received], str] = lambda request: f"echo: {request.body['messages'][-1]['content']}"
        self.received: list[Received] = []
        self.vector: Callable[[str, int], Sequence[float]] = vector_for
        self.count_tokens: Callable[[str], int] | None = None
        """How texts are billed; None: 10 tokens for a prompt and 5 for a reply, and an embedding by its characters."""
        self.billed: list[tuple[str, int, int]] = []
        """What was told of each good reply: the model, tokens of input and of output."""
        self.most_at_once = 0
        self._at_once = 0
        self._stopping = asyncio.Event()
        routes = [
            Route("/v1/embeddings", self._embeddings, methods=["POST"]),
            Route("/v1/chat/completions", self._chat, methods=["POST"]),
            Route("/v1beta/openai/embeddings", self._embeddings, methods=["POST"]),
            Route("/v1beta/openai/chat/completions", self._chat, methods=["POST"]),
        ]
        # asyncio turns Nagle's algorithm off for a socket that names TCP only; with it a reply waits 40 ms.
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        self._socket.bind(("127.0.0.1", 0))
        self._server = _Server(
            uvicorn.Config(
                Starlette(routes=routes), http=_Connection, ws="none", lifespan="off", loop="asyncio", log_config=None
            )
        )
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [self._socket]}, name="provider-stub", daemon=True
        )

    @property
    def base_url(self) -> str:
        """What a client's base URL is set to."""
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}/v1"

    @property
    def gemini_url(self) -> str:
        """The same server under the path of Gemini's compatible interface."""
        return f"{self.base_url.removesuffix('/v1')}/v1beta/openai"

    @property
    def connections(self) -> set[tuple[str, int]]:
        """The connections that requests came over."""
        return {request.connection for request in self.received}

    def __enter__(self) -> ProviderStub:
        self._thread.start()
        wait_until(lambda: self._server.started, "the provider stub listens")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.force_exit = True
        self._server.should_exit = True
        self._thread.join(timeout=10)
        self._socket.close()

    async def _embeddings(self, request: Request) -> Response:
        received, refusal, shape = await self._receive(request)
        if refusal is not None:
            return refusal
        given = received.body["input"]
        texts: Sequence[str] = [given] if isinstance(given, str) else given
        dimensions = received.body.get("dimensions", self.dimensions)
        encode = shape is Shape.BASE64 or received.body.get("encoding_format") == "base64"
        data = [_item(index, self.vector(text, dimensions), encode) for index, text in enumerate(texts)]
        tokens = sum(map(self.count_tokens or len, texts))
        self.billed.append((received.body["model"], tokens, 0))
        body = {
            "object": "list",
            "model": received.body["model"],
            "data": _misshapen(data, shape),
            "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
        }
        return _respond(body, shape)

    async def _chat(self, request: Request) -> Response:
        received, refusal, shape = await self._receive(request)
        if refusal is not None:
            return refusal
        complaint = _schema_complaint(received.body.get("response_format"))
        if complaint:
            return _error(400, complaint, {})
        content = self.replies.popleft() if self.replies else self.scribe(received)
        given, written = 10, 5
        if self.count_tokens is not None:
            form = json.dumps(received.body.get("response_format") or {})
            messages = [one["content"] for one in received.body["messages"]]
            given, written = sum(map(self.count_tokens, [*messages, form])), self.count_tokens(content)
        self.billed.append((received.body["model"], given, written))
        body = {
            "id": "chatcmpl-stub",
            "object": "chat.completion",
            "created": 0,
            "model": received.body["model"],
            "choices": [_choice(content, shape)],
            "usage": {"prompt_tokens": given, "completion_tokens": written, "total_tokens": given + written},
        }
        return _respond(
            {name: value for name, value in body.items() if name != "usage"} if shape is Shape.NO_USAGE else body, shape
        )

    def asked_for(self, form: str) -> list[Received]:
        """The chat requests for a reply of that form."""
        return [one for one in self.received if form_of(one) == form]

    async def _receive(self, request: Request) -> tuple[Received, Response | None, Shape | None]:
        """Record a request and act out its fault: an answer to send instead, or the shape of the ordinary one."""
        assert request.client is not None
        peer = (request.client.host, request.client.port)
        received = Received(request.url.path, dict(request.headers), await request.json(), peer)
        self.received.append(received)
        fault = self.script.popleft() if self.script else self.otherwise(received)
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            await asyncio.sleep(fault.delay_seconds)
            if fault.hang:
                await self._stopping.wait()
        finally:
            self._at_once -= 1
        if fault.reset:
            _reset(peer)
        if fault.status is not None:
            return received, _error(fault.status, fault.message, fault.headers), None
        if not self.accepts_any_key and received.headers.get("authorization") != f"Bearer {self.key}":
            return received, _error(401, "Incorrect API key provided", {}), None
        return received, None, fault.shape


def form_of(request: Received) -> str | None:
    """The name of the schema that a chat request asks for, as a response format or in words."""
    wanted = request.body.get("response_format") or {}
    written = re.search(r'"title": "(\w+)"', str(request.body.get("messages", [{}])[0].get("content")))
    return wanted.get("json_schema", {}).get("name") or (written and written[1])


def format_of(request: Received) -> str | None:
    """The kind of reply that a chat request demands of the server."""
    return (request.body.get("response_format") or {}).get("type")


def _choice(content: str, shape: Shape | None) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": content, "refusal": None}
    finish = "stop"
    match shape:
        case Shape.REFUSAL:
            message |= {"content": None, "refusal": "I cannot help with that."}
        case Shape.FILTERED:
            message |= {"content": ""}
            finish = "content_filter"
        case Shape.CUT_SHORT:
            message |= {"content": content[: len(content) // 2]}
            finish = "length"
        case Shape.EMPTY:
            message |= {"content": None}
        case Shape.PARTS:
            message |= {"content": [{"type": "text", "text": content}]}
        case _:
            pass
    return {"index": 0, "finish_reason": finish, "message": message, "logprobs": None}


def _schema_complaint(wanted: Mapping[str, Any] | None) -> str | None:
    """What OpenAI would say of a response format: strict schemas require every property and allow no others."""
    if wanted is None or wanted == {"type": "json_object"}:
        return None
    if wanted.get("type") != "json_schema" or wanted["json_schema"].get("strict") is not True:
        return "response_format must be a strict json_schema"
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", wanted["json_schema"]["name"]):
        return "the schema's name is invalid"
    return _object_complaint(wanted["json_schema"]["schema"], root=True)


def _object_complaint(schema: Mapping[str, Any], *, root: bool = False) -> str | None:
    if root and schema.get("type") != "object":
        return "the schema's root must be an object"
    inner: list[Mapping[str, Any]] = []
    if schema.get("type") == "object":
        if schema.get("additionalProperties") is not False:
            return "additionalProperties must be false"
        if set(schema.get("required", ())) != set(schema["properties"]):
            return "every property must be required"
        inner = list(schema["properties"].values())
    elif schema.get("type") == "array":
        inner = [schema["items"]]
    return next((found for found in map(_object_complaint, inner) if found), None)


def _reset(peer: tuple[str, int]) -> None:
    transport = _Connection.open[peer]
    wire: socket.socket = transport.get_extra_info("socket")
    wire.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    transport.abort()


def _error(status: int, message: str, headers: Mapping[str, str]) -> Response:
    body = {"error": {"message": message, "type": "stub_error", "param": None, "code": None}}
    return JSONResponse(body, status, headers=dict(headers))


def _respond(body: Mapping[str, Any], shape: Shape | None) -> Response:
    if shape is Shape.NO_DATA:
        return JSONResponse({"object": "list"})
    content = json.dumps(body).encode()
    return Response(
        content[: len(content) // 2] if shape is Shape.TRUNCATED_JSON else content, media_type="application/json"
    )


def _item(index: int, vector: Sequence[float], encode: bool) -> dict[str, Any]:
    packed = base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()
    return {"object": "embedding", "index": index, "embedding": packed if encode else [*vector]}


def _misshapen(data: list[dict[str, Any]], shape: Shape | None) -> list[dict[str, Any]]:
    match shape:
        case Shape.REVERSED:
            return data[::-1]
        case Shape.MISSING_ITEM:
            return data[:-1]
        case Shape.REPEATED_INDEX:
            return [item | {"index": 0} for item in data]
        case Shape.WRONG_DIMENSIONS:
            return [item | {"embedding": item["embedding"][:-1]} for item in data]
        case Shape.ZERO_VECTOR:
            return [item | {"embedding": [0.0] * len(item["embedding"])} for item in data]
        case _:
            return data
