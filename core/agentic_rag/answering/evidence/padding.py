"""Which sentences of an answer stand beside the one that answers and say nothing of what is asked."""

from __future__ import annotations

from collections.abc import Sequence

from agentic_rag.answering.evidence.stated import texts_of
from agentic_rag.answering.extraction.answer_type_match import gives_reason
from agentic_rag.answering.extraction.candidate_units import CandidateUnit, Subquery, depends_on_previous
from agentic_rag.answering.extraction.extractive import DraftSentence
from agentic_rag.answering.extraction.term_matching import lower_text, mask_of
from agentic_rag.answering.verification.citations import quotes_of
from agentic_rag.language.words.word_tables import table_of
from agentic_rag.retrieval.candidates import Passage

EVEN_ODDS = 0.0
"""As a logarithm."""


def without_padding(
    part: Subquery, sentences: Sequence[DraftSentence], passages: Sequence[Passage], read: Sequence[CandidateUnit]
) -> tuple[DraftSentence, ...]:
    """The sentences less those that rather do not answer, where the likeliest does, and that are of another document
    than that one or have no word of the question: by the odds of the units that a model judged. All of them where it
    judged none.
    """
    odds = [_best_odds(one, read) for one in sentences]
    likely = max((one for one in odds if one is not None), default=EVEN_ODDS)
    if likely <= EVEN_ODDS:
        return tuple(sentences)
    home = passages[sentences[odds.index(likely)].passage].chunk.document_id
    return tuple(
        one
        for one, own in zip(sentences, odds, strict=True)
        if (own is not None and own > EVEN_ODDS)
        or (passages[one.passage].chunk.document_id == home and (own is None or not _is_besides(part, one, passages)))
    )


def _is_besides(part: Subquery, sentence: DraftSentence, passages: Sequence[Passage]) -> bool:
    """True for a sentence without a word of the question that neither leans on another one nor gives a reason."""
    said = " ".join(texts_of(quotes_of(sentence), passages))
    gives = gives_reason(said, table_of(part.text))
    return mask_of(lower_text(said), part.terms) == 0 and not (gives or depends_on_previous(said))


def _best_odds(sentence: DraftSentence, read: Sequence[CandidateUnit]) -> float | None:
    """The best odds of the judged units that a sentence quotes; None where it quotes none."""
    return max(
        (
            unit.odds
            for unit in read
            if unit.odds is not None
            and any(one.passage == unit.passage and one.start <= unit.start < one.end for one in quotes_of(sentence))
        ),
        default=None,
    )
