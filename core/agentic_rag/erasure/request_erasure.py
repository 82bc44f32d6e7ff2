"""Deletes workspaces and organisations: they are gone for everybody at once, and jobs erase what they held."""

from __future__ import annotations

from uuid import UUID

from agentic_rag.documents.blob_keys import owner_prefix
from agentic_rag.erasure.workspace_erasure import WorkspaceErasure, erase_job, require_idle, require_name
from agentic_rag.kernel.database import Database, Transaction
from agentic_rag.kernel.errors import InvalidInput, no_such_workspace
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.tenancy.audit import AuditAction
from agentic_rag.tenancy.principals import DEFAULT_ORG_ID, WorkspaceRef
from agentic_rag.tenancy.record_audit import audit


class RequestErasure:
    """Each request is one transaction: it hides what is deleted, cancels its jobs and enqueues the erasure."""

    def __init__(self, database: Database, telemetry: Telemetry) -> None:
        self._database = database
        self._telemetry = telemetry

    async def workspace(
        self, workspace: WorkspaceRef, confirmed: str, actor: str, *, cancel_jobs: bool = False
    ) -> WorkspaceErasure:
        """Delete a workspace, of an agent or a project too. `confirmed` repeats its name. Errors: `NotFound` code
        WORKSPACE_NOT_FOUND, `InvalidInput` codes CONFIRMATION_WRONG and WORKSPACE_BUSY.
        """
        key = workspace.workspace_id
        async with self._database.transaction(workspace.org_id) as transaction:
            found = await transaction.workspaces.get(key)
            if found is None:
                raise no_such_workspace()
            require_name(confirmed, found.name)
            if not cancel_jobs:
                require_idle(await transaction.workspace_erasures.running(workspace))
            told = {"name": found.name, "kind": found.kind.value}
            await audit(transaction, self._telemetry, AuditAction.DELETE_WORKSPACE, workspace, key, actor, **told)
            await begin(transaction, self._telemetry, workspace, actor)
            return await _certificate(transaction, key)

    async def organisation(
        self, org_id: UUID, confirmed: str, actor: str, *, cancel_jobs: bool = False
    ) -> WorkspaceErasure:
        """Delete an organisation with all its workspaces and keys. `confirmed` repeats its name. Errors: `NotFound`,
        `InvalidInput` codes DEFAULT_ORGANISATION, CONFIRMATION_WRONG and WORKSPACE_BUSY.
        """
        async with self._database.transaction(org_id) as transaction:
            found = await transaction.organisations.current()
            if org_id == DEFAULT_ORG_ID:
                raise InvalidInput(
                    "The default organisation stays: each start makes it. Delete its workspaces.",
                    code="DEFAULT_ORGANISATION",
                )
            require_name(confirmed, found.name)
            if not cancel_jobs:
                for one in await transaction.workspaces.all():
                    require_idle(await transaction.workspace_erasures.running(one.ref))
            told = {"name": found.name}
            await audit(transaction, self._telemetry, AuditAction.DELETE_ORGANISATION, None, org_id, actor, **told)
            for ref in await transaction.workspace_erasures.begin_organisation(actor):
                await begin(transaction, self._telemetry, ref, actor)
            await transaction.workspace_erasures.finish_organisation()
            return await _certificate(transaction, org_id)


async def begin(transaction: Transaction, telemetry: Telemetry, workspace: WorkspaceRef, actor: str) -> None:
    """Hide a workspace and enqueue its erasure. Errors: `NotFound` code WORKSPACE_NOT_FOUND."""
    found = await transaction.workspaces.get(workspace.workspace_id)
    if found is None:
        raise no_such_workspace()
    await transaction.jobs.enqueue(erase_job(workspace, telemetry.carrier()))
    await transaction.workspace_erasures.begin(workspace, owner_prefix(found), actor)


async def _certificate(transaction: Transaction, subject_id: UUID) -> WorkspaceErasure:
    found = await transaction.workspace_erasures.get(subject_id)
    if found is None:
        raise AssertionError("an erasure that has begun has a certificate")
    return found
