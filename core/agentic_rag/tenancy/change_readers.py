"""Give a document other readers, told in the audit log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

from agentic_rag.kernel.database import Transaction
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.tenancy.access import EVERYONE, PUBLIC_PRINCIPALS, split_hidden
from agentic_rag.tenancy.audit import AuditAction
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.tenancy.record_audit import audit


async def change_readers(
    transaction: Transaction,
    telemetry: Telemetry,
    workspace: WorkspaceRef,
    document_id: UUID,
    actor: str,
    *,
    held: int,
    given: int,
    older: Mapping[int, int],
) -> None:
    """Assign the access set `given` to a document that has the set `held`; passages of older versions move as `older`
    says. An entry of the audit log has the readers before and after, where they are others. Errors: those of
    `AccessStore.change`.
    """
    sets = await transaction.access.principals(workspace, [held, given])
    change = await transaction.access.change(workspace, document_id, given, older)
    if given != held:
        before, after = (sets.get(one, PUBLIC_PRINCIPALS) for one in (held, given))
        await audit(
            transaction,
            telemetry,
            AuditAction.SET_DOCUMENT_ACCESS,
            workspace,
            document_id,
            actor,
            before=list_in_audit(before),
            after=list_in_audit(after),
            passages=change.passages if change else 0,
            all_versions=False,
        )


def list_in_audit(principals: Sequence[str]) -> str:
    """Readers as an entry of the audit log names them, without what hides the document."""
    return ",".join(split_hidden(principals)[0]) or EVERYONE
