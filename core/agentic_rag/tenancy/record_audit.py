"""Records use cases in the audit log."""

from __future__ import annotations

from agentic_rag.kernel.database import Transaction
from agentic_rag.kernel.telemetry import Telemetry, parse_trace_id
from agentic_rag.tenancy.audit import AuditAction, AuditEntry
from agentic_rag.tenancy.principals import WorkspaceRef


async def audit(
    transaction: Transaction,
    telemetry: Telemetry,
    action: AuditAction,
    workspace: WorkspaceRef | None,
    subject: object,
    actor: str,
    **detail: str | int | bool | None,
) -> None:
    """Record an act on a subject, of a workspace or of the organisation, in the transaction of the act itself."""
    await transaction.audit.record(
        AuditEntry(
            action=action,
            subject=str(subject),
            actor=actor,
            workspace_id=None if workspace is None else workspace.workspace_id,
            detail=detail,
            trace_id=parse_trace_id(telemetry.carrier()),
        )
    )
