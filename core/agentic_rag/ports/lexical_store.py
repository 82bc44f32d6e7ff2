"""Exact BM25 over our own postings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from agentic_rag.domain.bm25 import TermProfile
from agentic_rag.domain.retrieval import ArmHit, Scope


class LexicalReader(Protocol):
    """Search inside one snapshot."""

    async def search(self, terms: Mapping[str, int], limit: int, scope: Scope) -> list[ArmHit]:
        """BM25 for the query terms (term → count in the query), best first, ties by ordinal.

        `raw` is BM25 rounded to 1e-6; `score` in [0, 1] is the absolute scale of `domain.lexical.absolute_score`.
        """
        ...

    async def rarity(self, terms: Sequence[str], scope: Scope) -> dict[str, float]:
        """How rare each term is among the visible chunks: its idf divided by the largest possible one, in (0, 1];
        1 for a term that occurs nowhere.

        After a `search` for the same terms it needs no further round trip.
        """
        ...

    async def profile(self, terms: Mapping[str, int], ordinals: Sequence[int], scope: Scope) -> TermProfile:
        """What each of these chunks (visible ones) holds of the query terms, by the statistics of `search`, after which
        it needs no further round trip.
        """
        ...

    async def passages(self, scope: Scope) -> int:
        """How many chunks are visible to the scope's access sets (a filter does not count). After a `search` it needs
        no further round trip.
        """
        ...
