"""Records use cases in the audit log, with the caller on whose behalf they run."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from contextvars import ContextVar
from uuid import UUID

from agentic_rag.kernel.database import Database, Transaction
from agentic_rag.kernel.telemetry import Telemetry, parse_trace_id
from agentic_rag.tenancy.audit import AuditAction, AuditCaller, AuditEntry
from agentic_rag.tenancy.entering import entering_as
from agentic_rag.tenancy.principals import Principal, WorkspaceRef

_caller: ContextVar[AuditCaller | None] = ContextVar("audit_caller", default=None)


@contextmanager
def on_behalf_of(principal: Principal, address: str) -> Generator[None]:
    """Whatever is recorded meanwhile names the caller's credential, role, groups, scopes and address, and the stores
    hide the workspaces that the caller may not enter.
    """
    scopes = None if principal.scopes is None else ",".join(sorted(one.value for one in principal.scopes))
    caller = AuditCaller(principal.credential, address, principal.role.value, ",".join(principal.groups), scopes)
    before = _caller.set(caller)
    try:
        with entering_as(principal):
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
    await transaction.audit.record(audit_entry(telemetry, action, workspace, subject, actor, **detail))


async def audit_read(
    database: Database,
    telemetry: Telemetry,
    action: AuditAction,
    workspace: WorkspaceRef,
    subject: object,
    actor: str,
    **detail: str | int | bool | None,
) -> None:
    """Record what was read, before it is handed out: nobody gets what the log does not tell. Only whole texts and files
    wait for the disk of the database server: a search would take twice its time.
    """
    entry = audit_entry(telemetry, action, workspace, subject, actor, **detail)
    await database.record_audit(workspace.org_id, entry, durable=action is not AuditAction.SEARCH_PASSAGES)


async def audit_passages(
    database: Database, telemetry: Telemetry, workspace: WorkspaceRef, actor: str, document_ids: Iterable[UUID]
) -> None:
    """Record of which documents passages are handed out, each named once; nothing where there are none."""
    documents = ",".join(map(str, dict.fromkeys(document_ids)))
    if documents:
        act, key = AuditAction.SEARCH_PASSAGES, workspace.workspace_id
        await audit_read(database, telemetry, act, workspace, key, actor, documents=documents)


def audit_entry(
    telemetry: Telemetry,
    action: AuditAction,
    workspace: WorkspaceRef | None,
    subject: object,
    actor: str,
    **detail: str | int | bool | None,
) -> AuditEntry:
    """The entry of an act, for a store that records it in a transaction of its own."""
    return AuditEntry(
        action=action,
        subject=str(subject),
        actor=actor,
        workspace_id=None if workspace is None else workspace.workspace_id,
        detail=detail,
        caller=_caller.get(),
        trace_id=parse_trace_id(telemetry.carrier()),
    )
