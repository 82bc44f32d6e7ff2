"""The gate's decision with its whole justification."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class FeatureContribution:
    """One signal of a decision: value × weight = contribution."""

    name: str
    value: float
    weight: float
    contribution: float


class DowngradeCause(enum.Enum):
    """What lowered a plan."""

    CHIT_CHAT = "chit_chat"
    CALCULATION = "calculation"
    NO_CONTENT = "no_content"
    CORPUS_EMPTY = "corpus_empty"
    MODE = "mode"
    ORGANISATION = "organisation"
    WORKSPACE = "workspace"
    REQUEST = "request"
    BUDGET = "budget"
    NO_SEARCH = "no_search"
    NO_CRAWLER = "no_crawler"
    UNKNOWN = "unknown"
    """Of a decision stored before causes were kept."""


@dataclass(frozen=True, slots=True)
class Downgrade:
    """A plan type that one cause lowered. Each cause is told by itself: the run does the least of what they leave."""

    before: str
    after: str
    reason: str
    cause: DowngradeCause = DowngradeCause.UNKNOWN


@dataclass(frozen=True, slots=True)
class Directives:
    """The actions that the gate allows, and where they begin."""

    use_retrieval: bool
    use_search: bool = False
    use_crawl: bool = False
    search_seeds: tuple[str, ...] = ()
    """What to search for; empty without `use_search`."""
    crawl_seeds: tuple[str, ...] = ()
    """Addresses to begin at beside those that the search finds; empty without `use_crawl`."""


@dataclass(frozen=True, slots=True)
class GateDecision:
    """The gate's decision with its whole justification."""

    directives: Directives
    plan_type: str
    """skip, retrieve, search or full_loop."""
    score: float
    thresholds: Mapping[str, float]
    contributions: tuple[FeatureContribution, ...]
    downgrades: tuple[Downgrade, ...]
    weights_version: str
    mode: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "thresholds", MappingProxyType(dict(self.thresholds)))

    def was_lowered_by(self, cause: DowngradeCause) -> bool:
        """Whether that cause lowered the plan."""
        return any(one.cause is cause for one in self.downgrades)
