"""What each idempotency key of an upload was answered with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from agentic_rag.domain.tenancy import WorkspaceRef


@dataclass(frozen=True, slots=True)
class UploadRecord:
    """The first upload under a key. `job_id` is None when the very bytes were published already."""

    input_hash: bytes
    document_id: UUID
    job_id: UUID | None


class UploadStore(Protocol):
    """Inside a transaction of one organisation. A key is claimed before the document is touched."""

    async def claim(
        self, workspace: WorkspaceRef, idempotency_key: str, input_hash: bytes, document_id: UUID
    ) -> UploadRecord | None:
        """Take a key: None when it is the caller's now, else what it was taken for. Waits for another transaction that
        is just taking it.
        """
        ...

    async def settle(self, workspace: WorkspaceRef, idempotency_key: str, job_id: UUID | None) -> None:
        """Add the job to a key that this transaction claimed."""
        ...
