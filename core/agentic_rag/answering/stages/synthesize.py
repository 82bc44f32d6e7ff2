"""Synthesize: draft the answer from the passages, or say why there is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agentic_rag.answering.answer import AbstentionReason, Support
from agentic_rag.answering.evidence.answerability import extract_features, score_support
from agentic_rag.answering.evidence.prune_draft import explain_shortfall
from agentic_rag.answering.extraction.extractive import (
    DraftSentence,
    PartDraft,
    add_figures,
    draft_part,
    join_parts,
    nearest_sentences,
    opening_sentence,
    sentence_limit,
)
from agentic_rag.answering.extraction.multi_hop import draft_from_path
from agentic_rag.answering.figures.missing_facts import find_missing_fact
from agentic_rag.answering.lazy_snapshot import LazySnapshot
from agentic_rag.answering.plan import AnswerType
from agentic_rag.answering.query.rewrite import mask_placeholder
from agentic_rag.answering.run_state import RunState, Shortfall, StageResult
from agentic_rag.answering.state_machine import Stage
from agentic_rag.answering.verdicts.draft import draft_verdict
from agentic_rag.retrieval.confidence import NO_CONFIDENCE
from agentic_rag.retrieval.passage import FIGURES
from agentic_rag.retrieval.title_match import are_editions, refers_to_documents

NOTHING_FOUND = "No passage of this workspace has anything to do with the question."
TOO_LITTLE = "The nearest passages do not cover what the question asks, so no answer is given from them."


class SynthesizeStage:
    """Extractive: the sentences that answer, each with the span it quotes."""

    stage = Stage.SYNTHESIZE

    async def run(self, state: RunState, reads: LazySnapshot) -> StageResult:
        """Attach the draft, or the nearest evidence with the reason to abstain."""
        if state.found is not None:
            looked_up = _opening(state)
            if looked_up is not None:
                return StageResult(looked_up)
        kind = state.plan.answer_type if state.plan else AnswerType.FACT
        limit = sentence_limit(kind, len(state.parts))
        drafts = [
            draft_part(part, place, state.passages, limit, state.excluded) for place, part in enumerate(state.parts)
        ]
        supports = _support_of_parts(state, drafts)
        support = _support_of_question(state, drafts, supports)
        state = replace(state, support=support)
        if not support.enough or not any(draft.sentences for draft in drafts):
            close = nearest_sentences(state.passages, drafts)
            shortfall = (
                Shortfall(AbstentionReason.LOW_SUPPORT, TOO_LITTLE)
                if close
                else Shortfall(AbstentionReason.NO_EVIDENCE, NOTHING_FOUND)
            )
            return StageResult(replace(state, draft=close, shortfall=shortfall, missing=()))
        if state.whole is not None and _is_multi_hop(state):
            chained = draft_from_path(state.whole, state.trail, state.passages, state.excluded)
            if chained.sentences:
                trailed = replace(state, draft=join_parts([chained]), conflicting=False, missing=(), shortfall=None)
                return StageResult(_lead_with_verdict(trailed))
        answered = _parts_with_support(drafts, supports)
        conflicting = any(drafts[place].conflicting for place in answered)
        missing = _missing(state, tuple(place for place in range(len(drafts)) if place not in answered))
        sentences = _add_figures(state, join_parts([drafts[place] for place in answered]), conflicting=conflicting)
        unsaid = _find_missing_fact(state, sentences)
        if unsaid is not None:
            told = f"The passages found do not state {unsaid}, so no answer is given from them."
            shortfall = Shortfall(AbstentionReason.LOW_SUPPORT, told)
            return StageResult(
                replace(state, draft=nearest_sentences(state.passages, drafts), shortfall=shortfall, missing=())
            )
        drafted = replace(
            state,
            draft=sentences,
            conflicting=conflicting,
            missing=missing,
            shortfall=explain_shortfall(state, missing),
        )
        return StageResult(_lead_with_verdict(drafted))


def _lead_with_verdict(state: RunState) -> RunState:
    """The draft led by the verdict on the question, where the passages prove one and do not disagree. It answers all of
    the question, so no part is missing.
    """
    verdict = None if state.conflicting else draft_verdict(state.standalone, state.passages, state.excluded)
    if verdict is None:
        return state
    return replace(state, draft=(verdict, *state.draft), missing=(), shortfall=None)


def _add_figures(
    state: RunState, sentences: Sequence[DraftSentence], *, conflicting: bool
) -> tuple[DraftSentence, ...]:
    return add_figures(sentences, state.figures, state.passages, state.excluded, conflicting=conflicting)


def _find_missing_fact(state: RunState, sentences: Sequence[DraftSentence]) -> str | None:
    """What a question asks of editions of something, and no sentence states."""
    if state.whole is None or not are_editions(state.passages):
        return None
    return find_missing_fact(state.whole, state.passages, sentences)


def _support_of_parts(state: RunState, drafts: Sequence[PartDraft]) -> list[Support]:
    return [
        score_support(
            extract_features(
                part,
                draft,
                state.passages,
                state.trail if len(state.parts) == 1 else (),
                state.standings[place] if place < len(state.standings) else NO_CONFIDENCE,
                [passage for passage in state.passages if place in passage.parts],
            ),
            state.options.support_threshold,
        )
        for place, (part, draft) in enumerate(zip(state.parts, drafts, strict=True))
    ]


def _support_of_question(state: RunState, drafts: Sequence[PartDraft], supports: Sequence[Support]) -> Support:
    """The support of the undivided question; of its best part when it was not searched as a whole."""
    if len(drafts) == 1:
        return supports[0]
    if state.whole is None or state.standing is None:
        return max(supports, key=lambda one: one.score, default=Support(0.0, state.options.support_threshold))
    everywhere = [passage if passage.origin == FIGURES else replace(passage, parts=(0,)) for passage in state.passages]
    draft = draft_part(state.whole, 0, everywhere, 1)
    signs = extract_features(state.whole, draft, state.passages, state.trail, state.standing)
    return score_support(signs, state.options.support_threshold)


def _parts_with_support(drafts: Sequence[PartDraft], supports: Sequence[Support]) -> list[int]:
    """The parts that are answered: those with enough support, and the best one in any case."""
    drafted = [place for place, draft in enumerate(drafts) if draft.sentences]
    best = max(drafted, key=lambda place: (supports[place].score, -place))
    return [place for place in drafted if place == best or supports[place].enough]


def _is_multi_hop(state: RunState) -> bool:
    """Passages lead to one another, and the question does not ask for several things beside one another."""
    if not state.trail:
        return False
    parts = state.plan.sub_questions if state.plan else ()
    if len(parts) > 1 and not any(part.depends_on for part in parts):
        return False
    return not refers_to_documents(state.standalone, state.passages)


def _missing(state: RunState, places: tuple[int, ...]) -> tuple[str, ...]:
    """The parts without support, and those that were not searched: for lack of time or of what an earlier one finds."""
    unsearched = state.plan.sub_questions[len(state.parts) :] if state.plan else ()
    return (*(state.parts[place].text for place in places), *(mask_placeholder(part) for part in unsearched))


def _opening(state: RunState) -> RunState | None:
    """A lookup's answer: how the document that was found opens."""
    if state.found is None:
        return None
    passages = (state.found,)
    first: DraftSentence | None = opening_sentence(passages, 0)
    if first is None or (state.found.chunk.ordinal, first.start) in state.excluded:
        return None
    return replace(state, passages=passages, draft=(first,), shortfall=None, missing=())
