"""Documents whose source no longer has them: hidden first, erased after a grace, shown again when they come back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import timedelta
from functools import partial
from uuid import UUID

from agentic_rag.documents.document import Document
from agentic_rag.documents.document_access import sets_after
from agentic_rag.erasure.delete import delete_job
from agentic_rag.jobs.job import JobKind
from agentic_rag.kernel.database import Transaction
from agentic_rag.kernel.errors import PolicyRefused
from agentic_rag.tenancy.access import Hiding, hide_principals, is_hidden, restore_principals
from agentic_rag.tenancy.principals import WorkspaceRef

DEFAULT_GRACE = timedelta(hours=24)

FEWEST_MISSING = 5
LARGEST_SHARE = 0.2
"""A synchronisation stops where at least so many documents and more than this share of all are missing."""


def require_plausible(missing: int, held: int) -> None:
    """Errors: `PolicyRefused` code SOURCE_SHRANK where a source lost all of its documents, or many of them at once."""
    if missing and (missing == held or (missing >= FEWEST_MISSING and missing > LARGEST_SHARE * held)):
        raise PolicyRefused(
            f"The source no longer has {missing} of the {held} documents that came from it, and nothing was changed. "
            "Is it mounted and complete? If it is, the same command with `--delete-missing` goes on.",
            code="SOURCE_SHRANK",
        )


async def find_hidden(transaction: Transaction, workspace: WorkspaceRef, documents: Iterable[Document]) -> set[UUID]:
    """Those of the documents that are missing at their source."""
    found = list(documents)
    sets = await transaction.access.principals(workspace, {one.access_id for one in found})
    missing = {access_id for access_id, principals in sets.items() if is_hidden(principals, Hiding.MISSING)}
    return {one.document_id for one in found if one.access_id in missing}


async def hide(transaction: Transaction, document: Document, grace: timedelta, carrier: Mapping[str, str]) -> None:
    """Hide a document from all readers, in all of its versions; a job erases it after the grace."""
    workspace, document_id = document.workspace, document.document_id
    moves = await sets_after(transaction, document, partial(hide_principals, reason=Hiding.MISSING))
    # The order of locks is everywhere: documents, jobs, workspace.
    await transaction.documents.get_for_update(workspace, document_id)
    await transaction.jobs.cancel_for_document(workspace, document_id, JobKind.INGEST)
    await transaction.jobs.enqueue(delete_job(workspace, document_id, carrier, grace.total_seconds()))
    await transaction.access.change(workspace, document_id, moves.access_id, moves.older)


async def show_again(transaction: Transaction, document: Document) -> bool:
    """Give a document that was missing back to its readers and call its erasure off; False when it was not missing or
    was erased meanwhile.
    """
    workspace, document_id = document.workspace, document.document_id
    if document_id not in await find_hidden(transaction, workspace, [document]):
        return False
    moves = await sets_after(transaction, document, partial(restore_principals, reason=Hiding.MISSING))
    if await transaction.documents.get_for_update(workspace, document_id) is None:
        return False
    await transaction.jobs.cancel_for_document(workspace, document_id, JobKind.DELETE)
    await transaction.access.change(workspace, document_id, moves.access_id, moves.older)
    return True
