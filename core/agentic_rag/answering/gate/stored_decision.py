"""A decision of the gate as it is stored beside its run. It holds no text of a question or a document."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from agentic_rag.answering.gate_decision import Downgrade, FeatureContribution
from agentic_rag.answering.run import CacheOutcome, Run

_EVALUATED = frozenset({CacheOutcome.MISS, CacheOutcome.BYPASS})
"""An answer from the cache, or of another run, was judged with the run that made it."""


@dataclass(frozen=True, slots=True)
class StoredDecision:
    """A decision with what its run took."""

    run_id: UUID
    decided_at: datetime
    weights_version: str
    mode: str
    care: float
    score: float
    plan_type: str
    planned: str
    """The plan before anything lowered it."""
    intent: str
    contributions: tuple[FeatureContribution, ...]
    downgrades: tuple[Downgrade, ...]
    seconds: float
    """The latency of the run."""
    cost_usd: float | None
    """Of the run's own calls of a chat model; None where their price is not known."""
    tokens: int | None
    """Of these calls, in and out; None in a row from before they were kept."""
    deploy: str = ""
    """What ran then (`service.version`)."""
    external_calls: int | None = None
    """Searches and pages of the web; None in a row from before they were kept."""
    gained: bool | None = None
    """The answer cites what the run found outside; None where it did not look."""


def decision_to_store(run: Run, deploy: str = "") -> StoredDecision | None:
    """The decision of a run; None where the run was not judged after its answer."""
    gate = run.answer.gate
    if not gate.is_judged or run.cache not in _EVALUATED:
        return None
    chat, outside = run.answer.debug.chat, run.answer.outside
    return StoredDecision(
        run_id=run.run_id,
        decided_at=run.created_at,
        weights_version=gate.weights_version,
        mode=gate.mode,
        care=gate.care,
        score=gate.score,
        plan_type=gate.plan_type,
        planned=gate.planned,
        intent=gate.intent,
        contributions=gate.contributions,
        downgrades=gate.downgrades,
        seconds=run.seconds,
        cost_usd=0.0 if chat is None else chat.cost_usd,
        tokens=0 if chat is None else chat.input_tokens + chat.output_tokens,
        deploy=deploy,
        external_calls=0 if outside is None else outside.searches + outside.pages,
        gained=None if outside is None else _cites_new_text(run),
    )


def _cites_new_text(run: Run) -> bool:
    """Whether a text is cited that was read since the run began."""
    began = run.created_at - timedelta(seconds=run.seconds)
    return any(one.read_at is not None and one.read_at >= began for one in run.answer.citations)
