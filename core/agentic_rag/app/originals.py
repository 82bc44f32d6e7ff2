"""Where the original bytes of a document are kept: one blob per content, all under the document."""

from __future__ import annotations

from uuid import UUID

from agentic_rag.domain.tenancy import WorkspaceRef


def original_prefix(workspace: WorkspaceRef, document_id: UUID) -> str:
    """What the keys of all originals of a document begin with."""
    return f"{workspace.org_id}/{workspace.workspace_id}/{document_id}"


def original_key(workspace: WorkspaceRef, document_id: UUID, content_hash: bytes) -> str:
    """The key of the original with that SHA-256."""
    return f"{original_prefix(workspace, document_id)}/{content_hash.hex()}"
