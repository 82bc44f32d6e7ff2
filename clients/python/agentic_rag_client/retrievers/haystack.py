"""A retriever for Haystack: `pip install agentic-rag-client[haystack]`."""

from __future__ import annotations

from typing import Any

from haystack import Document, component, default_from_dict, default_to_dict
from haystack.utils import Secret, deserialize_secrets_inplace

from agentic_rag_client import RagClient
from agentic_rag_client.retrievers import metadata_of


@component
class AgenticRagRetriever:
    """Passages of a workspace, best first, as a component of a pipeline. It is stored with a pipeline, but for its
    token: `Secret.from_env_var` names where that stands.
    """

    def __init__(
        self, url: str, token: Secret, workspace: str, top_k: int = 5, min_similarity: float | None = None
    ) -> None:
        self.url = url
        self.token = token
        self.workspace = workspace
        self.top_k = top_k
        self.min_similarity = min_similarity
        self._client = RagClient(url, token.resolve_value() or "", workspace)

    def to_dict(self) -> dict[str, Any]:
        """As a pipeline stores it."""
        return default_to_dict(
            self,
            url=self.url,
            token=self.token.to_dict(),
            workspace=self.workspace,
            top_k=self.top_k,
            min_similarity=self.min_similarity,
        )

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> AgenticRagRetriever:
        """From a stored pipeline."""
        deserialize_secrets_inplace(data["init_parameters"], keys=["token"])
        return default_from_dict(cls, data)

    @component.output_types(documents=list[Document])
    def run(self, query: str, top_k: int | None = None) -> dict[str, list[Document]]:
        """The passages for a query."""
        found = self._client.search(query, top_k=top_k or self.top_k, min_similarity=self.min_similarity)
        documents = [
            Document(id=one.chunk_id, content=one.text, meta=metadata_of(one), score=one.score)
            for one in found.passages
        ]
        return {"documents": documents}
