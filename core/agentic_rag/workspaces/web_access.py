"""Whether runs of a workspace may look outside it, and how readily."""

from __future__ import annotations

import math
from dataclasses import dataclass

from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.workspaces.web_profiles import ProfileName

MAX_RECRAWL_HOURS = 8_760
"""A year."""


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

    def __post_init__(self) -> None:
        if not (math.isfinite(self.care) and 0 <= self.care <= 1):
            raise InvalidInput("`care` takes 0 to 1.", path=("web", "care"))
        if not 0 <= self.recrawl_hours <= MAX_RECRAWL_HOURS:
            raise InvalidInput(f"`recrawlHours` takes 0 to {MAX_RECRAWL_HOURS}.", path=("web", "recrawlHours"))
