"""`rag snapshot`."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agentic_rag.kernel.errors import InvalidInput, NotFound, Permanent
from agentic_rag.kernel.formatting import format_count
from agentic_rag.kernel.public_ids import NodeKind, encode, encode_workspace
from agentic_rag.operations.snapshots.snapshot import RestoredRights, SnapshotState
from agentic_rag.tenancy.principals import validate_name
from agentic_rag_cli.client import operator_queries, queries
from agentic_rag_cli.client.graphql_client import GraphQLClient
from agentic_rag_cli.client.ids import node_id, require_id
from agentic_rag_cli.in_process import ACTOR, System
from agentic_rag_cli.options import JsonOption, WorkspaceOption
from agentic_rag_cli.output import terminal
from agentic_rag_cli.wiring import in_process, on_graphql, wiring_of

if TYPE_CHECKING:
    from agentic_rag.operations.snapshots.restore import RestoreReport

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

    async def work(client: GraphQLClient) -> dict[str, Any]:
        chosen = await client.workspace_id(workspace)
        asked = await client.fetch(operator_queries.CREATE_SNAPSHOT, workspaceId=chosen, withOriginals=originals)
        return await _wait(client, asked["snapshot"]) if wait else asked["snapshot"]

    shown = _snapshot_json(on_graphql(context, work, with_worker=wait))
    terminal.show(shown, _line(shown), as_json=as_json)


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

    async def work(client: GraphQLClient) -> list[dict[str, Any]]:
        return await _known(client, await client.workspace_id(workspace))

    found = map(_snapshot_json, on_graphql(context, work))
    shown = [one for one in found if every or one["state"] != SnapshotState.EXPIRED.value]
    rows = [
        (row["id"], row["state"], row["reason"], row["corpusVersion"], row["size"], row["createdAt"], row["errorCode"])
        for row in shown
    ]
    terminal.show(
        shown, terminal.table(("ID", "STATE", "REASON", "VERSION", "BYTES", "CREATED", "ERROR"), rows), as_json=as_json
    )


def _list_archives(context: typer.Context, *, as_json: bool) -> None:
    found = on_graphql(context, lambda client: client.fetch_long(operator_queries.STORED_SNAPSHOTS))
    shown = [{**one, "counts": _counts(one["counts"])} for one in found]
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
    require_id(snapshot, NodeKind.SNAPSHOT)

    async def work(client: GraphQLClient) -> dict[str, Any]:
        chosen = await client.workspace_id(workspace, snapshot)
        for one in await _known(client, chosen):
            if one["id"] == node_id(chosen, snapshot, NodeKind.SNAPSHOT):
                return one
        raise NotFound(f"There is no snapshot {snapshot}; `rag snapshot list` shows them.", code="SNAPSHOT_NOT_FOUND")

    shown = _snapshot_json(on_graphql(context, work))
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
    if snapshot is None and source is None:
        raise typer.BadParameter("name a snapshot, or a directory with --from")
    if snapshot is not None:
        require_id(snapshot, NodeKind.SNAPSHOT)
    name = None if into is None else validate_name(into, ("into",))
    if source is not None:
        restored = _restore_directory(context, source, snapshot, name, rights)
    else:
        restored = on_graphql(context, partial(_restore, snapshot=snapshot or "", into=name, rights=rights.name))
    _show_restored(restored, as_json=as_json)


def _show_restored(report: Mapping[str, Any], *, as_json: bool) -> None:
    if as_json:
        terminal.result_json(report)
        return
    if report["alreadyRestored"]:
        terminal.result(f"{report['workspace']} was restored from this snapshot before: nothing to do")
        return
    rows, originals = format_count(report["rows"], "row"), format_count(report["originals"], "original")
    terminal.result(f"restored {report['workspace']} at corpus version {report['corpusVersion']}: {rows}, {originals}")
    for name, told in _TOLD.items():
        if report[name]:
            terminal.note(f"{format_count(report[name], 'document')} {told}")


_TOLD = {
    "leftOutAsErased": "had been erased since the snapshot and stayed so",
    "withNarrowerRights": "had lost rights since the snapshot and stayed so",
    "ingestedAgain": "had been half ingested, now queued again: rag job list",
}


@app.command("delete")
def delete(
    context: typer.Context, snapshot: Wanted, workspace: WorkspaceOption = None, as_json: JsonOption = False
) -> None:
    """Delete a snapshot's files; its line stays in `rag snapshot list --all`.

    Example: rag snapshot delete U3Rh…
    """
    require_id(snapshot, NodeKind.SNAPSHOT)

    async def work(client: GraphQLClient) -> dict[str, Any]:
        chosen = await client.workspace_id(workspace, snapshot)
        return await client.fetch_long(
            operator_queries.DELETE_SNAPSHOT, id=node_id(chosen, snapshot, NodeKind.SNAPSHOT)
        )

    size = int(on_graphql(context, work)["size"])
    terminal.show(
        {"deletedId": snapshot, "size": size}, f"deleted {snapshot} ({format_count(size, 'byte')})", as_json=as_json
    )


def _line(shown: Mapping[str, Any]) -> str:
    if shown["state"] != SnapshotState.READY.value:
        return f"asked for {shown['id']}: a worker writes it (rag snapshot show {shown['id']})"
    documents = format_count(shown["counts"].get("rag_documents", 0), "document")
    size = format_count(shown["size"], "byte")
    return f"{shown['id']}: {documents} at corpus version {shown['corpusVersion']}, {size}"


async def _known(client: GraphQLClient, workspace_id: str) -> list[dict[str, Any]]:
    """Every snapshot of a workspace in the database, newest first."""
    return await client.fetch(operator_queries.SNAPSHOTS, workspaceId=workspace_id)


async def _restore(client: GraphQLClient, *, snapshot: str, into: str | None, rights: str) -> dict[str, Any]:
    """Restore from the blob store of the server."""
    stored = await client.fetch_long(operator_queries.STORED_SNAPSHOTS)
    wanted = require_id(snapshot, NodeKind.SNAPSHOT)
    public_id = next((one["id"] for one in stored if require_id(one["id"], NodeKind.SNAPSHOT) == wanted), None)
    if public_id is None:
        raise NotFound(
            f"The blob store holds no snapshot {snapshot}; `rag snapshot list --stored` shows what it holds.",
            code="SNAPSHOT_NOT_FOUND",
        )
    with terminal.ProgressLine("restoring"):
        found = await client.fetch_long(operator_queries.RESTORE_SNAPSHOT, id=public_id, into=into, rights=rights)
    return {name: value for name, value in found.items() if name != "userErrors"}


def _restore_directory(
    context: typer.Context, source: Path, snapshot: str | None, into: str | None, rights: RestoredRights
) -> dict[str, Any]:
    """Restore from a directory of this machine. Errors: `InvalidInput` beside --url: a server does not see it."""
    from agentic_rag.operations.snapshots.archive_files import only_archive

    if wiring_of(context).address:
        raise InvalidInput("A server reads snapshots from its blob store: give --from or --url.", path=("from",))
    wanted = None if snapshot is None else require_id(snapshot, NodeKind.SNAPSHOT)

    async def work(system: System) -> RestoreReport:
        place = await only_archive(system.container.directory_blobs(source), wanted)
        with terminal.ProgressLine("restoring") as bar:
            run = system.container.restore_snapshot.run
            return await run(system.org_id, place, into, bar.update, ACTOR, rights)

    return _restore_json(in_process(context, work))


async def _wait(client: GraphQLClient, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Wait until a snapshot is READY. Errors: `Permanent` with the snapshot's error code."""
    with terminal.ProgressLine("writing") as bar:
        while True:
            for record in await _known(client, asked["workspaceId"]):
                if record["id"] != asked["id"] or record["state"] == SnapshotState.BUILDING.value:
                    continue
                if record["state"] == SnapshotState.READY.value:
                    return record
                raise Permanent(
                    f"The snapshot failed with {record['errorCode']}: `rag job show {asked['jobId']}` tells why.",
                    code="SNAPSHOT_FAILED",
                )
            job = await client.fetch(queries.JOB_STATE, id=asked["jobId"])
            steps = 0 if job is None else job["progress"]
            bar.update(steps, steps + 1, "" if job is None else job["state"].lower())
            await asyncio.sleep(_POLL_SECONDS)


def _snapshot_json(record: Mapping[str, Any]) -> dict[str, Any]:
    """A snapshot of the API, with its counts by table."""
    return {
        **record,
        "reason": record["reason"].lower(),
        "size": int(record["size"]),
        "counts": _counts(record["counts"]),
    }


def _counts(found: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    return {one["table"]: one["rows"] for one in found}


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
