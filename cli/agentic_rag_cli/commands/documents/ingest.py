"""`rag ingest`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agentic_rag.settings import Settings
from agentic_rag_cli.commands.documents.estimates import estimate_directory, estimates_json, show_estimates
from agentic_rag_cli.commands.documents.ingestion import IngestSummary, ingest_directory, plan_directory
from agentic_rag_cli.commands.documents.readers import readers_of
from agentic_rag_cli.corpus import corpus_directory
from agentic_rag_cli.exits import ExitCode
from agentic_rag_cli.options import GroupOption, JsonOption, UserOption
from agentic_rag_cli.output import terminal
from agentic_rag_cli.processes.children import Children, silent
from agentic_rag_cli.wiring import Wiring, run_async, wiring_of

if TYPE_CHECKING:
    from agentic_rag.ingestion.estimate import FileEstimate


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
    wiring = wiring_of(context)
    settings = wiring.settings()
    directory = corpus_directory(settings, source)
    readers = readers_of(user, group) or ()
    if estimate:
        with wiring.servers(settings) as ready:
            _show_estimates(wiring, ready, directory, workspace, as_json=as_json)
        return
    with wiring.servers(settings) as ready:
        work = (
            _plan(wiring, ready, directory, workspace)
            if dry_run
            else _ingest(wiring, ready, directory, workspace, readers, wait=wait)
        )
        report = run_async(work)
    if as_json:
        terminal.result_json(report.as_json())
    else:
        show_report(report)
    if report.failures:
        raise typer.Exit(ExitCode.PARTIAL)


def show_report(report: IngestSummary) -> None:
    """Print a line for each changed file, and the summary."""
    for file in report.files:
        terminal.result(terminal.file_line(file.outcome, file.path, file.code, file.message, file.chunks))
    terminal.result(report.summary())


def _show_estimates(wiring: Wiring, settings: Settings, directory: Path, name: str, *, as_json: bool) -> None:
    async def work() -> list[FileEstimate]:
        async with wiring.system(settings) as system:
            return await estimate_directory(system, name, directory)

    found = run_async(work())
    if as_json:
        terminal.result_json(estimates_json(name, directory, found))
    else:
        show_estimates(name, found)
    if any(one.fault for one in found):
        raise typer.Exit(ExitCode.PARTIAL)


async def _ingest(
    wiring: Wiring, settings: Settings, directory: Path, name: str, readers: tuple[str, ...], *, wait: bool
) -> IngestSummary:
    async with wiring.system(settings) as system, Children(silent, settings.jobs.drain_seconds) as children:
        if wait and not await system.worker_running():
            await wiring.start_worker(children, settings)
        bar = terminal.ProgressLine("ingesting")
        try:
            return await children.guard(
                ingest_directory(system, name, directory, readers, wait=wait, progress=bar.update)
            )
        finally:
            bar.close()


async def _plan(wiring: Wiring, settings: Settings, directory: Path, name: str) -> IngestSummary:
    async with wiring.system(settings) as system:
        return await plan_directory(system, name, directory)
