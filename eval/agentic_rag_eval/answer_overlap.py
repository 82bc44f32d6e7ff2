"""Exact match and token F1 of an answer against gold answers, as SQuAD defines them (Rajpurkar et al., 2016)."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_NOT_WORD = re.compile(r"[^\w\s]")


def exact_match(answer: str, gold: Sequence[str]) -> float:
    """1 when the answer is one of the gold answers, ignoring case, punctuation and articles."""
    words = _words(answer)
    return float(any(words == _words(one) for one in gold))


def token_f1(answer: str, gold: Sequence[str]) -> float:
    """The best harmonic mean of precision and recall over the answer's words and those of a gold answer."""
    words = _words(answer)
    return max((_f1(words, _words(one)) for one in gold), default=0.0)


def _f1(answer: list[str], gold: list[str]) -> float:
    if not answer or not gold:
        return float(answer == gold)
    shared = sum((Counter(answer) & Counter(gold)).values())
    return 2 * shared / (len(answer) + len(gold))


def _words(text: str) -> list[str]:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return _ARTICLES.sub(" ", _NOT_WORD.sub("", folded)).split()
