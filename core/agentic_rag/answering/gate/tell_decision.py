"""Tells the operators what the gate decided."""

from __future__ import annotations

from agentic_rag.answering.gate_decision import DowngradeCause, GateDecision
from agentic_rag.kernel.telemetry import Telemetry

_REFUSALS = {
    DowngradeCause.ORGANISATION: "WEB_REFUSED",
    DowngradeCause.WORKSPACE: "WEB_REFUSED",
    DowngradeCause.REQUEST: "WEB_REFUSED",
    DowngradeCause.BUDGET: "WEB_BUDGET_SPENT",
}
"""What keeps a run from the web before it is asked, by the code under which a later call would be refused."""


def tell_decision(telemetry: Telemetry, gate: GateDecision) -> None:
    """Count the decision, and tell it with its contributions and what lowered it; who refused the web is told by
    itself. The run's id is bound already.
    """
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
    for one in gate.downgrades:
        if (code := _REFUSALS.get(one.cause)) is not None:
            telemetry.event("rag_web_refused", code=code, cause=one.cause.value, reason=one.reason)
