"""Clients with organisations' keys, sharing one connection pool."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from agentic_rag.adapters.openai.chat import OpenAIChatModel
from agentic_rag.adapters.openai.client import open_client
from agentic_rag.adapters.openai.embedder import OpenAIEmbedder, takes_dimensions
from agentic_rag.models.embedding.space import EmbeddingSpace
from agentic_rag.models.providers.provider_keys import Provider
from agentic_rag.web.proxies import DIRECT, Proxies

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
        proxies: Proxies = DIRECT,
    ) -> None:
        self._addresses = addresses
        self._proxies = proxies
        self._seconds = seconds
        self._temperature = temperature
        self._shared: dict[str | None, AsyncOpenAI] = {}
        """By the proxy that they go through."""

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
        for client in self._shared.values():
            await client.close()

    def _client(self, credentials: Credentials) -> AsyncOpenAI:
        base_url = credentials.base_url or self._addresses[credentials.provider]
        proxy = self._proxies.of(base_url)
        if proxy not in self._shared:
            # Never called itself: its key and address are placeholders.
            self._shared[proxy] = open_client("http://invalid.invalid", "none", self._seconds, proxy, follows=False)
        client = self._shared[proxy].with_options(base_url=base_url, api_key=credentials.key.reveal())
        # The SDK reads OPENAI_ORG_ID, OPENAI_PROJECT_ID and OPENAI_CUSTOM_HEADERS for each client: they are the
        # platform's, and no header of theirs goes to a tenant's provider or in the place of its key.
        client.organization = client.project = client.admin_api_key = None
        client._custom_headers = {}  # pyright: ignore[reportPrivateUsage]
        return client
