"""`rag budget`: the ceilings that a person sets, and sees."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any
from uuid import UUID

from tests.unit.cli.product import HANDBOOK, Product, Terminal

from agentic_rag.models.billing.limits import Ceiling, SpendingLimits
from agentic_rag.models.billing.usage import UsageKind
from agentic_rag.tenancy.principals import WorkspaceRef

MIDNIGHT = datetime(2026, 12, 1, tzinfo=UTC)
FOUND = [
    Ceiling("organisation", "month", 100.0, 4.0, MIDNIGHT),
    Ceiling("workspace", "day", 3.0, 1.5, MIDNIGHT, UsageKind.CHAT),
]


def terminal(kept: list[tuple[UUID | None, SpendingLimits]]) -> Terminal:
    async def ceilings(workspace: WorkspaceRef) -> list[Ceiling]:
        return FOUND

    async def set_limits(org_id: UUID, workspace_id: UUID | None, limits: SpendingLimits, actor: str) -> SpendingLimits:
        kept.append((workspace_id, limits))
        return limits

    async def none(workspace: WorkspaceRef) -> list[Any]:
        return []

    product = Product()
    vars(product)["spending"] = SimpleNamespace(ceilings=ceilings, set_limits=set_limits)
    vars(product)["web_envelope"] = SimpleNamespace(ceilings=none)
    return Terminal(product, {})


def test_every_ceiling_that_is_given_is_set_and_the_others_are_none() -> None:
    kept: list[tuple[UUID | None, SpendingLimits]] = []

    shown = terminal(kept).rag("budget", "set", "--embedding", "2", "--chat", "3", "--pages", "9", "-w", "handbook")

    assert (shown.exit_code, shown.stdout) == (0, "set\n")
    assert kept == [
        (HANDBOOK.workspace_id, SpendingLimits(day_embedding_usd=2.0, day_chat_usd=3.0, day_pages=9)),
    ]


def test_a_ceiling_says_which_calls_it_bounds() -> None:
    rows = [line.split() for line in terminal([]).rag("budget", "show").stdout.splitlines()]
    found = json.loads(terminal([]).rag("budget", "show", "--json").stdout)

    assert rows[1][:5] == ["organisation", "month", "all", "100.0000", "4.000000"]
    assert rows[2][:5] == ["workspace", "day", "chat", "3.0000", "1.500000"]
    assert [one["kind"] for one in found] == [None, "chat"]
