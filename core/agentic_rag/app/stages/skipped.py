"""A stage that is part of the state machine and switched off."""

from __future__ import annotations

from agentic_rag.app.reads import Reads
from agentic_rag.domain.pipeline import Stage
from agentic_rag.domain.run_state import RunState, StageResult


class SkippedStage:
    """Passes the state on and says why it did nothing."""

    def __init__(self, stage: Stage, why: str) -> None:
        self._stage = stage
        self._outcome = f"skipped: {why}"

    @property
    def stage(self) -> Stage:
        """Which step is switched off."""
        return self._stage

    async def run(self, state: RunState, reads: Reads) -> StageResult:
        """Change nothing."""
        return StageResult(state, outcome=self._outcome)
