"""Talks to a server's REST API with the token of the command line."""

from __future__ import annotations

import asyncio
from pathlib import Path
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
from agentic_rag_cli.client.server_client import ServerClient

_BY_STATUS: dict[int, type[AgenticRagError]] = {
    400: InvalidInput,
    401: Unauthenticated,
    403: Forbidden,
    404: NotFound,
    409: InvalidInput,
    413: InvalidInput,
    415: InvalidInput,
    422: InvalidInput,
}
_SECONDS = 120.0


class RestClient(ServerClient):
    """Errors of every call: those of `ServerClient`, `DependencyUnavailable` code SERVER_FAULT, and what the server's
    statuses stand for, with its codes.
    """

    def __init__(self, base_url: str, token: str, transport: httpx2.AsyncBaseTransport | None = None) -> None:
        super().__init__(base_url, token, _SECONDS, transport)

    async def upload(
        self, workspace_id: str, file: Path, key: str | None, readers: tuple[str, ...] | None = None
    ) -> dict[str, Any]:
        """Upload a file, which is read as it is sent, for these readers if such are given."""
        headers = {} if key is None else {"Idempotency-Key": key}
        with await asyncio.to_thread(file.open, "rb") as content:
            return await self._answer(
                "POST",
                f"/v1/workspaces/{workspace_id}/documents",
                headers=headers,
                data={} if readers is None else {"readableBy": ",".join(readers)},
                files={"file": (file.name, content)},
            )

    async def get(self, path: str) -> dict[str, Any]:
        """The JSON object at a path."""
        return await self._answer("GET", path)

    async def _answer(self, method: str, path: str, **request: Any) -> dict[str, Any]:
        response = await self.send(method, path, **request)
        try:
            body = response.json()
        except ValueError:
            body = None
        if not isinstance(body, dict):
            raise DependencyUnavailable(
                f"{self.base_url} answered {response.status_code} and not as agentic-rag does.",
                dependency="server",
                code="SERVER_FAULT",
            )
        if response.is_success:
            return body
        raise _error(response.status_code, body.get("error") or {})


def _error(status: int, error: dict[str, Any]) -> AgenticRagError:
    code, message = str(error.get("code", "SERVER_FAULT")), str(error.get("message", ""))
    if status >= httpx2.codes.INTERNAL_SERVER_ERROR:
        return DependencyUnavailable(message, dependency="server", code=code)
    if code == FeatureDisabled.code:
        return FeatureDisabled(message)
    return _BY_STATUS.get(status, AgenticRagError)(message, code=code)
