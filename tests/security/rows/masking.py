"""Rows on masking: whatever breaks inside, a caller is told a code and a trace id."""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import secrets
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import httpx2

from agentic_rag.adapters.telemetry.facade import ProcessTelemetry, TelemetryOptions
from agentic_rag.kernel.errors import Unauthenticated
from agentic_rag.kernel.public_ids import NodeKind, encode, encode_workspace
from agentic_rag.tenancy.principals import Principal, Role
from agentic_rag_server.app import build_app
from agentic_rag_server.parts import ServerOptions
from tests.bench.reports import Row, exactly
from tests.security.ground import Ground
from tests.security.table import Measure

WORKSPACE = uuid4()
WORKSPACE_ID = encode_workspace(WORKSPACE)
DOCUMENT_ID = encode(NodeKind.DOCUMENT, WORKSPACE, uuid4())
RUN_ID = encode(NodeKind.RUN, WORKSPACE, uuid4())
JOB_ID = encode(NodeKind.JOB, WORKSPACE, uuid4())

ASK = f'mutation {{ ragAnswer(input: {{ question: "Why?", workspaceId: "{WORKSPACE_ID}" }}) {{ answer }} }}'
KEY_INPUT = '{ provider: OPENAI, key: "sk-some-key-of-a-caller" }'
DOCUMENTS = (
    ASK,
    f'query {{ document(id: "{DOCUMENT_ID}") {{ title }} }}',
    f'query {{ run(id: "{RUN_ID}") {{ question }} }}',
    f'query {{ job(id: "{JOB_ID}") {{ state }} }}',
    "query { workspaces { name } }",
    "query { providerKeys { hint } }",
    "query { modelSettings { mustBringKey } }",
    'query { usage(from: "2026-01-01", to: "2026-01-02") { costUsd } }',
    f'query {{ embeddingSpaces(workspaceId: "{WORKSPACE_ID}") {{ name }} }}',
    f'query {{ proveErased(documentId: "{DOCUMENT_ID}") {{ __typename }} }}',
    f'mutation {{ deleteDocument(id: "{DOCUMENT_ID}") {{ deletedId }} }}',
    f'mutation {{ reingest(documentId: "{DOCUMENT_ID}") {{ jobId }} }}',
    f"mutation {{ setProviderKey(input: {KEY_INPUT}) {{ providerKey {{ hint }} }} }}",
    "mutation { setBudget(input: { dayUsd: 1 }) { changed } }",
    'mutation { createWorkspace(input: { name: "x" }) { workspace { id } } }',
    f'mutation {{ replayDeadLetter(id: "{JOB_ID}") {{ replayed }} }}',
)
PATHS = (
    ("POST", f"/v1/workspaces/{WORKSPACE_ID}/documents"),
    ("GET", f"/v1/workspaces/{WORKSPACE_ID}/documents/{DOCUMENT_ID}"),
    ("DELETE", f"/v1/workspaces/{WORKSPACE_ID}/documents/{DOCUMENT_ID}"),
    ("GET", f"/v1/documents/{DOCUMENT_ID}/source"),
)
EXCEPTIONS: tuple[Callable[[str], Exception], ...] = (
    RuntimeError,
    ValueError,
    KeyError,
    OSError,
    lambda text: ExceptionGroup(text, [ValueError(text)]),
)


@dataclass(frozen=True, slots=True)
class Inside:
    """What must not come out: a DSN's password, a key, a path."""

    password: str = field(default_factory=lambda: f"pw{secrets.token_hex(8)}")
    key: str = field(default_factory=lambda: f"sk-live-{secrets.token_hex(16)}")
    path: str = field(default_factory=lambda: f"/srv/{secrets.token_hex(8)}/private.pem")

    @property
    def text(self) -> str:
        """As an exception words it."""
        return f"cannot reach postgresql://rag:{self.password}@db.internal/rag with {self.key}, see {self.path}"

    def in_body(self, text: str) -> bool:
        """Whether any of it came out."""
        return any(part in text for part in (self.password, self.key, self.path, "db.internal", "Traceback"))

    def in_log(self, text: str) -> bool:
        """Logs are the operator's: they may name paths, never a password or a key."""
        return self.password in text or self.key in text


class Broken:
    """Whatever is asked of it fails."""

    def __init__(self, fail: Callable[[], Exception]) -> None:
        self._fail = fail

    def __getattr__(self, name: str) -> Any:
        raise self._fail()


class Anybody:
    """Every token is an operator's."""

    async def authenticate(self, token: str) -> Principal:
        if not token:
            raise Unauthenticated("No token.")
        return Principal(uuid4(), "ada", Role.OPERATOR)


class Everybody:
    """Admits every request, so that GraphQL's exceptions come from its fields."""

    async def admit(self, *_: object) -> None:
        """Refuse nobody."""


class BrokenContainer:
    """A process all of whose use cases and stores fail; only what the server itself needs is there."""

    def __init__(self, fail: Callable[[], Exception]) -> None:
        self.options = ServerOptions(enabled=True)
        self.identity = Anybody()
        self.telemetry = ProcessTelemetry(TelemetryOptions("masking", "0", "debug"))
        self.checks: Mapping[str, Any] = {}
        self.admission = Everybody()
        self._broken = Broken(fail)

    def __getattr__(self, name: str) -> Any:
        return self._broken

    async def aclose(self) -> None:
        """Nothing to release."""


async def injected_exceptions(ground: Ground, short: bool) -> list[Row]:
    """One exception at each of 20 places; every kind of exception comes up four times."""
    leaked = logged = named = 0
    requests = [("POST", "/graphql", text) for text in DOCUMENTS] + [(*place, "") for place in PATHS]
    for (method, path, text), kind in zip(requests, itertools.cycle(EXCEPTIONS), strict=False):
        inside = Inside()

        def fail(kind: Callable[[str], Exception] = kind, inside: Inside = inside) -> Exception:
            return kind(inside.text)

        with captured() as log:
            body, headers = await answer_of(BrokenContainer(fail), method, path, text)
        leaked += inside.in_body(body) or inside.in_body(headers)
        logged += inside.in_log(log.getvalue())
        named += is_named(body)
    return [
        exactly("injected exceptions", len(requests), 20),
        exactly("injected exceptions with a code and a trace id", named, len(requests)),
        exactly("injected exceptions that leaked a DSN, a key or a path", leaked, 0),
        exactly("passwords or keys of them in logs", logged, 0),
    ]


async def answer_of(container: Any, method: str, path: str, document: str) -> tuple[str, str]:
    """Body and headers of an answer."""
    transport = httpx2.ASGITransport(app=build_app(container))
    async with httpx2.AsyncClient(transport=transport, base_url="http://test") as http:
        headers = {"authorization": "Bearer somebody"}
        if document:
            response = await http.request(method, path, headers=headers, json={"query": document})
        elif method == "POST":
            response = await http.request(method, path, headers=headers, files={"file": ("a.md", "text")})
        else:
            response = await http.request(method, path, headers=headers)
    return response.text, str(response.headers)


def is_named(body: str) -> bool:
    """Whether an answer says INTERNAL and under which trace."""
    answer = json.loads(body)
    errors = [error["extensions"] for error in answer.get("errors", ())] or [answer.get("error", {})]
    return all(error.get("code") == "INTERNAL" and len(error.get("traceId", "")) == 32 for error in errors)


@contextlib.contextmanager
def captured() -> Iterator[io.StringIO]:
    """What is written to standard error while the block lasts."""
    before, sys.stderr = sys.stderr, io.StringIO()
    try:
        yield sys.stderr
    finally:
        sys.stderr = before


ROWS: Mapping[str, Measure] = {"injected-exceptions": injected_exceptions}
