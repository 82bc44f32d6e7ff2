"""Sends requests to a server with the token of the command line."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType, TracebackType
from typing import Any, Self

import httpx2

from agentic_rag.kernel.errors import DependencyUnavailable

_CONNECT_SECONDS = 5.0


class ServerClient:
    """One connection pool to one server. Use as `async with`.

    Errors of every call: `DependencyUnavailable` codes SERVER_UNREACHABLE and SERVER_TIMEOUT (after `seconds`).
    """

    def __init__(
        self,
        base_url: str,
        token: str,
        seconds: float,
        transport: httpx2.AsyncBaseTransport | None = None,
        headers: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.base_url = base_url.rstrip("/").removesuffix("/graphql")
        self._http = httpx2.AsyncClient(
            base_url=self.base_url,
            headers={"Authorization": f"Bearer {token}", **headers},
            timeout=httpx2.Timeout(seconds, connect=_CONNECT_SECONDS),
            transport=transport,
            trust_env=False,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._http.aclose()

    async def send(self, method: str, path: str, **request: Any) -> httpx2.Response:
        """The server's response, whatever its status."""
        try:
            return await self._http.request(method, path, **request)
        except httpx2.TimeoutException as error:
            raise DependencyUnavailable(
                f"{self.base_url} did not answer in time.", dependency="server", code="SERVER_TIMEOUT"
            ) from error
        except (httpx2.TransportError, httpx2.InvalidURL) as error:
            raise DependencyUnavailable(
                f"No server answers at {self.base_url} ({error}). Start one with `rag up`, or give its address with "
                "--url.",
                dependency="server",
                code="SERVER_UNREACHABLE",
            ) from error
