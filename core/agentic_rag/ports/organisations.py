"""Organisations: seen from inside one of them, and as operators and the start-up make them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from agentic_rag.domain.organisations import Organisation, OrganisationSettings
from agentic_rag.domain.tenancy import KeyScope, Role


@dataclass(frozen=True, slots=True)
class NewApiKey:
    """A key to be stored: only the SHA-256 (32 bytes) of its token is known here."""

    key_hash: bytes
    name: str
    subject: str
    role: Role
    groups: tuple[str, ...] = ()
    scopes: frozenset[KeyScope] | None = None
    expires_at: datetime | None = None


class OrganisationStore(Protocol):
    """Inside a transaction of one organisation. Errors of every call: `NotFound` when it was never made."""

    async def current(self) -> Organisation:
        """The organisation of the transaction."""
        ...

    async def change(self, apply: Callable[[OrganisationSettings], OrganisationSettings]) -> Organisation:
        """Replace the settings by what `apply` makes of them; nobody else changes them meanwhile."""
        ...


class OrganisationDirectory(Protocol):
    """Asked before a tenant is known. Errors: `DependencyUnavailable`."""

    async def find(self, reference: str) -> UUID | None:
        """The organisation with that id, or with that id at whoever issues tokens; None when there is none, or more
        than one.
        """
        ...


class OrganisationRegister(Protocol):
    """Every organisation, for operators. Errors: `DependencyUnavailable`, `Misconfigured` (the login may not)."""

    async def create(self, org_id: UUID, name: str, external_ref: str | None) -> Organisation:
        """Make one. Errors: `InvalidInput` code ORGANISATION_EXISTS when name or external ref is taken."""
        ...

    async def all(self) -> list[Organisation]:
        """Every organisation, by name."""
        ...


class Organisations(Protocol):
    """Both calls may be repeated and change nothing the second time."""

    async def ensure_organisation(self, org_id: UUID, name: str) -> None:
        """Make the organisation when it does not exist."""
        ...

    async def ensure_api_key(self, org_id: UUID, key: NewApiKey) -> None:
        """Store the key when the organisation has none with that hash. Errors: `NotFound` (organisation)."""
        ...
