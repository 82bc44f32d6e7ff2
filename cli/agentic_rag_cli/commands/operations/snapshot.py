"""`rag snapshot`."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import typer

from agentic_rag.kernel.errors import NotFound, Permanent
from agentic_rag.kernel.formatting import format_count
from agentic_rag.kernel.public_ids import NodeKind, encode, encode_workspace
from agentic_rag.operations.snapshots.snapshot import Manifest, RestoredRights, SnapshotRecord, SnapshotState
from agentic_rag.tenancy.principals import WorkspaceRef, validate_name
from agentic_rag_cli.client.ids import require_id
from agentic_rag_cli.in_process import ACTOR, System
from agentic_rag_cli.options import JsonOption, WorkspaceOption
from agentic_rag_cli.output import terminal
from agentic_rag_cli.output.json_view import json_fields
from agentic_rag_cli.wiring import beside_worker, in_process

if TYPE_CHECKING:
    from agentic_rag.operations.snapshots.restore import ProgressReport, RestoreReport

app = typer.Typer(help="Snapshots of workspaces: taken, kept, restored.", no_args_is_help=True, rich_markup_mode=None)

_POLL_SECONDS = 0.1

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

    async def work(system: System) -> SnapshotRecord:
        ref = (await system.workspace(workspace)).ref
        asked = await system.container.take_snapshot.request(ref, ACTOR, with_originals=originals)
        return await beside_worker(context, system, lambda: _wait(system, asked)) if wait else asked

    record = in_process(context, work)
    terminal.show(_snapshot_json(record), _line(record), as_json=as_json)


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

    if stored:
        _list_archives(context, as_json=as_json)
        return

    async def work(system: System) -> list[SnapshotRecord]:
        chosen = (await system.workspace(workspace)).ref
        return [one for one in await _known(system, chosen) if every or one.state != SnapshotState.EXPIRED]

    found = in_process(context, work)
    shown = [_snapshot_json(one) for one in found]
    rows = [
        (row["id"], row["state"], row["reason"], row["corpusVersion"], row["size"], row["createdAt"], row["errorCode"])
        for row in shown
    ]
    terminal.show(
        shown, terminal.table(("ID", "STATE", "REASON", "VERSION", "BYTES", "CREATED", "ERROR"), rows), as_json=as_json
    )


def _list_archives(context: typer.Context, *, as_json: bool) -> None:

    shown = [_stored_snapshot_json(manifest, folder) for manifest, folder in in_process(context, _stored)]
    rows = [
        (row["id"], row["workspace"], row["corpusVersion"], row["counts"].get("rag_documents"), row["createdAt"])
        for row in shown
    ]
    terminal.show(shown, terminal.table(("ID", "WORKSPACE", "VERSION", "DOCUMENTS", "CREATED"), rows), as_json=as_json)


@app.command("show")
def show(
    context: typer.Context, snapshot: Wanted, workspace: WorkspaceOption = None, as_json: JsonOption = False
) -> None:
    """Show one snapshot with its counts and where its manifest lies.

    Example: rag snapshot show U3Rh…
    """

    wanted = require_id(snapshot, NodeKind.SNAPSHOT)

    async def work(system: System) -> SnapshotRecord:
        known = await _known(system, (await system.workspace(workspace, snapshot)).ref)
        for one in known:
            if one.snapshot_id == wanted:
                return one
        raise NotFound(f"There is no snapshot {snapshot}; `rag snapshot list` shows them.", code="SNAPSHOT_NOT_FOUND")

    shown = _snapshot_json(in_process(context, work))
    rows = [*((name, value) for name, value in shown.items() if name != "counts"), *shown["counts"].items()]
    terminal.show(shown, terminal.table(("FIELD", "VALUE"), rows), as_json=as_json)


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
    rights: Annotated[
        RestoredRights,
        typer.Option("--rights", help="Rights of a copy: what holds in the workspace too, or as in the snapshot."),
    ] = RestoredRights.NARROWER,
    as_json: JsonOption = False,
) -> None:
    """Make a workspace from a snapshot. Everything is checked first; nothing is written over what exists.

    Where the workspace is gone it comes back with its ids, else the copy stands beside it under the name of --into.
    Nobody has a right in a copy that the workspace's document does not give now. Repeating the command changes nothing
    more.

    Example: rag snapshot restore U3Rh… --into handbook-monday
    """
    wanted = None if snapshot is None else require_id(snapshot, NodeKind.SNAPSHOT)
    name = None if into is None else validate_name(into, ("into",))
    if wanted is None and source is None:
        raise typer.BadParameter("name a snapshot, or a directory with --from")

    async def work(system: System) -> RestoreReport:
        with terminal.ProgressLine("restoring") as bar:
            return await _restore(system, wanted, source, name, rights, bar.update)

    report = in_process(context, work)
    if as_json:
        terminal.result_json(_restore_json(report))
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
    if report.narrowed:
        terminal.note(f"{format_count(report.narrowed, 'document')} had lost rights since the snapshot and stayed so")
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

    wanted = require_id(snapshot, NodeKind.SNAPSHOT)

    async def work(system: System) -> SnapshotRecord:
        return await system.container.take_snapshot.delete(
            (await system.workspace(workspace, snapshot)).ref, wanted, ACTOR
        )

    record = in_process(context, work)
    terminal.show(
        {"deletedId": snapshot, "size": record.size},
        f"deleted {snapshot} ({format_count(record.size, 'byte')})",
        as_json=as_json,
    )


def _line(record: SnapshotRecord) -> str:

    shown = _snapshot_json(record)
    if record.state is not SnapshotState.READY:
        return f"asked for {shown['id']}: a worker writes it (rag snapshot show {shown['id']})"
    documents = format_count(record.counts.get("rag_documents", 0), "document")
    return f"{shown['id']}: {documents} at corpus version {record.corpus_version}, {format_count(record.size, 'byte')}"


async def _known(system: System, workspace: WorkspaceRef) -> list[SnapshotRecord]:
    """Every snapshot of a workspace in the database, newest first."""
    async with system.container.database.transaction(workspace.org_id) as transaction:
        return await transaction.snapshots.all(workspace)


async def _stored(system: System) -> list[tuple[Manifest, str]]:
    """Every readable archive in the blob store with its folder, oldest first."""
    found: list[tuple[Manifest, str]] = []
    for place in await system.container.restore_snapshot.places(system.org_id):
        try:
            found.append((await place.manifest(), place.folder))
        except (NotFound, Permanent):
            continue  # Deleted meanwhile, or damaged: neither can be restored.
    return sorted(found, key=lambda one: one[0].created_at)


async def _restore(
    system: System,
    snapshot_id: UUID | None,
    source: Path | None,
    into: str | None,
    rights: RestoredRights,
    progress: ProgressReport,
) -> RestoreReport:
    """Restore from the blob store, or from a directory."""
    from agentic_rag.operations.snapshots.archive_files import only_archive

    use_case = system.container.restore_snapshot
    if source is not None:
        place = await only_archive(system.container.directory_blobs(source), snapshot_id)
    elif snapshot_id is not None:
        place = await use_case.find(system.org_id, snapshot_id)
    else:
        raise NotFound("Name a snapshot, or a directory with --from.", code="SNAPSHOT_NOT_FOUND")
    return await use_case.run(system.org_id, place, into, progress, ACTOR, rights)


async def _wait(system: System, asked: SnapshotRecord) -> SnapshotRecord:
    """Wait until a snapshot is READY. Errors: `Permanent` with the snapshot's error code."""
    with terminal.ProgressLine("writing") as bar:
        while True:
            for record in await _known(system, asked.workspace):
                if record.snapshot_id != asked.snapshot_id or record.state is SnapshotState.BUILDING:
                    continue
                if record.state is SnapshotState.READY:
                    return record
                raise Permanent(
                    f"The snapshot failed with {record.error_code}: `rag job show {asked.snapshot_id}` tells why.",
                    code="SNAPSHOT_FAILED",
                )
            job = await system.job(asked.workspace, asked.snapshot_id)
            steps = 0 if job is None else job.progress
            bar.update(steps, steps + 1, "" if job is None else job.state.value.lower())
            await asyncio.sleep(_POLL_SECONDS)


def _snapshot_json(record: SnapshotRecord) -> dict[str, Any]:
    """A snapshot from its database row."""
    return {
        "id": encode(NodeKind.SNAPSHOT, record.workspace.workspace_id, record.snapshot_id),
        "jobId": encode(NodeKind.JOB, record.workspace.workspace_id, record.snapshot_id),
        "workspaceId": encode_workspace(record.workspace.workspace_id),
        **json_fields(record, "state", "reason", "corpus_version", "with_originals", "size", "counts"),
        "manifest": record.manifest_key,
        "stored": record.is_stored,
        **json_fields(record, "error_code", "created_at", "finished_at"),
    }


def _stored_snapshot_json(manifest: Manifest, folder: str) -> dict[str, Any]:
    """A snapshot from its own manifest."""
    return {
        "id": encode(NodeKind.SNAPSHOT, manifest.workspace_id, manifest.snapshot_id),
        "workspaceId": encode_workspace(manifest.workspace_id),
        "workspace": manifest.workspace_name,
        **json_fields(manifest, "corpus_version", "with_originals", "missing_originals", "spaces", "counts"),
        **json_fields(manifest, "schema", "product", "created_at"),
        "folder": folder,
    }


def _restore_json(report: RestoreReport) -> dict[str, Any]:
    """The result of a restore."""
    return {
        "snapshotId": encode(NodeKind.SNAPSHOT, report.source_workspace_id, report.snapshot_id),
        "workspaceId": encode_workspace(report.workspace.workspace_id),
        "workspace": report.name,
        "corpusVersion": report.corpus_version,
        "alreadyRestored": report.was_done,
        "rows": report.rows,
        "originals": report.originals,
        "leftOutAsErased": report.erased,
        "withNarrowerRights": report.narrowed,
        "ingestedAgain": report.requeued,
    }
