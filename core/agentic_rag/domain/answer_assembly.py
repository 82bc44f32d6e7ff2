"""Turns the last state of a run into the answer that is returned, cached and stored."""

from __future__ import annotations

from agentic_rag.domain.answers import (
    Abstention,
    AbstentionReason,
    Answer,
    AnswerDebug,
    Dependency,
    GateDecision,
    Outcome,
)
from agentic_rag.domain.run_state import Ending, RunState

_UNCACHED_REASONS = frozenset({AbstentionReason.BUDGET, AbstentionReason.DEPENDENCY, AbstentionReason.POLICY})

OUT_OF_TIME = "The time given for this question ran out before its sources were checked. Allow more time or narrow it."


def assemble(state: RunState, gate: GateDecision) -> Answer:
    """The answer of a finished run; one that has no ending ran out of time."""
    ending = state.ending or Ending(
        text="",
        outcome=Outcome.ABSTAINED,
        abstention=Abstention(AbstentionReason.BUDGET, OUT_OF_TIME),
    )
    rewritten = "\n".join(state.searches)
    return Answer(
        text=ending.text,
        outcome=ending.outcome,
        abstention=ending.abstention,
        citations=ending.citations,
        degraded=tuple(sorted(set(state.degraded), key=list(Dependency).index)),
        gate=gate,
        debug=AnswerDebug(
            plan=state.plan,
            standalone_question=state.standalone if state.standalone != state.text else None,
            rewritten_query=rewritten or None,
            hyde_text=state.hyde_text,
            candidates=state.candidates,
            tool_calls=state.tool_calls,
            self_check=state.report,
            support=state.support,
            search=state.options.search,
        ),
    )


def is_cacheable(answer: Answer) -> bool:
    """True when another run of the same question would end the same: nothing was missing, cut short or refused."""
    if answer.degraded:
        return False
    return answer.abstention is None or answer.abstention.reason not in _UNCACHED_REASONS
