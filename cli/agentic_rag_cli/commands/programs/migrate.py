"""`rag migrate`."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agentic_rag.kernel.formatting import format_bytes, format_count
from agentic_rag_cli.client import operator_queries
from agentic_rag_cli.exits import ExitCode
from agentic_rag_cli.options import JsonOption
from agentic_rag_cli.output import terminal
from agentic_rag_cli.wiring import on_graphql, run_async, wiring_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentic_rag.settings import Settings
    from agentic_rag_migrations.partitions import MovedTable

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


@app.command("partition")
def partition(
    context: typer.Context,
    parts: Annotated[
        int, typer.Option("--parts", min=0, help="Partitions of each table, 2 to 256; 0 makes it whole again.")
    ],
    tables: Annotated[
        str, typer.Option("--tables", help="Tables to move, separated by commas.")
    ] = "rag_chunks,rag_embeddings,rag_mentions",
    as_json: JsonOption = False,
) -> None:
    """Lay the large tables in hash partitions by workspace, or back in one; may be repeated. Servers and workers must
    be stopped.

    Every table is moved wholly or not at all, with its keys, indexes, policies and grants. What a partition gains and
    costs: docs/decisions/0061.

    Example: rag migrate partition --parts 16
    """
    from agentic_rag_cli.processes.servers import has_database
    from agentic_rag_migrations.partitions import require_newest

    wiring = wiring_of(context)
    given = wiring.settings()
    if not has_database(given):
        require_newest(None)
    with wiring.bare_servers(given) as settings:
        named = [name.strip() for name in tables.split(",") if name.strip()]
        moved = _partition(settings, parts, named, is_embedded=not given.stores.database_url)
    shown = [
        {"table": one.table, "before": one.before, "parts": one.parts, "rows": one.rows, "seconds": one.seconds}
        for one in moved
    ]
    terminal.show(shown, "\n".join(map(_told, moved)) or "the tables lie so already", as_json=as_json)


def _partition(settings: Settings, parts: int, tables: Sequence[str], *, is_embedded: bool) -> list[MovedTable]:
    from agentic_rag_migrations.partitions import bytes_needed, layouts, partition, require_room

    url = settings.stores.migrating_url
    needed = bytes_needed(run_async(layouts(url, tables)), parts)
    if needed:
        terminal.note(f"the disk of the database needs {format_bytes(needed)} meanwhile")
    if is_embedded:
        require_room(needed, shutil.disk_usage(settings.stores.state_home).free)
    with terminal.ProgressLine("partition") as line:
        return run_async(partition(url, parts, tables, line.update))


def _told(one: MovedTable) -> str:
    lies = f"in {one.parts} partitions" if one.parts else "whole"
    return f"{one.table}: {format_count(one.rows, 'row')}, {lies}, {one.seconds:.1f} s"


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
