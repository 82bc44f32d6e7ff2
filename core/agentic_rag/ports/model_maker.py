"""Makes clients of the providers that organisations bring keys for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from agentic_rag.domain.provider_keys import Provider
from agentic_rag.domain.secret import Secret
from agentic_rag.domain.spaces import EmbeddingSpace
from agentic_rag.ports.chat_model import ChatModel
from agentic_rag.ports.embedder import Embedder


@dataclass(frozen=True, slots=True)
class Credentials:
    """What a call of an organisation's provider takes. `base_url` None: the operator's address of that provider."""

    provider: Provider
    key: Secret
    base_url: str | None


class ModelMaker(Protocol):
    """Clients are cheap: they share the connections of the process, so nobody has to close one."""

    def embedder(self, credentials: Credentials, space: EmbeddingSpace) -> Embedder:
        """An embedder in a space that the model can give by itself."""
        ...

    def chat(self, credentials: Credentials, model: str) -> ChatModel:
        """A chat model."""
        ...
