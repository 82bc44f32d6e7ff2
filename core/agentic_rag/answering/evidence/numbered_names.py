"""Whether what is quoted is of another one of the things that a question names by a number: the Heron 15 where the
Heron 1203 is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from agentic_rag.answering.evidence.other_things import text_around
from agentic_rag.answering.extraction.extractive import DraftSentence
from agentic_rag.language.calendar import MONTH_NAMES
from agentic_rag.language.english import FUNCTION_WORDS
from agentic_rag.language.words.word_tables import table_of
from agentic_rag.retrieval.candidates import Passage

_NUMBERED = re.compile(
    r"(?<![\w.,:/-])(?P<word>[^\W\d_][\w’'&-]*) (?:(?:No\.|Nr\.|n°|№) ?)?"
    r"(?P<number>[A-Z]{0,3}-?\d[\w./-]*?)(?=[\s?!,;:)\]\"”’']|[.](?:\s|$)|$)(?![.,]\d)(?! ?%)(?: (?P<next>[\w’'-]+))?"
)
"""A word, the number behind it, and the word behind that."""
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")


def is_of_other_number(question: str, sentences: Sequence[DraftSentence], passages: Sequence[Passage]) -> bool:
    """True where a question names a thing by a word and a number, and the number stands neither in the quotes nor in
    titles and headings above them or in what stands shortly before.
    """
    numbers = numbers_of_names(question)
    said = text_around(sentences, passages) if numbers else ""
    return bool(said) and not all(
        re.search(rf"(?<![^\W_]){re.escape(one)}(?![^\W_])", said, re.IGNORECASE) for one in numbers
    )


def numbers_of_names(question: str) -> list[str]:
    """Without years, numbers of a measure ("weighs 12 kg") and those behind words that name nothing ("in 30 days",
    "March 5"). A word with a capital names whatever follows.
    """
    table = table_of(question)
    common = FUNCTION_WORDS if table is None else FUNCTION_WORDS | table.function_words
    return [
        found["number"]
        for found in _NUMBERED.finditer(question)
        if found["word"].lower() not in common
        and found["word"].lower() not in MONTH_NAMES
        and _YEAR.fullmatch(found["number"]) is None
        and (found["word"][0].isupper() or found["next"] is None or found["next"].lower() in common)
    ]
