"""Organisations: the owners of workspaces, and settings for all their workspaces."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.models.billing.limits import SpendingLimits
from agentic_rag.models.providers.model_choice import ModelSettings
from agentic_rag.workspaces.rate_limits import RateLimits


class FeatureFlag(enum.Enum):
    """A feature that an organisation may switch on; the value is its name in settings, GraphQL and the command line.
    All features are off by default.
    """

    RAG_GUIDELINES = "ragGuidelines"
    """The guideline knowledge base of projects over REST."""
    MEMBERS_OPEN_WORKSPACES = "membersOpenWorkspaces"
    """A member's first upload for an agent makes its workspace, which takes an admin otherwise."""
    WEB_ACCESS = "webAccess"
    """Workspaces that allow it themselves may look outside their documents."""


@dataclass(frozen=True, slots=True)
class OrganisationSettings:
    """An organisation's own settings; the process's settings apply for the rest."""

    flags: frozenset[FeatureFlag] = frozenset()
    """The features that are on."""
    models: ModelSettings = ModelSettings()
    budget: SpendingLimits = SpendingLimits()
    rates: RateLimits = RateLimits()

    def is_on(self, flag: FeatureFlag) -> bool:
        """Whether the feature is on."""
        return flag in self.flags

    def with_flag(self, flag: FeatureFlag, *, on: bool) -> OrganisationSettings:
        """A copy with one feature switched."""
        return replace(self, flags=self.flags | {flag} if on else self.flags - {flag})


@dataclass(frozen=True, slots=True)
class Organisation:
    """A tenant. `external_ref` is the token issuer's id of it, when that differs from our id."""

    org_id: UUID
    name: str
    external_ref: str | None
    created_at: datetime
    settings: OrganisationSettings = field(default_factory=OrganisationSettings)


def parse_feature_flag(name: str) -> FeatureFlag:
    """The feature of that name. Errors: `InvalidInput`, listing the known features."""
    try:
        return FeatureFlag(name)
    except ValueError:
        known = ", ".join(flag.value for flag in FeatureFlag)
        raise InvalidInput(f"There is no feature {name!r}; there is {known}.", path=("flag",)) from None
