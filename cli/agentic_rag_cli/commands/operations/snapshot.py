"""`rag snapshot`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agentic_rag.kernel.errors import NotFound
from agentic_rag.kernel.formatting import format_count
from agentic_rag.operations.snapshots.snapshot import SnapshotRecord, SnapshotState
from agentic_rag.settings import Settings
from agentic_rag_cli.options import JsonOption, WorkspaceOption
from agentic_rag_cli.output import terminal
from agentic_rag_cli.wiring import Wiring, in_process, run_async, wiring_of

if TYPE_CHECKING:
    from agentic_rag.operations.snapshots.restore import RestoreReport
    from agentic_rag.operations.snapshots.snapshot import Manifest
    from agentic_rag_cli.session import Session

app = typer.Typer(help="Snapshots of workspaces: taken, kept, restored.", no_args_is_help=True, rich_markup_mode=None)

Wanted = Annotated[str, typer.Argument(metavar="SNAPSHOT", help="Id, as `rag snapshot list` shows it.")]


@app.command("create")
def create(
    context: typer.Context,
    workspace: WorkspaceOption = None,
    originals: Annotated[
        bool, typer.Option("--originals/--without-originals", help="Copy the original files into it too.")
    ] = True,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until it is READY.")] = True,
    as_json: JsonOption = False,
) -> None:
    """Take a snapshot of a workspace at its newest corpus version; a worker writes it while reads and writes go on.

    With --wait and no worker running, a worker is started for as long as the command lasts.

    Example: rag snapshot create --workspace handbook
    """
    from agentic_rag_cli.views import snapshot_json

    wiring = wiring_of(context)
    with wiring.servers(wiring.settings()) as ready:
        record = run_async(_create(wiring, ready, workspace, originals=originals, wait=wait))
    if as_json:
        terminal.result_json(snapshot_json(record))
    else:
        terminal.result(_line(record))


async def _create(
    wiring: Wiring, settings: Settings, name: str | None, *, originals: bool, wait: bool
) -> SnapshotRecord:
    from agentic_rag_cli.listing import the_workspace
    from agentic_rag_cli.processes.children import Children, silent
    from agentic_rag_cli.snapshots import finished

    async with wiring.session(settings) as session, Children(silent, settings.jobs.drain_seconds) as children:
        chosen = (await the_workspace(session, name)).ref
        asked = await session.snapshots.request(chosen, with_originals=originals)
        if not wait:
            return asked
        if not await session.worker_running():
            await wiring.start_worker(children, settings)
        bar = terminal.ProgressLine("writing")
        try:
            return await children.guard(finished(session.snapshots, asked, bar.update))
        finally:
            bar.close()


@app.command("list")
def list_snapshots(
    context: typer.Context,
    workspace: WorkspaceOption = None,
    every: Annotated[bool, typer.Option("--all", help="Deleted and expired ones too.")] = False,
    stored: Annotated[
        bool, typer.Option("--stored", help="What the blob store holds, of any workspace, known here or not.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """List the snapshots of a workspace, newest first.

    Example: rag snapshot list --stored
    """
    from agentic_rag_cli.listing import the_workspace
    from agentic_rag_cli.views import snapshot_json

    if stored:
        _list_archives(context, as_json=as_json)
        return

    async def work(session: Session) -> list[SnapshotRecord]:
        chosen = (await the_workspace(session, workspace)).ref
        return [one for one in await session.snapshots.known(chosen) if every or one.state != SnapshotState.EXPIRED]

    found = in_process(context, work)
    shown = [snapshot_json(one) for one in found]
    if as_json:
        terminal.result_json(shown)
        return
    rows = [
        (row["id"], row["state"], row["reason"], row["corpusVersion"], row["size"], row["createdAt"], row["errorCode"])
        for row in shown
    ]
    terminal.result(terminal.table(("ID", "STATE", "REASON", "VERSION", "BYTES", "CREATED", "ERROR"), rows))


def _list_archives(context: typer.Context, *, as_json: bool) -> None:
    from agentic_rag_cli.views import stored_snapshot_json

    async def work(session: Session) -> list[tuple[Manifest, str]]:
        return await session.snapshots.stored()

    shown = [stored_snapshot_json(manifest, folder) for manifest, folder in in_process(context, work)]
    if as_json:
        terminal.result_json(shown)
        return
    rows = [
        (row["id"], row["workspace"], row["corpusVersion"], row["counts"].get("rag_documents"), row["createdAt"])
        for row in shown
    ]
    terminal.result(terminal.table(("ID", "WORKSPACE", "VERSION", "DOCUMENTS", "CREATED"), rows))


@app.command("show")
def show(
    context: typer.Context, snapshot: Wanted, workspace: WorkspaceOption = None, as_json: JsonOption = False
) -> None:
    """Show one snapshot with its counts and where its manifest lies.

    Example: rag snapshot show U3Rh…
    """
    from agentic_rag.kernel.public_ids import NodeKind
    from agentic_rag_cli.listing import require_id, the_workspace
    from agentic_rag_cli.views import snapshot_json

    wanted = require_id(snapshot, NodeKind.SNAPSHOT)

    async def work(session: Session) -> SnapshotRecord:
        known = await session.snapshots.known((await the_workspace(session, workspace, snapshot)).ref)
        for one in known:
            if one.snapshot_id == wanted:
                return one
        raise NotFound(f"There is no snapshot {snapshot}; `rag snapshot list` shows them.", code="SNAPSHOT_NOT_FOUND")

    shown = snapshot_json(in_process(context, work))
    if as_json:
        terminal.result_json(shown)
        return
    counts = shown.pop("counts")
    terminal.result(terminal.table(("FIELD", "VALUE"), [*shown.items(), *counts.items()]))


@app.command("restore")
def restore(
    context: typer.Context,
    snapshot: Annotated[
        str | None, typer.Argument(metavar="SNAPSHOT", help="Id; may be left out when --from holds only one.")
    ] = None,
    into: Annotated[
        str | None, typer.Option("--into", help="Name of the new workspace; needed when the old one still exists.")
    ] = None,
    source: Annotated[
        Path | None,
        typer.Option("--from", help="Directory with the snapshot's files; else the blob store.", exists=True),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Make a workspace from a snapshot. Everything is checked first; nothing is written over what exists.

    Where the workspace is gone it comes back with its ids, else the copy stands beside it under the name of --into.
    Repeating the command changes nothing more.

    Example: rag snapshot restore U3Rh… --into handbook-monday
    """
    from agentic_rag.kernel.public_ids import NodeKind
    from agentic_rag.tenancy.principals import validate_name
    from agentic_rag_cli.listing import require_id
    from agentic_rag_cli.views import restore_json

    wanted = None if snapshot is None else require_id(snapshot, NodeKind.SNAPSHOT)
    name = None if into is None else validate_name(into, ("into",))
    if wanted is None and source is None:
        raise typer.BadParameter("name a snapshot, or a directory with --from")
    bar = terminal.ProgressLine("restoring")

    async def work(session: Session) -> RestoreReport:
        try:
            return await session.snapshots.restore(wanted, source, name, bar.update)
        finally:
            bar.close()

    report = in_process(context, work)
    if as_json:
        terminal.result_json(restore_json(report))
        return
    if report.was_done:
        terminal.result(f"{report.name} was restored from this snapshot before: nothing to do")
        return
    terminal.result(
        f"restored {report.name} at corpus version {report.corpus_version}: {format_count(report.rows, 'row')}, "
        f"{format_count(report.originals, 'original')}"
    )
    if report.erased:
        terminal.note(f"{format_count(report.erased, 'document')} had been erased since the snapshot and stayed so")
    if report.requeued:
        terminal.note(
            f"{format_count(report.requeued, 'document')} had been half ingested, now queued again: rag job list"
        )


@app.command("delete")
def delete(
    context: typer.Context, snapshot: Wanted, workspace: WorkspaceOption = None, as_json: JsonOption = False
) -> None:
    """Delete a snapshot's files; its line stays in `rag snapshot list --all`.

    Example: rag snapshot delete U3Rh…
    """
    from agentic_rag.kernel.public_ids import NodeKind
    from agentic_rag_cli.listing import require_id, the_workspace

    wanted = require_id(snapshot, NodeKind.SNAPSHOT)

    async def work(session: Session) -> SnapshotRecord:
        return await session.snapshots.delete((await the_workspace(session, workspace, snapshot)).ref, wanted)

    record = in_process(context, work)
    if as_json:
        terminal.result_json({"deletedId": snapshot, "size": record.size})
    else:
        terminal.result(f"deleted {snapshot} ({format_count(record.size, 'byte')})")


def _line(record: SnapshotRecord) -> str:
    from agentic_rag_cli.views import snapshot_json

    shown = snapshot_json(record)
    if record.state is not SnapshotState.READY:
        return f"asked for {shown['id']}: a worker writes it (rag snapshot show {shown['id']})"
    documents = format_count(record.counts.get("rag_documents", 0), "document")
    return f"{shown['id']}: {documents} at corpus version {record.corpus_version}, {format_count(record.size, 'byte')}"
