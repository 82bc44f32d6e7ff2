"""What a judge is shown of a draft, and what its verdicts make of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agentic_rag.answering.answer import AbstentionReason
from agentic_rag.answering.evidence.prune_draft import prune_draft
from agentic_rag.answering.extraction.extractive import DraftSentence
from agentic_rag.answering.prompts.judge import ClaimToJudge, ClaimVerdict
from agentic_rag.answering.run_state import RunState, Shortfall
from agentic_rag.answering.verification.check import RefusedSentence
from agentic_rag.answering.verification.citations import quotes_of
from agentic_rag.language.tables import header_span
from agentic_rag.retrieval.passage import Passage

NONE_SUPPORTED_MESSAGE = "No sentence of the answer passed the judge, so no answer is given."

GUARDRAILS = {ClaimVerdict.UNSUPPORTED: "judge_unsupported", ClaimVerdict.OFF_TOPIC: "judge_off_topic"}


def collect_claims(state: RunState) -> tuple[ClaimToJudge, ...]:
    """Each drafted sentence beside what it quotes, with the title and headings above it."""
    return tuple(
        ClaimToJudge(one.text, "\n\n".join(_source(quote, state.passages) for quote in quotes_of(one)))
        for one in state.draft
    )


def apply_verdicts(state: RunState, verdicts: Sequence[ClaimVerdict]) -> RunState:
    """The state with the supported sentences only; an abstention that shows the others when none is."""
    pairs = list(zip(state.draft, verdicts, strict=True))
    refused = [RefusedSentence(one, GUARDRAILS[verdict]) for one, verdict in pairs if verdict in GUARDRAILS]
    if not refused:
        return state
    kept = [one for one, verdict in pairs if verdict not in GUARDRAILS]
    noted = replace(state, refusals=(*state.refusals, *refused))
    if not kept:
        return replace(noted, shortfall=Shortfall(AbstentionReason.LOW_SUPPORT, NONE_SUPPORTED_MESSAGE), missing=())
    return prune_draft(noted, kept)


def _source(sentence: DraftSentence, passages: Sequence[Passage]) -> str:
    chunk = passages[sentence.passage].chunk
    header = header_span(chunk.text, sentence.start)
    lines = (
        " › ".join((chunk.document_title, *chunk.heading_path)),
        "" if header is None else chunk.text[slice(*header)],
        chunk.text[sentence.start : sentence.end],
    )
    return "\n".join(line for line in lines if line)
