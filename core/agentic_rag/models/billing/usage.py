"""What calls of models used and cost, added up by workspace, day and model."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from uuid import UUID

from agentic_rag.tenancy.principals import WorkspaceRef


class UsageKind(enum.Enum):
    """What a model was called for."""

    EMBEDDING = "embedding"
    CHAT = "chat"


@dataclass(frozen=True, slots=True)
class Charge:
    """One call: tokens as the provider stated them, else estimated; the price of the table in US dollars, None when
    the table has none.
    """

    workspace: WorkspaceRef
    day: date
    kind: UsageKind
    provider: str
    model: str
    own_key: bool
    """Paid with the organisation's key."""
    input_tokens: int
    output_tokens: int
    cost_usd: float | None


@dataclass(frozen=True, slots=True, order=True)
class UsageKey:
    """What is added up together."""

    workspace_id: UUID
    day: date
    kind: str
    provider: str
    model: str
    own_key: bool


@dataclass(frozen=True, slots=True)
class UsageLine:
    """The calls of one key, added up."""

    key: UsageKey
    calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: float
    unpriced_calls: int
    """Calls whose price is not known: they count as nothing in `cost_usd`."""

    def plus(self, other: UsageLine) -> UsageLine:
        """Both together."""
        return UsageLine(
            self.key,
            self.calls + other.calls,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cost_usd + other.cost_usd,
            self.unpriced_calls + other.unpriced_calls,
        )


def usage_line(charge: Charge) -> UsageLine:
    """One call as a line."""
    key = UsageKey(
        charge.workspace.workspace_id, charge.day, charge.kind.value, charge.provider, charge.model, charge.own_key
    )
    unpriced = int(charge.cost_usd is None)
    return UsageLine(key, 1, charge.input_tokens, charge.output_tokens, charge.cost_usd or 0.0, unpriced)


def sum_by_key(lines: Iterable[UsageLine]) -> list[UsageLine]:
    """One line for each key, in the order of the keys."""
    sums: dict[UsageKey, UsageLine] = {}
    for line in lines:
        before = sums.get(line.key)
        sums[line.key] = line if before is None else before.plus(line)
    return [sums[key] for key in sorted(sums)]
