"""`rag migrate`."""

from __future__ import annotations

from typing import Any

import typer

from agentic_rag_cli.client import operator_queries
from agentic_rag_cli.exits import ExitCode
from agentic_rag_cli.options import JsonOption
from agentic_rag_cli.output import terminal
from agentic_rag_cli.wiring import on_graphql, run_async, wiring_of

app = typer.Typer(help="The database's schema.", no_args_is_help=True, rich_markup_mode=None)


@app.command("up")
def up(context: typer.Context, as_json: JsonOption = False) -> None:
    """Create the roles and bring the schema to the newest revision; may be repeated.

    Example: DATABASE_URL=postgresql://… rag migrate up
    """
    from agentic_rag_cli.processes.servers import migrate

    wiring = wiring_of(context)
    with wiring.bare_servers(wiring.settings()) as settings:
        applied = run_async(migrate(settings))
    terminal.show(
        {"applied": applied},
        f"applied {', '.join(applied)}" if applied else "the schema is up to date",
        as_json=as_json,
    )


@app.command("status")
def show_status(context: typer.Context, as_json: JsonOption = False) -> None:
    """Show the revision of the database and the pending migrations. Exit code 1 when some are pending. Makes nothing.

    Example: rag migrate status --json
    """
    found = _on_server(context) if wiring_of(context).address else _here(context)
    pending = f"pending: {', '.join(found['pending'])}" if found["pending"] else "nothing pending"
    text = f"current: {found['current'] or 'none'}\nnewest:  {found['head']}\n{pending}"
    terminal.show(found, text, as_json=as_json)
    if found["pending"]:
        raise typer.Exit(ExitCode.FAILED)


def _on_server(context: typer.Context) -> dict[str, Any]:
    return on_graphql(context, lambda client: client.fetch(operator_queries.SCHEMA_STATUS))


def _here(context: typer.Context) -> dict[str, Any]:
    """The same of a database that may have no schema yet: no application runs on it."""
    from agentic_rag_cli.processes.servers import has_database
    from agentic_rag_migrations.upgrade import status, status_without_database

    wiring = wiring_of(context)
    settings = wiring.settings()
    if has_database(settings):
        with wiring.bare_servers(settings) as ready:
            found = run_async(status(ready.stores.migrating_url))
    else:
        found = status_without_database()
    return {"current": found.current, "head": found.head, "pending": list(found.pending)}
