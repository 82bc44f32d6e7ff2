"""Drives one run through the state machine: the table decides what comes next, the stages do it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from agentic_rag.app.reads import Reads
from agentic_rag.app.stage_runner import StageRunner
from agentic_rag.app.stages.stage import StageStep
from agentic_rag.domain.access import Readable
from agentic_rag.domain.answer_assembly import assemble
from agentic_rag.domain.answers import Answer, Dependency, StageRecord
from agentic_rag.domain.errors import AgenticRagError
from agentic_rag.domain.pipeline import Stage, Verdict, next_stage
from agentic_rag.domain.run_state import RunState
from agentic_rag.domain.spaces import EmbeddingSpace
from agentic_rag.domain.tenancy import WorkspaceRef
from agentic_rag.ports.clock import Clock
from agentic_rag.ports.database import Database


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer with what it was read from."""

    workspace: WorkspaceRef
    answer: Answer
    stages: tuple[StageRecord, ...]
    corpus_version: int
    graph_version: int
    space: EmbeddingSpace
    access: Readable | None = None
    """What who asked might read then; None when nothing was read."""
    hurried: bool = False
    """Something was left out because time ran out: with more time the answer may be another."""


class RunPipeline:
    """The state machine of `domain.pipeline` over a set of steps, one per stage."""

    def __init__(self, database: Database, clock: Clock, runner: StageRunner, steps: Sequence[StageStep]) -> None:
        self._database = database
        self._clock = clock
        self._runner = runner
        self._steps: Mapping[Stage, StageStep] = {step.stage: step for step in steps}

    async def run(self, state: RunState) -> Answered:
        """From the gate to an answer. Errors: `DependencyUnavailable`, `NotFound`, `InvalidInput`, `SpaceMismatch`."""
        began = self._clock.monotonic()
        records: list[StageRecord] = []
        stage = Stage.GATE
        async with Reads(self._database, state.question.workspace, state.question.as_of, state.readers) as reads:
            while stage is not Stage.DONE:
                timed = await self._runner.run(self._steps[stage], state, reads, began)
                records.append(timed.record)
                state = timed.result.state
                if stage is Stage.EMBED and timed.result.verdict is Verdict.OUT_OF_TIME:
                    state = replace(state, degraded=(*state.degraded, Dependency.EMBEDDER))
                stage = next_stage(stage, timed.result.verdict)
        if state.gate is None:
            raise AgenticRagError("A run ended without a decision of the gate.")
        version = state.corpus_version if state.read_version is None else state.read_version
        graph = version if state.graph_version is None else state.graph_version
        answer = assemble(state, state.gate)
        return Answered(
            state.question.workspace, answer, tuple(records), version, graph, state.space, state.access, state.hurried
        )
