"""Waiting for a switch of embedding spaces, and the data set of its gate."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from pathlib import Path

from agentic_rag.jobs.job import JobState
from agentic_rag.kernel.errors import AgenticRagError, InvalidInput, Permanent, Retryable
from agentic_rag.kernel.public_ids import NodeKind, decode
from agentic_rag.models.embedding.recall_gate import RecallGate, RecallQuestion, build_recall_gate
from agentic_rag.models.embedding.space import SpaceRecord, SpaceState
from agentic_rag.operations.switch_embedding import SwitchStart
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag_cli.output import terminal
from agentic_rag_cli.processes.children import Children
from agentic_rag_cli.session import Session
from agentic_rag_eval.dataset import load_dataset

_POLL_SECONDS = 0.2
_STALL_SECONDS = 120.0


def gate_from(path: Path, k: int, tolerance: float) -> RecallGate:
    """The gate over a data set; gold ids may be source paths, plain ids, or ids of the API. Errors: `InvalidInput`
    codes DATASET_MISSING, DATASET_INVALID, GATE_INVALID.
    """
    questions = [RecallQuestion(one.question, tuple(map(_gold, one.gold_ids))) for one in load_dataset(path)]
    return build_recall_gate(questions, k, tolerance)


def _gold(text: str) -> str:
    try:
        return str(decode(text, NodeKind.DOCUMENT).key)
    except InvalidInput:
        return text


async def follow_switch(
    session: Session, workspace: WorkspaceRef, begun: SwitchStart, children: Children
) -> SpaceRecord:
    """`wait_for_switch` with a progress bar, as long as the processes that do the work live."""
    bar = terminal.ProgressLine("re-embedding")
    try:
        return await children.guard(wait_for_switch(session, workspace, begun, bar.update))
    finally:
        bar.close()


async def wait_for_switch(
    session: Session, workspace: WorkspaceRef, begun: SwitchStart, progress: Callable[[int, int], None]
) -> SpaceRecord:
    """Return when the workspace answers in the space. Errors: the code with which its job ended (SWITCH_GATE_REFUSED
    among them), SWITCH_CANCELLED, SWITCH_STALLED when nothing moved for two minutes.
    """
    moved, seen = time.monotonic(), (-1, -1)
    while True:
        record = next(
            (one for one in await session.spaces(workspace) if one.registered == begun.record.registered), begun.record
        )
        job = None if begun.job is None else await session.job(workspace, begun.job.job_id)
        progress(record.done, record.total)
        if record.state is SpaceState.ACTIVE:
            return record
        if job is not None and job.state is JobState.DEAD:
            raise AgenticRagError(job.error_message or "The job gave up.", code=job.error_code)
        if job is None or job.state in (JobState.DONE, JobState.CANCELLED):
            raise Permanent("The switch was called off.", code="SWITCH_CANCELLED")
        step = (record.done, job.progress)
        if step != seen:
            moved, seen = time.monotonic(), step
        elif time.monotonic() - moved > _STALL_SECONDS:
            raise Retryable(
                "Nothing moved for two minutes: see `rag job list` and the worker's log. The switch goes on when a "
                "worker does.",
                code="SWITCH_STALLED",
            )
        await asyncio.sleep(_POLL_SECONDS)
