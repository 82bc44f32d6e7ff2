"""Figures of a ranking against the gold documents. Pure functions; relevance is binary."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence


def recall_at(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """The share of the gold documents among the first k. Errors: `ValueError` without gold."""
    return len(_gold_in_top(ranked, gold, k)) / len(set(gold))


def all_gold_at(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """1 when every gold document is among the first k, as a multi-hop answer needs; else 0. Errors: as `recall_at`."""
    return float(recall_at(ranked, gold, k) == 1.0)


def reciprocal_rank(ranked: Sequence[str], gold: Collection[str]) -> float:
    """One over the rank of the first gold document, 0 when there is none."""
    wanted = set(gold)
    return next((1.0 / rank for rank, one in enumerate(ranked, 1) if one in wanted), 0.0)


def ndcg_at(ranked: Sequence[str], gold: Collection[str], k: int) -> float:
    """Normalised discounted cumulative gain at k (Järvelin and Kekäläinen, "Cumulated gain-based evaluation of IR
    techniques", 2002), with gains of 1 and the discount log2(rank + 1). Errors: as `recall_at`.
    """
    found = _gold_in_top(ranked, gold, k)
    gain = sum(1.0 / math.log2(rank + 1) for rank, one in enumerate(ranked[:k], 1) if one in found)
    best = sum(1.0 / math.log2(rank + 1) for rank in range(1, min(k, len(set(gold))) + 1))
    return gain / best


def _gold_in_top(ranked: Sequence[str], gold: Collection[str], k: int) -> set[str]:
    """Gold among the first k. The caller removes duplicates: a repeated document would count twice."""
    if not gold:
        raise ValueError("a ranking without gold documents has no such figure")
    first = ranked[:k]
    if len(set(first)) != len(first):
        raise ValueError("a ranking names a document twice")
    return set(gold) & set(first)
