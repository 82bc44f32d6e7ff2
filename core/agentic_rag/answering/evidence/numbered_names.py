"""Whether what is quoted is of another one of the things that a question names by a number or a size: the Heron 15
where the Heron 1203 is asked for, boats up to 10 metres where one of 12 is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from agentic_rag.answering.evidence.other_things import text_around
from agentic_rag.answering.evidence.stated import texts_of
from agentic_rag.answering.extraction.extractive import DraftSentence, ExcludedSpans
from agentic_rag.answering.verification.citations import all_quotes
from agentic_rag.language.calendar import MONTH_NAMES
from agentic_rag.language.english import FUNCTION_WORDS
from agentic_rag.language.tables import is_row
from agentic_rag.language.words.sizes import Size, sizes_of
from agentic_rag.language.words.word_tables import table_of
from agentic_rag.retrieval.candidates import Passage

_NUMBERED = re.compile(
    r"(?<![\w.,:/-])(?P<word>[^\W\d_][\w’'&-]*) (?:(?:No\.|Nr\.|n°|№) ?)?"
    r"(?P<number>[A-Z]{0,3}-?\d[\w./-]*?)(?=[\s?!,;:)\]\"”’']|[.](?:\s|$)|$)(?![.,]\d)(?! ?%)(?: (?P<next>[\w’'-]+))?"
)
"""A word, the number behind it, and the word behind that."""
_TIMES = frozenset({"minute", "hour", "day", "week", "month", "year"})
_TIME_ASKED = re.compile(
    r"\b(?:when|how (?:long|soon|often|old)|how many (?:minutes|hours|days|weeks|months|years)|what age|wann|"
    r"wie (?:lange|oft|alt)|wie ?viele (?:minuten|stunden|tage|wochen|monate|jahre)|quand|"
    r"combien de (?:temps|fois|jours|semaines|mois)|quel âge|"
    r"cuándo|cuánto tiempo|cuántos (?:días|meses|años)|cuántas (?:veces|semanas|horas))\b",
    re.IGNORECASE,
)
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


def is_of_other_size(question: str, sentences: Sequence[DraftSentence], passages: Sequence[Passage]) -> bool:
    """True where a question names a size, and the quotes that tell of what lies within bounds of its unit tell of none
    that it lies within.
    """
    return any(
        _lies_outside(size, list(map(list, map(sizes_of, texts_of(all_quotes(sentences), passages)))))
        for size in _asked_sizes(question)
    )


def rows_of_other_size(question: str, passages: Sequence[Passage]) -> ExcludedSpans:
    """Where rows begin that tell of what lies within other bounds than the size that a question names, in passages with
    a row whose bounds it lies within.
    """
    asked = list(_asked_sizes(question))
    found: set[tuple[int, int]] = set()
    for passage in passages if asked else ():
        text = passage.chunk.text
        rows = [(start, list(sizes_of(line))) for start, line in _lines(text) if is_row(line)]
        for size in asked:
            bounded = [(start, told) for start, told in rows if any(one.is_bound_of(size) for one in told)]
            outside = {
                (passage.chunk.ordinal, start)
                for start, told in bounded
                if all(_lies_outside(one, [told]) for one in asked)
            }
            if len(outside) < len(bounded):
                found |= outside
    return frozenset(found)


def _asked_sizes(question: str) -> Iterator[Size]:
    """The sizes that a question names, but for times where it asks for one: what answers it has such a unit."""
    asks_time = _TIME_ASKED.search(question) is not None
    return (one for one in sizes_of(question) if not (asks_time and one.unit in _TIMES))


def _lines(text: str) -> Iterator[tuple[int, str]]:
    return ((one.start(), one[0]) for one in re.finditer(r"[^\n]+", text))


def _lies_outside(asked: Size, said: Sequence[Sequence[Size]]) -> bool:
    bounded = [sizes for sizes in said if any(one.is_bound_of(asked) for one in sizes)]
    return bool(bounded) and not any(one.holds(asked) for sizes in bounded for one in sizes)


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
