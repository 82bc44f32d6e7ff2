"""What an organisation's calls of models used."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Protocol
from uuid import UUID

from agentic_rag.models.billing.limits import Expenditure
from agentic_rag.models.billing.usage import UsageLine


class UsageStore(Protocol):
    """Inside a transaction of one organisation."""

    async def add(self, lines: Sequence[UsageLine]) -> None:
        """Add to what is stored; lines of workspaces that are gone are dropped. `lines` are in the order of their keys,
        so that writers never wait for each other in a circle.
        """
        ...

    async def between(self, first: date, last: date, workspace_id: UUID | None = None) -> list[UsageLine]:
        """What was used on the days from `first` to `last`, both included, in the order of the keys."""
        ...

    async def spending(self, today: date, workspace_id: UUID | None = None) -> Expenditure:
        """What this day and its month cost so far; of all workspaces, or of one."""
        ...
