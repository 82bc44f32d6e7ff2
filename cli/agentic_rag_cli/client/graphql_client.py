"""A client of a server's GraphQL API, over HTTP or in this process."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from http import HTTPStatus
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Self

from agentic_rag.kernel.errors import (
    AgenticRagError,
    DependencyUnavailable,
    FeatureDisabled,
    Forbidden,
    InvalidInput,
    Misconfigured,
    NotFound,
    Permanent,
    PolicyRefused,
    Retryable,
    Unauthenticated,
    UploadTooLarge,
)
from agentic_rag.kernel.pagination import MAX_PAGE
from agentic_rag.kernel.public_ids import NodeKind, decode, encode, encode_workspace
from agentic_rag_cli.client import queries
from agentic_rag_cli.client.estimate_queries import ESTIMATE_UPLOAD
from agentic_rag_cli.client.event_lines import read_events
from agentic_rag_cli.client.ids import choose_workspace, node_id, require_address, require_id, workspaces_in
from agentic_rag_cli.output.waiting import told_to_wait

if TYPE_CHECKING:
    import httpx2

_ERRORS: Mapping[str, type[AgenticRagError]] = {
    "UNAUTHENTICATED": Unauthenticated,
    "FORBIDDEN": Forbidden,
    "NOT_FOUND": NotFound,
    "FEATURE_DISABLED": FeatureDisabled,
    "INVALID_INPUT": InvalidInput,
    "INVALID_ID": InvalidInput,
    "NOTHING_TO_ASK": NotFound,
    "ORIGINAL_MISSING": Permanent,
    "SOURCE_SHRANK": PolicyRefused,
    "UPLOAD_TOO_LARGE": UploadTooLarge,
    "MISCONFIGURED": Misconfigured,
    "MASTER_KEY_MISSING": Misconfigured,
    "MODEL_MISSING": Misconfigured,
    "MODEL_TOOLS_MISSING": Misconfigured,
    "SCHEMA_TOO_OLD": Misconfigured,
    "SCHEMA_TOO_NEW": Misconfigured,
    "SNAPSHOT_DAMAGED": Permanent,
    "SNAPSHOT_TOO_NEW": Permanent,
}
"""Server codes and their error classes. A code that ends in _NOT_FOUND is a NotFound."""

_REFUSALS = ("BUDGET_EXCEEDED", "POLICY_REFUSED", "PROVIDER_KEY_MISSING")
"""User errors that are not invalid input. Every other code of a user error is an InvalidInput."""

_SLACK_SECONDS = 5.0
"""Seconds that the client waits beyond the server's own time budget."""

_CONNECT_SECONDS = 5.0

LONG_SECONDS = 3600.0

_EVENTS = "text/event-stream"
_SILENCE_SECONDS = 40.0
"""Without a sign of life on a stream, which comes every ten seconds."""

IN_PROCESS = "http://in-process"
"""Stands for the application in this process."""

_UNREADABLE: Mapping[str, str] = {
    "non 32-bit signed integer": "A number that was given is larger than 2,147,483,647.",
    "cannot represent a DateTime": "An instant is written 2026-11-01 or 2026-11-01T12:30:00Z; what was given is none.",
}
"""What a server says of the value of an option, and what it means to the one who typed it."""

_PREFLIGHT = {"GraphQL-Require-Preflight": "1"}


class GraphQLClient:
    """One connection pool to one server. Use as `async with`. The first client imports httpx2, so that commands without
    one start quickly.

    Errors of every call: `DependencyUnavailable` codes SERVER_UNREACHABLE, SERVER_TIMEOUT and SERVER_FAULT,
    `Unauthenticated`, and the errors of the server's codes.
    """

    def __init__(
        self, base_url: str, token: str, timeout_ms: int, transport: httpx2.AsyncBaseTransport | None = None
    ) -> None:
        import httpx2

        self.base_url = require_address(base_url).rstrip("/").removesuffix("/graphql")
        self._http = httpx2.AsyncClient(
            base_url=self.base_url,
            headers={"Authorization": f"Bearer {token}", "Accept": "application/graphql-response+json"},
            timeout=httpx2.Timeout(timeout_ms / 1000 + _SLACK_SECONDS, connect=_CONNECT_SECONDS),
            transport=transport,
            trust_env=False,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    async def fetch(self, query: str, **variables: Any) -> Any:
        """The only root field of a document. Errors: also those of its `userErrors`, with the server's code."""
        return await self._post(json={"query": query, "variables": variables})

    async def fetch_long(self, query: str, **variables: Any) -> Any:
        """The same for work that may take `LONG_SECONDS`: a restore, a look at all stores."""
        return await self._post(json={"query": query, "variables": variables}, timeout=LONG_SECONDS)

    async def nodes(self, query: str, limit: int | None = None, **variables: Any) -> list[dict[str, Any]]:
        """The rows of a connection, at most `limit`."""
        return [row async for page in self.pages(query, limit, **variables) for row in page]

    async def pages(
        self, query: str, limit: int | None = None, **variables: Any
    ) -> AsyncIterator[list[dict[str, Any]]]:
        """The rows of a connection, page after page, at most `limit`."""
        left, after = limit, None
        while left is None or left > 0:
            first = MAX_PAGE if left is None else min(MAX_PAGE, left)
            page = await self.fetch(query, first=first, after=after, **variables)
            yield page["nodes"]
            if not page["pageInfo"]["hasNextPage"]:
                return
            left = None if left is None else left - len(page["nodes"])
            after = page["pageInfo"]["endCursor"]

    async def workspace_id(self, name: str | None, *things: str) -> str:
        """The public id of the workspace of that name, else of the one that the public ids among `things` belong to,
        else of the only one. Errors: those of `choose_workspace`.
        """
        known = await self.fetch(queries.WORKSPACES)
        names = {one["id"]: one["name"] for one in known}
        return choose_workspace(names, name, [encode_workspace(one) for one in workspaces_in(things)])

    async def node_id(self, workspace: str | None, text: str, kind: NodeKind) -> str:
        """The public id of an object by its public id, or by its bare UUID in the workspace that is meant.

        Errors: those of `require_id` and `choose_workspace`.
        """
        key = require_id(text, kind)
        return encode(kind, decode(await self.workspace_id(workspace, text)).workspace_id, key)

    async def document_id(self, workspace: str | None, wanted: str) -> str:
        """The public id of a document by id or source path. Errors: `NotFound` code DOCUMENT_NOT_FOUND."""
        workspace_id = await self.workspace_id(workspace, wanted)
        public_id = node_id(workspace_id, wanted, NodeKind.DOCUMENT)
        if public_id is None:
            every = await self.nodes(queries.DOCUMENT_PATHS, workspaceId=workspace_id)
            public_id = next((one["id"] for one in every if one["sourcePath"] == wanted), None)
        elif await self.fetch(queries.DOCUMENT_STATE, id=public_id) is None:
            public_id = None
        if public_id is None:
            raise NotFound(f"There is no document {wanted!r}; `rag doc list` shows them.", code="DOCUMENT_NOT_FOUND")
        return public_id

    async def last_run(self, workspace_id: str) -> str | None:
        """The public id of the newest run of a workspace."""
        newest = (await self.fetch(queries.LAST_RUN, workspaceId=workspace_id))["nodes"]
        return newest[0]["id"] if newest else None

    async def ask(self, question: str, workspace_id: str, **wish: Any) -> dict[str, Any]:
        """The run that answers a question; `wish` contains further fields of `RagAnswerInput`."""
        asked = {"question": question, "workspaceId": workspace_id, **wish}
        return (await self.fetch(queries.ASK, input=asked))["run"]

    async def events(self, query: str, **variables: Any) -> AsyncGenerator[Any]:
        """The only root field of each event of a subscription. Leaving ends it at the server. Errors: those of a call,
        and `DependencyUnavailable` code SERVER_UNREACHABLE where the stream breaks off.
        """
        async with self._streamed({"query": query, "variables": variables}) as response:
            if not response.headers.get("content-type", "").startswith(_EVENTS):
                await response.aread()
                self._data(response)
                return
            async for event in read_events(response.aiter_lines()):
                if event.get("errors"):
                    raise _server_error(event["errors"][0].get("extensions") or {}, event["errors"][0]["message"])
                (found,) = event["data"].values()
                yield found

    @asynccontextmanager
    async def _streamed(self, body: Mapping[str, Any]) -> AsyncIterator[httpx2.Response]:
        import httpx2

        patience = httpx2.Timeout(_SILENCE_SECONDS, connect=_CONNECT_SECONDS)
        with self._transport_errors():
            async with self._http.stream(
                "POST", "/graphql", json=body, headers={"Accept": _EVENTS}, timeout=patience
            ) as response:
                yield response

    async def upload(
        self,
        workspace_id: str,
        file: Path,
        key: str | None,
        readers: Mapping[str, list[str]] | None,
        metadata: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Upload a file, streamed from disk, for `readers` if given, with a `DocumentMetadataInput`."""
        variables = {"workspaceId": workspace_id, "key": key, "readableBy": readers, "metadata": metadata}
        with await asyncio.to_thread(file.open, "rb") as content:
            return await self.send_file(queries.UPLOAD, content, 120.0, file.name, **variables)

    async def estimate_upload(self, workspace_id: str, file: Path) -> dict[str, Any]:
        """What uploading a file would cost."""
        with await asyncio.to_thread(file.open, "rb") as content:
            found = await self.send_file(ESTIMATE_UPLOAD, content, 120.0, file.name, workspaceId=workspace_id)
        return {name: value for name, value in found.items() if name != "userErrors"}

    async def send_file(
        self, query: str, content: IO[bytes] | bytes, seconds: float, name: str = "file", **variables: Any
    ) -> Any:
        """The only root field of a document whose variable `file` is a file of that name."""
        form = {
            "operations": json.dumps({"query": query, "variables": {**variables, "file": None}}),
            "map": json.dumps({"0": ["variables.file"]}),
        }
        return await self._post(headers=_PREFLIGHT, data=form, files={"0": (name, content)}, timeout=seconds)

    async def fetch_file(self, path: str) -> tuple[bytes, Mapping[str, str]]:
        """What the server has at a path of its REST API, with the headers. Errors: those of a call."""
        with self._transport_errors():
            response = await self._http.get(path)
        if not response.is_success:
            try:
                fault = response.json()["error"]
            except (ValueError, KeyError, TypeError):
                self._data(response)
            else:
                raise _server_error(fault, str(fault["message"]))
        return response.content, response.headers

    async def _post(self, **request: Any) -> Any:
        (found,) = self._data(await self._send(request)).values()
        return require_no_fault(found)

    async def _send(self, request: Mapping[str, Any]) -> httpx2.Response:
        """The server's response, whatever its status."""
        with self._transport_errors():
            async with told_to_wait(
                "still working" if self.base_url == IN_PROCESS else f"{self.base_url} has not answered yet"
            ):
                return await self._http.post("/graphql", **request)

    @contextmanager
    def _transport_errors(self) -> Generator[None]:
        import httpx2

        try:
            yield
        except httpx2.TimeoutException as error:
            raise DependencyUnavailable(
                f"{self.base_url} did not answer in time: `rag doctor` on its machine says why.",
                dependency="server",
                code="SERVER_TIMEOUT",
            ) from error
        except (httpx2.TransportError, httpx2.InvalidURL) as error:
            raise DependencyUnavailable(
                f"No server answers at {self.base_url} ({error}). Start one with `rag up`, or give its address with "
                "--url.",
                dependency="server",
                code="SERVER_UNREACHABLE",
            ) from error

    def _data(self, response: httpx2.Response) -> dict[str, Any]:
        try:
            body = response.json()
        except ValueError:
            body = None
        errors = body.get("errors") if isinstance(body, dict) else None
        if errors:
            raise _server_error(errors[0].get("extensions") or {}, str(errors[0].get("message", "")))
        if response.status_code == HTTPStatus.UNAUTHORIZED:
            raise Unauthenticated(
                f"{self.base_url} did not accept the token: set AGENTIC_RAG_TOKEN, or AGENTIC_RAG_HOME to the server's."
            )
        if response.is_success and isinstance(body, dict) and isinstance(body.get("data"), dict):
            return body["data"]
        raise DependencyUnavailable(
            f"{self.base_url}/graphql answered {response.status_code} without a GraphQL body: is this an agentic-rag "
            "server?",
            dependency="server",
            code="SERVER_FAULT",
        )


def require_no_fault(found: Any) -> Any:
    """A payload without `userErrors`. Errors: the first of them, with the server's code."""
    errors = found.get("userErrors") if isinstance(found, dict) else None
    if errors:
        raise _user_error(errors[0]["code"], errors[0]["message"])
    return found


def _kind_of(code: str, otherwise: type[AgenticRagError]) -> type[AgenticRagError]:
    return NotFound if code.endswith("_NOT_FOUND") else _ERRORS.get(code, otherwise)


def _user_error(code: str, message: str) -> AgenticRagError:
    if code in _REFUSALS:
        return AgenticRagError(message, code=code)
    return _kind_of(code, InvalidInput)(message, code=code)


def _server_error(extensions: Mapping[str, Any], message: str) -> AgenticRagError:
    code = str(extensions.get("code", "SERVER_FAULT"))
    if "dependency" in extensions:
        return DependencyUnavailable(message, dependency=str(extensions["dependency"]), code=code)
    if "retryAfterSeconds" in extensions:
        return Retryable(message, code=code, retry_after_seconds=float(extensions["retryAfterSeconds"]))
    if code == "INTERNAL" and "traceId" in extensions:
        return AgenticRagError(f"{message} (trace {extensions['traceId']})", code=code)
    if code == "GRAPHQL_INVALID":
        for said, meant in _UNREADABLE.items():
            if said in message:
                return InvalidInput(meant)
        # Every document of this program fits the schema of its own version.
        message = f"{message} The server is of another version than this program: use the program of its version."
    if code == Unauthenticated.code:
        message = f"{message} Set AGENTIC_RAG_TOKEN, or AGENTIC_RAG_HOME to the server's."
    return _kind_of(code, InvalidInput if "argument" in extensions else AgenticRagError)(message, code=code)
