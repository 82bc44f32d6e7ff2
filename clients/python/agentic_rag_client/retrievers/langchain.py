"""A retriever for LangChain: `pip install agentic-rag-client[langchain]`."""

from __future__ import annotations

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict

from agentic_rag_client import AsyncRagClient, RagClient, SearchResult
from agentic_rag_client.retrievers import metadata_of


class AgenticRagRetriever(BaseRetriever):
    """Passages of a workspace, best first. `async_client` serves `ainvoke`; without it a thread asks `client`."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    client: RagClient
    async_client: AsyncRagClient | None = None
    workspace: str | None = None
    top_k: int = 5
    min_similarity: float | None = None

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        found = self.client.search(
            query, workspace=self.workspace, top_k=self.top_k, min_similarity=self.min_similarity
        )
        return _documents(found)

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun
    ) -> list[Document]:
        if self.async_client is None:
            return await super()._aget_relevant_documents(query, run_manager=run_manager)
        found = await self.async_client.search(
            query, workspace=self.workspace, top_k=self.top_k, min_similarity=self.min_similarity
        )
        return _documents(found)


def _documents(found: SearchResult) -> list[Document]:
    return [Document(id=one.chunk_id, page_content=one.text, metadata=metadata_of(one)) for one in found.passages]
