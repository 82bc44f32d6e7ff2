"""The command `rag`: its commands, and the only place that converts a product error into an exit code."""

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
from agentic_rag_cli.client.url_option import add_url_option
from agentic_rag_cli.commands.answering import (
    ask,
    cite,
    explain,
    gate,
    prove,
    report,
    run,
    saved,
    search,
    template,
    thread,
)
from agentic_rag_cli.commands.documents import doc, ingest, upload
from agentic_rag_cli.commands.evaluation import calibrate, evaluate
from agentic_rag_cli.commands.ingestion import knowledge, source, web
from agentic_rag_cli.commands.jobs import dlq, job
from agentic_rag_cli.commands.models import embeddings, model, provider_key, spending
from agentic_rag_cli.commands.operations import backup, doctor, graph, snapshot, verify
from agentic_rag_cli.commands.programs import config, console, demo, mcp, migrate, serve, up, worker
from agentic_rag_cli.commands.tenancy import audit, key, token
from agentic_rag_cli.commands.workspaces import tenant, workspace
from agentic_rag_cli.exits import PRODUCT_ERRORS, ExitCode, error_line, exit_code_for, full_disk
from agentic_rag_cli.output import terminal
from agentic_rag_cli.wiring import wiring_of


class ProductGroup(TyperGroup):
    """Prints a product error, or a full disk, in one line and exits with its code. Any other exception is a bug and
    shows its traceback.
    """

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        add_url_option(self.commands)

    def invoke(self, ctx: Any) -> Any:
        """Run the chosen command."""
        try:
            return super().invoke(ctx)
        except PRODUCT_ERRORS as error:
            raise _end(error) from error
        except OSError as error:
            if (full := full_disk(error)) is None:
                raise
            raise _end(full) from error
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
    epilog="First steps: `rag demo`, or `rag up` in one terminal and `rag ingest`, `rag ask` in another.",
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


app.command("up")(up.up)
app.command("console")(console.console)
app.command("demo")(demo.demo)
app.command("ingest")(ingest.ingest)
app.command("upload")(upload.upload)
app.command("ask")(ask.ask)
app.command("search")(search.search)
app.command("context")(search.prepare_context)
app.command("explain")(explain.explain)
app.command("prove")(prove.prove)
app.add_typer(template.app, name="template")
app.add_typer(tenant.app, name="tenant")
app.add_typer(key.app, name="key")
app.add_typer(token.app, name="token")
app.add_typer(workspace.app, name="workspace")
app.add_typer(doc.app, name="doc")
app.add_typer(source.app, name="source")
app.add_typer(knowledge.app, name="knowledge")
app.command("search-web")(web.search_web)
app.command("crawl")(web.crawl)
app.add_typer(run.app, name="run")
app.add_typer(thread.app, name="thread")
app.add_typer(saved.app, name="saved")
app.add_typer(cite.app, name="cite")
app.add_typer(gate.app, name="gate")
app.add_typer(report.app, name="report")
app.add_typer(job.app, name="job")
app.add_typer(snapshot.app, name="snapshot")
app.add_typer(backup.app, name="backup")
app.add_typer(dlq.app, name="dlq")
app.add_typer(audit.app, name="audit")
app.add_typer(graph.app, name="graph")
app.add_typer(embeddings.app, name="embeddings")
app.add_typer(model.app, name="model")
app.add_typer(provider_key.app, name="provider-key")
app.command("usage")(spending.usage)
app.add_typer(spending.app, name="budget")
app.add_typer(evaluate.app, name="eval")
evaluate.app.command("init")(calibrate.init)
evaluate.app.command("calibrate")(calibrate.calibrate)
evaluate.app.command("report")(evaluate.report)
app.command("verify")(verify.verify)
app.command("doctor")(doctor.doctor)
app.add_typer(config.app, name="config")
app.add_typer(migrate.app, name="migrate")
app.command("serve")(serve.serve)
app.command("worker")(worker.worker)
app.command("mcp")(mcp.mcp)


def main() -> None:
    """Entry point of the console script."""
    # A start imports a thousand modules, whose objects stay: to look for garbage among them takes a tenth of it.
    gc.set_threshold(50_000, 20, 50)
    # Programs that this one starts, those of `multiprocessing` too, take no module from the working directory: it may
    # be a folder of documents.
    os.putenv("PYTHONSAFEPATH", "1")
    app(prog_name="rag")
