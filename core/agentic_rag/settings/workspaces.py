"""Settings of organisations and workspaces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from agentic_rag.settings.variable import Env, parse_pairs
from agentic_rag.workspaces.rate_limits import MAX_PER_MINUTE, MAX_STORED_MB, RateLimits

_SHARE = "caller_share"
_STORED = "stored_mb"
_TRAFFIC = ("asks", "writes", "reads")


@dataclass(frozen=True, slots=True)
class DefaultRates:
    """Requests a minute of an organisation without limits of its own, and the share of one caller."""

    limits: RateLimits
    caller_share: float


def parse_rates(text: str) -> DefaultRates:
    """The rates of `asks=60,writes=30,reads=600,caller_share=0.5`. Errors: ValueError."""
    pairs = parse_pairs(text, (*_TRAFFIC, _STORED, _SHARE))
    try:
        rates = [int(pairs.get(name, "0")) for name in _TRAFFIC]
        stored = int(pairs[_STORED]) if _STORED in pairs else None
        share = float(pairs.get(_SHARE, "1"))
    except ValueError:
        rates, stored, share = [-1], None, 0.0
    are_rates = all(0 <= rate <= MAX_PER_MINUTE for rate in rates)
    if not are_rates or not 0 <= (stored or 0) <= MAX_STORED_MB or not 0.001 <= share <= 1:
        raise ValueError(
            f"expected requests a minute from 0 to {MAX_PER_MINUTE}, {_STORED} from 0 to {MAX_STORED_MB}, and {_SHARE} "
            "from 0.001 to 1"
        )
    return DefaultRates(RateLimits(*rates, stored_mb=stored), share)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspacesConfig:
    """What holds for organisations that set nothing themselves."""

    rate_limits: Annotated[str, Env("AGENTIC_RAG_RATE_LIMITS", check=parse_rates)] = ""
    """Requests a minute of an organisation without limits of its own (`rag tenant limits`), as
    `asks=60,writes=30,reads=600,caller_share=0.5`: questions, changes, requests that only read, and the part of each
    that one caller may use; `stored_mb=5000` limits the megabytes of its uploads. Without a limit: no limit; without a
    share: all of it. Unset, the production profile has `asks=600,writes=600,reads=6000`.
    """

    @property
    def default_rates(self) -> DefaultRates:
        """AGENTIC_RAG_RATE_LIMITS, parsed."""
        return parse_rates(self.rate_limits)
