"""The handler of CALIBRATE jobs. It asks questions made from the corpus and sets the workspace's threshold."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime

from agentic_rag.jobs.job import Lease
from agentic_rag.jobs.ports import JobProgress
from agentic_rag.kernel.clock import Clock
from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.models.embedding.calibration import (
    CalibratedLine,
    CalibrationDraft,
    CalibrationSource,
    SupportCalibration,
)
from agentic_rag.operations.calibrate import CalibrateSupport, CalibrationPassages, wish_of
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag_eval.own_questions import EASIER, KNOWN_ITEM, SourcePassage, own_questions
from agentic_rag_eval.records import EvalQuestion
from agentic_rag_eval.support_calibration import AskedSupport, Calibration, calibrate, calibrate_kinds, fewest_questions

AskSupport = Callable[[WorkspaceRef, EvalQuestion], Awaitable[float | None]]
"""The support of a question; None for one that is not answered from passages."""

QUESTIONS = 200
MOST_READ = 1000
"""Passages read: more than are wanted, since some have too little text to ask for."""
SEED = 1
NOTED_EVERY = 10
"""Questions between two notes of how far the work has come."""


class CalibrateWorkspace:
    """The use case of CALIBRATE jobs. `default` is the threshold that it may only raise."""

    def __init__(self, calibrate: CalibrateSupport, ask: AskSupport, clock: Clock, default: float) -> None:
        self._calibrate = calibrate
        self._ask = ask
        self._clock = clock
        self._default = default

    async def run(self, lease: Lease, progress: JobProgress) -> None:
        """Ask the remaining questions, then set the threshold. An attempt goes on where the last one ended, unless the
        corpus has changed. A corpus with too little text leaves the threshold as it is, if nobody asked.

        Errors: `InvalidInput` code CORPUS_TOO_SMALL, `LeaseLost`, `NotFound`, those of answering a question.
        """
        workspace, wish = lease.job.workspace, wish_of(lease.job)
        passages = await self._calibrate.passages(workspace, MOST_READ, SEED)
        questions = [one for one in questions_from(passages, QUESTIONS, SEED) if one.kind == KNOWN_ITEM]
        needed = fewest_questions(wish.error / EASIER)
        if len(questions) >= needed:
            asked = await self._ask_all(lease, passages.corpus_version, questions, progress)
            if sum(one.answerable for one in asked) >= needed:
                found = measured(
                    asked, wish.error, self._default, passages, CalibrationSource.CORPUS, self._clock.now()
                )
                await self._calibrate.keep(workspace, found, wish, lease=lease)
                return
        if wish.is_asked:
            raise too_small(wish.error, len(questions))
        await self._calibrate.postpone(lease, passages.chunks)

    async def _ask_all(
        self, lease: Lease, version: int, questions: Sequence[EvalQuestion], progress: JobProgress
    ) -> list[AskedSupport]:
        from agentic_rag.answering.shapes.kind_threshold import kind_name

        workspace = lease.job.workspace
        known = await self._calibrate.find(workspace)
        draft = None if known is None else known.record.draft
        if draft is None or draft.corpus_version != version:
            draft = CalibrationDraft(version)
        supports = list(draft.supports)
        for _ in supports:
            progress.advance()
        for one in questions[len(supports) :]:
            began = self._clock.monotonic()
            supports.append((kind_name(one.question), await self._ask(workspace, one)))
            progress.advance()
            if len(supports) % NOTED_EVERY == 0:
                await self._calibrate.note(lease, CalibrationDraft(version, tuple(supports)))
            # Half of the time is left to work that somebody waits for.
            await asyncio.sleep(min(1.0, self._clock.monotonic() - began))
        return [AskedSupport(support, answerable=True, kind=kind) for kind, support in supports if support is not None]


def questions_from(passages: CalibrationPassages, wanted: int, seed: int) -> list[EvalQuestion]:
    """Questions made from sampled passages."""
    sources = [SourcePassage(one.source_path, one.text, one.document_title) for one in passages.sampled]
    return own_questions(sources, wanted, seed)


def measured(
    asked: Sequence[AskedSupport],
    error: float,
    least: float,
    passages: CalibrationPassages,
    source: CalibrationSource,
    now: datetime,
) -> SupportCalibration:
    """What the supports come to: a line for all questions, and one for each kind with enough of them; of made questions
    at a part of the error.
    """
    drawn_at = error / EASIER if source is CalibrationSource.CORPUS else error
    return SupportCalibration(
        error=error,
        source=source,
        pooled=_line(calibrate(asked, drawn_at, least=least)),
        chunks=passages.chunks,
        corpus_version=passages.corpus_version,
        measured_at=now,
        kinds={kind: _line(one) for kind, one in calibrate_kinds(asked, drawn_at, least=least).items()},
    )


def _line(found: Calibration) -> CalibratedLine:
    rate = found.false_abstention
    hits, low, high = (0, 0.0, 1.0) if rate is None else (rate.hits, rate.low, rate.high)
    return CalibratedLine(found.threshold, 0 if rate is None else rate.of, found.bound, hits, low, high)


def too_small(error: float, questions: int) -> InvalidInput:
    """There are too few questions for the error asked for."""
    return InvalidInput(
        f"An error of {error:g} needs {fewest_questions(error / EASIER)} questions made from the corpus, and its "
        f"passages give {questions}: ingest more, allow a larger error, or calibrate on a dataset.",
        code="CORPUS_TOO_SMALL",
    )
