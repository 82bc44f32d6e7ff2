"""Fresh identifiers and randomness, as a port, so that the core stays deterministic."""

from __future__ import annotations

from typing import Protocol
from uuid import UUID


class Ids(Protocol):
    """Makes new ids and jitter."""

    def new(self) -> UUID:
        """A fresh, time-ordered UUID (version 7 layout)."""
        ...

    def trace_id(self) -> str:
        """A fresh W3C trace id: 32 lower-case hex digits."""
        ...

    def jitter(self) -> float:
        """A uniform number in [0, 1)."""
        ...
