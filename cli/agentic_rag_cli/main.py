"""The command `rag`, and the only place that converts a product error into an exit code."""

from __future__ import annotations

import gc
import os
from dataclasses import replace
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from agentic_rag import __version__
from agentic_rag.embedded.errors import EmbeddedServerError
from agentic_rag.kernel.errors import AgenticRagError
from agentic_rag_cli.commands_by_name import CommandsByName
from agentic_rag_cli.exits import PRODUCT_ERRORS, ExitCode, error_line, error_of_system, exit_code_for
from agentic_rag_cli.output import terminal
from agentic_rag_cli.wiring import wiring_of


class ProductGroup(TyperGroup):
    """Prints a product error, a full disk, or a file that cannot be used, in one line and exits with its code. Any
    other exception is a bug and shows its traceback.
    """

    def __init__(self, **given: Any) -> None:
        given["commands"] = CommandsByName()
        super().__init__(**given)

    def list_commands(self, ctx: Any) -> list[str]:
        """The names, for which no command is imported."""
        return list(self.commands)

    def invoke(self, ctx: Any) -> Any:
        """Run the chosen command."""
        try:
            return super().invoke(ctx)
        except PRODUCT_ERRORS as error:
            raise _end(error) from error
        except OSError as error:
            if (told := error_of_system(error)) is None:
                raise
            raise _end(told) from error
        except KeyboardInterrupt as interrupt:
            terminal.note("interrupted")
            raise typer.Exit(ExitCode.INTERRUPTED) from interrupt


def _end(error: AgenticRagError | EmbeddedServerError) -> typer.Exit:
    """Tell of an error; the end of the command."""
    terminal.note(error_line(error))
    return typer.Exit(exit_code_for(error))


app = typer.Typer(
    name="rag",
    cls=ProductGroup,
    help="Answers questions over your documents; the quote behind every sentence is verified.",
    epilog=(
        "First steps: `rag demo`, or `rag up` in one terminal and `rag ingest`, `rag ask` in another.\n\n"
        "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 partly done, 4 something it needs is missing (`rag doctor` "
        "says what), 5 measured less than asked for, 130 interrupted."
    ),
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_show_locals=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        terminal.result(f"agentic-rag {__version__}")
        raise typer.Exit


@app.callback()
def options(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
    tenant: Annotated[
        str | None,
        typer.Option(
            "--tenant",
            metavar="NAME",
            help="In commands without a server, act in this organisation: its id, name or external id.",
        ),
    ] = None,
) -> None:
    """Answers questions over your documents; the quote behind every sentence is verified."""
    if tenant is not None:
        wiring = wiring_of(context)
        context.obj = replace(wiring, settings=lambda: replace(wiring.settings(), tenant=tenant))


def main() -> None:
    """Entry point of the console script."""
    # A start imports a thousand modules, whose objects stay: to look for garbage among them takes a tenth of it.
    gc.set_threshold(50_000, 20, 50)
    # Programs that this one starts, those of `multiprocessing` too, take no module from the working directory: it may
    # be a folder of documents.
    os.putenv("PYTHONSAFEPATH", "1")
    app(prog_name="rag")
