"""The seam for evidence of a special domain, such as the figures of financial statements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from agentic_rag.answering.extraction.candidate_units import CandidateUnit, Subquery
from agentic_rag.answering.extraction.extractive import DraftSentence
from agentic_rag.kernel.database import CorpusSnapshot
from agentic_rag.retrieval.candidates import Passage, SearchScope


@dataclass(frozen=True, slots=True)
class FoundEvidence:
    """The passages that were given, then those that a finder adds, and the quotes that answer, best first."""

    passages: tuple[Passage, ...]
    quotes: tuple[CandidateUnit, ...]
    is_exact: bool = False
    """The quotes are what is asked for and nothing beside it is; several are as many readings of the question."""


class EvidenceFinder(Protocol):
    """Finds evidence that general retrieval misses in documents of one domain."""

    async def find(
        self, snapshot: CorpusSnapshot, question: str, passages: Sequence[Passage], scope: SearchScope
    ) -> FoundEvidence | None:
        """Further evidence for a question; None when the question or the corpus is not of the domain.

        Errors: `DependencyUnavailable`.
        """
        ...

    def missing_fact(
        self, part: Subquery, passages: Sequence[Passage], sentences: Sequence[DraftSentence]
    ) -> str | None:
        """The first fact that a question about long documents requires and that no sentence states."""
        ...
