"""A client of a server's GraphQL API, over HTTP or in this process."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx2

from agentic_rag.kernel.errors import (
    AgenticRagError,
    DependencyUnavailable,
    FeatureDisabled,
    Forbidden,
    InvalidInput,
    Misconfigured,
    NotFound,
    Permanent,
    Unauthenticated,
)
from agentic_rag.kernel.pagination import MAX_PAGE
from agentic_rag.kernel.public_ids import NodeKind, encode, encode_workspace
from agentic_rag_cli.client import queries
from agentic_rag_cli.client.choice import choose_workspace
from agentic_rag_cli.client.ids import id_in, workspaces_in
from agentic_rag_cli.client.server_client import ServerClient

_ERRORS: Mapping[str, type[AgenticRagError]] = {
    "UNAUTHENTICATED": Unauthenticated,
    "FORBIDDEN": Forbidden,
    "NOT_FOUND": NotFound,
    "FEATURE_DISABLED": FeatureDisabled,
    "INVALID_INPUT": InvalidInput,
    "INVALID_ID": InvalidInput,
    "ORIGINAL_MISSING": Permanent,
    "MISCONFIGURED": Misconfigured,
    "MASTER_KEY_MISSING": Misconfigured,
    "MODEL_MISSING": Misconfigured,
    "MODEL_TOOLS_MISSING": Misconfigured,
    "MIGRATIONS_PENDING": Misconfigured,
}
"""Server codes and their error classes. A code that ends in _NOT_FOUND is a NotFound."""

_REFUSALS = ("BUDGET_EXCEEDED", "POLICY_REFUSED", "PROVIDER_KEY_MISSING")
"""User errors that are not invalid input. Every other code of a user error is an InvalidInput."""

_SLACK_SECONDS = 5.0
"""Seconds that the client waits beyond the server's own time budget."""

_PREFLIGHT = {"GraphQL-Require-Preflight": "1"}


class GraphQLClient(ServerClient):
    """Errors of every call: those of `ServerClient`, `DependencyUnavailable` code SERVER_FAULT, `Unauthenticated`, and
    the errors of the server's codes.
    """

    def __init__(
        self, base_url: str, token: str, timeout_ms: int, transport: httpx2.AsyncBaseTransport | None = None
    ) -> None:
        accept = {"Accept": "application/graphql-response+json"}
        super().__init__(base_url, token, timeout_ms / 1000 + _SLACK_SECONDS, transport, accept)

    async def fetch(self, query: str, **variables: Any) -> Any:
        """The only root field of a document. Errors: also those of its `userErrors`, with the server's code."""
        return self._field(await self.send("POST", "/graphql", json={"query": query, "variables": variables}))

    async def nodes(self, query: str, limit: int | None = None, **variables: Any) -> list[dict[str, Any]]:
        """The rows of a connection, page after page, at most `limit`."""
        rows: list[dict[str, Any]] = []
        after: str | None = None
        while limit is None or len(rows) < limit:
            first = MAX_PAGE if limit is None else min(MAX_PAGE, limit - len(rows))
            page = await self.fetch(query, first=first, after=after, **variables)
            rows += page["nodes"]
            if not page["pageInfo"]["hasNextPage"]:
                break
            after = page["pageInfo"]["endCursor"]
        return rows

    async def workspace_id(self, name: str | None, *things: str) -> str:
        """The public id of the workspace of that name, else of the one that the public ids among `things` belong to,
        else of the only one. Errors: those of `choose_workspace`.
        """
        known = await self.fetch(queries.WORKSPACES)
        if name is None:
            meant = {encode_workspace(one) for one in workspaces_in(things)}
            named = [one["id"] for one in known if one["id"] in meant]
            if len(meant) == len(named) == 1:
                return named[0]
        return choose_workspace({one["name"]: one["id"] for one in known}, name)

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

    async def upload(
        self, workspace_id: str, file: Path, key: str | None, readers: Mapping[str, list[str]] | None
    ) -> dict[str, Any]:
        """Upload a file, streamed from disk, for `readers` if given."""
        variables = {"workspaceId": workspace_id, "file": None, "key": key, "readableBy": readers}
        form = {
            "operations": json.dumps({"query": queries.UPLOAD, "variables": variables}),
            "map": json.dumps({"0": ["variables.file"]}),
        }
        with await asyncio.to_thread(file.open, "rb") as content:
            return self._field(
                await self.send(
                    "POST", "/graphql", headers=_PREFLIGHT, data=form, files={"0": (file.name, content)}, timeout=120.0
                )
            )

    def _field(self, response: httpx2.Response) -> Any:
        (found,) = self._data(response).values()
        errors = found.get("userErrors") if isinstance(found, dict) else None
        if errors:
            raise _user_error(errors[0]["code"], errors[0]["message"])
        return found

    def _data(self, response: httpx2.Response) -> dict[str, Any]:
        try:
            body = response.json()
        except ValueError:
            body = None
        errors = body.get("errors") if isinstance(body, dict) else None
        if errors:
            raise _server_error(errors[0].get("extensions") or {}, str(errors[0].get("message", "")))
        if response.status_code == httpx2.codes.UNAUTHORIZED:
            raise Unauthenticated(
                f"{self.base_url} did not accept the token: set AGENTIC_RAG_TOKEN, or AGENTIC_RAG_HOME to the server's."
            )
        if response.is_success and isinstance(body, dict) and isinstance(body.get("data"), dict):
            return body["data"]
        raise DependencyUnavailable(
            f"{self.base_url}/graphql answered {response.status_code} and not as GraphQL does: is this an agentic-rag "
            "server?",
            dependency="server",
            code="SERVER_FAULT",
        )


def node_id(workspace_id: str, text: str, kind: NodeKind) -> str | None:
    """The public id in `text`: a public id or the bare UUID of an object of the workspace; None for anything else."""
    key = id_in(text, kind)
    (workspace,) = workspaces_in([workspace_id])
    return None if key is None else encode(kind, workspace, key)


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
    if code == "INTERNAL" and "traceId" in extensions:
        return AgenticRagError(f"{message} (trace {extensions['traceId']})", code=code)
    if code == Unauthenticated.code:
        message = f"{message} Set AGENTIC_RAG_TOKEN, or AGENTIC_RAG_HOME to the server's."
    return _kind_of(code, InvalidInput if "argument" in extensions else AgenticRagError)(message, code=code)
