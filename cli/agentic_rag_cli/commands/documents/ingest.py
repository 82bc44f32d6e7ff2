"""`rag ingest`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from agentic_rag_cli.commands.documents.estimates import estimate_directory, estimates_json, estimates_text
from agentic_rag_cli.commands.documents.ingestion import IngestSummary, ingest_directory, plan_directory
from agentic_rag_cli.commands.documents.readers import readers_of
from agentic_rag_cli.corpus import corpus_directory
from agentic_rag_cli.exits import ExitCode
from agentic_rag_cli.in_process import System
from agentic_rag_cli.options import GroupOption, JsonOption, UserOption
from agentic_rag_cli.output import terminal
from agentic_rag_cli.wiring import beside_worker, in_process, wiring_of


def ingest(
    context: typer.Context,
    source: Annotated[
        Path | None, typer.Option("--source", "-s", help="Folder to read; AGENTIC_RAG_CORPUS_DIR when left out.")
    ] = None,
    workspace: Annotated[
        str, typer.Option("--workspace", "-w", help="Name of the workspace; made when there is none.")
    ] = "default",
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until every file is done.")] = True,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done, change nothing.")] = False,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Read and chunk, say what embedding would cost, change nothing.")
    ] = False,
    user: UserOption = None,
    group: GroupOption = None,
    as_json: JsonOption = False,
) -> None:
    """Bring a workspace up to date with a folder: new and changed files are ingested, gone ones deleted.

    With --user or --group only those read the files that are new; `rag doc share` changes who reads the others.

    With --wait and no worker running, a worker is started for as long as the command lasts.

    Example: rag ingest --source ./reports --workspace reports
    """
    directory = corpus_directory(wiring_of(context).settings(), source)
    readers = readers_of(user, group) or ()
    if estimate:
        _show_estimates(context, directory, workspace, as_json=as_json)
        return

    async def work(system: System) -> IngestSummary:
        if dry_run:
            return await plan_directory(system, workspace, directory)
        with terminal.ProgressLine("ingesting") as bar:
            ingesting = partial(ingest_directory, system, workspace, directory, readers, wait=wait, progress=bar.update)
            return await (beside_worker(context, system, ingesting) if wait else ingesting())

    report = in_process(context, work)
    lines = [one.line() for one in report.files]
    terminal.show(report.as_json(), "\n".join([*lines, report.summary()]), as_json=as_json)
    if report.failures:
        raise typer.Exit(ExitCode.PARTIAL)


def _show_estimates(context: typer.Context, directory: Path, name: str, *, as_json: bool) -> None:
    found = in_process(context, lambda system: estimate_directory(system, name, directory))
    terminal.show(estimates_json(name, directory, found), estimates_text(name, found), as_json=as_json)
    if any(one.fault for one in found):
        raise typer.Exit(ExitCode.PARTIAL)
