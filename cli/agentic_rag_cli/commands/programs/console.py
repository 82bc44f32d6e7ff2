"""`rag console`."""

from __future__ import annotations

from typing import Annotated

import typer

from agentic_rag_cli.client.access import asked_server, console_link
from agentic_rag_cli.output import terminal
from agentic_rag_cli.wiring import wiring_of


def console(
    context: typer.Context,
    in_browser: Annotated[bool, typer.Option("--open", help="Open it in the browser, too.")] = False,
) -> None:
    """Print the link that opens the console: signed in where the server runs on this home and takes development tokens.

    The link works once, for ten minutes. With an issuer, or on another machine, sign in there with a token.

    Example: rag console --open
    """
    settings = wiring_of(context).settings()
    link = console_link(settings, asked_server(settings, None) or None)
    terminal.result(link)
    if in_browser:
        typer.launch(link)
