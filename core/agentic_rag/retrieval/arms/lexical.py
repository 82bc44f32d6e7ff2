"""The lexical arm: passages with the question's terms, by BM25."""

from __future__ import annotations

from agentic_rag.kernel.database import CorpusSnapshot
from agentic_rag.retrieval.candidates import ArmHit
from agentic_rag.retrieval.query import RetrievalQuery


async def search_lexical(
    snapshot: CorpusSnapshot, query: RetrievalQuery, limit: int, exact: bool = False
) -> list[ArmHit] | None:
    """The passages with the query's terms; None for a query without terms. BM25 is always exact."""
    if not query.terms or query.weights.vector == 0:
        return None
    return await snapshot.lexical.search(query.terms, limit, query.scope)
