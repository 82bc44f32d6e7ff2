"""Whether what was found is written in another language than the question."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from agentic_rag.language.words.word_tables import language_of, language_of_question
from agentic_rag.retrieval.candidates import Passage


def is_of_other_language(question: str, passages: Sequence[Passage]) -> bool:
    """True where the language of the question is told, that of most passages too, and no passage is in the question's:
    sentences are chosen by words, so such passages support no answer.
    """
    asked = language_of_question(question)
    if asked is None:
        return False
    found = Counter(language_of(one.chunk.text) for one in passages)
    return asked not in found and 2 * found[None] < len(passages)
