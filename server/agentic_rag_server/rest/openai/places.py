"""What ids and names mean: a model is a workspace by its name, a vector store one by its id, a file a document.

Uploaded files stand in a workspace of their own. A vector store that a file is added to holds a copy of the same path,
so that each is found by the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from uuid import UUID

from agentic_rag.documents.document_ids import resolve_ids
from agentic_rag.kernel.errors import NotFound
from agentic_rag.kernel.public_ids import NodeKind, decode, encode
from agentic_rag.kernel.text import is_storable
from agentic_rag.tenancy.principals import Principal, WorkspaceRef
from agentic_rag.workspaces.workspace import ExternalOwner, Workspace, WorkspaceKind
from agentic_rag_server.parts import ServerParts

_UPLOADED = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/")
"""How paths of uploaded files begin, so that two of one name are two."""


@dataclass(frozen=True, slots=True)
class FileIds:
    """The ids of documents as files; `uploaded` are those of uploaded files, by path."""

    uploaded: Mapping[str, str]

    def of(self, workspace: WorkspaceRef, document_id: UUID, source_path: str) -> str:
        """The id of a document: that of the uploaded file, where it is a copy of one."""
        return self.uploaded.get(source_path) or encode(NodeKind.DOCUMENT, workspace.workspace_id, document_id)


def uploads_of(org_id: UUID) -> ExternalOwner:
    """The holder of the uploaded files of an organisation."""
    return ExternalOwner(org_id, WorkspaceKind.GENERAL, "files")


async def file_ids(parts: ServerParts, principal: Principal, paths: Iterable[str]) -> FileIds:
    """The ids of documents at these paths, in the caller's organisation."""
    holder, uploaded = uploads_of(principal.org_id), [path for path in paths if _UPLOADED.match(path)]
    async with parts.database.transaction(principal.org_id) as transaction:
        found = await transaction.workspaces.by_reference(holder.kind, holder.external_ref) if uploaded else None
        ids = {} if found is None else await resolve_ids(transaction.documents, found.ref, uploaded)
    workspace_id = None if found is None else found.ref.workspace_id
    return FileIds({path: encode(NodeKind.DOCUMENT, workspace_id, key) for path, key in ids.items() if workspace_id})


async def model_workspace(parts: ServerParts, principal: Principal, name: str) -> Workspace:
    """The workspace that a model names. Errors: `NotFound` code WORKSPACE_NOT_FOUND."""
    found = None
    if is_storable(name):
        async with parts.database.transaction(principal.org_id) as transaction:
            found = await transaction.workspaces.by_name(name)
    if found is None:
        raise NotFound("`model` names no workspace; GET /v1/models lists them.", code="WORKSPACE_NOT_FOUND")
    return found


async def store_workspace(parts: ServerParts, principal: Principal, store_id: str) -> Workspace:
    """The workspace of a vector store. Errors: `InvalidInput` code INVALID_ID, `NotFound` code WORKSPACE_NOT_FOUND."""
    node = decode(store_id, NodeKind.WORKSPACE, path=("vector_store_id",))
    async with parts.database.transaction(principal.org_id) as transaction:
        found = await transaction.workspaces.get(node.workspace_id)
    if found is None:
        raise NotFound("There is no such vector store.", code="WORKSPACE_NOT_FOUND")
    return found


def name_of(source_path: str) -> str:
    """The name of a file in a path."""
    return source_path.rpartition("/")[2]
