"""`rag verify`."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agentic_rag.kernel.errors import NotFound
from agentic_rag.kernel.formatting import format_count
from agentic_rag.kernel.public_ids import encode_workspace
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.workspaces.workspace import Workspace
from agentic_rag_cli.commands.documents.proving import finding_json, prove_document_erased
from agentic_rag_cli.exits import ExitCode
from agentic_rag_cli.in_process import System
from agentic_rag_cli.options import JsonOption, WorkspaceOption
from agentic_rag_cli.output import terminal
from agentic_rag_cli.output.json_view import json_fields
from agentic_rag_cli.output.recall import recall_line
from agentic_rag_cli.wiring import in_process

if TYPE_CHECKING:
    from agentic_rag.operations.verify import VerificationReport
    from agentic_rag.retrieval.measure_recall import RecallReport


def verify(
    context: typer.Context,
    workspace: WorkspaceOption = None,
    document: Annotated[
        str | None, typer.Option("--document", help="Prove instead that this document (id or path) was erased.")
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="Compute every chunk and hash every original anew instead of a sample.")
    ] = False,
    recall: Annotated[
        bool, typer.Option("--recall", help="Measure dense search against exact search too, as rag embeddings recall.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Compare all stores with Postgres: drift, orphans, duplicates, a wrong embedding space. Changes nothing.

    Without --workspace every workspace is checked. Exit code 1 when something is wrong; warnings alone give 0. With
    --recall 5 when nothing else is wrong and less than 95 % is found.

    Example: rag verify --workspace handbook --full
    """
    if document is not None:
        prove_document_erased(context, workspace, document, as_json=as_json)
        return

    async def work(system: System) -> list[_VerifyResult]:
        every = await system.workspaces() if workspace is None else [await system.workspace(workspace)]
        return [
            _VerifyResult(
                one,
                await system.container.verify.run(one.ref, full=full),
                await _measure_recall(system, one.ref) if recall else None,
            )
            for one in every
        ]

    verified = in_process(context, work)
    if as_json:
        terminal.result_json(
            [
                _verification_json(one.workspace, one.report)
                | ({"recall": one.recall and asdict(one.recall)} if recall else {})
                for one in verified
            ]
        )
    else:
        for one in verified:
            _tell(one.workspace, one.report)
            if recall:
                _tell_recall(one.recall)
    if any(one.report.has_errors for one in verified):
        raise typer.Exit(ExitCode.FAILED)
    if any(one.recall is not None and not one.recall.is_enough for one in verified):
        raise typer.Exit(ExitCode.THRESHOLD)


@dataclass(frozen=True, slots=True)
class _VerifyResult:
    workspace: Workspace
    report: VerificationReport
    recall: RecallReport | None


async def _measure_recall(system: System, workspace: WorkspaceRef) -> RecallReport | None:
    """The recall of a workspace; None when it has nothing to measure with."""
    try:
        return await system.container.recall_check.run(workspace)
    except NotFound as error:
        if error.code != "NOTHING_TO_ASK":
            raise
        return None


def _tell_recall(report: RecallReport | None) -> None:
    if report is None:
        terminal.result("  recall   no passages to measure with")
    else:
        verdict = "ok" if report.is_enough else "LOW"
        terminal.result(f"  recall   {verdict}: {recall_line(report)}")


def _tell(workspace: Workspace, report: VerificationReport) -> None:
    counts = dict(report.counts)
    documents, chunks = format_count(report.documents, "document"), format_count(report.chunks, "chunk")
    seen = f"{documents}, {chunks}, {report.derived_chunks} of them computed anew"
    verdict = "WRONG" if report.has_errors else "ok"
    terminal.result(f"{workspace.name}: {verdict} ({seen}, {format_count(report.originals, 'original')})")
    if report.settling:
        jobs = ", ".join(f"{count} {kind}" for kind, count in report.settling)
        terminal.result(f"  settling {jobs}: unfinished jobs; look again when they have ended")
    told: set[str] = set()
    for finding in report.findings:
        terminal.result(f"  {finding.severity.value:<8} {finding.kind:<22} {finding.subject}: {finding.message}")
        if finding.kind not in told:
            told.add(finding.kind)
            terminal.result(f"  {'':<31} {counts[finding.kind]} in all; {finding.remedy}")


def _verification_json(workspace: Workspace, report: VerificationReport) -> dict[str, Any]:
    """The findings of comparing a workspace's stores."""
    return {
        "workspaceId": encode_workspace(workspace.ref.workspace_id),
        "workspace": workspace.name,
        "failed": report.has_errors,
        **json_fields(report, "documents", "chunks", "derived_chunks", "originals"),
        "settling": dict(report.settling),
        "counts": dict(report.counts),
        "findings": [finding_json(one) for one in report.findings],
    }
