"""`rag eval report`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.kernel.public_ids import NodeKind, decode
from agentic_rag_cli.client.graphql_client import GraphQLClient
from agentic_rag_cli.commands.evaluation.evaluating import read_report
from agentic_rag_cli.options import JsonOption, WorkspaceOption
from agentic_rag_cli.output import terminal
from agentic_rag_cli.wiring import on_graphql


def report(
    context: typer.Context,
    result: Annotated[
        str, typer.Argument(metavar="REPORT", help="What `rag eval --json` printed, or the job of `--background`.")
    ],
    out: Annotated[
        Path | None, typer.Option("--out", help="Where to write; beside REPORT, or JOB.html, when left out.")
    ] = None,
    workspace: WorkspaceOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write a report as one HTML page: figures with intervals, by type, what each arm adds, latency, and every failing
    question with the commands that show and repeat it. --json prints the report of a job instead.

    Example: rag eval report mine.json --out mine.html
    """
    from agentic_rag_eval.report_page import page
    from agentic_rag_eval.stored_report import load_report, parse_report

    path = Path(result)
    if path.is_file() or not _names_a_job(result):
        found, beside = load_report(path), path.with_suffix(".html")
    else:
        values = _of_job(context, result, workspace)
        if as_json:
            terminal.result_json(values)
            return
        found, beside = parse_report(values), Path(f"{result}.html")
    target = out or beside
    target.write_text(page(found), encoding="utf-8")
    terminal.result(str(target))


def _names_a_job(result: str) -> bool:
    try:
        decode(result, NodeKind.JOB)
    except InvalidInput:
        return False
    return True


def _of_job(context: typer.Context, job: str, workspace: str | None) -> Mapping[str, Any]:
    async def work(client: GraphQLClient) -> Mapping[str, Any]:
        return await read_report(client, job, workspace)

    return on_graphql(context, work)
