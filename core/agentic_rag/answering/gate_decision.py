"""The gate's decision with its whole justification."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

INTENT = "intent_"
"""How the names of signals of intent begin."""

PLAN_TYPES = ("skip", "retrieve", "search", "full_loop")
"""What a run may do, from the least to the most."""


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
    AS_OF = "as_of"
    SATISFACTION = "satisfaction"
    """Too few callers were content with what such runs found outside."""
    FRESHNESS = "freshness"
    """Such runs found nothing outside that they cite."""
    LATENCY = "latency"
    """Such runs were too slow."""
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
    care: float = 0.5
    """Where the knob between cost and care stood."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "thresholds", MappingProxyType(dict(self.thresholds)))

    @property
    def planned(self) -> str:
        """The plan before anything lowered it."""
        return max((self.plan_type, *(one.before for one in self.downgrades)), key=PLAN_TYPES.index)

    @property
    def intent(self) -> str:
        """What the question was after; empty for a decision without such a signal."""
        found = (one.name for one in self.contributions if one.name.startswith(INTENT) and one.value > 0)
        return next(found, "").removeprefix(INTENT)

    @property
    def is_judged(self) -> bool:
        """Whether the decision was taken after the answer, with the signals of the probe."""
        return self.mode != "off" and any(one.name == "sufficiency" for one in self.contributions)

    def was_lowered_by(self, cause: DowngradeCause) -> bool:
        """Whether that cause lowered the plan."""
        return any(one.cause is cause for one in self.downgrades)
