"""Whether runs of a workspace may look outside it, and how readily."""

from __future__ import annotations

import math
from dataclasses import dataclass

from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.kernel.text import is_storable
from agentic_rag.workspaces.web_profiles import ProfileName

MAX_RECRAWL_HOURS = 8_760
"""A year."""
MAX_SEEDS = 12
LONGEST_SEED = 60


@dataclass(frozen=True, slots=True)
class WebAccess:
    """Settings of a workspace; the organisation has to allow it too (`FeatureFlag.WEB_ACCESS`). Raises `InvalidInput`
    outside the range of the API.
    """

    allow: bool = False
    care: float = 0.5
    """The gate's knob: 0 looks outside as seldom as it may, 1 as readily."""
    recrawl_hours: int = 0
    """Pages that the web brought are asked for again after so many hours at the latest; 0: never."""
    profile: ProfileName = ProfileName.GENERAL
    """How new its answers have to be, and whose pages are read first."""
    seeds: tuple[str, ...] = ()
    """Names of brands, campaigns and places with which searches of questions that name none of them are made too."""

    def __post_init__(self) -> None:
        if not (math.isfinite(self.care) and 0 <= self.care <= 1):
            raise InvalidInput("`care` takes 0 to 1.", path=("web", "care"))
        if not 0 <= self.recrawl_hours <= MAX_RECRAWL_HOURS:
            raise InvalidInput(f"`recrawlHours` takes 0 to {MAX_RECRAWL_HOURS}.", path=("web", "recrawlHours"))
        if len(self.seeds) > MAX_SEEDS or not all(
            1 <= len(one) <= LONGEST_SEED and one == " ".join(one.split()) and is_storable(one) for one in self.seeds
        ):
            raise InvalidInput(
                f"`seeds` takes at most {MAX_SEEDS} names of at most {LONGEST_SEED} characters.", path=("web", "seeds")
            )
