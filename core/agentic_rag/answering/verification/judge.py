"""Shows a draft to a chat model as judge, and applies its verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agentic_rag.answering.answer import AbstentionReason
from agentic_rag.answering.evidence.prune_draft import prune_draft
from agentic_rag.answering.extraction.extractive import DraftSentence
from agentic_rag.answering.messages import Message, RunMessage
from agentic_rag.answering.prompts.judge import ClaimToJudge, ClaimVerdict
from agentic_rag.answering.run_state import RunState, Shortfall
from agentic_rag.answering.verification.check import RefusedSentence
from agentic_rag.answering.verification.citations import quotes_of
from agentic_rag.language.tables import header_span
from agentic_rag.retrieval.candidates import Passage

GUARDRAILS = {ClaimVerdict.UNSUPPORTED: "judge_unsupported", ClaimVerdict.OFF_TOPIC: "judge_off_topic"}


def collect_claims(sentences: Sequence[DraftSentence], passages: Sequence[Passage]) -> tuple[ClaimToJudge, ...]:
    """Each drafted sentence beside its quotes, with the title and headings above them."""
    return tuple(
        ClaimToJudge(one.text, "\n\n".join(_source(quote, passages) for quote in quotes_of(one))) for one in sentences
    )


def apply_verdicts(state: RunState, verdicts: Sequence[ClaimVerdict]) -> RunState:
    """The state with the supported sentences only; an abstention that shows the others when none is supported."""
    pairs = list(zip(state.draft.sentences, verdicts, strict=True))
    refused = [RefusedSentence(one, GUARDRAILS[verdict]) for one, verdict in pairs if verdict in GUARDRAILS]
    if not refused:
        return state
    kept = [one for one, verdict in pairs if verdict not in GUARDRAILS]
    checked = replace(state.checked, refusals=(*state.checked.refusals, *refused))
    noted = replace(state, checked=checked)
    if not kept:
        shortfall = Shortfall(AbstentionReason.LOW_SUPPORT, RunMessage(Message.NONE_SUPPORTED))
        return replace(noted, draft=replace(state.draft, shortfall=shortfall, missing=()))
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
