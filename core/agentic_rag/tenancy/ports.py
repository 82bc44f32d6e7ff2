"""Stores of access sets, API keys, spent codes and the audit log, and the verification of tokens."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeAlias
from uuid import UUID

from agentic_rag.kernel.pagination import Page, PageRequest
from agentic_rag.tenancy.access import ReadIdentity, ReadScope
from agentic_rag.tenancy.api_keys import ApiKey, NewApiKey
from agentic_rag.tenancy.audit import EVERY_ENTRY, AuditEntry, AuditFilter, AuditRecord
from agentic_rag.tenancy.principals import Principal, WorkspaceRef


@dataclass(frozen=True, slots=True)
class AccessChange:
    """A document's readers changed. `version` is the first corpus version that shows it; None while nothing of the
    document is published. `passages` were moved to the new set.
    """

    version: int | None
    passages: int


class AccessStore(Protocol):
    """Inside a transaction of one organisation."""

    async def readable(self, workspace: WorkspaceRef, readers: ReadIdentity) -> ReadScope:
        """The access sets that the readers may read now."""
        ...

    async def intern(self, workspace: WorkspaceRef, principals: tuple[str, ...]) -> int:
        """The number of the set of exactly these principals (sorted, each once), created if needed. Called before any
        lock on a document, since two transactions that create the same set wait for each other. Errors: `NotFound`
        (workspace).
        """
        ...

    async def principals(self, workspace: WorkspaceRef, access_ids: Collection[int]) -> Mapping[int, tuple[str, ...]]:
        """The principals of these sets."""
        ...

    async def shown_version(self, workspace: WorkspaceRef, scope: ReadScope, version: int) -> int:
        """The number that a caller with this scope is shown for a stored corpus version that is committed: how many
        versions up to it changed something that the caller may read.
        """
        ...

    async def stored_version(self, workspace: WorkspaceRef, scope: ReadScope, shown: int) -> int:
        """The first stored corpus version, of those still kept, that the caller is shown under this number."""
        ...

    async def version_at(self, workspace: WorkspaceRef, instant: datetime) -> int | None:
        """The stored corpus version that was the newest one at an instant; None where that is not known."""
        ...

    async def unreadable(
        self, workspace: WorkspaceRef, document_ids: Sequence[UUID], readers: ReadIdentity
    ) -> set[UUID]:
        """Those of the documents that the readers may not read, or could not when they were erased."""
        ...

    async def sees(self, workspace: WorkspaceRef, document_id: UUID, readers: ReadIdentity) -> bool:
        """Whether the document is there, or was, and the readers may read it, or could. One that they may not read
        takes the time of one that never was.
        """
        ...

    async def owns(self, workspace: WorkspaceRef, key: UUID, subject: str) -> bool:
        """Whether the subject owns the document, or the document of the job, with this id. One of somebody else takes
        the time of one that never was.
        """
        ...

    async def held_sets(self, workspace: WorkspaceRef, document_id: UUID) -> Mapping[int, tuple[str, ...]]:
        """The access sets of a document, of all its passages at every version, and of its text that is no longer kept,
        with their principals.
        """
        ...

    async def change(
        self, workspace: WorkspaceRef, document_id: UUID, access_id: int, older: Mapping[int, int] | None = None
    ) -> AccessChange | None:
        """Assign an access set to a document; None when the document does not exist. Passages that only older versions
        show move from each set to the one that `older` gives, or without `older` to `access_id` too, and so does what
        is remembered of the readers of text that is no longer kept. The change waits
        for a concurrent publish, or the publish waits for the change. Errors: `Retryable` code DATABASE_CONFLICT when a
        passage is in a set that `older` does not name.
        """
        ...

    async def set_owner(self, workspace: WorkspaceRef, document_id: UUID, owner: str) -> None:
        """Make a subject the owner of a document."""
        ...

    async def set_writers(self, workspace: WorkspaceRef, document_id: UUID, writers: tuple[str, ...]) -> None:
        """Let exactly these principals replace a document's content, beside its owner."""
        ...


class ApiKeyStore(Protocol):
    """Inside a transaction of one organisation."""

    async def add(self, key_id: UUID, key: NewApiKey) -> ApiKey:
        """Store a key. Errors: `NotFound` (organisation)."""
        ...

    async def all(self) -> list[ApiKey]:
        """Every key, revoked and expired ones too, newest first."""
        ...

    async def revoke(self, key_id: UUID) -> ApiKey | None:
        """Revoke a key; None when it does not exist. A second call keeps the first time."""
        ...


class AuditLog(Protocol):
    """Inside a transaction of one organisation."""

    async def record(self, entry: AuditEntry) -> None:
        """Append; the act and its entry are committed together or not at all."""
        ...

    async def record_once(self, entry: AuditEntry, key: str) -> bool:
        """Append unless the log has it under the key (`tenancy.audit.idempotent_id`); whether it was appended."""
        ...

    async def page(self, request: PageRequest, wanted: AuditFilter = EVERY_ENTRY) -> Page[AuditRecord]:
        """Entries, newest first. Errors: `InvalidInput` (page size, cursor)."""
        ...


class Identity(Protocol):
    """Verifies bearer tokens. Errors: `Unauthenticated`."""

    async def authenticate(self, token: str) -> Principal:
        """The principal of a valid token (scheme prefix removed)."""
        ...


SpendCode: TypeAlias = Callable[[str, float], Awaitable[bool]]
"""Takes a code by its name; whether nobody had taken it. It is remembered for so many seconds. Errors:
`DependencyUnavailable`; whether it was taken is not known then.
"""
