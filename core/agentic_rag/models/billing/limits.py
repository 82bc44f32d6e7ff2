"""Ceilings on the model spending of an organisation or a workspace. Days and months are in UTC."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import TypeVar

from agentic_rag.kernel.errors import BudgetExceeded, InvalidInput
from agentic_rag.models.billing.usage import UsageKind

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
    day_embedding_usd: float | None = None
    """Of `day_usd`, what embedding may cost."""
    day_chat_usd: float | None = None
    """Of `day_usd`, what chat models may cost."""

    def __post_init__(self) -> None:
        for name, value in (
            ("dayUsd", self.day_usd),
            ("monthUsd", self.month_usd),
            ("dayEmbeddingUsd", self.day_embedding_usd),
            ("dayChatUsd", self.day_chat_usd),
        ):
            if value is not None and not (math.isfinite(value) and value >= 0):
                raise InvalidInput(f"`{name}` takes a number of US dollars from 0 up.", path=("input", name))
        for name, calls in (("daySearches", self.day_searches), ("dayPages", self.day_pages)):
            if calls is not None and not 0 <= calls <= MAX_CALLS:
                raise InvalidInput(f"`{name}` takes 0 to {MAX_CALLS:,}.", path=("input", name))
        if not (math.isfinite(self.soft_share) and 0 < self.soft_share <= 1):
            raise InvalidInput("`softShare` takes a number above 0 and up to 1.", path=("input", "softShare"))

    @property
    def has_ceiling(self) -> bool:
        """Whether any ceiling in dollars is set."""
        dollars = (self.day_usd, self.month_usd, self.day_embedding_usd, self.day_chat_usd)
        return any(one is not None for one in dollars)

    def narrower(self, other: SpendingLimits) -> SpendingLimits:
        """These, with each ceiling the lower of both; the soft share stays."""
        return SpendingLimits(
            day_usd=_lower(self.day_usd, other.day_usd),
            month_usd=_lower(self.month_usd, other.month_usd),
            soft_share=self.soft_share,
            day_searches=_lower(self.day_searches, other.day_searches),
            day_pages=_lower(self.day_pages, other.day_pages),
            day_embedding_usd=_lower(self.day_embedding_usd, other.day_embedding_usd),
            day_chat_usd=_lower(self.day_chat_usd, other.day_chat_usd),
        )


@dataclass(frozen=True, slots=True)
class Expenditure:
    """US dollars spent in the current day and month."""

    day_usd: float = 0.0
    month_usd: float = 0.0
    day_embedding_usd: float = 0.0
    day_chat_usd: float = 0.0

    def plus(self, usd: float, kind: UsageKind) -> Expenditure:
        """The expenditure with a call of `usd` added."""
        return Expenditure(
            self.day_usd + usd,
            self.month_usd + usd,
            self.day_embedding_usd + usd * (kind is UsageKind.EMBEDDING),
            self.day_chat_usd + usd * (kind is UsageKind.CHAT),
        )


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
    kind: UsageKind | None = None
    """The calls that it bounds; None: all that cost something."""

    @property
    def key(self) -> str:
        """The identity of the ceiling."""
        of = "" if self.kind is None else f" {self.kind.value}"
        return f"{self.scope} {self.period}{of} {self.resets_at:%Y-%m-%d}"

    def bounds(self, kind: UsageKind) -> bool:
        """Whether it bounds calls of this kind."""
        return self.kind in (None, kind)


def ceilings(scope: str, limits: SpendingLimits, spent: Expenditure, today: date) -> list[Ceiling]:
    """The ceilings that are set."""
    tomorrow = _midnight(today + timedelta(days=1))
    stated = (
        ("day", limits.day_usd, spent.day_usd, tomorrow, None),
        ("day", limits.day_embedding_usd, spent.day_embedding_usd, tomorrow, UsageKind.EMBEDDING),
        ("day", limits.day_chat_usd, spent.day_chat_usd, tomorrow, UsageKind.CHAT),
        ("month", limits.month_usd, spent.month_usd, _midnight(next_month(today)), None),
    )
    return [
        Ceiling(scope, period, limit, used, resets_at, kind)
        for period, limit, used, resets_at, kind in stated
        if limit is not None
    ]


def check_ceiling(ceiling: Ceiling, usd: float) -> None:
    """Check a call of `usd`. Errors: `BudgetExceeded`, with the amounts."""
    if ceiling.spent_usd + usd <= ceiling.limit_usd and ceiling.spent_usd < ceiling.limit_usd:
        return
    what = "models" if ceiling.kind is None else ceiling.kind.value
    raise BudgetExceeded(
        f"The {ceiling.scope}'s budget for {what} is {ceiling.limit_usd:.4f} USD a {ceiling.period}; "
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
