"""`rag eval report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from agentic_rag.kernel.public_ids import NodeKind
from agentic_rag_cli.client.ids import id_in
from agentic_rag_cli.commands.evaluation.evaluating import read_report
from agentic_rag_cli.options import JsonOption, WorkspaceOption
from agentic_rag_cli.output import terminal
from agentic_rag_cli.wiring import on_graphql
from agentic_rag_eval.report_page import page
from agentic_rag_eval.stored_report import load_report, parse_report


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
    path = Path(result)
    if path.is_file() or id_in(result, NodeKind.JOB) is None:
        found, beside = load_report(path), path.with_suffix(".html")
    else:
        values = on_graphql(context, lambda client: read_report(client, result, workspace))
        if as_json:
            terminal.result_json(values)
            return
        found, beside = parse_report(values), Path(f"{result}.html")
    target = out or beside
    target.write_text(page(found), encoding="utf-8")
    terminal.result(str(target))
