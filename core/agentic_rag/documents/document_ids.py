"""Which document stands at a path."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from agentic_rag.documents.document import document_id_for
from agentic_rag.documents.ports import DocumentStore
from agentic_rag.tenancy.principals import WorkspaceRef


async def resolve_ids(documents: DocumentStore, workspace: WorkspaceRef, paths: Sequence[str]) -> dict[str, UUID]:
    """By path the id of the document that stands there, else the id that a new one gets. A document that moved keeps
    the id of its first path, so a new one at that path gets another.
    """
    found: dict[str, UUID] = {}
    left, occurrence = set(paths), 0
    while left:
        derived = {path: document_id_for(workspace, path, occurrence) for path in left}
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
