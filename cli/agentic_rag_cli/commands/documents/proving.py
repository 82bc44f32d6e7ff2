"""Telling what a check of an erasure found; shared by `rag doc prove-erased` and `rag verify --document`."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

import typer

from agentic_rag.documents.document import document_id_for
from agentic_rag.kernel.public_ids import NodeKind
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag_cli.exits import ExitCode
from agentic_rag_cli.listing import id_in
from agentic_rag_cli.output import terminal
from agentic_rag_cli.views import proof_json

if TYPE_CHECKING:
    from agentic_rag.operations.prove_erased import ErasureProof


def document_id_of(workspace: WorkspaceRef, wanted: str) -> UUID:
    """The id of a document that may be gone: what was typed, or the one that its source path gives."""
    return id_in(wanted, NodeKind.DOCUMENT) or document_id_for(workspace, wanted)


def tell_proof(wanted: str, workspace: WorkspaceRef, proof: ErasureProof, *, as_json: bool) -> None:
    """Show a proof; exit code 1 unless the document is gone from every store."""
    if as_json:
        terminal.result_json(proof_json(workspace, proof))
    else:
        since = "" if proof.certificate is None else f" since {proof.certificate.erased_at:%F %T %Z}"
        terminal.result(f"{wanted}: {f'erased{since}' if proof.is_complete else 'NOT proven erased'}")
        for finding in proof.findings:
            terminal.result(f"{finding.severity.value:<8} {finding.store:<20} {finding.kind}: {finding.message}")
            terminal.result(f"{'':<29} {finding.remedy}")
    if not proof.is_complete:
        raise typer.Exit(ExitCode.FAILED)
