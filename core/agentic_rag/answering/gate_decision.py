"""The gate's decision with its whole justification."""

from __future__ import annotations

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


@dataclass(frozen=True, slots=True)
class Downgrade:
    """A plan type that policy or budget lowered."""

    before: str
    after: str
    reason: str


@dataclass(frozen=True, slots=True)
class Directives:
    """The actions that the gate allows."""

    use_retrieval: bool
    use_search: bool = False
    use_crawl: bool = False


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
