"""The stages that runs and jobs are made of: each has a span, a metric and an event."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from agentic_rag.kernel.errors import AgenticRagError
from agentic_rag.kernel.telemetry import Telemetry

OK = "ok"
SKIPPED = "skipped"
"""How the outcome begins of a stage that had nothing to do; the reason follows."""


@dataclass(slots=True)
class StageEnding:
    """How a stage ended; the stage itself says what is not `ok`."""

    outcome: str = OK
    seconds: float = 0.0
    """Known when it has ended."""


@contextmanager
def run_stage(
    telemetry: Telemetry, name: str, monotonic: Callable[[], float], attributes: Mapping[str, int] | None = None
) -> Generator[StageEnding]:
    """A stage of a run or a job: a span, and at its end the metric and the event, which has the ids that are bound. The
    event is one for operators where the stage failed; else the line of the run or document tells enough.
    """
    ending, began, level = StageEnding(), monotonic(), "debug"
    try:
        with telemetry.span(f"rag.{name}", attributes) as span:
            yield ending
            if ending.outcome.startswith(SKIPPED):
                span.discard()
            elif ending.outcome != OK:
                span.set("rag.stage.outcome", ending.outcome)
    except BaseException as error:
        ending.outcome, level = _code_of(error), "info"
        raise
    finally:
        ending.seconds = monotonic() - began
        telemetry.observe("rag_stage_seconds", ending.seconds, stage=name)
        seconds = round(ending.seconds, 6)
        telemetry.event("rag_stage_ended", level=level, stage=name, outcome=ending.outcome, seconds=seconds)


def _code_of(error: BaseException) -> str:
    if isinstance(error, asyncio.CancelledError):
        return "CANCELLED"
    return error.code if isinstance(error, AgenticRagError) else "INTERNAL"
