"""The server's address and the token for it."""

from __future__ import annotations

import secrets
from pathlib import Path

from agentic_rag.embedded.state import FileLock, create_private, usable_home
from agentic_rag.kernel.errors import Unauthenticated
from agentic_rag.settings import Settings

SECRET_FILE = "jwt-secret"  # noqa: S105 - a file name
TOKEN_FILE = "dev-token"  # noqa: S105 - a file name

SERVER_FILE = "server-url"
UP_LOCK = "up.lock"
"""Held by the `rag up` of a home; meanwhile SERVER_FILE has the address of its server."""


def server_url(settings: Settings) -> str:
    """AGENTIC_RAG_URL, else the address this configuration listens on."""
    if settings.client.url:
        return settings.client.url
    host = settings.server.host
    host = "127.0.0.1" if host in ("0.0.0.0", "::") else host  # noqa: S104 - compared, not bound
    return f"http://{f'[{host}]' if ':' in host else host}:{settings.server.port}"


def running_server(settings: Settings) -> str:
    """The address of the server that `rag up` runs on this home; empty without one, and where the settings name a
    database or an organisation, since that server may serve others.
    """
    home = settings.stores.state_home
    if settings.stores.database_url or settings.tenant or not up_runs(home):
        return ""
    return server_file(home)


def up_runs(home: Path) -> bool:
    """Whether a `rag up` holds this home. Errors: `EmbeddedServerError`, where it is another user's."""
    with usable_home(home):
        return FileLock.has_holder(home / UP_LOCK)


def server_file(home: Path) -> str:
    """The address that the `rag up` of this home wrote down; one that was stopped took it away."""
    try:
        return (home / SERVER_FILE).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return ""


def asked_server(settings: Settings, url: str | None) -> str:
    """The address that a question goes to: --url, else AGENTIC_RAG_URL, else that of `running_server`."""
    return url or settings.client.url or running_server(settings)


def token_of(settings: Settings) -> str:
    """AGENTIC_RAG_TOKEN, else the development token of the home. Errors: `Unauthenticated` code TOKEN_MISSING."""
    if settings.client.token:
        return settings.client.token
    path = settings.stores.state_home / TOKEN_FILE
    try:
        return path.read_text(encoding="utf-8").strip()
    except OSError:
        raise Unauthenticated(
            f"There is no token: set AGENTIC_RAG_TOKEN, or AGENTIC_RAG_HOME to the home that holds {TOKEN_FILE} "
            f"(looked for {path}).",
            code="TOKEN_MISSING",
        ) from None


def ensure_token(settings: Settings) -> str:
    """The token of AGENTIC_RAG_HOME, created when it is missing, readable by its owner only. Errors:
    `EmbeddedServerError`.
    """
    return _ensure_file(settings, TOKEN_FILE)


def with_local_issuer(settings: Settings) -> Settings:
    """Settings with which the server accepts the tokens of `rag token dev`. Unchanged when the server has an issuer,
    runs in production, or listens beyond loopback. Errors: `EmbeddedServerError`.
    """
    tenancy = settings.tenancy
    if tenancy.jwks_url or tenancy.jwt_secret or not settings.server.is_local or settings.server.is_production:
        return settings
    return settings.change(tenancy={"jwt_secret": _ensure_file(settings, SECRET_FILE)})


def console_link(settings: Settings, url: str | None = None) -> str:
    """The address of the console; for a server that takes development tokens of this home one that opens it signed in,
    once and within ten minutes. Errors: `EmbeddedServerError`.
    """
    from agentic_rag_server.console.sign_in import sign_in_link

    address, ready = url or server_url(settings), with_local_issuer(settings)
    secret = ready.tenancy.jwt_secret
    return sign_in_link(address, secret) if secret else f"{address}/console"


def _ensure_file(settings: Settings, file: str) -> str:
    path = settings.stores.state_home / file
    with usable_home(settings.stores.state_home):
        settings.stores.state_home.mkdir(parents=True, exist_ok=True)
        if not path.is_file():
            create_private(path, secrets.token_urlsafe(32) + "\n")
        return path.read_text(encoding="utf-8").strip()
