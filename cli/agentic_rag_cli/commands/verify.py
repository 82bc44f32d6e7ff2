"""`rag verify`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from agentic_rag_cli import output
from agentic_rag_cli.exits import ExitCode
from agentic_rag_cli.options import JsonOption, WorkspaceOption
from agentic_rag_cli.wiring import in_process

if TYPE_CHECKING:
    from agentic_rag.app.prove import ErasureProof
    from agentic_rag.app.verify import VerificationReport
    from agentic_rag.domain.tenancy import Workspace, WorkspaceRef
    from agentic_rag_cli.session import Session


def verify(
    context: typer.Context,
    workspace: WorkspaceOption = None,
    document: Annotated[
        str | None, typer.Option("--document", help="Prove instead that this document (id or path) was erased.")
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="Compute every chunk and hash every original anew instead of a sample.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Compare all stores with Postgres: drift, orphans, near-duplicates, a wrong embedding space. Changes nothing.

    Without --workspace every workspace is checked. Exit code 1 when something is wrong; warnings alone give 0.

    Example: rag verify --workspace handbook --full
    """
    if document is not None:
        _verify_erased(context, workspace, document, as_json=as_json)
        return
    from agentic_rag_cli.listing import the_workspace
    from agentic_rag_cli.views import verification_json

    async def work(session: Session) -> list[tuple[Workspace, VerificationReport]]:
        every = await session.workspaces() if workspace is None else [await the_workspace(session, workspace)]
        return [(one, await session.verify(one.ref, full=full)) for one in every]

    reports = in_process(context, work)
    if as_json:
        output.result_json([verification_json(one, report) for one, report in reports])
    else:
        for one, report in reports:
            _tell(one, report)
    if any(report.failed for _, report in reports):
        raise typer.Exit(ExitCode.FAILED)


def _verify_erased(context: typer.Context, workspace: str | None, document: str, *, as_json: bool) -> None:
    from agentic_rag_cli.listing import the_workspace
    from agentic_rag_cli.proving import document_id_of, tell_proof

    async def work(session: Session) -> tuple[WorkspaceRef, ErasureProof]:
        chosen = (await the_workspace(session, workspace, document)).ref
        return chosen, await session.prove_erased(chosen, document_id_of(chosen, document))

    tell_proof(document, *in_process(context, work), as_json=as_json)


def _tell(workspace: Workspace, report: VerificationReport) -> None:
    counts = dict(report.counts)
    seen = f"{report.documents} documents, {report.chunks} chunks, {report.derived_chunks} of them computed anew"
    verdict = "WRONG" if report.failed else "ok"
    output.result(f"{workspace.name}: {verdict} ({seen}, {report.originals} originals)")
    told: set[str] = set()
    for finding in report.findings:
        output.result(f"  {finding.severity.value:<8} {finding.kind:<22} {finding.subject}: {finding.message}")
        if finding.kind not in told:
            told.add(finding.kind)
            output.result(f"  {'':<31} {counts[finding.kind]} in all; {finding.remedy}")
