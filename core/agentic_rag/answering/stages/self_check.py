"""Self-check: verify every citation against the stored text, then write what passed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from agentic_rag.answering.answer import Abstention, AbstentionReason, FetchedText, Outcome
from agentic_rag.answering.lazy_snapshot import LazySnapshot
from agentic_rag.answering.run_state import Ending, RunState, StageResult
from agentic_rag.answering.state_machine import MAX_REPAIRS, Stage, StageEvent
from agentic_rag.answering.tools.web_pages import is_page_revision, page_span
from agentic_rag.answering.verification.check import CheckedDraft, check, cite_nearest, report, write
from agentic_rag.answering.verification.citations import quotes_of, span_request
from agentic_rag.answering.verification.defang_links import NO_HOSTS
from agentic_rag.documents.document import RevisionSpan, SpanRequest
from agentic_rag.web.url_policy import HostList

ALL_REFUSED = "What the passages offered did not pass the self-check, so no answer is given."


class SelfCheckStage:
    """Asks for the stored text of all quotes in one round trip; the rest is `answering.verification.check`."""

    stage = Stage.SELF_CHECK

    def __init__(self, link_hosts: HostList = NO_HOSTS) -> None:
        self._link_hosts = link_hosts

    async def run(self, state: RunState, reads: LazySnapshot) -> StageResult:
        """Attach the ending, or ask for one repair."""
        if not state.draft:
            return StageResult(_end_with_abstention(state, CheckedDraft((), ())))
        requests = [span_request(quote, state.passages) for sentence in state.draft for quote in quotes_of(sentence)]
        stored = await _read_spans(requests, state.fetched, reads)
        checked = check(state.draft, state.passages, stored)
        abstaining = state.shortfall is not None and not state.missing
        if checked.refused and state.repairs < MAX_REPAIRS and not abstaining:
            refused = frozenset(
                (state.passages[one.sentence.passage].chunk.ordinal, one.sentence.start) for one in checked.refused
            )
            again = replace(
                state,
                excluded=state.excluded | refused,
                refusals=(*state.refusals, *checked.refused),
                repairs=state.repairs + 1,
            )
            return StageResult(again, StageEvent.REPAIR, f"repair: {checked.refused[0].guardrail}")
        if abstaining or not checked.passed:
            return StageResult(_end_with_abstention(state, checked))
        return StageResult(_end_with_answer(state, checked, self._link_hosts))


async def _read_spans(
    requests: Sequence[SpanRequest], fetched: Sequence[FetchedText], reads: LazySnapshot
) -> Sequence[RevisionSpan | None]:
    """The text behind each quote: of pages as they are kept with the run, of everything else from the store."""
    in_store = [one for one in requests if not is_page_revision(one.revision_id, fetched)]
    spans: Iterator[RevisionSpan | None] = iter(())
    if in_store:
        snapshot = await reads.snapshot()
        spans = iter(await snapshot.documents.revision_spans(in_store))
    return [page_span(one, fetched) if is_page_revision(one.revision_id, fetched) else next(spans) for one in requests]


def _end_with_answer(state: RunState, checked: CheckedDraft, link_hosts: HostList) -> RunState:
    written = write(checked, state.passages, link_hosts)
    abstention: Abstention | None = None
    outcome = Outcome.CONFLICTING if state.conflicting and len(checked.passed) > 1 else Outcome.GROUNDED
    if state.shortfall is not None:
        outcome = Outcome.PARTIALLY_GROUNDED
        abstention = Abstention(state.shortfall.reason, state.shortfall.explanation)
    found = report(checked, state.missing, repaired=state.repairs > 0, earlier=state.refusals)
    ending = Ending(written.text, outcome, written.citations, abstention)
    return replace(state, ending=ending, report=found)


def _end_with_abstention(state: RunState, checked: CheckedDraft) -> RunState:
    if state.shortfall is not None and not state.missing:
        reason, why = state.shortfall.reason, state.shortfall.explanation
    elif state.draft:
        reason, why = AbstentionReason.LOW_SUPPORT, ALL_REFUSED
    else:
        reason, why = AbstentionReason.NO_EVIDENCE, ALL_REFUSED
    close = cite_nearest(checked, state.passages)
    found = report(CheckedDraft((), checked.refused), (), repaired=state.repairs > 0, earlier=state.refusals)
    return replace(state, ending=Ending("", Outcome.ABSTAINED, abstention=Abstention(reason, why, close)), report=found)
