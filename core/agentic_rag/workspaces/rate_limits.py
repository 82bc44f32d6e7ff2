"""How many requests an organisation may send in a minute, and the law that holds it to that.

A bucket is one number, the moment at which it will be full again (GCRA, the leaky bucket as a meter: ITU-T I.371,
annex A). It holds a minute's worth of requests and refills evenly, so that a caller may send all of them at once and
then one as each comes back.
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
MICROS_PER_SECOND = 1_000_000


class Traffic(enum.Enum):
    """What a request does; each kind has a limit of its own. The value is its name in metrics and messages."""

    ASK = "ask"
    """Answers a question, or explains an answer: the dear ones."""
    WRITE = "write"
    """Uploads, and every other change."""
    READ = "read"


Demand = Mapping[Traffic, int]
"""How many of each kind a request is."""


def remaining_demand(demand: Demand, counted: Demand) -> Demand:
    """What of a demand is left to count."""
    return {traffic: max(0, count - counted.get(traffic, 0)) for traffic, count in demand.items()}


@dataclass(frozen=True, slots=True)
class RateLimits:
    """Requests a minute; 0: no limit; None: as the operator's settings say. Raises `InvalidInput` for anything else."""

    asks: int | None = None
    writes: int | None = None
    reads: int | None = None

    def __post_init__(self) -> None:
        for name, value in (("asks", self.asks), ("writes", self.writes), ("reads", self.reads)):
            if value is not None and not 0 <= value <= MAX_PER_MINUTE:
                raise InvalidInput(
                    f"`{name}` takes requests a minute, 0 to {MAX_PER_MINUTE}; 0 is no limit.", path=(name,)
                )

    def of(self, traffic: Traffic) -> int | None:
        """The limit on one kind."""
        return {Traffic.ASK: self.asks, Traffic.WRITE: self.writes, Traffic.READ: self.reads}[traffic]

    def over(self, defaults: RateLimits) -> RateLimits:
        """These where they are given, else the defaults."""
        return RateLimits(*(_first(self.of(one), defaults.of(one)) for one in Traffic))


@dataclass(frozen=True, slots=True)
class Bucket:
    """A limit as one request meets it. `key` names who is held to it within the organisation."""

    key: str
    per_minute: int
    cost: int = 1

    @property
    def micros(self) -> int:
        """How much of the minute the request uses up: never more than all of it, else it could never pass."""
        return math.ceil(min(self.cost, self.per_minute) * WINDOW_MICROS / self.per_minute)


@dataclass(frozen=True, slots=True)
class RateLimitRefusal:
    """Which of the buckets that were tried had too little, and after how many seconds it will have enough."""

    index: int
    seconds: float


def full_after(full_at: int, now: int, micros: int) -> int:
    """When a bucket will be full again if `micros` are taken from it now (microseconds, all three). A moment further
    off than a minute was written by a clock that was set back since.
    """
    return max(min(full_at, now + WINDOW_MICROS), now) + micros


def wait_micros(full: int, now: int) -> int:
    """How long to wait before a bucket may be left as `full_after` says; 0 or less: not at all."""
    return full - now - WINDOW_MICROS


def subject_limit(per_minute: int, share: float) -> int:
    """The part of an organisation's limit that one caller may use."""
    return max(1, math.floor(per_minute * share))


def _first(given: int | None, default: int | None) -> int | None:
    return default if given is None else given
