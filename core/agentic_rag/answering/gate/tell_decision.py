"""Tells the operators what the gate decided."""

from __future__ import annotations

from agentic_rag.answering.gate_decision import GateDecision
from agentic_rag.kernel.telemetry import Telemetry


def tell_decision(telemetry: Telemetry, gate: GateDecision) -> None:
    """Count the decision, and tell it with its contributions and what lowered it. The run's id is bound already."""
    telemetry.count("rag_gate_decisions_total", plan_type=gate.plan_type, model_version=gate.weights_version)
    told = (f"{one.name}={one.contribution:g}" for one in gate.contributions if one.contribution)
    telemetry.event(
        "rag_directives_evaluated",
        plan_type=gate.plan_type,
        score=gate.score,
        weights_version=gate.weights_version,
        mode=gate.mode,
        use_retrieval=gate.directives.use_retrieval,
        use_search=gate.directives.use_search,
        use_crawl=gate.directives.use_crawl,
        contributions=" ".join(told),
        downgrades="; ".join(one.reason for one in gate.downgrades) or None,
        causes=" ".join(one.cause.value for one in gate.downgrades) or None,
    )
