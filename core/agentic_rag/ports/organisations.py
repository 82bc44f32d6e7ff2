"""Organisations: seen from inside one of them, and as operators and the start-up make them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from agentic_rag.domain.organisations import Organisation, OrganisationSettings
from agentic_rag.domain.tenancy import Role


@dataclass(frozen=True, slots=True)
class NewApiKey:
    """A key to be stored: only the SHA-256 (32 bytes) of its token is known here."""

    key_hash: bytes
    name: str
    subject: str
    role: Role
    groups: tuple[str, ...] = ()
    expires_at: datetime | None = None


class OrganisationStore(Protocol):
    """Inside a transaction of one organisation. Errors of every call: `NotFound` when it was never made."""

    async def current(self) -> Organisation:
        """The organisation of the transaction."""
        ...

    async def change(self, apply: Callable[[OrganisationSettings], OrganisationSettings]) -> Organisation:
        """Replace the settings by what `apply` makes of them; nobody else changes them meanwhile."""
        ...


class Organisations(Protocol):
    """Both calls may be repeated and change nothing the second time."""

    async def ensure_organisation(self, org_id: UUID, name: str) -> None:
        """Make the organisation when it does not exist."""
        ...

    async def ensure_api_key(self, org_id: UUID, key: NewApiKey) -> None:
        """Store the key when the organisation has none with that hash. Errors: `NotFound` (organisation)."""
        ...
