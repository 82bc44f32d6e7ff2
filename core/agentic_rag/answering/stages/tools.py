"""Tools: run what the plan named, from the allowlist; settle runs that may not retrieve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agentic_rag.answering.answer import Abstention, AbstentionReason, Outcome
from agentic_rag.answering.extraction.subquery import build_subquery
from agentic_rag.answering.lazy_snapshot import LazySnapshot
from agentic_rag.answering.plan import ToolCall, ToolRequest
from agentic_rag.answering.query.planner import CALC, LOOKUP, detect_answer_type
from agentic_rag.answering.run_state import Ending, RunState, StageResult
from agentic_rag.answering.state_machine import Stage, StageEvent
from agentic_rag.answering.tools.calc import CalcError, calc
from agentic_rag.answering.tools.http_fetch import HttpFetch
from agentic_rag.answering.tools.lookup import lookup
from agentic_rag.answering.tools.web_pages import HTTP_FETCH, page_passages, strip_addresses
from agentic_rag.kernel.clock import Clock
from agentic_rag.retrieval.candidates import SCORE_DIGITS
from agentic_rag.retrieval.confidence import MARGIN_RANKS, NO_CONFIDENCE, RankingConfidence
from agentic_rag.retrieval.passage import Passage

NO_DURATION = 0.0
"""Durations stand in the stage records: an answer, tool calls included, must be equal for equal input."""
NOT_A_QUESTION = "This does not ask for anything that documents could answer. Ask about their content."
EMPTY_WORKSPACE = "The workspace holds no documents yet. Ingest some, then ask again."
TOOLS_OFF = "This is a calculation, and tools are switched off for this request."


class ToolsStage:
    """The tool router: `calc`, `lookup`, and `http_fetch` where it is switched on. Retrieved text never chooses a
    tool.
    """

    stage = Stage.TOOLS

    def __init__(self, http_fetch: HttpFetch | None = None, clock: Clock | None = None) -> None:
        self._http_fetch = http_fetch
        self._clock = clock

    async def run(self, state: RunState, reads: LazySnapshot) -> StageResult:
        """Attach the calls made; without retrieval this is where the run ends."""
        retrieval = state.gate is not None and state.gate.directives.use_retrieval
        for request in state.plan.tools if state.plan else ():
            if request.tool == CALC:
                return _run_calc(state, request)
            if request.tool == LOOKUP and retrieval:
                state = await _run_lookup(state, request, reads)
        state = await self._with_pages(state, reads)
        if not retrieval and not state.fetched:
            return StageResult(replace(state, ending=_end_without_retrieval(state)), StageEvent.FINISH)
        if not state.tool_calls:
            return StageResult(state, outcome="skipped: the plan names no tool")
        return StageResult(state)

    async def _with_pages(self, state: RunState, reads: LazySnapshot) -> RunState:
        """The state with the pages that the question names, before the passages of the corpus."""
        requests = [one for one in (state.plan.tools if state.plan else ()) if one.tool == HTTP_FETCH]
        if self._http_fetch is None or self._clock is None or not requests:
            return state
        await reads.release()
        if not state.parts:
            kind = state.plan.answer_type if state.plan else detect_answer_type(state.standalone)
            state = replace(state, parts=(build_subquery(strip_addresses(state.standalone), kind, {}),))
        for place, request in enumerate(requests):
            seconds = state.deadline.remaining(self._clock.monotonic())
            fetch = await self._http_fetch.run(request, place, seconds)
            state = replace(state, tool_calls=(*state.tool_calls, fetch.call))
            if fetch.page is not None:
                passages = page_passages(fetch.page, state.parts)
                state = replace(
                    state,
                    fetched=(*state.fetched, fetch.page.fetched),
                    passages=(*passages, *state.passages),
                    standings=_standings(state, passages),
                    standing=None if state.standing is None else _risen(state.standing, passages),
                )
        return state


def _standings(state: RunState, passages: Sequence[Passage]) -> tuple[RankingConfidence, ...]:
    """How a page that the question names stands out: by how much it holds of what is asked."""
    known = (*state.standings, *(NO_CONFIDENCE for _ in state.parts[len(state.standings) :]))
    return tuple(_risen(one, passages) for one in known)


def _risen(standing: RankingConfidence, passages: Sequence[Passage]) -> RankingConfidence:
    """As `measure_confidence` measures a search, where the page's best passage is the better one."""
    scores = sorted((one.candidate.score for one in passages), reverse=True)
    if not scores or scores[0] <= standing.top_score:
        return standing
    behind = scores[MARGIN_RANKS] if len(scores) > MARGIN_RANKS else 0.0
    return replace(standing, top_score=scores[0], margin=round(scores[0] - behind, SCORE_DIGITS))


async def _run_lookup(state: RunState, request: ToolRequest, reads: LazySnapshot) -> RunState:
    snapshot = await reads.snapshot()
    workspace = state.question.workspace.workspace_id
    found = await lookup(snapshot, workspace, request.argument, snapshot.access.access_ids)
    result = None if found is None else f"{found.chunk.document_title} ({found.chunk.source_path})"
    code = None if found is not None else "NOT_FOUND"
    call = ToolCall(request.tool, request.argument, result, code, NO_DURATION)
    return replace(state, tool_calls=(*state.tool_calls, call), found=found)


def _run_calc(state: RunState, request: ToolRequest) -> StageResult:
    try:
        result = calc(request.argument)
    except CalcError as error:
        call = ToolCall(request.tool, request.argument, None, error.code, NO_DURATION)
        ending = Ending("", Outcome.ABSTAINED, abstention=Abstention(AbstentionReason.POLICY, error.message))
        return StageResult(replace(state, tool_calls=(call,), ending=ending), StageEvent.FINISH, error.code)
    call = ToolCall(request.tool, request.argument, result, None, NO_DURATION)
    return StageResult(replace(state, tool_calls=(call,), ending=Ending(result, Outcome.GROUNDED)), StageEvent.FINISH)


def _end_without_retrieval(state: RunState) -> Ending:
    contributions = state.gate.contributions if state.gate else ()
    signals = {one.name for one in contributions if one.value > 0}
    if "calculation" in signals:
        reason, why = AbstentionReason.POLICY, TOOLS_OFF
    elif "corpus_empty" in signals and "chit_chat" not in signals and "no_content" not in signals:
        reason, why = AbstentionReason.NO_EVIDENCE, EMPTY_WORKSPACE
    else:
        reason, why = AbstentionReason.POLICY, NOT_A_QUESTION
    return Ending("", Outcome.ABSTAINED, abstention=Abstention(reason, why))
