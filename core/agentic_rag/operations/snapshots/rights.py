"""The rights of what is restored: none wider than those of the same documents and workspaces at another time."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from functools import reduce

from agentic_rag.documents.document import Document, DocumentStatus
from agentic_rag.documents.document_access import narrower_sets
from agentic_rag.kernel.database import Transaction
from agentic_rag.kernel.pagination import MAX_PAGE, PageRequest
from agentic_rag.operations.snapshots.id_map import ArchiveIdMap
from agentic_rag.tenancy.access import PUBLIC_PRINCIPALS, narrow
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.workspaces.workspace import Workspace


@dataclass(frozen=True, slots=True)
class DocumentRights:
    """The rights of a document at one time: principals of its text of every version, writers and owner."""

    readers: Sequence[tuple[str, ...]]
    writers: tuple[str, ...]
    owner: str
    newest: tuple[str, ...] | None = None
    """The principals of the text of its newest version, where they are known apart."""


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
            narrowed += await _narrow(transaction, document, copy, ids)
    return narrowed


async def _narrow_workspace(transaction: Transaction, source: WorkspaceRef, target: WorkspaceRef) -> None:
    now = await transaction.workspaces.get(source.workspace_id)
    then = await transaction.workspaces.get(target.workspace_id)
    if now is None or then is None:
        return
    entering, writers = narrow_entering(then, now)
    if (entering, writers) != (then.entering, then.writers):
        await transaction.workspaces.set_access(target.workspace_id, entering, writers)


def narrow_entering(then: Workspace, now: Workspace) -> tuple[tuple[str, ...] | None, tuple[str, ...] | None]:
    """Who may enter and who may write a workspace under the rights of both; None: everybody."""
    entering = _common(now.entering, then.entering)
    writing = _common(now.writers, then.writers)
    return entering, None if writing is None else _common(writing, entering)


def _common(one: tuple[str, ...] | None, other: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """The principals that both name; None names everybody."""
    if one is None or other is None:
        return other if one is None else one
    return tuple(sorted({*one} & {*other}))


async def _narrow(transaction: Transaction, document: Document, copy: Document, ids: ArchiveIdMap) -> bool:
    # Text of older versions may have fewer readers than the document, and the archive's newest may be old by now.
    held = await transaction.access.held_sets(document.workspace, document.document_id)
    is_newest = document.revision_id is not None and ids.revision(document.revision_id) == copy.revision_id
    newest = held.get(document.access_id) if is_newest else None
    return await narrow_document(
        transaction, copy, DocumentRights(tuple(held.values()), document.writers, document.uploaded_by, newest)
    )


async def narrow_document(transaction: Transaction, document: Document, rights: DocumentRights) -> bool:
    """Give a document the narrower of its readers and writers and of these, and the owner of these. False where they
    are its own.
    """
    access, workspace, document_id = transaction.access, document.workspace, document.document_id
    then = (await access.principals(workspace, [document.access_id])).get(document.access_id, PUBLIC_PRINCIPALS)
    kept = reduce(narrow, rights.readers, then)
    newest = kept if rights.newest is None else narrow(then, rights.newest)
    writers = tuple(one for one in document.writers if one in rights.writers)
    has_same_roles = (writers, rights.owner) == (document.writers, document.uploaded_by)
    if kept == then and has_same_roles:
        return False
    if kept != then:
        access_id = await access.intern(workspace, newest)
        older = await narrower_sets(transaction, workspace, document_id, kept)
        change = await access.change(workspace, document_id, access_id, older)
        if newest == then and has_same_roles and not (change and change.passages):
            return False
    await access.set_writers(workspace, document_id, writers)
    await access.set_owner(workspace, document_id, rights.owner)
    return True
