"""Gate: decides first whether the run reads the documents, and last whether what they gave is worth a look outside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from agentic_rag.answering.gate.decide import MAX_SEEDS, GateRules, Seeds, decide
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
from agentic_rag.answering.gate.weights import weights_for
from agentic_rag.answering.gate_decision import GateDecision
from agentic_rag.answering.lazy_snapshot import LazySnapshot
from agentic_rag.answering.outside import LEAST_SECONDS, OUTSIDE_SHARE, Outside, OutsideReport, OutsideRequest
from agentic_rag.answering.query.planner import detect_answer_type
from agentic_rag.answering.run_state import (
    Checked,
    Draft,
    Ending,
    LookedOutside,
    Retrieved,
    RunState,
    StageResult,
)
from agentic_rag.answering.state_machine import StageEvent
from agentic_rag.answering.tools.calc import find_arithmetic
from agentic_rag.answering.tools.web_pages import find_addresses
from agentic_rag.kernel.clock import Clock
from agentic_rag.kernel.telemetry import Telemetry


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
        rules = state.options.gate
        weights = weights_for(question.asked.workspace.workspace_id, rules.trial)
        decision = decide(signs, None, rules, weights=weights)
        return StageResult(replace(state, question=replace(question, signs=signs, gate=decision)))


class DirectStage:
    """Decides about the web from what the run found and answered: its own retrieval is the probe. Then looks outside
    where the decision says so, once a run; with `is_dry` never.
    """

    def __init__(
        self, clock: Clock, telemetry: Telemetry, outside: Outside | None = None, *, is_dry: bool = False
    ) -> None:
        self._clock = clock
        self._telemetry = telemetry
        self._outside = outside
        self._is_dry = is_dry

    async def run(self, state: RunState, reads: LazySnapshot) -> StageResult:
        """Attach the gate's whole decision; go back to retrieval where pages came."""
        question, ending = state.question, state.ending
        if state.outside is not None:
            return StageResult(state, outcome="skipped: the run looked outside already")
        if ending is None or question.signs is None:
            return StageResult(state, outcome="skipped: no answer to judge")
        if state.options.gate.mode == "off":
            return StageResult(state, outcome="skipped: the gate is off")
        probe = NOTHING_FOUND if not question.allows_retrieval else probe_signs(state, ending, self._today)
        rules = await self._rules(state, probe)
        weights = weights_for(question.asked.workspace.workspace_id, rules.trial)
        decision = decide(question.signs, probe, rules, find_seeds(state), weights)
        state = replace(state, question=replace(question, gate=decision))
        if not decision.directives.use_search:
            why = "; ".join(one.reason for one in decision.downgrades) or "the documents will do"
            return StageResult(state, outcome=f"skipped: {why}")
        if self._outside is None or self._is_dry:
            return StageResult(state)
        return await self._look(self._outside, state, decision, reads)

    async def _rules(self, state: RunState, probe: ProbeSigns) -> GateRules:
        """The run's rules with what is left of the envelope, and the plans at rest. Both are read where nothing else
        forbids to look.
        """
        rules, is_past = state.options.gate, state.question.asked.as_of is not None
        profile = rules.wants.preference * (1 - probe.freshness)
        if self._outside is None or rules.policy.refused_by is not None or rules.mode != "on" or is_past:
            return replace(rules, is_past=is_past, profile=profile)
        workspace, rollbacks = state.question.asked.workspace, self._outside.rollbacks
        return replace(
            rules,
            profile=profile,
            budget_left=await self._outside.share_left(workspace),
            rollbacks=() if rollbacks is None else await rollbacks(workspace),
        )

    async def _look(
        self, outside: Outside, state: RunState, decision: GateDecision, reads: LazySnapshot
    ) -> StageResult:
        seconds = state.deadline.remaining(self._clock.monotonic()) * OUTSIDE_SHARE
        if seconds < LEAST_SECONDS:
            report = OutsideReport(refusals=("BUDGET",))
        else:
            # Nothing is read meanwhile, and pages that come are of a later version.
            await reads.release()
            asked, seeds = state.question.asked, decision.directives
            wanted = OutsideRequest(
                asked.workspace,
                seeds.search_seeds,
                seeds.crawl_seeds,
                follows_links=seeds.use_crawl,
                seconds=seconds,
                first_hosts=state.options.gate.wants.first_hosts,
            )
            report = await outside.look(wanted)
        self._tell(report)
        looked = LookedOutside(report, decision, state)
        if report.version is None:
            return StageResult(replace(state, outside=looked), outcome=_outcome(report))
        # What is answered from the same text again needs no second plan.
        event = StageEvent.RETRIEVE_AGAIN if state.question.allows_retrieval else StageEvent.BEGIN_AGAIN
        again = replace(
            state,
            question=state.question if state.question.allows_retrieval else replace(state.question, gate=None),
            corpus_version=report.version,
            retrieved=Retrieved(),
            draft=Draft(),
            checked=Checked(),
            ending=None,
            outside=looked,
        )
        return StageResult(again, event, _outcome(report))

    def _tell(self, report: OutsideReport) -> None:
        """The run's id is bound already."""
        self._telemetry.event(
            "rag_looked_outside",
            searches=report.searches,
            pages=report.pages,
            ready=report.ready,
            known=report.known,
            pending=report.pending,
            refusals=" ".join(report.refusals) or None,
        )

    @property
    def _today(self) -> date:
        return self._clock.now().date()


def _outcome(report: OutsideReport) -> str:
    if report.is_partial:
        return f"partial: {', '.join(report.refusals) or f'{report.pending} pages came too late'}"
    return f"ok: {report.ready} new pages"


def probe_signs(state: RunState, ending: Ending, today: date) -> ProbeSigns:
    """What the run's retrieval and its answer say of the corpus."""
    found, draft = state.retrieved, state.draft
    searched = found.parts if found.whole is None else (found.whole,)
    cited = ending.citations or (() if ending.abstention is None else ending.abstention.nearest)
    dated = [one.dated.date() for one in cited if one.dated is not None]
    return ProbeSigns(
        hit_rate=measure_hits([one.candidate.score for one in found.passages]),
        margin=measure_margin([one.confidence for one in searched]),
        coverage=measure_coverage(draft.support),
        freshness=measure_freshness(
            find_time_need(state.question.text, state.options.gate.wants.newest_days), dated, today
        ),
        sufficiency=measure_sufficiency(ending.outcome, draft.support, draft.certainty, len(draft.missing)),
        support=0.0 if draft.support is None else draft.support.score,
        certainty=0.0 if draft.certainty is None else draft.certainty.score,
    )


def find_seeds(state: RunState) -> Seeds:
    """Where looking outside would begin: the parts without an answer, else the question, with the workspace's seeds;
    and the addresses that the caller wrote. What a document says is no seed.
    """
    question = state.question
    searches: Sequence[str] = state.draft.missing or (question.text,)
    return Seeds(state.options.gate.wants.searches(searches, MAX_SEEDS), find_addresses(question.written))
