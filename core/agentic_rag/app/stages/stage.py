"""What every stage of a run looks like."""

from __future__ import annotations

from typing import Protocol

from agentic_rag.app.reads import Reads
from agentic_rag.domain.pipeline import Stage
from agentic_rag.domain.run_state import RunState, StageResult


class StageStep(Protocol):
    """One step: takes the state, returns a new one. Knows nothing of spans, metrics or deadlines."""

    @property
    def stage(self) -> Stage:
        """Which step this is."""
        ...

    async def run(self, state: RunState, reads: Reads) -> StageResult:
        """Do the step."""
        ...
