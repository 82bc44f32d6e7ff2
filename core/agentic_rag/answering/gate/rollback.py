"""A plan that the gate does without for a while, because its outcomes were bad."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from agentic_rag.answering.gate_decision import DowngradeCause

REST = timedelta(days=1)
"""How long a plan rests before it is tried again; another deploy tries it at once."""


@dataclass(frozen=True, slots=True)
class Rollback:
    """Runs that would take the plan read the documents alone, until `until` or another deploy."""

    plan: str
    """search or full_loop."""
    cause: DowngradeCause
    """SATISFACTION, FRESHNESS or LATENCY."""
    reason: str
    began_at: datetime
    deploy: str
    """The deploy that was in force when it began."""

    @property
    def until(self) -> datetime:
        """When the plan is tried again."""
        return self.began_at + REST

    def holds(self, now: datetime, deploy: str) -> bool:
        """Whether the plan still rests in this deploy."""
        return now < self.until and deploy == self.deploy

    def is_followed_by(self, decided_at: datetime, deploy: str) -> bool:
        """Whether a run belongs to the trial behind the rest. One that was under way when the plan came to rest does
        not.
        """
        return decided_at > self.began_at and not self.holds(decided_at, deploy)
