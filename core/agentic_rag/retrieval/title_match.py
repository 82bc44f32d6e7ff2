"""Which of several long documents a question means: whose it is, which form, which period, the latest.

Passages of a long document seldom repeat what its title says: hundreds of pages of an annual report say "the Company"
and "the third quarter". So a title counts beside its passages' texts, as far as the question speaks of it.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from agentic_rag.language.calendar import MONTH_NAMES
from agentic_rag.language.english import FUNCTION_WORDS
from agentic_rag.retrieval.candidates import Passage

TITLE_MATCH_GAIN = 0.2
"""What a title that has all that the question says of its document is worth beside the text arms' score. Over quarterly
filings the right one stood first for 62 % of questions without it, for 90 % with 0.1, for 98 % with 0.2 and 0.3.
"""
MIN_LONG_DOCUMENT_CHUNKS = 2
"""A document with at least this many candidate chunks counts as long; only for those is the title matched."""

_WORD = re.compile(r"\d{1,2}-[a-z]{1,2}\b|[^\W_]+(?:['’]s\b)?")
_ORDINALS = ("first", "second", "third", "fourth")
_SPELLED_PERIOD = re.compile(r"\b(first|second|third|fourth) (?:fiscal )?(quarter|half)\b|\bquarter ([1-4])\b")
_LATEST = re.compile(
    r"\b(?:latest|newest|(?:most|more) recent(?:ly)?|last)\b(?= (?:\w+ )?(?:\d{1,2}-[a-z]{1,2}|filing|report|quarter|"
    r"period|year|results|document|version|edition|statement|release)|\w*[\s,:]*$)|\bmost recent\b|\blatest\b",
    re.IGNORECASE,
)
_MONTH = "|".join(name[:3] for name in MONTH_NAMES)
_DATE = re.compile(
    rf"\b({_MONTH})[a-z]*\.? (\d{{1,2}}), (\d{{4}})\b|\b(\d{{1,2}}) ({_MONTH})[a-z]*\.? (\d{{4}})\b|"
    r"\b(\d{4})-(\d\d)-(\d\d)\b",
    re.IGNORECASE,
)
_YEAR_AND_PART = re.compile(r"\b((?:19|20)\d\d)(?:[ _-]?([qh])([1-4])\b)?|\b([qh])([1-4])[ _-]?((?:19|20)\d\d)\b", re.I)
_REFERENCE = re.compile(
    r"(?:,? ?\b(?:as )?(?:reported|revealed|disclosed|detailed|presented|shown|stated|provided)?\s*"
    r"(?:in|from|by|of|for) (?:the |its |their |these |this |[\w.]+['’]s )?(?:latest |most recent )?"
    r"(?:(?:fiscal )?Q[1-4] (?:of )?\d{4} |\d{4} Q[1-4] )?(?:quarterly |annual )?"
    r"(?:\d{1,2}-[QK]s?|filings?|reports?)\b(?: filing| report)?)|"
    r"\b(?:over|across|throughout|during|in|for) (?:the |these )?(?:reported |reporting )?(?:quarters|periods?)\b|"
    r"\bin (?:the )?(?:latest|most recent) quarter(?:ly filing)?\b|"
    r"(?:\b(?:in|for|of)\s)?\bQ[1-4] (?:of )?\d{4}\b",
    re.IGNORECASE,
)
"""How a question says which document it means: "as reported in the Q3 2022 10-Q", "over the reported quarters"."""
_FORM = re.compile(r"\b\d{1,2}-[QK]s?\b")
"""The number of a regulator's form."""
_MIN_REMAINING_WORDS = 3
"""Words that must be left of a question without its references."""
_COMMON = frozenset(
    [
        "form",
        "period",
        "quarterly",
        "ended",
        "report",
        "inc",
        "corporation",
        "corp",
        "company",
        "co",
        "ltd",
        "plc",
        "com",
    ]
)
"""Words of titles that tell no document from another."""


def score_title_match(question: str, titles: Sequence[str]) -> NDArray[np.float64]:
    """(n,) in [0, 1]: how much of what the question says about documents the title of each passage says too; 0 for
    passages of short documents, and of documents that are no edition of something (their titles name no day, quarter or
    half) unless the question speaks of a year, a form or the latest.

    What it says about documents are its words that some but not all of the titles hold, weighted by how few hold them,
    and "latest", which the newest of the titles holds that have the most of the rest. All 0 when it says nothing.
    """
    places: dict[str, int] = {}
    at = [places.setdefault(title, len(places)) for title in titles]
    return score_titles(question, tuple(places), np.array(at, np.int64))


def score_titles(question: str, distinct: Sequence[str], places: NDArray[np.int64]) -> NDArray[np.float64]:
    """(n,) as `score_title_match`: `places` says which of the distinct titles each passage has; each has one."""
    of_editions = _mentions_editions(question)
    meant = [
        place
        for place in np.flatnonzero(np.bincount(places) >= MIN_LONG_DOCUMENT_CHUNKS).tolist()
        if of_editions or _is_edition(distinct[place])
    ]
    if not meant:
        return np.zeros(len(places))
    held = {title: title_terms(title) for title in distinct}
    weights = _weights(_terms(question), held)
    fits = {title: sum([weights[term] for term in weights if term in terms]) for title, terms in held.items()}
    whole = sum(weights.values())
    if _LATEST.search(question):
        newest = _newest(fits)
        latest = max(weights.values(), default=1.0)
        whole += latest if newest else 0.0
        for title in newest:
            fits[title] += latest
    if not whole:
        return np.zeros(len(places))
    found = np.zeros(len(distinct))
    found[meant] = [fits[distinct[place]] / whole for place in meant]
    return found[places]


def match_titles(question: str, titles: Sequence[str]) -> frozenset[str]:
    """Of the titles of passages those that fit the question best; none when it says nothing of any."""
    fits = score_title_match(question, titles)
    best = fits.max(initial=0.0)
    return frozenset(title for title, one in zip(titles, fits, strict=True) if one == best) if best > 0 else frozenset()


def refers_to_documents(question: str, passages: Sequence[Passage]) -> bool:
    """Whether a question speaks of the titles of long documents: of a company's report, not of what it is about."""
    found = Counter(one.chunk.document_id for one in passages)
    fits = score_title_match(
        question, [one.chunk.document_title for one in passages for _ in range(MIN_LONG_DOCUMENT_CHUNKS)]
    )
    return any(
        fits[MIN_LONG_DOCUMENT_CHUNKS * place] > 0 and found[one.chunk.document_id] >= MIN_LONG_DOCUMENT_CHUNKS
        for place, one in enumerate(passages)
    )


def are_editions(passages: Sequence[Passage]) -> bool:
    """Whether most passages are of editions of something, one of them a long document."""
    counts = Counter(one.chunk.document_id for one in passages if _is_edition(one.chunk.document_title))
    return 2 * counts.total() > len(passages) and max(counts.values(), default=0) >= MIN_LONG_DOCUMENT_CHUNKS


def _mentions_editions(question: str) -> bool:
    return any(found.search(question) for found in (_FORM, _LATEST, _YEAR_AND_PART, _SPELLED_PERIOD))


@lru_cache(4096)
def _is_edition(title: str) -> bool:
    return _DATE.search(title) is not None or any(found[2] or found[4] for found in _YEAR_AND_PART.finditer(title))


def strip_references(question: str) -> str:
    """The question without the words that say which form it means ("as reported in the Q3 2022 10-Q"): certificates,
    covers and contents of a form repeat those more than the pages that answer. Unchanged when it names no form, and
    when hardly anything would be left.
    """
    if _FORM.search(question) is None:
        return question
    left = re.sub(r"\s+([,?.])", r"\1", " ".join(_REFERENCE.sub(" ", question).split())).strip(" ,")
    return left if len(left.split()) >= _MIN_REMAINING_WORDS else question


@lru_cache(4096)
def title_terms(title: str) -> frozenset[str]:
    """The words, periods and form numbers of a title."""
    return frozenset(_terms(title))


def _terms(text: str) -> tuple[str, ...]:
    spelled = _SPELLED_PERIOD.sub(_short_period, text.lower())
    words = (word.removesuffix("'s").removesuffix("’s") for word in _WORD.findall(spelled))
    return tuple(dict.fromkeys(word for word in words if word not in FUNCTION_WORDS and word not in _COMMON))


def _short_period(match: re.Match[str]) -> str:
    if match[3]:
        return f"q{match[3]}"
    return f"{match[2][0]}{_ORDINALS.index(match[1]) + 1}"


def _weights(terms: Sequence[str], held: Mapping[str, frozenset[str]]) -> dict[str, float]:
    """By term, log(titles / those that hold it); terms that tell no title from another are left out."""
    found: dict[str, float] = {}
    for term in terms:
        holding = sum(term in one for one in held.values())
        if 0 < holding < len(held):
            found[term] = math.log(len(held) / holding)
    return found


def _newest(fits: Mapping[str, float]) -> list[str]:
    best = max(fits.values(), default=0.0)
    dated = {title: when for title in fits if fits[title] == best and (when := title_date(title)) is not None}
    if len(dated) < 2:
        return []
    last = max(dated.values())
    return [title for title, when in dated.items() if when == last]


@lru_cache(4096)
def title_date(title: str) -> tuple[int, int, int] | None:
    """The last day, or else the last year and quarter or half, that a title names, as (year, month, day)."""
    days = [
        (int(found[3] or found[6] or found[7]), _month_of(found), int(found[2] or found[4] or found[9]))
        for found in _DATE.finditer(title)
    ]
    if days:
        return max(days)
    parts = [
        (int(found[1] or found[6]), _last_month(found[2] or found[4], found[3] or found[5]), 0)
        for found in _YEAR_AND_PART.finditer(title)
    ]
    return max(parts, default=None)


def _month_of(found: re.Match[str]) -> int:
    if found[8]:
        return int(found[8])
    short = (found[1] or found[5]).lower()
    return next(place for place, name in enumerate(MONTH_NAMES, start=1) if name.startswith(short))


def _last_month(kind: str | None, number: str | None) -> int:
    if kind is None or number is None:
        return 0
    return int(number) * (3 if kind.lower() == "q" else 6)
