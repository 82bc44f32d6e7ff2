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
from agentic_rag.answering.extraction.reading import ReadSigns, headings_above
from agentic_rag.answering.extraction.term_matching import lower_text, mask_of, weight_of
from agentic_rag.answering.verification.citations import all_quotes
from agentic_rag.retrieval.candidates import Passage

CERTAIN = 0.62
"""eval/quality_log.md says what answers from here on are worth."""
LEAST_SUPPORT = 1e-6


@dataclass(frozen=True, slots=True)
class CertaintySigns:
    """What speaks for and against the cited sentences."""

    held: float
    """The share, by weight, of the question's content terms that they hold with their titles and headings."""
    focused: float
    """The same of the terms beside the asking word, by number."""
    documents: float
    """How many documents hold units that come close to the best one, as a logarithm."""
    unmatched: float
    """As in `ReadSigns`; 0 where no model reads."""
    doubt: float
    """How far the support lies below even odds, as a logarithm of the odds, but for its sign `likely`: `odds` stand
    here by themselves.
    """
    odds: float
    """That a unit which they quote answers, as a logarithm; 0 where no model reads."""
    apart: float
    """As in `ReadSigns`; 0 where no model reads."""


@dataclass(frozen=True, slots=True)
class CertaintyWeights:
    """The linear score of the signs, in their order; fitted by eval/training/train_certainty.py, the line drawn by
    near misses (eval/quality_log.md). What a model reads says all that the words say, and more.
    """

    held: float = 0.0
    focused: float = 0.0
    documents: float = 0.0
    unmatched: float = -1.8
    doubt: float = -0.7
    odds: float = 0.21
    apart: float = 4.0
    offset: float = 0.63


CERTAINTY_BY_WORDS = CertaintyWeights(1.4, 1.5, -1.2, 0.0, 0.0, 0.0, 0.0, 1.6)
"""Where no model reads."""


def find_certainty_signs(
    part: Subquery,
    sentences: Sequence[DraftSentence],
    passages: Sequence[Passage],
    documents: int,
    support: Support,
    read: ReadSigns | None = None,
    odds: float | None = None,
) -> CertaintySigns:
    """The signs of these sentences for a part; `documents` hold units that come close to the best one; `read` is what
    its units say, `odds` those of the quoted ones (`odds_of`).
    """
    held = 0
    for one in all_quotes(sentences):
        held |= mask_of(lower_text(_text_with_headings(passages[one.passage], one)), part.terms)
    focus = focus_mask(part)
    return CertaintySigns(
        held=weight_of(held, part.terms),
        focused=(focus & held).bit_count() / focus.bit_count() if focus else 1.0,
        documents=math.log(max(1, documents)),
        unmatched=0.0 if read is None else read.unmatched,
        doubt=max(0.0, -_support_odds(support)),
        odds=0.0 if odds is None else odds,
        apart=0.0 if read is None else read.apart,
    )


def _support_odds(support: Support) -> float:
    share = min(max(support.score, LEAST_SUPPORT), 1.0 - LEAST_SUPPORT)
    likely = math.fsum(one.contribution for one in support.contributions if one.name == "likely")
    return math.log(share / (1.0 - share)) - likely


def score_certainty(signs: CertaintySigns, weights: CertaintyWeights = CertaintyWeights()) -> Support:
    """What the signs come to, against `CERTAIN`."""
    return weigh_signs(values_by_name(signs), values_by_name(weights), CERTAIN)


def _text_with_headings(passage: Passage, quote: DraftSentence) -> str:
    above = (*headings_above(passage, quote.start), passage.table_head)
    return " ".join((*above, passage.chunk.text[quote.start : quote.end]))
