"""Talks to a server's GraphQL API with the token of the command line."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import httpx2

from agentic_rag.kernel.errors import (
    AgenticRagError,
    DependencyUnavailable,
    FeatureDisabled,
    Forbidden,
    InvalidInput,
    NotFound,
    Unauthenticated,
)
from agentic_rag_cli.choice import choose_workspace
from agentic_rag_cli.client.server_client import ServerClient
from agentic_rag_cli.output.answer_view import AnswerView, CitationView
from agentic_rag_cli.output.path_view import read_hop

_ERRORS: Mapping[str, type[AgenticRagError]] = {
    "UNAUTHENTICATED": Unauthenticated,
    "FORBIDDEN": Forbidden,
    "NOT_FOUND": NotFound,
    "WORKSPACE_NOT_FOUND": NotFound,
    "DOCUMENT_NOT_FOUND": NotFound,
    "FEATURE_DISABLED": FeatureDisabled,
}
"""Codes of the server that mean a certain kind of error here; every other code of a user error is InvalidInput."""

_SLACK_SECONDS = 5.0
"""How much longer than the server's own time budget the client waits."""

_WORKSPACES = "query { workspaces { id name } }"

_DOCUMENTS = """
query Documents($workspaceId: ID!, $after: String) {
  documents(workspaceId: $workspaceId, first: 100, after: $after) {
    nodes { id sourcePath }
    pageInfo { hasNextPage endCursor }
  }
}
"""

_LAST_RUN = "query LastRun($workspaceId: ID!) { runs(workspaceId: $workspaceId, first: 1) { nodes { id } } }"

_HOP = "kind via fromChunkId fromTitle toChunkId toTitle"

_CITATION = f"marker sourceId sourcePath title snippet page lineStart lineEnd score verified readAt path {{ {_HOP} }}"

_ASK = f"""
mutation Ask($input: RagAnswerInput!) {{
  ragAnswer(input: $input) {{
    answer
    outcome
    abstention {{ reason explanation nearest {{ {_CITATION} }} }}
    degraded
    citations {{ {_CITATION} }}
    run {{ id cache seconds versions {{ corpusVersion }} }}
    debug {{
      standaloneQuestion
      candidates {{ sourceId }}
      selfCheck {{ citationCoverage }}
      timings {{ stage seconds }}
    }}
    userErrors {{ code message path }}
  }}
}}
"""

QUERIES = (_WORKSPACES, _DOCUMENTS, _LAST_RUN, _ASK)
"""Every query this client sends; a test holds them against the schema."""


class GraphQLClient(ServerClient):
    """Errors of every call: those of `ServerClient`, `DependencyUnavailable` code SERVER_FAULT, `Unauthenticated`, and
    whatever the server's own codes stand for.
    """

    def __init__(
        self, base_url: str, token: str, timeout_ms: int, transport: httpx2.AsyncBaseTransport | None = None
    ) -> None:
        accept = {"Accept": "application/graphql-response+json"}
        super().__init__(base_url, token, timeout_ms / 1000 + _SLACK_SECONDS, transport, accept)

    async def execute(self, query: str, variables: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The `data` of a request that succeeded."""
        request = {"query": query, "variables": dict(variables or {})}
        return self._data(await self.send("POST", "/graphql", json=request))

    async def workspace_id(self, name: str | None) -> str:
        """The public id of a workspace. Errors: see `choose_workspace`."""
        known = (await self.execute(_WORKSPACES))["workspaces"]
        return choose_workspace({one["name"]: one["id"] for one in known}, name)

    async def source_paths(self, workspace_id: str) -> dict[str, str]:
        """Source path by public id of every document of a workspace."""
        paths: dict[str, str] = {}
        after: str | None = None
        while True:
            page = (await self.execute(_DOCUMENTS, {"workspaceId": workspace_id, "after": after}))["documents"]
            paths.update({one["id"]: one["sourcePath"] for one in page["nodes"]})
            if not page["pageInfo"]["hasNextPage"]:
                return paths
            after = page["pageInfo"]["endCursor"]

    async def last_run(self, workspace_id: str) -> str | None:
        """The public id of the newest run of a workspace."""
        nodes = (await self.execute(_LAST_RUN, {"workspaceId": workspace_id}))["runs"]["nodes"]
        return nodes[0]["id"] if nodes else None

    async def ask(
        self,
        question: str,
        workspace_id: str,
        paths: Mapping[str, str] = MappingProxyType({}),
        *,
        fresh: bool = False,
        after: str | None = None,
    ) -> AnswerView:
        """Ask through `ragAnswer`; `paths` names the documents behind the candidates, `fresh` bypasses the cache,
        `after` is the run that the question follows.

        Errors: also those of `userErrors`, with the server's code.
        """
        given: dict[str, Any] = {"question": question, "workspaceId": workspace_id}
        if after is not None:
            given["after"] = after
        if fresh:
            given["options"] = {"cache": "BYPASS"}
        payload = (await self.execute(_ASK, {"input": given}))["ragAnswer"]
        if payload["userErrors"]:
            first = payload["userErrors"][0]
            raise _user_error(first["code"], first["message"])
        return _answer_view(question, payload, paths)

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


def _user_error(code: str, message: str) -> AgenticRagError:
    return _ERRORS.get(code, InvalidInput)(message, code=code)


def _server_error(extensions: Mapping[str, Any], message: str) -> AgenticRagError:
    code = str(extensions.get("code", "SERVER_FAULT"))
    if "dependency" in extensions:
        return DependencyUnavailable(message, dependency=str(extensions["dependency"]), code=code)
    if code == "INTERNAL" and "traceId" in extensions:
        return AgenticRagError(f"{message} (trace {extensions['traceId']})", code=code)
    if code == Unauthenticated.code:
        message = f"{message} Set AGENTIC_RAG_TOKEN, or AGENTIC_RAG_HOME to the server's."
    return _ERRORS.get(code, AgenticRagError)(message, code=code)


def _answer_view(question: str, payload: Mapping[str, Any], paths: Mapping[str, str]) -> AnswerView:
    abstention = payload["abstention"]
    debug = payload["debug"]
    check = debug["selfCheck"]
    return AnswerView(
        question=question,
        answer=payload["answer"],
        outcome=payload["outcome"],
        abstention_reason=abstention["reason"] if abstention else None,
        abstention_explanation=abstention["explanation"] if abstention else None,
        nearest=tuple(_citation(one) for one in abstention["nearest"]) if abstention else (),
        citations=tuple(_citation(one) for one in payload["citations"]),
        degraded=tuple(payload["degraded"]),
        run_id=payload["run"]["id"],
        corpus_version=payload["run"]["versions"]["corpusVersion"],
        cache=payload["run"]["cache"],
        seconds=payload["run"]["seconds"],
        stage_seconds={one["stage"]: one["seconds"] for one in debug["timings"]},
        retrieved=tuple(
            dict.fromkeys(paths[one["sourceId"]] for one in debug["candidates"] if one["sourceId"] in paths)
        ),
        citation_coverage=check["citationCoverage"] if check else 0.0,
        standalone=debug["standaloneQuestion"],
    )


def _citation(found: Mapping[str, Any]) -> CitationView:
    return CitationView(
        marker=found["marker"],
        source_path=found["sourcePath"],
        title=found["title"],
        page=found["page"],
        line_start=found["lineStart"],
        line_end=found["lineEnd"],
        snippet=found["snippet"],
        score=found["score"],
        verified=found["verified"],
        document_id=found["sourceId"],
        read_at=found["readAt"],
        path=tuple(read_hop(hop) for hop in found["path"]),
    )
