"""`rag config`."""

from __future__ import annotations

import typer

from agentic_rag.settings import mask_secrets
from agentic_rag_cli.options import JsonOption
from agentic_rag_cli.output import terminal
from agentic_rag_cli.wiring import wiring_of

app = typer.Typer(help="The settings in force.", no_args_is_help=True, rich_markup_mode=None)


@app.command("show")
def show(context: typer.Context, as_json: JsonOption = False) -> None:
    """Print every setting with its effective value, secrets masked.

    Example: rag config show --json
    """
    settings = wiring_of(context).settings()
    effective = mask_secrets(settings)
    terminal.show(effective, "\n".join(f"{name}={value}" for name, value in effective.items()), as_json=as_json)
