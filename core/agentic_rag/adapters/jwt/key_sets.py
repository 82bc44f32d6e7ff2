"""Sources of verifying keys: an issuer's JWK set over HTTP, or one local secret."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from agentic_rag.adapters.jwt.keys import VerifyingKey, read_key_set
from agentic_rag.kernel.clock import Clock
from agentic_rag.kernel.concurrency import detached_task
from agentic_rag.kernel.errors import DependencyUnavailable
from agentic_rag.kernel.telemetry import Telemetry

FETCHES = "rag_jwks_fetches_total"


@dataclass(frozen=True, slots=True)
class LocalSecret:
    """A local secret for development: it signs and verifies, whatever key id a token names."""

    secret: bytes

    async def key(self, key_id: str | None) -> VerifyingKey | None:
        """The secret."""
        return VerifyingKey("HS256", self.secret)

    async def aclose(self) -> None:
        """Nothing to release."""


@dataclass(frozen=True, slots=True)
class KeySetLifetimes:
    """How long fetched keys are used, in seconds."""

    fresh: float = 300.0
    """Older keys are fetched again, in the background of the request that finds them old."""
    stale: float = 86_400.0
    """Older keys are rejected, however long the issuer has been unreachable."""
    between: float = 10.0
    """The minimum time between two fetches, whatever key ids tokens name."""


class RemoteKeySet:
    """Fetches keys on first use, when they become old, and when a token names an unknown key. `fetch` returns the JWK
    set or raises `OSError`.
    """

    def __init__(
        self,
        fetch: Callable[[], Awaitable[bytes]],
        clock: Clock,
        telemetry: Telemetry,
        freshness: KeySetLifetimes | None = None,
        close: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._fetch = fetch
        self._clock = clock
        self._telemetry = telemetry
        self._freshness = freshness or KeySetLifetimes()
        self._close = close
        self._keys: Mapping[str, VerifyingKey] = {}
        self._fetched_at: float | None = None
        self._tried_at: float | None = None
        self._fetching: asyncio.Task[None] | None = None

    async def key(self, key_id: str | None) -> VerifyingKey | None:
        """The key with that id; None if the issuer publishes no such key. Errors: `DependencyUnavailable` if the keys
        could not be fetched.
        """
        if key_id is None:
            return None
        age = self._age()
        known = self._keys.get(key_id)
        if known is not None and age < self._freshness.stale:
            if age >= self._freshness.fresh:
                self._begin()
            return known
        if self._begin() is not None:
            # Shielded, so that a cancelled caller does not end a fetch that others await.
            await asyncio.shield(self._fetching or asyncio.sleep(0))
        if self._age() >= self._freshness.stale:
            raise DependencyUnavailable("The issuer's keys cannot be fetched; try again.", dependency="jwks")
        return self._keys.get(key_id)

    async def aclose(self) -> None:
        if self._fetching is not None:
            self._fetching.cancel()
        if self._close is not None:
            await self._close()

    def _age(self) -> float:
        return float("inf") if self._fetched_at is None else self._clock.monotonic() - self._fetched_at

    def _begin(self) -> asyncio.Task[None] | None:
        """The running fetch, or a new one if enough time has passed; None otherwise."""
        if self._fetching is not None:
            return self._fetching
        now = self._clock.monotonic()
        if self._tried_at is not None and now - self._tried_at < self._freshness.between:
            return None
        self._tried_at = now
        self._fetching = detached_task(self._refresh())
        return self._fetching

    async def _refresh(self) -> None:
        try:
            self._keys = read_key_set(await self._fetch())
            self._fetched_at = self._clock.monotonic()
            self._telemetry.count(FETCHES, outcome="ok")
        except (OSError, ValueError) as error:
            self._telemetry.count(FETCHES, outcome="failed")
            self._telemetry.event("rag_jwks_fetch_failed", level="warning", reason=str(error) or type(error).__name__)
        finally:
            self._fetching = None


KeySet = LocalSecret | RemoteKeySet
"""The keys of an issuer."""
