"""Ceilings on the model spending of an organisation or a workspace. Days and months are in UTC."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import TypeVar

from agentic_rag.kernel.errors import BudgetExceeded, InvalidInput

N = TypeVar("N", int, float)

DEFAULT_SOFT_SHARE = 0.8
"""Share of a ceiling. Crossing it is reported once a day or month; calls still pass."""


MAX_CALLS = 1_000_000
"""The highest ceiling on calls a day."""


@dataclass(frozen=True, slots=True)
class SpendingLimits:
    """US dollars; None: no ceiling. Raises `InvalidInput` for an invalid ceiling."""

    day_usd: float | None = None
    month_usd: float | None = None
    soft_share: float = DEFAULT_SOFT_SHARE
    day_searches: int | None = None
    """Searches of the web a day; None: `DEFAULT_CALLS` for an organisation, no ceiling of its own for a workspace."""
    day_pages: int | None = None
    """Pages of the web that may be fetched a day."""

    def __post_init__(self) -> None:
        for name, value in (("dayUsd", self.day_usd), ("monthUsd", self.month_usd)):
            if value is not None and not (math.isfinite(value) and value >= 0):
                raise InvalidInput(f"`{name}` takes a number of US dollars from 0 up.", path=("input", name))
        for name, calls in (("daySearches", self.day_searches), ("dayPages", self.day_pages)):
            if calls is not None and not 0 <= calls <= MAX_CALLS:
                raise InvalidInput(f"`{name}` takes 0 to {MAX_CALLS:,}.", path=("input", name))
        if not (math.isfinite(self.soft_share) and 0 < self.soft_share <= 1):
            raise InvalidInput("`softShare` takes a number above 0 and up to 1.", path=("input", "softShare"))

    @property
    def has_ceiling(self) -> bool:
        """Whether any ceiling is set."""
        return self.day_usd is not None or self.month_usd is not None

    def narrower(self, other: SpendingLimits) -> SpendingLimits:
        """These, with each ceiling the lower of both; the soft share stays."""
        return SpendingLimits(
            day_usd=_lower(self.day_usd, other.day_usd),
            month_usd=_lower(self.month_usd, other.month_usd),
            soft_share=self.soft_share,
            day_searches=_lower(self.day_searches, other.day_searches),
            day_pages=_lower(self.day_pages, other.day_pages),
        )


@dataclass(frozen=True, slots=True)
class Expenditure:
    """US dollars spent in the current day and month."""

    day_usd: float = 0.0
    month_usd: float = 0.0

    def plus(self, usd: float) -> Expenditure:
        """The expenditure with `usd` added."""
        return Expenditure(self.day_usd + usd, self.month_usd + usd)


@dataclass(frozen=True, slots=True)
class Ceiling:
    """One ceiling, the amount spent, and the time at which it resets."""

    scope: str
    """`organisation` or `workspace`."""
    period: str
    """`day` or `month`."""
    limit_usd: float
    spent_usd: float
    resets_at: datetime

    @property
    def key(self) -> str:
        """The identity of the ceiling."""
        return f"{self.scope} {self.period} {self.resets_at:%Y-%m-%d}"


def ceilings(scope: str, limits: SpendingLimits, spent: Expenditure, today: date) -> list[Ceiling]:
    """The ceilings that are set."""
    found: list[Ceiling] = []
    if limits.day_usd is not None:
        found.append(Ceiling(scope, "day", limits.day_usd, spent.day_usd, _midnight(today + timedelta(days=1))))
    if limits.month_usd is not None:
        found.append(Ceiling(scope, "month", limits.month_usd, spent.month_usd, _midnight(next_month(today))))
    return found


def check_ceiling(ceiling: Ceiling, usd: float) -> None:
    """Check a call of `usd`. Errors: `BudgetExceeded`, with the amounts."""
    if ceiling.spent_usd + usd <= ceiling.limit_usd and ceiling.spent_usd < ceiling.limit_usd:
        return
    raise BudgetExceeded(
        f"The {ceiling.scope}'s budget for models is {ceiling.limit_usd:.4f} USD a {ceiling.period}; "
        f"{ceiling.spent_usd:.4f} USD are spent and this call would cost about {usd:.4f} USD. It begins anew at "
        f"{ceiling.resets_at:%Y-%m-%d %H:%M} UTC; `setBudget` or `rag budget set` changes it.",
        limit_usd=ceiling.limit_usd,
        spent_usd=ceiling.spent_usd,
        resets_at=ceiling.resets_at,
    )


def reaches_soft_limit(ceiling: Ceiling, usd: float, soft_share: float) -> bool:
    """Whether a call of `usd` reaches the soft limit of a ceiling."""
    return ceiling.spent_usd + usd >= soft_share * ceiling.limit_usd


def first_of_month(day: date) -> date:
    """The first day of the month."""
    return day.replace(day=1)


def next_month(day: date) -> date:
    """The first day of the next month."""
    return first_of_month(first_of_month(day) + timedelta(days=31))


def _lower(one: N | None, other: N | None) -> N | None:
    """None: no ceiling."""
    return one if other is None else other if one is None else min(one, other)


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)
