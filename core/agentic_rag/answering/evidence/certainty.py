"""Whether the cited sentences are the answer.

    certainty = σ( weights · signs − offset )

Support (`evidence.answerability`) says whether the passages are about the question; a sentence of theirs may still be
another than the one that answers. From `CERTAIN` on an answer is GROUNDED; below it is UNCERTAIN: shown, and said not
to be established.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from agentic_rag.answering.answer import Support
from agentic_rag.answering.evidence.answerability import values_by_name, weigh_signs
from agentic_rag.answering.extraction.candidate_units import Subquery
from agentic_rag.answering.extraction.extractive import DraftSentence
from agentic_rag.answering.extraction.multi_hop import focus_mask
from agentic_rag.answering.extraction.reading import headings_above
from agentic_rag.answering.extraction.term_matching import lower_text, mask_of, weight_of
from agentic_rag.answering.verification.citations import quotes_of
from agentic_rag.language.english import is_english
from agentic_rag.retrieval.candidates import Passage

CERTAIN = 0.62
"""Weights fitted without the set that they judge: of the answers from here on 5 to 17 % lack the gold answer (covidqa
36), of all answers 8 to 55 %. Of questions asked without their documents 5 to 14 % end here (covidqa 26) instead of 43
to 75 %.
"""
NEAR_THRESHOLD = 0.05
"""Support above its threshold by less than this needs `LEAST_CERTAINTY`: 5 to 11 points more of the questions asked
without their documents are abstained on, and at most one more of those asked with them.
"""
LEAST_CERTAINTY = 0.5
UNREAD = 0.5
"""What counts as the reader's figure where no model reads."""


@dataclass(frozen=True, slots=True)
class CertaintySigns:
    """What speaks for and against the cited sentences."""

    held: float
    """The share, by weight, of the question's content terms that they hold with their titles and headings."""
    focused: float
    """The same of the terms beside the asking word, by number."""
    documents: float
    """How many documents hold units that come close to the best one, as a logarithm."""
    read: float
    """The reader's figure."""


@dataclass(frozen=True, slots=True)
class CertaintyWeights:
    """The linear score of the signs, in their order; fitted by eval/training/train_support.py."""

    held: float = 1.4
    focused: float = 1.5
    documents: float = -1.2
    read: float = 2.8
    offset: float = 3.0


def find_certainty_signs(
    part: Subquery,
    sentences: Sequence[DraftSentence],
    passages: Sequence[Passage],
    documents: int,
    read: float | None,
) -> CertaintySigns:
    """The signs of these sentences for a question; `documents` hold units that come close to the best one."""
    held = 0
    for one in (quote for sentence in sentences for quote in quotes_of(sentence)):
        held |= mask_of(lower_text(_text_with_headings(passages[one.passage], one)), part.terms)
    focus = focus_mask(part)
    return CertaintySigns(
        held=weight_of(held, part.terms),
        focused=(focus & held).bit_count() / focus.bit_count() if focus else 1.0,
        documents=math.log(max(1, documents)),
        read=UNREAD if read is None else read,
    )


def score_certainty(signs: CertaintySigns, weights: CertaintyWeights = CertaintyWeights()) -> Support:
    """What the signs come to, against `CERTAIN`."""
    return weigh_signs(values_by_name(signs), values_by_name(weights), CERTAIN)


def is_too_weak(part: Subquery, support: Support, certainty: Support) -> bool:
    """True for an answer that is held back: support and certainty are both low. Words are matched by English stems, so
    no question in another language is held back, and none where the threshold is 0.
    """
    near = support.score - support.threshold < NEAR_THRESHOLD
    return support.threshold > 0 and near and certainty.score < LEAST_CERTAINTY and is_english(part.text)


def _text_with_headings(passage: Passage, quote: DraftSentence) -> str:
    above = (*headings_above(passage, quote.start), passage.table_head)
    return " ".join((*above, passage.chunk.text[quote.start : quote.end]))
