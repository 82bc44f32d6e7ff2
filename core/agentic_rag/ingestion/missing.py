"""Documents whose source no longer has them: hidden first, erased after a grace, shown again when they come back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from uuid import UUID

from agentic_rag.documents.document import Document
from agentic_rag.erasure.delete import delete_job
from agentic_rag.jobs.job import JobKind
from agentic_rag.kernel.database import Transaction
from agentic_rag.kernel.errors import PolicyRefused
from agentic_rag.tenancy.access import PUBLIC_PRINCIPALS, hide_principals, restore_principals
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
            "Is it mounted and complete? `rag ingest --dry-run` lists what is missing; `--delete-missing` goes on.",
            code="SOURCE_SHRANK",
        )


async def find_hidden(transaction: Transaction, workspace: WorkspaceRef, documents: Iterable[Document]) -> set[UUID]:
    """Those of the documents that are hidden."""
    found = list(documents)
    principals = await _principals(transaction, workspace, found)
    return {one.document_id for one in found if restore_principals(principals[one.access_id]) is not None}


async def hide(transaction: Transaction, document: Document, grace: timedelta, carrier: Mapping[str, str]) -> None:
    """Hide a document from all readers, in all of its versions; a job erases it after the grace."""
    workspace, document_id = document.workspace, document.document_id
    principals = (await _principals(transaction, workspace, [document]))[document.access_id]
    access_id = document.access_id
    if restore_principals(principals) is None:
        access_id = await transaction.access.intern(workspace, hide_principals(principals))
    older = await _moved_sets(transaction, document, _hide_once)
    # The order of locks is everywhere: documents, jobs, workspace.
    await transaction.documents.get_for_update(workspace, document_id)
    await transaction.jobs.cancel_for_document(workspace, document_id, JobKind.INGEST)
    await transaction.jobs.enqueue(delete_job(workspace, document_id, carrier, grace.total_seconds()))
    await transaction.access.change(workspace, document_id, access_id, older)


async def show_again(transaction: Transaction, document: Document) -> bool:
    """Give a hidden document back to its readers and call its erasure off; False when it is not hidden or was erased
    meanwhile.
    """
    workspace, document_id = document.workspace, document.document_id
    principals = (await _principals(transaction, workspace, [document]))[document.access_id]
    before = restore_principals(principals)
    if before is None:
        return False
    access_id = await transaction.access.intern(workspace, before)
    older = await _moved_sets(transaction, document, _restore_if_hidden)
    if await transaction.documents.get_for_update(workspace, document_id) is None:
        return False
    await transaction.jobs.cancel_for_document(workspace, document_id, JobKind.DELETE)
    await transaction.access.change(workspace, document_id, access_id, older)
    return True


def _hide_once(principals: tuple[str, ...]) -> tuple[str, ...]:
    return principals if restore_principals(principals) is not None else hide_principals(principals)


def _restore_if_hidden(principals: tuple[str, ...]) -> tuple[str, ...]:
    restored = restore_principals(principals)
    return principals if restored is None else restored


async def _moved_sets(
    transaction: Transaction, document: Document, convert: Callable[[tuple[str, ...]], tuple[str, ...]]
) -> dict[int, int]:
    """For each access set of the document's passages, the set of the converted principals: text that only older
    versions hold keeps readers of its own.
    """
    held = await transaction.access.held_sets(document.workspace, document.document_id)
    return {
        access_id: await transaction.access.intern(document.workspace, convert(principals))
        for access_id, principals in held.items()
    }


async def _principals(
    transaction: Transaction, workspace: WorkspaceRef, documents: Iterable[Document]
) -> dict[int, tuple[str, ...]]:
    asked = {one.access_id for one in documents}
    sets = await transaction.access.principals(workspace, asked)
    return {access_id: sets.get(access_id, PUBLIC_PRINCIPALS) for access_id in asked}
