"""Rate limits of organisations per minute, and the algorithm that enforces them.

A bucket is one number, the time at which it is full again (GCRA, the leaky bucket as a meter: ITU-T I.371, annex A). It
holds a minute's worth of requests and refills evenly: a caller may send all of them at once and then one each time a
request refills.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping
from dataclasses import dataclass

from agentic_rag.kernel.errors import InvalidInput

WINDOW_MICROS = 60_000_000
"""A minute."""

MAX_PER_MINUTE = 1_000_000
MAX_STORED_MB = 1_000_000_000
BYTES_PER_MB = 1_000_000
MICROS_PER_SECOND = 1_000_000


class Traffic(enum.Enum):
    """The kind of a request; each kind has its own limit. The value is its name in metrics and messages."""

    ASK = "ask"
    """Answers a question or explains an answer: the expensive requests."""
    WRITE = "write"
    """Uploads and every other change."""
    READ = "read"


Demand = Mapping[Traffic, int]
"""Requests by kind."""


def remaining_demand(demand: Demand, counted: Demand) -> Demand:
    """The part of a demand that is not yet counted."""
    return {traffic: max(0, count - counted.get(traffic, 0)) for traffic, count in demand.items()}


@dataclass(frozen=True, slots=True)
class RateLimits:
    """Requests a minute, and what may be stored; 0: no limit; None: the operator's setting. Raises `InvalidInput` for
    anything else.
    """

    asks: int | None = None
    writes: int | None = None
    reads: int | None = None
    stored_mb: int | None = None
    """Megabytes (10⁶ bytes) of uploaded originals in all workspaces."""

    def __post_init__(self) -> None:
        for name, value in (("asks", self.asks), ("writes", self.writes), ("reads", self.reads)):
            if value is not None and not 0 <= value <= MAX_PER_MINUTE:
                raise InvalidInput(
                    f"`{name}` takes requests a minute, 0 to {MAX_PER_MINUTE}; 0 is no limit.", path=(name,)
                )
        if self.stored_mb is not None and not 0 <= self.stored_mb <= MAX_STORED_MB:
            raise InvalidInput(
                f"`storedMegabytes` takes 0 to {MAX_STORED_MB}; 0 is no limit.", path=("storedMegabytes",)
            )

    def of(self, traffic: Traffic) -> int | None:
        """The limit of one kind."""
        return {Traffic.ASK: self.asks, Traffic.WRITE: self.writes, Traffic.READ: self.reads}[traffic]

    def over(self, defaults: RateLimits) -> RateLimits:
        """These limits, with `defaults` where they are None."""
        rates = [_first(self.of(one), defaults.of(one)) for one in Traffic]
        return RateLimits(*rates, stored_mb=_first(self.stored_mb, defaults.stored_mb))

    def narrower(self, other: RateLimits) -> RateLimits:
        """Each limit the lower of both. The operator's setting, which is not known here, counts as lower than no limit
        and as higher than any number: a number was set on purpose.
        """
        rates = [_lower(self.of(one), other.of(one)) for one in Traffic]
        return RateLimits(*rates, stored_mb=_lower(self.stored_mb, other.stored_mb))


@dataclass(frozen=True, slots=True)
class Bucket:
    """One limit for one request. `key` names its holder within the organisation."""

    key: str
    per_minute: int
    cost: int = 1

    @property
    def micros(self) -> int:
        """The part of the minute that the request uses, at most the whole minute: otherwise it could never pass."""
        return math.ceil(min(self.cost, self.per_minute) * WINDOW_MICROS / self.per_minute)


@dataclass(frozen=True, slots=True)
class RateLimitRefusal:
    """The bucket that had too little, and the seconds until it has enough."""

    index: int
    seconds: float


def full_after(full_at: int, now: int, micros: int) -> int:
    """The time at which a bucket is full again if `micros` are taken now (all three in microseconds). A time more than
    a minute ahead comes from a clock that was set back since.
    """
    return max(min(full_at, now + WINDOW_MICROS), now) + micros


def wait_micros(full: int, now: int) -> int:
    """Microseconds to wait before a request may leave the bucket full again at `full`; 0 or less: no wait."""
    return full - now - WINDOW_MICROS


def subject_limit(per_minute: int, share: float) -> int:
    """The part of an organisation's limit for one caller."""
    return max(1, math.floor(per_minute * share))


def _lower(one: int | None, other: int | None) -> int | None:
    return min(one, other, key=lambda limit: math.inf if limit == 0 else MAX_STORED_MB + 1 if limit is None else limit)


def _first(given: int | None, default: int | None) -> int | None:
    return default if given is None else given
