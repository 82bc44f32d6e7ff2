"""`rag embeddings`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agentic_rag.kernel.errors import AgenticRagError
from agentic_rag.models.embedding.recall_gate import DEFAULT_K, MAX_K
from agentic_rag.models.embedding.space import SpaceRecord, SpaceState
from agentic_rag_cli.exits import ExitCode, error_line
from agentic_rag_cli.options import JsonOption, WorkspaceOption
from agentic_rag_cli.output import terminal
from agentic_rag_cli.output.recall import recall_line
from agentic_rag_cli.wiring import Wiring, in_process, run_async, wiring_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentic_rag.models.embedding.recall_gate import RecallGate
    from agentic_rag.operations.switch_embedding import SwitchStart
    from agentic_rag.retrieval.measure_recall import RecallReport
    from agentic_rag.settings import Settings
    from agentic_rag_cli.session import Session

app = typer.Typer(help="Embedding models of a workspace.", no_args_is_help=True, rich_markup_mode=None)


@app.command("list")
def list_spaces(context: typer.Context, workspace: WorkspaceOption = None, as_json: JsonOption = False) -> None:
    """List a workspace's embedding spaces: the one that answers, one being filled, those kept for a while.

    Example: rag embeddings list -w handbook
    """
    _show(in_process(context, lambda session: _spaces(session, workspace)), as_json)


@app.command("status")
def status(context: typer.Context, workspace: WorkspaceOption = None, as_json: JsonOption = False) -> None:
    """Show the switch that is under way, or the space that answers.

    Example: rag embeddings status -w handbook
    """
    found = in_process(context, lambda session: _spaces(session, workspace))
    filling = [one for one in found if one.state is SpaceState.FILLING]
    _show(filling or [one for one in found if one.state is SpaceState.ACTIVE], as_json)


@app.command("switch")
def switch(
    context: typer.Context,
    to: Annotated[str, typer.Option("--to", help="`deterministic`, `onnx`, or `openai:MODEL[:DIMENSIONS]`.")],
    workspace: WorkspaceOption = None,
    gate: Annotated[
        Path | None,
        typer.Option("--gate", help="JSONL file of questions with gold_ids: refuse the switch when recall falls."),
    ] = None,
    gate_k: Annotated[int, typer.Option("--gate-k", min=1, max=MAX_K, help="k of the gate's recall@k.")] = DEFAULT_K,
    gate_tolerance: Annotated[
        float, typer.Option("--gate-tolerance", min=0.0, max=1.0, help="How far recall may fall.")
    ] = 0.0,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until the workspace answers in it.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Switch a workspace to another embedding model, without a pause: questions are answered all the while.

    With --wait and no worker running, a worker is started for as long as the command lasts. Exits with 5 when the gate
    refuses.

    Example: rag embeddings switch --to openai:text-embedding-3-small -w handbook --gate golden.jsonl --wait
    """
    from agentic_rag_cli.commands.models.switching import gate_from

    judged = None if gate is None else gate_from(gate, gate_k, gate_tolerance)
    wiring = wiring_of(context)
    try:
        with wiring.servers(wiring.settings()) as ready:
            record = run_async(_switch(wiring, ready, workspace, to, judged, wait=wait))
    except AgenticRagError as error:
        if error.code != "SWITCH_GATE_REFUSED":
            raise
        terminal.note(error_line(error))
        raise typer.Exit(ExitCode.THRESHOLD) from error
    _show([record], as_json)


@app.command("cancel")
def cancel(context: typer.Context, workspace: WorkspaceOption = None, as_json: JsonOption = False) -> None:
    """Call off the switch that is under way; the workspace answers as before.

    Example: rag embeddings cancel -w handbook
    """
    from agentic_rag_cli.listing import the_workspace

    async def work(session: Session) -> SpaceRecord:
        return await session.cancel_switch((await the_workspace(session, workspace)).ref)

    _show([in_process(context, work)], as_json)


@app.command("recall")
def recall(context: typer.Context, workspace: WorkspaceOption = None, as_json: JsonOption = False) -> None:
    """Measure a workspace's dense search against exact search, on questions made from its own passages.

    Exits with 5 when less than 95 % is found. Example: rag embeddings recall -w handbook
    """
    from dataclasses import asdict

    from agentic_rag_cli.listing import the_workspace

    async def work(session: Session) -> RecallReport:
        return await session.recall((await the_workspace(session, workspace)).ref)

    report = in_process(context, work)
    if as_json:
        terminal.result_json(asdict(report))
    else:
        terminal.result(recall_line(report))
    if not report.is_enough:
        raise typer.Exit(ExitCode.THRESHOLD)


async def _spaces(session: Session, workspace: str | None) -> Sequence[SpaceRecord]:
    from agentic_rag_cli.listing import the_workspace

    return await session.spaces((await the_workspace(session, workspace)).ref)


async def _switch(
    wiring: Wiring, settings: Settings, name: str | None, to: str, gate: RecallGate | None, *, wait: bool
) -> SpaceRecord:
    from agentic_rag_cli.commands.models.switching import follow_switch
    from agentic_rag_cli.listing import the_workspace
    from agentic_rag_cli.processes.children import Children, silent

    async with wiring.session(settings) as session, Children(silent, settings.jobs.drain_seconds) as children:
        workspace = (await the_workspace(session, name)).ref
        begun: SwitchStart = await session.begin_switch(workspace, to, gate)
        if not wait or begun.job is None:
            return begun.record
        if not await session.worker_running():
            await wiring.start_worker(children, settings)
        return await follow_switch(session, workspace, begun, children)


def _show(records: Sequence[SpaceRecord], as_json: bool) -> None:
    from agentic_rag_cli.views import space_json

    shown = [space_json(one) for one in records]
    if as_json:
        terminal.result_json(shown)
        return
    rows = [
        (row["name"], row["state"], f"{row['done']}/{row['total']}", row["dropAfter"], _verdict(one))
        for row, one in zip(shown, records, strict=True)
    ]
    terminal.result(terminal.table(("SPACE", "STATE", "DONE", "DROPPED AFTER", "GATE"), rows))


def _verdict(record: SpaceRecord) -> str | None:
    verdict = record.verdict
    if verdict is None:
        return None
    return f"recall@{verdict.k} {verdict.before:.4f} -> {verdict.after:.4f}{'' if verdict.passed else ' (refused)'}"
