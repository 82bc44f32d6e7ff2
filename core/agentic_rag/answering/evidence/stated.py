"""Whether the sentences of a draft state what is asked, or only speak of its subject."""

from __future__ import annotations

from collections.abc import Sequence

from agentic_rag.answering.answer import Support
from agentic_rag.answering.extraction.answer_type_match import states_answer
from agentic_rag.answering.extraction.candidate_units import Subquery, segment_passage
from agentic_rag.answering.extraction.extractive import DraftSentence
from agentic_rag.answering.extraction.term_matching import lower_text, mask_of, weight_of
from agentic_rag.language.english import is_english
from agentic_rag.retrieval.candidates import Passage

NEAR_THRESHOLD = 0.05
"""Support above its threshold by less than this needs passages that hold `MIN_HELD` of the question."""
MIN_HELD = 0.5
"""Share of the weight of the question's terms in the cited passages, their titles and headings."""
CLEAR_SUPPORT = 0.15
"""Support above its threshold by this outweighs that no passage has the noun asked for: texts use other words."""
ASKED_PASSAGES = 8
"""Passages in which that noun is looked for."""


def is_stated(
    part: Subquery,
    sentences: Sequence[DraftSentence],
    passages: Sequence[Passage],
    support: Support,
    *,
    follows_path: bool,
) -> bool:
    """True when a sentence has a span of the type asked for, and the cited passages are about what is asked: they hold
    enough of the question, and the noun asked for stands somewhere. Words are matched by English stems, so only a
    question in English is held back for a lack of them, and none where the workspace's threshold is 0. At the default
    threshold, false abstention on six sets is 1 to
    5 % with these rules (0 to 5 without), and with the gold passage gone 22 to 52 % abstain (15 to 42).
    """
    cited = [(passages[one.passage], one) for sentence in sentences for one in (sentence, *sentence.more_quotes)]
    quotes = [passage.chunk.text[one.start : one.end] for passage, one in cited]
    if not any(states_answer(quote, part.answer_type, part.text) for quote in quotes):
        return False
    if support.threshold == 0 or not is_english(part.text):
        return True
    beyond = support.score - support.threshold
    if not follows_path and beyond < NEAR_THRESHOLD:
        held = 0
        for passage, _ in cited:
            held |= _mask(passage, part)
        if weight_of(held, part.terms) < MIN_HELD:
            return False
    if part.target_mask and beyond < CLEAR_SUPPORT:
        return any(_mask(passage, part) & part.target_mask for passage in passages[:ASKED_PASSAGES])
    return True


def _mask(passage: Passage, part: Subquery) -> int:
    chunk = passage.chunk
    above = " ".join((chunk.document_title, *chunk.heading_path, passage.table_head))
    return mask_of(lower_text(above), part.terms) | segment_passage(passage).mask(part.terms)
