"""Settings of the HTTP server."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta

from agentic_rag.settings.variable import Env
from agentic_rag.web.url_policy import is_loopback

DEVELOPMENT = "development"
PRODUCTION = "production"
ONLY = "only:"
"""Before the file of persisted operations: no other operation runs."""

_ORIGIN = re.compile(r"https?://([a-z0-9.-]+|\[[0-9a-f:]+\])(:[0-9]{1,5})?")
"""As a browser writes it (RFC 6454, section 6.2)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerConfig:
    """Where the server listens and what it offers."""

    host: Annotated[str, Env("AGENTIC_RAG_HOST")] = "127.0.0.1"
    """Address the server and the worker's metrics listen on."""
    port: Annotated[int, Env("AGENTIC_RAG_PORT"), Meta(ge=0, le=65535)] = 8080
    """Port the server listens on."""
    profile: Annotated[Literal["development", "production"], Env("AGENTIC_RAG_PROFILE")] = DEVELOPMENT
    """`production` switches introspection and the query page off and limits requests a minute unless their own
    settings say otherwise, and tells browsers to come by HTTPS only.
    """
    persisted_operations: Annotated[str, Env("AGENTIC_RAG_PERSISTED_OPERATIONS")] = ""
    """A JSON file `{id: document}` of GraphQL operations that clients may name by `documentId`; `only:FILE` also
    refuses every operation that is not in it.
    """
    introspection: Annotated[Literal["off", "on", "page"], Env("AGENTIC_RAG_INTROSPECTION")] = "on"
    """Allow schema introspection; `page` also serves the query page at GET /graphql."""

    browser_origins: Annotated[str, Env("AGENTIC_RAG_BROWSER_ORIGINS")] = ""
    """Origins whose pages may call this server with a token of their own, separated by commas:
    `https://intranet.example.org`. The console needs none.
    """

    @property
    def origins(self) -> tuple[str, ...]:
        """The origins of AGENTIC_RAG_BROWSER_ORIGINS."""
        return tuple(origin.strip() for origin in self.browser_origins.split(",") if origin.strip())

    @property
    def is_local(self) -> bool:
        """Whether the server listens where only this machine can reach it."""
        return is_loopback(self.host)

    @property
    def is_production(self) -> bool:
        """Whether AGENTIC_RAG_PROFILE is `production`."""
        return self.profile == PRODUCTION

    @property
    def operations_file(self) -> Path | None:
        """The file of AGENTIC_RAG_PERSISTED_OPERATIONS; None without one."""
        file = self.persisted_operations.removeprefix(ONLY)
        return Path(file).expanduser() if file else None

    @property
    def persisted_only(self) -> bool:
        """Whether operations outside that file are refused."""
        return self.persisted_operations.startswith(ONLY)

    def problems(self) -> list[str]:
        """Settings that contradict each other, a line each."""
        wrong = [
            f"AGENTIC_RAG_BROWSER_ORIGINS: {origin!r} is not `https://HOST` or `http://HOST:PORT`, in lower case"
            for origin in self.origins
            if not _ORIGIN.fullmatch(origin)
        ]
        if self.persisted_only and self.operations_file is None:
            wrong.append(f"AGENTIC_RAG_PERSISTED_OPERATIONS={ONLY} needs the file after the colon")
        return wrong
