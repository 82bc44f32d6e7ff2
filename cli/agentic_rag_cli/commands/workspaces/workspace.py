"""`rag workspace`."""

from __future__ import annotations

from typing import Annotated

import typer

from agentic_rag_cli.options import JsonOption
from agentic_rag_cli.output import terminal
from agentic_rag_cli.wiring import in_process

app = typer.Typer(help="Workspaces: each one a corpus.", no_args_is_help=True, rich_markup_mode=None)


@app.command("list")
def list_workspaces(context: typer.Context, as_json: JsonOption = False) -> None:
    """List the workspaces.

    Example: rag workspace list
    """
    from agentic_rag_cli.views import workspace_json

    found = in_process(context, lambda session: session.workspaces())
    if as_json:
        terminal.result_json([workspace_json(one) for one in found])
    else:
        rows = [(one.name, one.kind.value, one.corpus_version, workspace_json(one)["id"]) for one in found]
        terminal.result(terminal.table(("NAME", "KIND", "VERSION", "ID"), rows))


@app.command("create")
def create(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="A name that no other workspace has.")],
    dimensions: Annotated[
        int | None,
        typer.Option(
            "--embedding-dimensions",
            metavar="N",
            help="Of its vectors, 1 to 4000; shorter ones are filled up with zeros. Default: the model's.",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Make an empty workspace (`rag ingest` makes one too).

    Example: rag workspace create handbook
    """
    from agentic_rag.tenancy.principals import validate_name
    from agentic_rag_cli.views import workspace_json

    plain = validate_name(name, ("name",))
    made = in_process(context, lambda session: session.create_workspace(plain, dimensions))
    if as_json:
        terminal.result_json(workspace_json(made))
    else:
        terminal.result(f"created {made.name} ({workspace_json(made)['id']})")
