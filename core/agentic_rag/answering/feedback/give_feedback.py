"""Takes what a caller says of a run that he may see."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from uuid import UUID

from agentic_rag.answering.feedback.feedback import (
    MAX_CHUNKS,
    Feedback,
    FeedbackReason,
    Rating,
    TaskOutcome,
    precision_at_k,
    surfaced_chunks,
)
from agentic_rag.answering.ports import GateLog
from agentic_rag.answering.runs.read import ReadRuns
from agentic_rag.kernel.clock import Clock
from agentic_rag.kernel.errors import InvalidInput, NotFound, Retryable
from agentic_rag.kernel.telemetry import Telemetry
from agentic_rag.tenancy.access import only_subject
from agentic_rag.tenancy.principals import Principal, WorkspaceRef

_TRIES, _PAUSE_SECONDS = 60, 0.05
"""A run is stored up to a second behind its answer (`runs.record`)."""


class GiveFeedback:
    """The use case behind `submitFeedback` and `rag run rate`."""

    def __init__(self, log: GateLog, runs: ReadRuns, clock: Clock, telemetry: Telemetry) -> None:
        self._log = log
        self._runs = runs
        self._clock = clock
        self._telemetry = telemetry

    async def give(
        self,
        principal: Principal,
        workspace: WorkspaceRef,
        run_id: UUID,
        rating: Rating,
        *,
        reason: FeedbackReason | None = None,
        task_outcome: TaskOutcome | None = None,
        chunk_ids: Sequence[UUID] = (),
    ) -> Feedback:
        """Store it in place of what the caller said of the run before.

        Errors: `InvalidInput` (FEEDBACK_INVALID, OPTION_OUT_OF_RANGE), `NotFound` code
        RUN_NOT_FOUND, `Retryable` code RUN_NOT_STORED, `DependencyUnavailable`.
        """
        if reason is not None and rating is Rating.GOOD:
            raise InvalidInput(
                "A reason says what is wrong: leave it out of a good rating.",
                code="FEEDBACK_INVALID",
                path=("reason",),
            )
        if len(chunk_ids) > MAX_CHUNKS:
            raise InvalidInput(f"Name at most {MAX_CHUNKS} chunks.", code="OPTION_OUT_OF_RANGE", path=("chunkIds",))
        run = await self._runs.get(principal, workspace, run_id)
        if run is None:
            raise NotFound("There is no such run, or it is past its retention.", code="RUN_NOT_FOUND")
        surfaced = surfaced_chunks(run)
        named = frozenset(chunk_ids)
        if not named <= frozenset(surfaced):
            raise InvalidInput(
                "Name chunks that the run handed to its answer or cites: `debug { candidates { chunkId } }`, "
                "`citations { chunkId }`.",
                code="FEEDBACK_INVALID",
                path=("chunkIds",),
            )
        given = Feedback(
            run_id=run_id,
            subject=principal.subject_id,
            given_at=self._clock.now(),
            rating=rating,
            reason=reason,
            task_outcome=task_outcome,
            chunk_ids=tuple(one for one in surfaced if one in named),
            precision=precision_at_k(surfaced, named),
        )
        await self._store(workspace, given)
        self._telemetry.count("rag_feedback_total", rating=rating.value.lower())
        if named:
            useful = len(given.chunk_ids)
            self._telemetry.count("rag_feedback_passages_total", float(useful), useful="true")
            self._telemetry.count("rag_feedback_passages_total", float(len(surfaced) - useful), useful="false")
        return given

    async def _store(self, workspace: WorkspaceRef, given: Feedback) -> None:
        for _ in range(_TRIES):
            if await self._log.add_feedback(workspace, given):
                return
            await asyncio.sleep(_PAUSE_SECONDS)
        raise Retryable("The run is not stored yet. Send the feedback again.", code="RUN_NOT_STORED")

    async def of_run(self, principal: Principal, workspace: WorkspaceRef, run_id: UUID) -> Sequence[Feedback]:
        """What the caller said of a run; for those who manage the workspace what everybody said, oldest first. Errors:
        `DependencyUnavailable`.
        """
        subject = only_subject(principal)
        return await self._log.feedback_of(workspace, run_id, subject)
