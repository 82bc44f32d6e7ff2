"""Exact BM25 over postings segments, as one reader sees them.

What is visible is worked out once for a corpus version and a set of access sets; every question then costs only its own
postings.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from agentic_rag.language.tokenizer import term_key
from agentic_rag.retrieval.candidates import SCORE_DIGITS, ArmHit
from agentic_rag.retrieval.lexical.postings import NO_ACCESS_CHANGES, AccessChanges, Segment

K1 = 1.5
B = 0.75
"""BM25's saturation and length normalisation (Robertson & Zaragoza, 2009, recommend 1.2–2 and 0.5–0.8)."""

BOUND_WEIGHT = 0.8
COVERAGE_WEIGHT = 0.25
"""Weights of normalised BM25 and of coverage beside a cosine of weight 1: a flat optimum over ten question sets
(bn 0.7–1.0, cov 0.2–0.3).
"""


def inverse_document_frequency(passages: int, holding: int) -> float:
    """BM25's idf, log(1 + (N − df + 0.5)/(df + 0.5)): always positive (the form Lucene uses)."""
    return math.log(1 + (passages - holding + 0.5) / (holding + 0.5))


def absolute_score(bm25: float, bound: float, coverage: float) -> float:
    """BM25 on a scale in [0, 1] that means the same for every question: (0.8·bn + 0.25·cov) / 1.05, rounded to 1e-6.

    bn is BM25 divided by its upper bound for the question, Σ qtf·idf·(k1 + 1) with unknown terms at the largest idf;
    cov the idf share of the question's content words that the passage holds. Where rare words are not matched both are
    small, so the scale calibrates itself per question.
    """
    share = min(1.0, bm25 / bound) if bound > 0 else 0.0
    return round((BOUND_WEIGHT * share + COVERAGE_WEIGHT * min(1.0, coverage)) / (BOUND_WEIGHT + COVERAGE_WEIGHT), 6)


@dataclass(frozen=True, slots=True, eq=False)
class TermPostings:
    """What a reader sees of one term."""

    key: int
    places: NDArray[np.int32]
    """Of the visible chunks that hold it."""
    frequencies: NDArray[np.float64]
    """How often each of them does."""
    idf: float


HeldTerms = Mapping[str, TermPostings]
"""Terms that were looked up: a search, a profile and rarities of one question share them."""

_NONE_HELD: HeldTerms = MappingProxyType({})


@dataclass(frozen=True, slots=True, eq=False)
class TermProfile:
    """Which of a question's terms some chunks hold. Rows are chunks, columns the question's terms in key order."""

    present: NDArray[np.bool_]
    """(n, t)"""
    gain: NDArray[np.float64]
    """(n, t) each term's part of BM25 over its bound: a row sums to bn of `absolute_score`."""
    idf: NDArray[np.float64]
    """(t,)"""
    bound: float
    """BM25's upper bound for the question."""

    def of_rows(self, rows: NDArray[np.int64]) -> TermProfile:
        """The same of some of the chunks, in the order of `rows`."""
        return TermProfile(self.present[rows], self.gain[rows], self.idf, self.bound)

    def beside(self, others: TermProfile) -> TermProfile:
        """These chunks and, behind them, others of the same question."""
        present = np.concatenate([self.present, others.present])
        return TermProfile(present, np.concatenate([self.gain, others.gain]), self.idf, self.bound)


@dataclass(frozen=True, eq=False)
class VisiblePostings:
    """The postings of all segments with what a reader sees of them. Place i stands for ordinal `base + i`.

    Memory is about 17 bytes for each number between the smallest and the largest ordinal, and as much again while a
    question is answered.
    """

    segments: tuple[Segment, ...]
    base: int
    visible: NDArray[np.bool_]
    """(span,) whether the chunk at that place is visible."""
    lengths: NDArray[np.float64]
    """(span,) its length in terms; 0 where nothing is visible."""

    @classmethod
    def of(
        cls,
        segments: Sequence[Segment],
        closed: NDArray[np.int32],
        version: int,
        access_ids: Collection[int],
        moves: AccessChanges = NO_ACCESS_CHANGES,
    ) -> VisiblePostings:
        """What is visible: appeared by `version`, not among the ordinals `closed`, in one of `access_ids` (where
        `moves` say that it stands by now).

        The ordinals of the segments are disjoint; nothing depends on how chunks are divided into them.
        """
        held = tuple(segment for segment in segments if len(segment.ordinals))
        if not held:
            return cls((), 0, np.zeros(0, np.bool_), np.zeros(0))
        base = min(int(segment.ordinals[0]) for segment in held)
        span = max(int(segment.ordinals[-1]) for segment in held) - base + 1
        ordinals = np.concatenate([segment.ordinals for segment in held])
        places = ordinals - base
        access = moves.apply(ordinals, np.concatenate([segment.access for segment in held]))
        seen = np.concatenate([segment.visible_from for segment in held]) <= version
        seen &= np.isin(access, np.array(sorted(access_ids), np.int32))
        visible = np.zeros(span, np.bool_)
        visible[places] = seen
        visible[closed[(closed >= base) & (closed < base + span)] - base] = False
        lengths = np.zeros(span)
        lengths[places] = np.concatenate([segment.lengths for segment in held])
        return cls(held, base, visible, lengths * visible)

    @cached_property
    def passages(self) -> int:
        """How many chunks are visible."""
        return int(np.count_nonzero(self.visible))

    @cached_property
    def _penalty(self) -> NDArray[np.float64]:
        """BM25's length normalisation by place."""
        total = float(self.lengths.sum())
        return self.lengths * (K1 * B * self.passages / total) + K1 * (1 - B) if total else self.lengths

    @property
    def nbytes(self) -> int:
        """Memory beside the segments themselves."""
        return self.visible.nbytes + 2 * self.lengths.nbytes

    def look_up(self, terms: Collection[str], held: HeldTerms = _NONE_HELD) -> HeldTerms:
        """The postings of terms; those `held` already are among them."""
        missing = sorted((term_key(term), term) for term in set(terms) if term not in held)
        if not missing:
            return held
        known = dict(held)
        found = _postings(self.segments, np.array([key for key, _ in missing], np.uint64))
        for (key, term), (ordinals, frequencies) in zip(missing, found, strict=True):
            places = ordinals - self.base
            seen = self.visible[places]
            if not seen.all():
                places, frequencies = places[seen], frequencies[seen]
            idf = inverse_document_frequency(self.passages, len(places))
            known[term] = TermPostings(key, places, frequencies, idf)
        return known

    def search(
        self,
        question: Mapping[str, int],
        allowed: NDArray[np.int32] | None,
        limit: int,
        held: HeldTerms = _NONE_HELD,
    ) -> list[ArmHit]:
        """The `limit` best chunks by BM25 (rounded to 1e-6), best first, ties by ordinal.

        Exact over live statistics: document frequency, number and average length of chunks count only what is visible.
        `allowed` narrows the results, not the statistics. All terms of `question` (term → count) count for coverage.
        """
        if not self.passages or not question or limit < 1:
            return []
        asked = _AskedPostings.of(question, self.look_up(question, held))
        # The parts of a place are added in the order of the terms' keys.
        bm25 = _sum_by_place(asked.places, asked.gain(self._penalty), len(self.visible))
        covered = _sum_by_place(asked.places, asked.idf[asked.columns], len(self.visible))
        bound, whole = asked.bound, sum(asked.idf.tolist())
        if allowed is not None:
            _mask_others(bm25, allowed, self.base)
        return [
            ArmHit(place + self.base, raw, absolute_score(raw, bound, share))
            for place, raw, share in _best(bm25, covered / whole if whole else covered, limit)
        ]

    def profile(
        self,
        question: Mapping[str, int],
        ordinals: NDArray[np.int64],
        held: HeldTerms = _NONE_HELD,
    ) -> TermProfile:
        """What visible chunks (`ordinals`, in any order) hold of a question, by the statistics of `search`."""
        present = np.zeros((len(ordinals), len(question)), np.bool_)
        gain = np.zeros((len(ordinals), len(question)))
        if not question:
            return TermProfile(present, gain, np.zeros(0), 0.0)
        asked = _AskedPostings.of(question, self.look_up(question, held))
        rows = self._rows_by_place(ordinals)[asked.places]
        hits = np.flatnonzero(rows >= 0)
        cells = rows[hits], asked.columns[hits]
        present[cells] = True
        gain[cells] = asked.at(hits).gain(self._penalty)
        return TermProfile(present, gain / asked.bound if asked.bound else gain, asked.idf, asked.bound)

    def _rows_by_place(self, ordinals: NDArray[np.int64]) -> NDArray[np.int32]:
        """For each place the row of its chunk among `ordinals`; −1 for the others."""
        rows = np.full(len(self.visible), -1, np.int32)
        places = ordinals - self.base
        inside = np.flatnonzero((places >= 0) & (places < len(rows)))
        rows[places[inside]] = inside
        return rows

    def rarity(self, wanted: Collection[str], held: HeldTerms = _NONE_HELD) -> dict[str, float]:
        """Each term's idf over the largest possible one (that of a term nobody holds), in (0, 1], counting visible
        chunks only; 1 when nothing is visible.
        """
        if not self.passages or not wanted:
            return dict.fromkeys(wanted, 1.0)
        found, largest = self.look_up(wanted, held), inverse_document_frequency(self.passages, 0)
        return {
            term: one.idf / largest for term, one in sorted(((term, found[term]) for term in set(wanted)), key=_key_of)
        }


@dataclass(frozen=True, slots=True, eq=False)
class _AskedPostings:
    """The postings of all t terms of a question behind one another, in key order: a call for each term takes longer
    than what it does.
    """

    places: NDArray[np.int32]
    """(p,) of chunks."""
    frequencies: NDArray[np.float64]
    """(p,)"""
    columns: NDArray[np.int64]
    """(p,) which of the terms each is of."""
    most: NDArray[np.float64]
    """(t,) what a term can give a chunk at most."""
    idf: NDArray[np.float64]
    """(t,)"""
    bound: float
    """Of a chunk's BM25."""

    @classmethod
    def of(cls, question: Mapping[str, int], found: HeldTerms) -> _AskedPostings:
        """Of a question that has a term."""
        terms = _in_key_order(question, found)
        most = [count * held.idf * (K1 + 1) for count, held in terms]
        return cls(
            np.concatenate([held.places for _, held in terms]),
            np.concatenate([held.frequencies for _, held in terms]),
            np.repeat(np.arange(len(terms)), [len(held.places) for _, held in terms]),
            np.array(most),
            np.array([held.idf for _, held in terms]),
            sum(most),
        )

    def at(self, rows: NDArray[np.int64]) -> _AskedPostings:
        """Some of the postings."""
        places, frequencies, columns = (held[rows] for held in (self.places, self.frequencies, self.columns))
        return replace(self, places=places, frequencies=frequencies, columns=columns)

    def gain(self, penalty: NDArray[np.float64]) -> NDArray[np.float64]:
        """(p,) each one's part of BM25; `penalty` by place."""
        found: NDArray[np.float64] = self.most[self.columns] * self.frequencies
        return found / (self.frequencies + penalty[self.places])


def _key_of(one: tuple[str, TermPostings]) -> tuple[int, str]:
    return one[1].key, one[0]


def _in_key_order(question: Mapping[str, int], found: HeldTerms) -> list[tuple[int, TermPostings]]:
    """The counts of a question's terms with what was found: sums do not depend on the order of its words."""
    ordered = sorted(((term, found[term]) for term in question), key=_key_of)
    return [(question[term], one) for term, one in ordered]


def _postings(
    segments: Sequence[Segment], keys: NDArray[np.uint64]
) -> list[tuple[NDArray[np.int32], NDArray[np.float64]]]:
    """For each key (ascending), the ordinals that hold it and how often, over all segments."""
    ordinals: list[list[NDArray[np.int32]]] = [[] for _ in range(len(keys))]
    counts: list[list[NDArray[np.uint16]]] = [[] for _ in range(len(keys))]
    for segment in segments:
        firsts: list[int] = segment.terms.searchsorted(keys).tolist()
        ends: list[int] = segment.terms.searchsorted(keys, "right").tolist()
        for query, (at, behind) in enumerate(zip(firsts, ends, strict=True)):
            if at < behind:
                span = slice(segment.offsets[at], segment.offsets[behind])
                ordinals[query].append(segment.posting_ordinals[span])
                counts[query].append(segment.posting_counts[span])
    nothing = (np.zeros(0, np.int32), np.zeros(0))
    return [
        (np.concatenate(held), np.concatenate(often).astype(np.float64)) if held else nothing
        for held, often in zip(ordinals, counts, strict=True)
    ]


def _sum_by_place(places: NDArray[np.int32], parts: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """(size,) the sum of the parts of each place; numpy counts in whole numbers where there are none."""
    return np.bincount(places, parts, size).astype(np.float64, copy=False)


def _mask_others(scores: NDArray[np.float64], allowed: NDArray[np.int32], base: int) -> None:
    mask = np.zeros(len(scores), np.bool_)
    mask[allowed[(allowed >= base) & (allowed < base + len(scores))] - base] = True
    scores *= mask


def _best(bm25: NDArray[np.float64], coverage: NDArray[np.float64], limit: int) -> list[tuple[int, float, float]]:
    """(place, rounded BM25, coverage) of the best; only contenders for the last rank are rounded."""
    places = np.flatnonzero(bm25)
    if limit < len(places):
        scores = bm25[places]
        last = float(np.partition(scores, len(scores) - limit)[len(scores) - limit])
        places = places[scores >= last - 2 * 10.0**-SCORE_DIGITS]
    rounded = np.round(bm25[places], SCORE_DIGITS)
    order = np.lexsort((places, -rounded))[:limit]
    places = places[order]
    return list(zip(places.tolist(), rounded[order].tolist(), coverage[places].tolist(), strict=True))
