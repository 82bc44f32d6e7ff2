"""The same questions about the same paragraphs in six languages: found first, by words alone, and answered."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence

import snowballstemmer

from agentic_rag_cli.in_process import System
from agentic_rag_eval.records import EvalDocument
from tests.bench.reports import Row
from tests.quality.asking import ALONE, DEFAULT, Ranked, answered, ranked
from tests.quality.rows import at_least, not_below, share
from tests.quality.sets import XQUAD, QuestionSet, documents_of, ingested, questions_of

LANGUAGES = {"en": "english", "de": "german", "es": "spanish", "ru": "russian", "zh": "", "ar": "arabic"}
"""Each with its stemmer; without one the terms are pairs of characters."""
FOUND_FIRST = {"en": 92, "de": 85, "es": 85, "ru": 80, "zh": 80, "ar": 75}
CONTAINED = {"en": 85, "de": 70, "es": 70}
K1, B = 1.5, 0.75
_WORD = re.compile(r"\w+")
_RUN = re.compile(r"[\u3400-\u9fff]+|[a-z0-9]+")


async def language_rows(system: System) -> list[Row]:
    """R@1 of what retrieval finds, of its lexical arm beside plain BM25, and the gold answers in answers."""
    rows: list[Row] = []
    for code, stemmer in LANGUAGES.items():
        name = f"{XQUAD}-{code}"
        given = QuestionSet(name, await ingested(system, name, [name]), tuple(questions_of(name)))
        arms = {"lexical": ALONE["lexical"], DEFAULT: system.container.fusion_weights}
        found = await ranked(system.container, given, arms)
        first = {arm: [one.figure("recall@1") for one in ones] for arm, ones in found.items()}
        plain = plain_bm25(documents_of(name), found["lexical"], _terms_of(stemmer))
        scores = await answered(system.container, given)
        contained = [one.figures["answer_contained"] for one in scores]
        rows += rows_of(code, first[DEFAULT], first["lexical"], plain, contained)
        rows.append(share(f"{name}: abstained", [one.figures["false_abstention"] for one in scores]))
    return rows


def rows_of(
    code: str, found: Sequence[float], by_words: Sequence[float], plain: Sequence[float], contained: Sequence[float]
) -> list[Row]:
    """Of one language, for each question 1 where the gold document is first, by all arms, by words alone and by plain
    BM25, and where the gold answer is in the answer.
    """
    name = f"{XQUAD}-{code}"
    label = f"{name}: gold answer in the answer"
    return [
        at_least(f"{name}: R@1", found, FOUND_FIRST[code]),
        not_below(f"{name}: R@1 by words alone against plain BM25", by_words, plain),
        at_least(label, contained, CONTAINED[code]) if code in CONTAINED else share(label, contained),
    ]


def plain_bm25(
    documents: Sequence[EvalDocument], asked: Sequence[Ranked], terms: Callable[[str], Counter[str]]
) -> list[float]:
    """1 for each question whose gold document is first by BM25 as the textbook has it, 0 for the others."""
    counts = [terms(one.text) for one in documents]
    mean = sum(map(Counter.total, counts)) / len(counts)
    holding = Counter(term for one in counts for term in one)

    def score(question: Counter[str], held: Counter[str]) -> float:
        total = 0.0
        for term in question.keys() & held.keys():
            idf = math.log(1 + (len(counts) - holding[term] + 0.5) / (holding[term] + 0.5))
            often = held[term]
            total += question[term] * idf * often * (K1 + 1) / (often + K1 * (1 - B + B * held.total() / mean))
        return total

    first: list[float] = []
    for one in asked:
        question = terms(one.question.question)
        best = max(range(len(counts)), key=lambda place: score(question, counts[place]))
        first.append(float(documents[best].document_id in one.question.gold_ids))
    return first


def _terms_of(stemmer: str) -> Callable[[str], Counter[str]]:
    if not stemmer:
        return _pairs
    stem = snowballstemmer.stemmer(stemmer).stemWord
    return lambda text: Counter(stem(word) for word in _WORD.findall(_folded(text)))


def _pairs(text: str) -> Counter[str]:
    found: Counter[str] = Counter()
    for run in _RUN.findall(_folded(text)):
        is_word = run.isascii() or len(run) == 1
        found.update([run] if is_word else [run[at : at + 2] for at in range(len(run) - 1)])
    return found


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).lower()
