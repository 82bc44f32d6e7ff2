"""The dense arm: passages whose vectors are nearest to the question's."""

from __future__ import annotations

from agentic_rag.kernel.database import CorpusSnapshot
from agentic_rag.kernel.errors import SpaceMismatch
from agentic_rag.retrieval.candidates import ArmHit
from agentic_rag.retrieval.ports import VectorSearch
from agentic_rag.retrieval.query import RetrievalQuery


async def search_dense(
    snapshot: CorpusSnapshot, query: RetrievalQuery, limit: int, exact: bool = False
) -> list[ArmHit] | None:
    """The passages nearest to the query's vector; None without a vector. Errors: `SpaceMismatch`."""
    space = snapshot.space
    if query.vector is None or space is None or query.weights.vector == 0:
        return None
    if space.space != query.vector.space:
        raise SpaceMismatch(
            f"The workspace is embedded with {space.space.name}, the question with {query.vector.space.name}. "
            "Set the embedder back or re-embed the workspace."
        )
    vector = query.vector.vector
    if exact:
        return await snapshot.vectors.nearest(vector, space.space_id, limit, query.scope, VectorSearch.EXACT)
    return await snapshot.vectors.nearest(vector, space.space_id, limit, query.scope)
