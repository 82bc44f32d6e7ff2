"""The figures of financial statements as a row of evidence finders."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agentic_rag.answering.evidence.finder import FoundEvidence
from agentic_rag.answering.extraction.candidate_units import Subquery
from agentic_rag.answering.extraction.extractive import DraftSentence
from agentic_rag.answering.figures.borderless_tables import is_statement
from agentic_rag.answering.figures.missing_facts import find_missing_fact
from agentic_rag.answering.figures.search import find_figures
from agentic_rag.kernel.database import CorpusSnapshot
from agentic_rag.retrieval.candidates import Passage, SearchScope

_REPORT = re.compile(
    r"\b(?:\d{1,2}-[QK]|(?:annual|quarterly|interim|half[- ]year(?:ly)?|financial) "
    r"(?:report|statement|result|period)s?)\b",
    re.IGNORECASE,
)
"""The title of a report to investors: its prose is read as strictly as its statements."""


class FinancialFigures:
    """Implements `answering.evidence.finder.EvidenceFinder`, for documents with financial statements: elsewhere it
    finds nothing and misses nothing.
    """

    async def find(
        self, snapshot: CorpusSnapshot, question: str, passages: Sequence[Passage], scope: SearchScope
    ) -> FoundEvidence | None:
        return await find_figures(snapshot, question, passages, scope)

    def missing_fact(
        self, part: Subquery, passages: Sequence[Passage], sentences: Sequence[DraftSentence]
    ) -> str | None:
        if any(_REPORT.search(one.chunk.document_title) or is_statement(one.chunk.text) for one in passages):
            return find_missing_fact(part, passages, sentences)
        return None
