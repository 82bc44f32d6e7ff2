"""Records use cases in the audit log, with the caller on whose behalf they run."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

from agentic_rag.kernel.database import Transaction
from agentic_rag.kernel.telemetry import Telemetry, parse_trace_id
from agentic_rag.tenancy.audit import AuditAction, AuditCaller, AuditEntry
from agentic_rag.tenancy.principals import Principal, WorkspaceRef

_caller: ContextVar[AuditCaller | None] = ContextVar("audit_caller", default=None)


@contextmanager
def on_behalf_of(principal: Principal, address: str) -> Generator[None]:
    """Whatever is recorded meanwhile names the caller's credential, role, groups, scopes and address."""
    scopes = None if principal.scopes is None else ",".join(sorted(one.value for one in principal.scopes))
    caller = AuditCaller(principal.credential, address, principal.role.value, ",".join(principal.groups), scopes)
    before = _caller.set(caller)
    try:
        yield
    finally:
        _caller.reset(before)


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
            caller=_caller.get(),
            trace_id=parse_trace_id(telemetry.carrier()),
        )
    )
