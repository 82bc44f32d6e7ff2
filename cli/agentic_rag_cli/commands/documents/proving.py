"""Prints the findings of an erasure check, for `rag doc prove-erased` and `rag verify --document`."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any
from uuid import UUID

import typer

from agentic_rag.documents.document import document_id_for
from agentic_rag.erasure.certificate import certificate_json
from agentic_rag.kernel.public_ids import NodeKind, encode
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag_cli.client.ids import id_in
from agentic_rag_cli.exits import ExitCode
from agentic_rag_cli.output import terminal

if TYPE_CHECKING:
    from agentic_rag.operations.findings import Finding
    from agentic_rag.operations.prove_erased import ErasureProof


def document_id_of(workspace: WorkspaceRef, wanted: str) -> UUID:
    """The id of a document that may be erased: `wanted` itself, or the id derived from a source path."""
    return id_in(wanted, NodeKind.DOCUMENT) or document_id_for(workspace, wanted)


def tell_proof(wanted: str, workspace: WorkspaceRef, proof: ErasureProof, *, as_json: bool) -> None:
    """Print a proof; exit code 1 unless the document is gone from every store."""
    if as_json:
        terminal.result_json(_proof_json(workspace, proof))
    else:
        since = "" if proof.certificate is None else f" since {proof.certificate.erased_at:%F %T %Z}"
        terminal.result(f"{wanted}: {f'erased{since}' if proof.is_complete else 'NOT proven erased'}")
        for finding in proof.findings:
            terminal.result(f"{finding.severity.value:<8} {finding.store:<20} {finding.kind}: {finding.message}")
            terminal.result(f"{'':<29} {finding.remedy}")
    if not proof.is_complete:
        raise typer.Exit(ExitCode.FAILED)


def finding_json(finding: Finding) -> dict[str, Any]:
    return {**asdict(finding), "severity": finding.severity.value}


def _proof_json(workspace: WorkspaceRef, proof: ErasureProof) -> dict[str, Any]:
    return {
        "id": encode(NodeKind.DOCUMENT, workspace.workspace_id, proof.document_id),
        "erased": proof.is_complete,
        "certificate": None if proof.certificate is None else certificate_json(proof.certificate),
        "findings": [finding_json(one) for one in proof.findings],
    }
