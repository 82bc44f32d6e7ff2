"""`rag doctor`."""

from __future__ import annotations

from dataclasses import asdict

import typer

from agentic_rag.settings import SettingsInvalid
from agentic_rag_cli.commands.operations.check import FAILED, failure, ok
from agentic_rag_cli.commands.operations.doctor_checks import check_python, examine
from agentic_rag_cli.exits import ExitCode
from agentic_rag_cli.options import JsonOption
from agentic_rag_cli.output import terminal
from agentic_rag_cli.wiring import run_async, wiring_of

_MARKS = {"ok": "ok  ", "degraded": "warn", "failed": "FAIL", "skipped": "–   "}


def doctor(context: typer.Context, as_json: JsonOption = False) -> None:
    """Check everything this needs and say what to do about what is missing (exit code 4). Changes nothing.

    Example: rag doctor
    """
    wiring = wiring_of(context)
    try:
        settings = wiring.settings()
    except SettingsInvalid as invalid:
        remedy = "Correct these variables; docs/configuration.md lists every setting."
        checks = [check_python(), failure("settings", invalid.code, "; ".join(invalid.problems), remedy)]
    else:
        checks = [ok("settings", "valid"), *run_async(examine(wiring, settings))]
    if as_json:
        terminal.result_json([asdict(check) for check in checks])
    else:
        for check in checks:
            terminal.result(f"{_MARKS[check.status]}  {check.name:<16} {check.detail}")
            if check.remedy:
                terminal.result(f"      [{check.code}] {check.remedy}")
    if any(check.status == FAILED for check in checks):
        raise typer.Exit(ExitCode.UNAVAILABLE)
