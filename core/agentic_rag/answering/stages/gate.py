"""Gate: decides first whether the run reads the documents, and last whether what they gave is worth a look outside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from agentic_rag.answering.gate.decide import Seeds, decide
from agentic_rag.answering.gate.intent import find_intent
from agentic_rag.answering.gate.signals import (
    NOTHING_FOUND,
    ProbeSigns,
    measure_coverage,
    measure_hits,
    measure_margin,
    measure_sufficiency,
    read_question,
)
from agentic_rag.answering.gate.time_need import find_time_need, measure_freshness
from agentic_rag.answering.lazy_snapshot import LazySnapshot
from agentic_rag.answering.query.planner import detect_answer_type
from agentic_rag.answering.run_state import Ending, RunState, StageResult
from agentic_rag.answering.tools.calc import find_arithmetic
from agentic_rag.answering.tools.web_pages import find_addresses
from agentic_rag.kernel.clock import Clock


class GateStage:
    """Decides from signals of the question, the conversation and the corpus, before anything is read."""

    async def run(self, state: RunState, reads: LazySnapshot) -> StageResult:
        """Attach the gate's decision about the documents."""
        question = state.question
        signs = read_question(
            question.text,
            question.asked.history,
            find_intent(question.text, detect_answer_type(question.text)),
            follows_up=question.is_follow_up,
            calculation=find_arithmetic(question.text) is not None,
            empty=state.corpus_version == 0,
        )
        decision = decide(signs, None, state.options.gate)
        return StageResult(replace(state, question=replace(question, signs=signs, gate=decision)))


class DirectStage:
    """Decides about the web from what the run found and answered: its own retrieval is the probe."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    async def run(self, state: RunState, reads: LazySnapshot) -> StageResult:
        """Attach the gate's whole decision. Nothing looks outside yet."""
        question, ending = state.question, state.ending
        if ending is None or question.signs is None:
            return StageResult(state, outcome="skipped: no answer to judge")
        if state.options.gate.mode == "off":
            return StageResult(state, outcome="skipped: the gate is off")
        probe = NOTHING_FOUND if not question.allows_retrieval else probe_signs(state, ending, self._today)
        decision = decide(question.signs, probe, state.options.gate, find_seeds(state))
        why = "; ".join(one.reason for one in decision.downgrades) or "the documents will do"
        outcome = "ok" if decision.directives.use_search else f"skipped: {why}"
        return StageResult(replace(state, question=replace(question, gate=decision)), outcome=outcome)

    @property
    def _today(self) -> date:
        return self._clock.now().date()


def probe_signs(state: RunState, ending: Ending, today: date) -> ProbeSigns:
    """What the run's retrieval and its answer say of the corpus."""
    found, draft = state.retrieved, state.draft
    searched = found.parts if found.whole is None else (found.whole,)
    cited = ending.citations or (() if ending.abstention is None else ending.abstention.nearest)
    read = [one.read_at.date() for one in cited if one.read_at is not None]
    return ProbeSigns(
        hit_rate=measure_hits([one.candidate.score for one in found.passages]),
        margin=measure_margin([one.confidence for one in searched]),
        coverage=measure_coverage(draft.support),
        freshness=measure_freshness(find_time_need(state.question.text), read, today),
        sufficiency=measure_sufficiency(ending.outcome, draft.support, draft.certainty, len(draft.missing)),
        support=0.0 if draft.support is None else draft.support.score,
        certainty=0.0 if draft.certainty is None else draft.certainty.score,
    )


def find_seeds(state: RunState) -> Seeds:
    """Where looking outside would begin: the parts without an answer, else the question; and the addresses that the
    caller wrote. What a document says is no seed.
    """
    question = state.question
    searches: Sequence[str] = state.draft.missing or (question.text,)
    return Seeds(tuple(dict.fromkeys(searches)), find_addresses(question.written))
