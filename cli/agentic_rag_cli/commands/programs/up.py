"""`rag up`."""

from __future__ import annotations

from typing import Annotated

import typer

from agentic_rag.embedded.loopback import free_port
from agentic_rag.embedded.state import write_private
from agentic_rag.models.embedding.space import HASHED_PROVIDER
from agentic_rag.settings import Settings
from agentic_rag.settings.variable import UNSET_PATH
from agentic_rag_cli.client.access import SERVER_FILE, TOKEN_FILE, console_link, server_url
from agentic_rag_cli.output import terminal
from agentic_rag_cli.wiring import run_async, wiring_of

_NAME_WIDTH = 8
_HASHED = "hashed words; answers are better with a model: rag model get minilm, then rag up again"


def up(
    context: typer.Context,
    port: Annotated[
        int | None, typer.Option("--port", min=0, max=65535, help="Port of the server (AGENTIC_RAG_PORT); 0 takes any.")
    ] = None,
) -> None:
    """Run everything in one terminal: Postgres and Redis unless DATABASE_URL and REDIS_URL name some, server, worker.

    What ends by itself is started again. Ctrl-C stops all of it. Documents and answers stay in AGENTIC_RAG_HOME.

    Example: rag up --port 8080
    """
    from agentic_rag_cli.processes.local_programs import only_one_on, require_alone, require_free, run_programs
    from agentic_rag_cli.processes.servers import migrate, open_servers

    wiring = wiring_of(context)
    settings = wiring.settings()
    chosen = settings.server.port if port is None else port
    settings = settings.change(
        server={"port": chosen or free_port()}, stores={"home": settings.stores.state_home}, answering={"enabled": True}
    )
    require_alone(settings)
    require_free(settings)
    stores = settings.stores
    embedded = [name for name, url in (("Postgres", stores.database_url), ("Redis", stores.redis_url)) if not url]
    terminal.note(f"starting {' and '.join(embedded)} …" if embedded else "connecting …")
    with open_servers(settings) as (ready, servers), only_one_on(ready):
        run_async(migrate(ready))
        run_async(run_programs(ready, servers, _print_line, lambda: _greet(ready)))
    terminal.note("stopped")


def _print_line(name: str, line: str) -> None:
    terminal.note(f"{name:<{_NAME_WIDTH}} | {line}")


def _greet(settings: Settings) -> None:
    if settings.stores.state_home.is_dir():
        write_private(settings.stores.state_home / SERVER_FILE, server_url(settings) + "\n")
    terminal.result(_welcome(settings))


def _welcome(settings: Settings) -> str:
    url = server_url(settings)
    token = "AGENTIC_RAG_TOKEN" if settings.client.token else str(settings.stores.state_home / TOKEN_FILE)
    home = "" if settings.stores.home == UNSET_PATH else f"\n  state     {settings.stores.state_home}"
    models = settings.models
    local = f"{models.local_model.name}, on this machine" if models.is_local_model else models.embedder
    embedder = _HASHED if models.embedder == HASHED_PROVIDER else local
    return (
        f"\nagentic-rag is up.\n  console   {console_link(settings)}\n"
        f"  GraphQL   {url}/graphql\n  embedder  {embedder}\n  token in  {token}{home}\n\n"
        "In another terminal:\n"
        "  rag ingest DIR --workspace NAME\n"
        '  rag ask "…" --workspace NAME\n'
        f"  curl -s {url}/readyz\n\n"
        "Ctrl-C stops everything.\n"
    )
