"""A retriever for LlamaIndex: `pip install agentic-rag-client[llama-index]`."""

from __future__ import annotations

from typing import Any

from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from agentic_rag_client import AsyncRagClient, RagClient, SearchResult
from agentic_rag_client.retrievers import metadata_of


class AgenticRagRetriever(BaseRetriever):
    """Passages of a workspace, best first. `async_client` serves `aretrieve`; without it `client` does."""

    def __init__(
        self,
        client: RagClient,
        *,
        async_client: AsyncRagClient | None = None,
        workspace: str | None = None,
        top_k: int = 5,
        min_similarity: float | None = None,
        **more: Any,
    ) -> None:
        super().__init__(**more)
        self._client = client
        self._async_client = async_client
        self._asked: dict[str, Any] = {"workspace": workspace, "top_k": top_k, "min_similarity": min_similarity}

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return _nodes(self._client.search(query_bundle.query_str, **self._asked))

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        if self._async_client is None:
            return self._retrieve(query_bundle)
        return _nodes(await self._async_client.search(query_bundle.query_str, **self._asked))


def _nodes(found: SearchResult) -> list[NodeWithScore]:
    return [
        NodeWithScore(node=TextNode(id_=one.chunk_id, text=one.text, metadata=metadata_of(one)), score=one.score)
        for one in found.passages
    ]
