"""Usage and cost of model calls, summed by workspace, day and model."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from uuid import UUID

from agentic_rag.tenancy.principals import WorkspaceRef


class UsageKind(enum.Enum):
    """The purpose of a call that costs something."""

    EMBEDDING = "embedding"
    CHAT = "chat"
    SEARCH = "search"
    """A search of the web."""
    PAGE = "page"
    """A page of the web."""


@dataclass(frozen=True, slots=True)
class Charge:
    """One call: tokens as the provider reports them, else estimated; the list price in US dollars, None when no price
    is known.
    """

    workspace: WorkspaceRef
    day: date
    kind: UsageKind
    provider: str
    model: str
    own_key: bool
    """The call was paid with the organisation's key."""
    input_tokens: int
    output_tokens: int
    cost_usd: float | None


@dataclass(frozen=True, slots=True, order=True)
class UsageKey:
    """The key of a sum."""

    workspace_id: UUID
    day: date
    kind: str
    provider: str
    model: str
    own_key: bool


@dataclass(frozen=True, slots=True)
class UsageLine:
    """The summed calls of one key."""

    key: UsageKey
    calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: float
    unpriced_calls: int
    """Calls without a known price; they add nothing to `cost_usd`."""

    def plus(self, other: UsageLine) -> UsageLine:
        """The sum of both."""
        return UsageLine(
            self.key,
            self.calls + other.calls,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cost_usd + other.cost_usd,
            self.unpriced_calls + other.unpriced_calls,
        )


def usage_line(charge: Charge) -> UsageLine:
    """The line of one call."""
    key = UsageKey(
        charge.workspace.workspace_id, charge.day, charge.kind.value, charge.provider, charge.model, charge.own_key
    )
    unpriced = int(charge.cost_usd is None)
    return UsageLine(key, 1, charge.input_tokens, charge.output_tokens, charge.cost_usd or 0.0, unpriced)


def sum_by_key(lines: Iterable[UsageLine]) -> list[UsageLine]:
    """One line per key, sorted by key."""
    sums: dict[UsageKey, UsageLine] = {}
    for line in lines:
        before = sums.get(line.key)
        sums[line.key] = line if before is None else before.plus(line)
    return [sums[key] for key in sorted(sums)]
