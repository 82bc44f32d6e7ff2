"""`rag graph`."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import typer

from agentic_rag.jobs.job import JobRef
from agentic_rag.kernel.public_ids import NodeKind, encode, encode_workspace
from agentic_rag.workspaces.workspace import Workspace
from agentic_rag_cli.exits import ExitCode
from agentic_rag_cli.in_process import System
from agentic_rag_cli.options import JsonOption, WorkspaceOption
from agentic_rag_cli.output import terminal
from agentic_rag_cli.output.json_view import json_fields
from agentic_rag_cli.wiring import in_process

if TYPE_CHECKING:
    from agentic_rag.operations.graph.sync import GraphStatus

app = typer.Typer(
    help="The entity graph: in Postgres, or in the Neo4j of NEO4J_URI, which follows it.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command("status")
def status(context: typer.Context, workspace: WorkspaceOption = None, as_json: JsonOption = False) -> None:
    """Show where the graph of each workspace stands, and whether it holds what it should.

    Exit code 0: all are equal to Postgres; 3: one is behind or differs; 4: Neo4j does not answer.

    Example: rag graph status --workspace reports
    """

    async def work(system: System) -> list[tuple[Workspace, GraphStatus]]:
        chosen = await system.workspaces() if workspace is None else [await system.workspace(workspace)]
        return [(one, await system.container.graph_sync.status(one.ref)) for one in chosen]

    found = in_process(context, work)
    rows = [
        (
            one.name,
            "neo4j" if stands.is_outside else "postgres",
            stands.graph_version,
            stands.corpus_version,
            "–" if stands.fault else _counts(stands),
            stands.fault or ("equal" if stands.is_equal else "differs" if stands.lag == 0 else "behind"),
        )
        for one, stands in found
    ]
    terminal.show(
        [_status_json(one, stands) for one, stands in found],
        terminal.table(("WORKSPACE", "STORE", "AT", "OF", "HOLDS", "STATE"), rows),
        as_json=as_json,
    )
    if any(stands.fault for _, stands in found):
        raise typer.Exit(ExitCode.UNAVAILABLE)
    if not all(stands.is_equal for _, stands in found):
        raise typer.Exit(ExitCode.PARTIAL)


@app.command("rebuild")
def rebuild(context: typer.Context, workspace: WorkspaceOption = None, as_json: JsonOption = False) -> None:
    """Empty a workspace's graph in Neo4j and fill it again from Postgres, by a job. Answers go on without it, flagged.

    Example: rag graph rebuild --workspace reports
    """

    async def work(system: System) -> tuple[JobRef | None, bool]:
        chosen = await system.workspace(workspace)
        return await system.container.graph_sync.rebuild(chosen.ref), await system.worker_running()

    ref, has_worker = in_process(context, work)
    job_id = None if ref is None else encode(NodeKind.JOB, ref.workspace.workspace_id, ref.job_id)
    if as_json:
        terminal.result_json({"jobId": job_id, "workerRunning": has_worker})
    elif job_id is None:
        terminal.result("The graph is kept in Postgres, where every publish writes it: there is nothing to rebuild.")
    else:
        terminal.result(f"job {job_id} fills the graph; `rag graph status` shows how far it is")
        if not has_worker:
            terminal.note("no worker is running: `rag up` or `rag worker` starts one")


def _counts(status: GraphStatus) -> str:
    expected = asdict(status.expected)
    held = expected if status.held is None else asdict(status.held)
    return ", ".join(
        f"{name} {held[name]}" if held[name] == wanted else f"{name} {held[name]} of {wanted}"
        for name, wanted in expected.items()
    )


def _status_json(workspace: Workspace, status: GraphStatus) -> dict[str, Any]:
    """The state of a workspace's graph; `held` is null when the graph does not answer or is in Postgres."""
    return {
        "workspaceId": encode_workspace(workspace.ref.workspace_id),
        "workspace": workspace.name,
        "store": "neo4j" if status.is_outside else "postgres",
        **json_fields(status, "corpus_version", "graph_version", "lag"),
        "equal": status.is_equal,
        "expected": asdict(status.expected),
        "held": None if status.held is None else asdict(status.held),
        "fault": status.fault,
    }
