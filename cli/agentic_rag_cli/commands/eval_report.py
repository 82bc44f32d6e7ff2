"""`rag eval report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from agentic_rag_cli import output


def report(
    result: Annotated[Path, typer.Argument(metavar="REPORT", help="What `rag eval --json` printed.")],
    out: Annotated[Path | None, typer.Option("--out", help="Where to write; beside REPORT when left out.")] = None,
) -> None:
    """Write a report as one HTML page: figures with intervals, by type, what each arm adds, latency, and every failing
    question with the commands that show and repeat it.

    Example: rag eval report mine.json --out mine.html
    """
    from agentic_rag_eval.report_page import page
    from agentic_rag_eval.stored_report import read_stored

    shown = page(read_stored(result))
    target = out or result.with_suffix(".html")
    target.write_text(shown, encoding="utf-8")
    output.result(str(target))
