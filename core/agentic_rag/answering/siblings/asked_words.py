"""The words of a question and of what is said, as far as they are content words of the question."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from agentic_rag.answering.extraction.candidate_units import Subquery, depends_on_previous
from agentic_rag.answering.extraction.subquery import ASKING_WORDS, terms_of
from agentic_rag.answering.extraction.term_matching import lower_text, mask_of
from agentic_rag.language.english import FUNCTION_WORDS
from agentic_rag.language.sentences import sentence_spans
from agentic_rag.language.words.measures import MEASURED
from agentic_rag.language.words.word_table import WordTable

_WORD = re.compile(r"[^\W_]+(?:[-’'][^\W_]+)*")
_PART_OF_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
_ELIDED = frozenset("cdjlmnst")
"""What an apostrophe leaves of an article or a preposition: "d'un"."""
SHORTEST = 3


@dataclass(frozen=True, slots=True)
class AskedWord:
    """A word of a question or sentence; `mask` has the bits of the question's terms that it is a form of."""

    start: int
    end: int
    text: str
    mask: int
    is_function: bool

    @property
    def low(self) -> str:
        return self.text.lower()

    @property
    def is_other(self) -> bool:
        """True for a content word that the question does not have."""
        return not (self.is_function or self.mask or self.text[0].isdigit()) and len(self.text) >= SHORTEST


def words_of(text: str, part: Subquery, table: WordTable | None) -> list[AskedWord]:
    function_words = FUNCTION_WORDS if table is None else table.function_words | _ELIDED
    return [
        AskedWord(
            one.start(), one.end(), one[0], mask_of(lower_text(one[0]), part.terms), one[0].lower() in function_words
        )
        for one in (_WORD if table is None else _PART_OF_WORD).finditer(text)
    ]


def whole_sentences(text: str, before: str, table: WordTable | None) -> Iterator[str]:
    """The sentences of a text, each behind the one that it leans on; `before` is what stands before the text."""
    for start, end in sentence_spans(text, table):
        said = text[start:end]
        yield f"{before} {said}" if depends_on_previous(said) else said
        before = said


def says_how(word: str, table: WordTable | None) -> bool:
    """True for a word that says how is asked rather than about what; units do."""
    if table is None:
        return not ASKING_WORDS.isdisjoint(terms_of(word)) or MEASURED.search(f"1 {word}") is not None
    return table.stem(word) in table.asking_stems or word in table.asking_stems
