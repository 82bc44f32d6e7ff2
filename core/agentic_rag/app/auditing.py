"""Entries of the audit log as use cases write them."""

from __future__ import annotations

from agentic_rag.domain.audit import AuditAction, AuditEntry
from agentic_rag.domain.tenancy import WorkspaceRef
from agentic_rag.domain.trace import trace_id_in
from agentic_rag.ports.database import Transaction
from agentic_rag.ports.telemetry import Telemetry


async def audit(
    transaction: Transaction,
    telemetry: Telemetry,
    action: AuditAction,
    workspace: WorkspaceRef,
    subject: object,
    actor: str,
    **detail: str | int | bool | None,
) -> None:
    """Write down who does what to which thing of a workspace, in the transaction of the act itself."""
    await transaction.audit.record(
        AuditEntry(
            action=action,
            subject=str(subject),
            actor=actor,
            workspace_id=workspace.workspace_id,
            detail=detail,
            trace_id=trace_id_in(telemetry.carrier()),
        )
    )
