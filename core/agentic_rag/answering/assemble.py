"""Turns the last state of a run into the answer that is returned, cached and stored."""

from __future__ import annotations

from dataclasses import replace

from agentic_rag.answering.answer import Abstention, AbstentionReason, Answer, AnswerDebug, Outcome
from agentic_rag.answering.gate_decision import GateDecision
from agentic_rag.answering.run_state import Ending, RunState
from agentic_rag.answering.tools.web_pages import HTTP_FETCH
from agentic_rag.answering.verification.defang_links import defang_links
from agentic_rag.kernel.dependency import Dependency
from agentic_rag.language.prompt_injection import Suspicion, find_suspicions
from agentic_rag.retrieval.candidates import CandidateTrace

_UNCACHED_REASONS = frozenset({AbstentionReason.BUDGET, AbstentionReason.DEPENDENCY, AbstentionReason.POLICY})

OUT_OF_TIME_MESSAGE = (
    "The time given for this question ran out before its sources were checked. Allow more time or narrow it."
)


def assemble(state: RunState, gate: GateDecision) -> Answer:
    """The answer of a finished run; one that has no ending ran out of time."""
    ending = state.ending or Ending(
        text="",
        outcome=Outcome.ABSTAINED,
        abstention=Abstention(AbstentionReason.BUDGET, OUT_OF_TIME_MESSAGE),
    )
    rewritten = "\n".join(state.searches)
    return Answer(
        text=ending.text,
        outcome=ending.outcome,
        abstention=_defang_abstention(ending.abstention),
        citations=ending.citations,
        degraded=tuple(sorted(set(state.degraded), key=list(Dependency).index)),
        gate=gate,
        debug=AnswerDebug(
            plan=state.plan,
            standalone_question=state.standalone if state.standalone != state.text else None,
            rewritten_query=rewritten or None,
            hyde_text=state.hyde_text,
            candidates=_flag_candidates(state),
            tool_calls=state.tool_calls,
            self_check=state.report,
            support=state.support,
            search=state.options.search,
            fetched=state.fetched,
        ),
    )


def is_cacheable(answer: Answer) -> bool:
    """True when another run of the same question would end the same: nothing was missing, cut short or refused,
    and no page was read that may say something else by then.
    """
    if answer.degraded or any(call.tool == HTTP_FETCH for call in answer.debug.tool_calls):
        return False
    return answer.abstention is None or answer.abstention.reason not in _UNCACHED_REASONS


def _defang_abstention(abstention: Abstention | None) -> Abstention | None:
    """It repeats parts of the question, which what was found may have completed."""
    return None if abstention is None else replace(abstention, explanation=defang_links(abstention.explanation, ()))


def _flag_candidates(state: RunState) -> tuple[CandidateTrace, ...]:
    shown = {trace.chunk_id for trace in state.candidates}
    flags = {
        one.chunk.chunk_id: find_suspicions(one.chunk.text) for one in state.passages if one.chunk.chunk_id in shown
    }
    nothing: tuple[Suspicion, ...] = ()
    return tuple(
        replace(trace, flags=found) if (found := flags.get(trace.chunk_id, nothing)) else trace
        for trace in state.candidates
    )
