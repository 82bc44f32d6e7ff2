"""`rag serve`: a server made from settings."""

from __future__ import annotations

import gc
from dataclasses import fields, replace
from typing import TYPE_CHECKING

from agentic_rag.kernel.errors import Misconfigured
from agentic_rag.settings import Settings
from agentic_rag.workspaces.settings import RagConfig
from agentic_rag_server.parts import ServerOptions, ServerParts

if TYPE_CHECKING:
    from agentic_rag.bootstrap import Container


def server_options(settings: Settings, processes: int = 1) -> ServerOptions:
    """The server's options, taken from settings."""
    return ServerOptions(
        processes=processes,
        enabled=settings.answering.enabled,
        introspection=settings.server.introspection != "off",
        query_page=settings.server.introspection == "page",
        browser_origins=settings.server.origins,
        persisted_operations=settings.server.operations_file,
        persisted_only=settings.server.persisted_only,
        behind_tls=settings.server.is_production,
        figures_take_a_token=settings.server.is_production,
        host=settings.server.host,
        port=settings.server.port,
        development_secret="" if settings.server.is_production else settings.tenancy.jwt_secret,
        claims=settings.tenancy.claims,
        token_issuer=settings.tenancy.jwt_issuer,
        token_audience=settings.tenancy.audience.name,
        sign_in_client=settings.tenancy.audience.client,
        sign_in_scope=settings.tenancy.audience.scope,
        issuer=settings.tenancy.jwt_issuer if settings.tenancy.jwks_url else "",
        max_upload_bytes=settings.ingestion.max_upload_bytes,
        drain_seconds=max(1, round(settings.jobs.drain_seconds)),
        chunk_profile=settings.ingestion.chunk_profile,
        rag_config=RagConfig(settings.answering.top_k, similarity_threshold=0.0),
    )


def server_parts(container: Container) -> ServerParts:
    """The server's parts, taken from a container."""
    names = [field.name for field in fields(ServerParts) if field.name != "options"]
    return ServerParts(
        server_options(container.settings, container.processes), **{name: getattr(container, name) for name in names}
    )


def run_server(settings: Settings, *, processes: int = 1, listener: int | None = None) -> None:
    """Serve until SIGINT or SIGTERM. AGENTIC_RAG_TOKEN, when set, opens the default organisation while this process
    runs; no key is made.

    `processes` serve together, of which this is one. `listener` is the descriptor of a port that another process took
    for them. The server starts without its database too; /readyz then shows the fault.
    Errors: `Misconfigured` (TOKEN_TOO_SHORT, PORT_IN_USE, no DATABASE_URL, DATABASE_ROLE_TOO_STRONG).
    """
    # What the imports make stays: looking for garbage in it takes a tenth of the start. `settle_collector` goes on.
    gc.disable()
    from agentic_rag.bootstrap import Container, opens_servers, route_library_logs
    from agentic_rag_server.run import Opened, run

    async def open_parts() -> Opened:
        container = Container(settings, processes=processes)
        try:
            watch = await container.watch_login()
        except Misconfigured:
            await container.aclose()
            raise
        if settings.models.embedder == "openai":
            # Importing its package takes a second, which would stall all requests.
            _ = container.embedder
        if with_token:
            await container.first_access.try_organisation()
        container.register.start()
        container.telemetry.event(
            "rag_server_starting",
            address=f"http://{settings.server.host}:{settings.server.port}",
            enabled=settings.answering.enabled,
            hint=None if settings.answering.enabled else "Questions are refused: set AGENTIC_RAG_ENABLED=true.",
        )
        return Opened(replace(server_parts(container), identity=container.server_identity), watch)

    with_token = opens_servers(settings.client.token)
    route_library_logs(settings)
    run(open_parts, server_options(settings), listener)
