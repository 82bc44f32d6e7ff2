"""Rights as a list of erasures tells them."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from uuid import UUID

from agentic_rag.models.billing.limits import SpendingLimits
from agentic_rag.workspaces.rate_limits import RateLimits

LISTED_DOCUMENTS = 1000
"""Documents of one record."""


@dataclass(frozen=True, slots=True)
class KeptDays:
    """For how many days a workspace keeps each of these, named as in `WorkspaceSettings`; None: as the process says."""

    history_days: int | None = None
    runs_days: int | None = None
    jobs_days: int | None = None
    usage_days: int | None = None
    audit_days: int | None = None

    def shorter(self, other: KeptDays) -> KeptDays:
        """Each the fewer of both; a number counts as fewer than what the process says: it was set on purpose."""
        return KeptDays(*(_fewer(*both) for both in zip(astuple(self), astuple(other), strict=True)))


def _fewer(one: int | None, other: int | None) -> int | None:
    return min((days for days in (one, other) if days is not None), default=None)


@dataclass(frozen=True, slots=True)
class ListedRights:
    """Documents of a workspace that have the same rights, and those that were erased with the same readers."""

    org_id: UUID
    workspace_id: UUID
    read_at: str
    """The instant of the database at which they had them."""
    readers: tuple[tuple[str, ...], ...]
    """The principals of the document, then those of text that only its older versions hold; none: everybody."""
    writers: tuple[str, ...]
    owner: str | None
    """None for an erased document."""
    documents: tuple[UUID, ...]
    revision: UUID | None = None
    """The published revision of the one document where text of older versions has other readers. Lists of earlier
    versions do not tell it.
    """


@dataclass(frozen=True, slots=True)
class ListedWorkspace:
    """Who may enter and write a workspace (None: everybody), whether it may look outside, what it follows, and what it
    may spend, and for how long it keeps things. Lists of earlier versions tell no `budget`, no `saved` and no `days`.
    """

    org_id: UUID
    workspace_id: UUID
    read_at: str
    readers: tuple[str, ...] | None
    writers: tuple[str, ...] | None
    allows_web: bool
    sources: tuple[UUID, ...]
    budget: SpendingLimits | None = None
    saved: tuple[UUID, ...] | None = None
    """Its saved questions."""
    days: KeptDays | None = None


@dataclass(frozen=True, slots=True)
class ListedOrganisation:
    """The features that an organisation has on, the keys of providers that it has (when each was set, by name), and its
    limits, which lists of earlier versions do not tell.
    """

    org_id: UUID
    read_at: str
    flags: tuple[str, ...]
    provider_keys: dict[str, str]
    budget: SpendingLimits | None = None
    rates: RateLimits | None = None


Listed = ListedRights | ListedWorkspace | ListedOrganisation
