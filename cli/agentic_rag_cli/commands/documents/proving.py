"""Prints the findings of an erasure check, for `rag doc prove-erased` and `rag verify --document`."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import typer

from agentic_rag.documents.document import document_id_for
from agentic_rag.erasure.certificate import certificate_json
from agentic_rag.kernel.public_ids import NodeKind, encode
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag_cli.client.ids import id_in
from agentic_rag_cli.exits import ExitCode
from agentic_rag_cli.in_process import System
from agentic_rag_cli.output import terminal
from agentic_rag_cli.wiring import in_process

if TYPE_CHECKING:
    from agentic_rag.operations.findings import Finding
    from agentic_rag.operations.prove_erased import ErasureProof


def prove_document_erased(context: typer.Context, workspace: str | None, wanted: str, *, as_json: bool) -> None:
    """Print a proof of a document's erasure; exit code 1 unless it is gone from every store. A source path stands for
    the id that is derived from it, since an erased document has no row.
    """

    async def work(system: System) -> tuple[WorkspaceRef, ErasureProof]:
        ref = (await system.workspace(workspace, wanted)).ref
        document_id = id_in(wanted, NodeKind.DOCUMENT) or document_id_for(ref, wanted)
        return ref, await system.container.prove_erasure.run(ref, document_id)

    ref, proof = in_process(context, work)
    terminal.show(_proof_json(ref, proof), _proof_text(wanted, proof), as_json=as_json)
    if not proof.is_complete:
        raise typer.Exit(ExitCode.FAILED)


def _proof_text(wanted: str, proof: ErasureProof) -> str:
    since = "" if proof.certificate is None else f" since {proof.certificate.erased_at:%F %T %Z}"
    lines = [f"{wanted}: {f'erased{since}' if proof.is_complete else 'NOT proven erased'}"]
    for finding in proof.findings:
        lines.append(f"{finding.severity.value:<8} {finding.store:<20} {finding.kind}: {finding.message}")
        lines.append(f"{'':<29} {finding.remedy}")
    lines += [f"erased before, and ingested again: {one.erased_at:%F %T %Z}" for one in proof.past]
    return "\n".join(lines)


def finding_json(finding: Finding) -> dict[str, Any]:
    return {**asdict(finding), "severity": finding.severity.value}


def _proof_json(workspace: WorkspaceRef, proof: ErasureProof) -> dict[str, Any]:
    return {
        "id": encode(NodeKind.DOCUMENT, workspace.workspace_id, proof.document_id),
        "erased": proof.is_complete,
        "certificate": None if proof.certificate is None else certificate_json(proof.certificate),
        "pastCertificates": [certificate_json(one) for one in proof.past],
        "findings": [finding_json(one) for one in proof.findings],
    }
