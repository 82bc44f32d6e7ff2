"""Which document stands at a path."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import count
from uuid import UUID

from agentic_rag.documents.document import document_id_for
from agentic_rag.documents.ports import DocumentStore
from agentic_rag.kernel.database import Transaction
from agentic_rag.tenancy.principals import WorkspaceRef

_NO_KEY = b""
"""Documents from before organisations had secrets have ids without one."""


async def resolve_ids(documents: DocumentStore, workspace: WorkspaceRef, paths: Sequence[str]) -> dict[str, UUID]:
    """By path the id of the document that stands there, else the id that a new one gets. A document that moved keeps
    the id of its first path, so a new one at that path gets another.
    """
    key = await documents.id_key(workspace)
    found: dict[str, UUID] = {}
    left, occurrence = set(paths), 0
    while left:
        derived = {path: document_id_for(workspace, path, occurrence, key=key) for path in left}
        occupants = await documents.occupants(workspace, list(left), list(derived.values()))
        standing = {path: document_id for document_id, path in occupants.items()}
        for path, document_id in derived.items():
            if path in standing:
                found[path] = standing[path]
            elif document_id not in occupants:
                found[path] = document_id
        left -= found.keys()
        occurrence += 1
    return found


async def find_id(transaction: Transaction, workspace: WorkspaceRef, path: str) -> UUID | None:
    """The document that stands at a path, else the one that was erased there last; None without either. An erased one
    is found at the first path that it had.
    """
    for standing in await transaction.documents.occupants(workspace, [path], []):
        return standing
    erased: dict[UUID, datetime] = {}
    for key in {await transaction.documents.id_key(workspace), _NO_KEY}:
        for occurrence in count():
            document_id = document_id_for(workspace, path, occurrence, key=key)
            certificate = await transaction.erasures.certificate(workspace, document_id)
            if certificate is not None:
                erased[document_id] = certificate.erased_at
            elif not await transaction.documents.occupants(workspace, [], [document_id]):
                break
    return max(erased, key=erased.__getitem__, default=None)
