"""The rights of a restored copy: none wider than those of the same documents in the workspace that was copied."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from functools import reduce

from agentic_rag.documents.document import Document, DocumentStatus
from agentic_rag.documents.document_access import narrower_sets
from agentic_rag.kernel.database import Transaction
from agentic_rag.kernel.pagination import MAX_PAGE, PageRequest
from agentic_rag.operations.snapshots.id_map import ArchiveIdMap
from agentic_rag.tenancy.access import PUBLIC_PRINCIPALS, narrow
from agentic_rag.tenancy.principals import WorkspaceRef


async def documents_of(
    transaction: Transaction, workspace: WorkspaceRef, statuses: Sequence[DocumentStatus] = ()
) -> AsyncIterator[Document]:
    """Every document of a workspace, those of some statuses only where any is named."""
    request = PageRequest(MAX_PAGE)
    while True:
        page = await transaction.documents.page(workspace, request, statuses)
        for document in page.items:
            yield document
        if not page.has_next:
            return
        request = PageRequest(MAX_PAGE, page.cursors[-1])


async def narrow_rights(transaction: Transaction, source: WorkspaceRef, target: WorkspaceRef, ids: ArchiveIdMap) -> int:
    """Give the copy of `source`, and of each of its documents, the narrower of its rights there and in the archive; the
    number of documents whose rights change.
    """
    await _narrow_workspace(transaction, source, target)
    narrowed = 0
    async for document in documents_of(transaction, source):
        copy = await transaction.documents.get(target, ids.document(document.document_id))
        if copy is not None:
            narrowed += await _narrow(transaction, document, copy)
    return narrowed


async def _narrow_workspace(transaction: Transaction, source: WorkspaceRef, target: WorkspaceRef) -> None:
    now = await transaction.workspaces.get(source.workspace_id)
    then = await transaction.workspaces.get(target.workspace_id)
    if now is None or then is None:
        return
    entering = _common(now.entering, then.entering)
    writing = _common(now.writers, then.writers)
    writers = None if writing is None else _common(writing, entering)
    if (entering, writers) != (then.entering, then.writers):
        await transaction.workspaces.set_access(target.workspace_id, entering, writers)


def _common(one: tuple[str, ...] | None, other: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """The principals that both name; None names everybody."""
    if one is None or other is None:
        return other if one is None else one
    return tuple(sorted({*one} & {*other}))


async def _narrow(transaction: Transaction, document: Document, copy: Document) -> bool:
    access, workspace, copy_id = transaction.access, copy.workspace, copy.document_id
    then = (await access.principals(workspace, [copy.access_id])).get(copy.access_id, PUBLIC_PRINCIPALS)
    # Text of older versions may have fewer readers than the document, and the archive's newest may be old by now.
    now = await access.held_sets(document.workspace, document.document_id)
    kept = reduce(narrow, now.values(), then)
    writers = tuple(one for one in copy.writers if one in document.writers)
    before = (then, copy.writers, copy.uploaded_by)
    if (kept, writers, document.uploaded_by) == before:
        return False
    if kept != then:
        access_id = await access.intern(workspace, kept)
        older = await narrower_sets(transaction, workspace, copy_id, kept)
        await access.change(workspace, copy_id, access_id, older)
    await access.set_writers(workspace, copy_id, writers)
    await access.set_owner(workspace, copy_id, document.uploaded_by)
    return True
