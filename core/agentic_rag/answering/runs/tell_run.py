"""Tells the operators how a run ended."""

from __future__ import annotations

from agentic_rag.answering.run import Run
from agentic_rag.kernel.stages import SKIPPED
from agentic_rag.kernel.telemetry import Telemetry


def tell_run(telemetry: Telemetry, run: Run) -> None:
    """Count the run, and tell it in one line, with the seconds of each stage that was not skipped. The run's id is
    bound already.
    """
    answer = run.answer
    telemetry.count("rag_runs_total", outcome=answer.outcome.value)
    telemetry.count("rag_cache_requests_total", outcome=run.cache.value)
    if answer.abstention is not None:
        telemetry.count("rag_abstentions_total", reason=answer.abstention.reason.value)
    for dependency in answer.degraded:
        telemetry.count("rag_degraded_total", dependency=dependency.value)
    telemetry.event(
        "rag_run_ended",
        outcome=answer.outcome.value,
        reason=answer.abstention.reason.value if answer.abstention else None,
        degraded=" ".join(one.value for one in answer.degraded) or None,
        cache=run.cache.value,
        seconds=round(run.seconds, 6),
        **{f"{one.stage}_seconds": round(one.seconds, 6) for one in run.stages if not one.outcome.startswith(SKIPPED)},
    )
