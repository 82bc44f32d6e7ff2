"""Self-check: verify every citation against the stored text, then write the sentences that passed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from agentic_rag.answering.answer import Abstention, AbstentionReason, FetchedText, Outcome
from agentic_rag.answering.lazy_snapshot import LazySnapshot
from agentic_rag.answering.messages import Message, RunMessage
from agentic_rag.answering.prompts.judge import judge_prompt
from agentic_rag.answering.run_state import Checked, Ending, RunState, StageResult
from agentic_rag.answering.stages.stage import StageStep, degraded_outcome, note_degraded
from agentic_rag.answering.state_machine import MAX_REPAIRS, StageEvent
from agentic_rag.answering.tools.web_pages import is_page_revision, page_span
from agentic_rag.answering.verification.check import CheckedDraft, check, cite_nearest, report, write
from agentic_rag.answering.verification.citations import quotes_of, span_request
from agentic_rag.answering.verification.defang_links import NO_HOSTS
from agentic_rag.answering.verification.judge import apply_verdicts, collect_claims
from agentic_rag.documents.document import RevisionSpan, SpanRequest
from agentic_rag.kernel.dependency import Dependency
from agentic_rag.language.programming import is_program
from agentic_rag.language.symbols import Definition, ReadDefinitions, definitions_by_keyword, symbol_at
from agentic_rag.models.chat.request import LlmError
from agentic_rag.models.providers.llm_client import LlmClient
from agentic_rag.web.url_policy import HostList

LONGEST_CODE = 1_000_000
"""Characters of a file of source code in which a quote's definition is looked for."""


class SelfCheckStage:
    """Reads the stored text of all quotes in one round trip and compares; the rules are `verification.check`. Without
    `definitions`, what a quote of source code stands in is told by keywords alone.
    """

    def __init__(self, link_hosts: HostList = NO_HOSTS, definitions: ReadDefinitions | None = None) -> None:
        self._link_hosts = link_hosts
        self._definitions = definitions

    async def run(self, state: RunState, reads: LazySnapshot) -> StageResult:
        """Attach the ending, or ask for one repair."""
        draft, passages = state.draft, state.retrieved.passages
        if not draft.sentences:
            return StageResult(_end_with_abstention(state, CheckedDraft((), ())))
        requests = [span_request(quote, passages) for sentence in draft.sentences for quote in quotes_of(sentence)]
        checked = check(draft.sentences, passages, await _read_spans(requests, state.retrieved.fetched, reads))
        if checked.refused and state.checked.repairs < MAX_REPAIRS and not draft.is_abstention:
            refused = frozenset(
                (passages[one.sentence.passage].chunk.ordinal, one.sentence.start) for one in checked.refused
            )
            earlier = state.checked
            again = Checked(
                earlier.excluded | refused, (*earlier.refusals, *checked.refused), earlier.repairs + 1, earlier.report
            )
            outcome = f"repair: {checked.refused[0].guardrail}"
            return StageResult(replace(state, checked=again), StageEvent.REPAIR, outcome)
        if draft.is_abstention or not checked.passed:
            return StageResult(_end_with_abstention(state, checked))
        return StageResult(
            await _with_symbols(_end_with_answer(state, checked, self._link_hosts), reads, self._definitions)
        )


class LlmSelfCheckStage:
    """A chat model judges whether each sentence is supported by its quotes; `rules` verifies and writes the rest."""

    def __init__(self, rules: StageStep, llm: LlmClient) -> None:
        self._rules = rules
        self._llm = llm

    async def run(self, state: RunState, reads: LazySnapshot) -> StageResult:
        """Drop the sentences that the judge refuses, then check."""
        draft = state.draft
        is_judged = state.checked.repairs and draft.author is not None
        if not draft.sentences or draft.is_abstention or is_judged:
            return await self._rules.run(state, reads)
        await reads.release()
        claims = collect_claims(draft.sentences, state.retrieved.passages)
        reply = await self._llm.ask(lambda nonce: judge_prompt(state.question.text, claims, nonce), state.deadline)
        if isinstance(reply, LlmError):
            checked = await self._rules.run(note_degraded(state, Dependency.CHAT_MODEL), reads)
            return replace(checked, outcome=f"{degraded_outcome([reply])}; {checked.outcome}")
        checked = await self._rules.run(apply_verdicts(state, reply.value), reads)
        return replace(checked, outcome=f"{checked.outcome}: {self._llm.model}")


async def _read_spans(
    requests: Sequence[SpanRequest], fetched: Sequence[FetchedText], reads: LazySnapshot
) -> Sequence[RevisionSpan | None]:
    """The text behind each quote: of web pages as they are kept with the run, of documents from the store."""
    in_store = [one for one in requests if not is_page_revision(one.revision_id, fetched)]
    spans: Iterator[RevisionSpan | None] = iter(())
    if in_store:
        snapshot = await reads.snapshot()
        spans = iter(await snapshot.documents.revision_spans(in_store))
    return [page_span(one, fetched) if is_page_revision(one.revision_id, fetched) else next(spans) for one in requests]


async def _with_symbols(state: RunState, reads: LazySnapshot, definitions: ReadDefinitions | None) -> RunState:
    """The ending with what its quotes of source code stand in; their files are read for that, each once."""
    ending = state.ending
    if ending is None:
        return state
    cited = [one for one in ending.citations if is_program(one.source_path)]
    files = {one.revision_id: one.source_path for one in cited if one.source_span.start < LONGEST_CODE}
    if not files:
        return state
    snapshot = await reads.snapshot()
    found = await snapshot.documents.revision_spans([SpanRequest(one, 0, LONGEST_CODE) for one in files])
    texts = {revision: span.text for revision, span in zip(files, found, strict=True) if span is not None}
    # Reading them may take a while.
    await reads.release()
    defined = {one: await _definitions_of(files[one], text, definitions) for one, text in texts.items()}
    named = tuple(
        one
        if one.revision_id not in texts
        else replace(one, symbol=symbol_at(texts[one.revision_id], defined[one.revision_id], one.source_span.start))
        for one in ending.citations
    )
    return replace(state, ending=replace(ending, citations=named))


async def _definitions_of(file_name: str, text: str, read: ReadDefinitions | None) -> Sequence[Definition]:
    """What a file defines, by the grammar of its language where there is one."""
    found = None if read is None else await read(file_name, text)
    return definitions_by_keyword(file_name, text) if found is None else found


def _end_with_answer(state: RunState, checked: CheckedDraft, link_hosts: HostList) -> RunState:
    draft = state.draft
    written = write(checked, state.retrieved.passages, link_hosts)
    abstention: Abstention | None = None
    outcome = Outcome.CONFLICTING if draft.is_conflicting and len(checked.passed) > 1 else Outcome.GROUNDED
    if draft.shortfall is not None:
        outcome = draft.shortfall.outcome or Outcome.PARTIALLY_GROUNDED
        abstention = Abstention(draft.shortfall.reason, draft.shortfall.explanation.for_question(state.question.text))
    return _with_ending(state, Ending(written.text, outcome, written.citations, abstention), checked, draft.missing)


def _end_with_abstention(state: RunState, checked: CheckedDraft) -> RunState:
    draft = state.draft
    if draft.shortfall is not None and draft.is_abstention:
        reason, why = draft.shortfall.reason, draft.shortfall.explanation
    else:
        reason = AbstentionReason.LOW_SUPPORT if draft.sentences else AbstentionReason.NO_EVIDENCE
        why = RunMessage(Message.ALL_REFUSED)
    nearest = cite_nearest(checked, state.retrieved.passages)
    abstention = Abstention(reason, why.for_question(state.question.text), nearest)
    ending = Ending("", Outcome.ABSTAINED, abstention=abstention)
    return _with_ending(state, ending, CheckedDraft((), checked.refused), ())


def _with_ending(state: RunState, ending: Ending, checked: CheckedDraft, missing: Sequence[str]) -> RunState:
    repaired = state.checked.repairs > 0
    found = report(checked, missing, repaired=repaired, earlier=state.checked.refusals)
    return replace(state, ending=ending, checked=replace(state.checked, report=found))
