"""An organisation: who owns workspaces, and what is decided for all of them at once."""

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
    """What an organisation may switch on; the value is its name in settings, GraphQL and the command line. All are off
    until switched on.
    """

    RAG_GUIDELINES = "ragGuidelines"
    """The guideline knowledge base of projects over REST."""


@dataclass(frozen=True, slots=True)
class OrganisationSettings:
    """What an organisation decided; the rest follows the process's settings."""

    flags: frozenset[FeatureFlag] = frozenset()
    """Those that are on."""
    models: ModelSettings = ModelSettings()
    budget: SpendingLimits = SpendingLimits()
    rates: RateLimits = RateLimits()

    def is_on(self, flag: FeatureFlag) -> bool:
        """Whether the organisation switched the feature on."""
        return flag in self.flags

    def with_flag(self, flag: FeatureFlag, *, on: bool) -> OrganisationSettings:
        """The same with one feature switched."""
        return replace(self, flags=self.flags | {flag} if on else self.flags - {flag})


@dataclass(frozen=True, slots=True)
class Organisation:
    """A tenant. `external_ref` is its id at whoever issues tokens, when that is not our own id."""

    org_id: UUID
    name: str
    external_ref: str | None
    created_at: datetime
    settings: OrganisationSettings = field(default_factory=OrganisationSettings)


def parse_feature_flag(name: str) -> FeatureFlag:
    """The feature of that name. Errors: `InvalidInput` naming those there are."""
    try:
        return FeatureFlag(name)
    except ValueError:
        known = ", ".join(flag.value for flag in FeatureFlag)
        raise InvalidInput(f"There is no feature {name!r}; there is {known}.", path=("flag",)) from None
