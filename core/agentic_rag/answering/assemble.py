"""Turns the last state of a run into the answer to return, cache and store."""

from __future__ import annotations

from dataclasses import replace

from agentic_rag.answering.answer import Abstention, AbstentionReason, Answer, AnswerDebug, Outcome
from agentic_rag.answering.gate_decision import GateDecision
from agentic_rag.answering.messages import Message, RunMessage
from agentic_rag.answering.run_state import Ending, Retrieved, RunState
from agentic_rag.answering.tools.registry import UNCACHEABLE_TOOLS
from agentic_rag.answering.verification.defang_links import defang_links
from agentic_rag.kernel.dependency import Dependency
from agentic_rag.language.prompt_injection import find_suspicions
from agentic_rag.retrieval.candidates import CandidateTrace

_UNCACHED_REASONS = frozenset({AbstentionReason.BUDGET, AbstentionReason.DEPENDENCY, AbstentionReason.POLICY})


def assemble(state: RunState, gate: GateDecision) -> Answer:
    """The answer of a finished run. A run without an ending ran out of time."""
    ending = state.ending or Ending(
        text="",
        outcome=Outcome.ABSTAINED,
        abstention=Abstention(
            AbstentionReason.BUDGET, RunMessage(Message.OUT_OF_TIME).for_question(state.question.text)
        ),
    )
    question, retrieved = state.question, state.retrieved
    return Answer(
        text=ending.text,
        outcome=ending.outcome,
        abstention=_defang_abstention(ending.abstention),
        citations=ending.citations,
        degraded=tuple(sorted(set(state.degraded), key=list(Dependency).index)),
        gate=gate,
        debug=AnswerDebug(
            plan=question.plan,
            standalone_question=question.text if question.text != question.written else None,
            rewritten_query="\n".join(question.searches) or None,
            hyde_text=question.hyde_text,
            candidates=_flag_candidates(retrieved),
            tool_calls=retrieved.tool_calls,
            self_check=state.checked.report,
            support=state.draft.support,
            certainty=state.draft.certainty,
            search=state.options.search,
            fetched=retrieved.fetched,
            chat=state.spent,
            usage=state.usage,
        ),
        outside=None if state.outside is None else state.outside.report,
    )


def is_cacheable(answer: Answer) -> bool:
    """True when another run of the same question would give the same answer: no dependency was missing, no budget was
    short, and no tool was called that may return something else by then.
    """
    if answer.degraded or answer.is_partial or any(call.tool in UNCACHEABLE_TOOLS for call in answer.debug.tool_calls):
        return False
    return answer.abstention is None or answer.abstention.reason not in _UNCACHED_REASONS


def _defang_abstention(abstention: Abstention | None) -> Abstention | None:
    """Its explanation repeats sub-questions, which findings of retrieved text may complete."""
    return None if abstention is None else replace(abstention, explanation=defang_links(abstention.explanation, ()))


def _flag_candidates(retrieved: Retrieved) -> tuple[CandidateTrace, ...]:
    """The candidates, with the suspicions about those that became passages."""
    candidate_ids = {trace.chunk_id for trace in retrieved.candidates}
    chunks = (one.chunk for one in retrieved.passages)
    flags = {chunk.chunk_id: find_suspicions(chunk.text) for chunk in chunks if chunk.chunk_id in candidate_ids}
    return tuple(
        replace(trace, flags=found) if (found := flags.get(trace.chunk_id)) else trace for trace in retrieved.candidates
    )
