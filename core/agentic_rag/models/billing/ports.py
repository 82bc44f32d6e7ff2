"""Storage of an organisation's model usage."""

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
        """Add to the stored usage; lines of deleted workspaces are dropped. `lines` are sorted by key, so that writers
        cannot deadlock.
        """
        ...

    async def take_turn(self) -> None:
        """Wait until no other transaction of the organisation that called this is open: what is read after it and added
        before the end was counted against nobody else's reading.
        """
        ...

    async def between(self, first: date, last: date, workspace_id: UUID | None = None) -> list[UsageLine]:
        """The usage of the days from `first` to `last`, both included, sorted by key."""
        ...

    async def spending(self, today: date, workspace_id: UUID | None = None) -> Expenditure:
        """The cost of this day and its month so far, of all workspaces or of one."""
        ...
