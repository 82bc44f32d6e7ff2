"""Which blob holds which content of a document, and which blobs nothing needs any more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from agentic_rag.domain.tenancy import WorkspaceRef


@dataclass(frozen=True, slots=True)
class Original:
    """The bytes of a document as they came: their SHA-256, their number and the key of the blob that holds them."""

    content_hash: bytes
    key: str
    size: int
    created_at: datetime


class OriginalStore(Protocol):
    """Inside a transaction of one organisation. A key is used for one upload only: what is doomed stays doomed."""

    async def keep(self, workspace: WorkspaceRef, document_id: UUID, content_hash: bytes, key: str, size: int) -> str:
        """Write down that `key` holds this content of a document; the key that held it already, if one did.

        The document must be locked, as after its registration.
        """
        ...

    async def of(self, workspace: WorkspaceRef, document_id: UUID) -> list[Original]:
        """The contents of a document, newest first."""
        ...

    async def supersede(self, workspace: WorkspaceRef, document_ids: Sequence[UUID]) -> int:
        """Doom what is neither the published content of these documents nor the one they were registered with last;
        how many blobs.
        """
        ...

    async def doom(self, workspace: WorkspaceRef, document_id: UUID) -> int:
        """Doom every content of a document that is being erased; how many blobs."""
        ...

    async def doomed(self, workspace: WorkspaceRef, document_id: UUID | None, limit: int) -> list[str]:
        """Keys of doomed blobs of a document (None: of the workspace), sorted."""
        ...

    async def forget(self, workspace: WorkspaceRef, keys: Sequence[str]) -> int:
        """Strike out doomed keys whose blob is gone; how many."""
        ...

    async def named(self, workspace: WorkspaceRef, keys: Sequence[str]) -> frozenset[str]:
        """Those of the keys that hold an original or are doomed; a blob with any other key belongs to an upload that
        is under way or never ended.
        """
        ...
