"""Clients with organisations' keys, sharing one connection pool."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from agentic_rag.adapters.openai.chat import OpenAIChatModel
from agentic_rag.adapters.openai.embedder import OpenAIEmbedder, takes_dimensions
from agentic_rag.models.embedding.space import EmbeddingSpace
from agentic_rag.models.providers.provider_keys import Provider

if TYPE_CHECKING:
    from openai import AsyncOpenAI

    from agentic_rag.models.providers.ports import Credentials


class TenantClients:
    """Implements `models.providers.ports.ModelMaker`. `addresses` are set by the operator for all providers but
    `COMPATIBLE`.

    Redirects are not followed: an allowed server must not redirect a key, or this process, to another host.
    """

    def __init__(
        self,
        addresses: Mapping[Provider, str],
        *,
        seconds: float,
        temperature: float | None,
    ) -> None:
        self._addresses = addresses
        self._seconds = seconds
        self._temperature = temperature
        self._shared: AsyncOpenAI | None = None

    def embedder(self, credentials: Credentials, space: EmbeddingSpace) -> OpenAIEmbedder:
        client = self._client(credentials)
        return OpenAIEmbedder(
            client,
            space.model,
            space.dimensions,
            provider=space.provider,
            send_dimensions=takes_dimensions(space.model.removeprefix("models/")),
        )

    def chat(self, credentials: Credentials, model: str) -> OpenAIChatModel:
        return OpenAIChatModel(self._client(credentials), model, temperature=self._temperature)

    async def aclose(self) -> None:
        if self._shared is not None:
            await self._shared.close()

    def _client(self, credentials: Credentials) -> AsyncOpenAI:
        if self._shared is None:
            import openai

            # Never called itself: its key and address are placeholders.
            self._shared = openai.AsyncOpenAI(
                base_url="http://invalid.invalid",
                api_key="none",
                max_retries=0,
                http_client=openai.DefaultAsyncHttpxClient(follow_redirects=False),
            )
        return self._shared.with_options(
            base_url=credentials.base_url or self._addresses[credentials.provider],
            api_key=credentials.key.reveal(),
            timeout=self._seconds,
        )
