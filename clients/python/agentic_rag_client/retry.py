"""When a failed call is made again. It decides; the clients wait."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass

from agentic_rag_client.errors import LATE, RagError


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Exponential backoff with full jitter, or what the server asks for in `Retry-After` where that is longer."""

    attempts: int = 4
    first_seconds: float = 0.25
    """The longest pause before the second attempt; each later one may be twice as long."""
    most_seconds: float = 8.0

    def pause(self, error: RagError, attempt: int, seconds_left: float) -> float | None:
        """Seconds to wait after the failed `attempt`, from 1; None: give up. A pause that would outlast the call is
        none: whoever waits learns at once.
        """
        if not error.is_transient or attempt >= self.attempts:
            return None
        longest = min(self.most_seconds, self.first_seconds * 2 ** (attempt - 1))
        seconds = max(random.uniform(0, longest), error.retry_after or 0.0)
        return seconds if seconds < seconds_left else None


@dataclass(frozen=True, slots=True)
class Deadline:
    """The instant until which a call may take."""

    at: float

    @classmethod
    def after(cls, seconds: float) -> Deadline:
        """The deadline in so many seconds."""
        return cls(time.monotonic() + seconds)

    @property
    def seconds_left(self) -> float:
        """Errors: `RagError` code CLIENT_TIMEOUT when there are none."""
        left = self.at - time.monotonic()
        if left <= 0:
            raise RagError("The time of the call is over.", code=LATE)
        return left
