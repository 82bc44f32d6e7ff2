"""The graph arm: passages that the entity graph links to the hits of the text arms."""

from __future__ import annotations

from agentic_rag.kernel.database import CorpusSnapshot
from agentic_rag.retrieval.arms.arm import SeedHits
from agentic_rag.retrieval.candidates import Retriever
from agentic_rag.retrieval.graph.graph_search import GraphHits, GraphQuery, search_graph
from agentic_rag.retrieval.query import RetrievalQuery


async def expand_by_graph(snapshot: CorpusSnapshot, query: RetrievalQuery, seeds: SeedHits) -> GraphHits:
    """The linked passages, with their scores in the text arms. Errors: `DependencyUnavailable`."""
    vector = query.vector if seeds.arms[Retriever.DENSE] else None
    asked = GraphQuery(
        workspace_id=query.workspace_id,
        text=query.title_query or query.text,
        terms=query.terms,
        entities=seeds.entities,
        vector=None if vector is None else vector.vector,
        space_id=None if snapshot.space is None else snapshot.space.space_id,
        lexical_share=seeds.lexical_share,
        scope=query.scope,
        titles_are_checked=query.titles_are_checked,
    )
    return await search_graph(snapshot, asked, seeds.arms)
