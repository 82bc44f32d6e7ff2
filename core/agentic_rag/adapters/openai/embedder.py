"""Embeddings from any provider with OpenAI's interface."""

from __future__ import annotations

import asyncio
import base64
import binascii
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from agentic_rag.adapters.openai.client import provider_failure
from agentic_rag.kernel.errors import Retryable, SpaceMismatch
from agentic_rag.language.token_estimate import estimate_tokens
from agentic_rag.models.embedding.space import EmbeddingSpace

if TYPE_CHECKING:
    from openai import AsyncOpenAI

PROVIDER = "openai"
"""The provider name of the platform's spaces that use this interface. The model name distinguishes them; the base URL
does not.
"""

MAX_INPUTS = 100
"""Inputs per call; OpenAI allows 2,048, Gemini's compatible interface 100."""

MAX_TOKENS = 300_000
"""Tokens per call over all inputs: OpenAI's documented limit."""

_ESTIMATE_MARGIN = 1.3
"""The estimator may be 30 % low (see `language.token_estimate`)."""

_CONCURRENT_CALLS = 4


def takes_dimensions(model: str) -> bool:
    """Whether a model is known to shorten its vectors on request (text-embedding-3 and gemini-embedding)."""
    return model.startswith(("text-embedding-3", "gemini-embedding"))


class OpenAIEmbedder:
    """Implements `models.embedding.ports.Embedder`. Owns `client` (see `open_client`); one instance per process keeps
    its connections.

    `send_dimensions` requests vectors of the space's length: text-embedding-3 and gemini-embedding support it, other
    models refuse the field.
    """

    def __init__(
        self,
        client: AsyncOpenAI,
        model: str,
        dimensions: int,
        *,
        send_dimensions: bool = False,
        provider: str = PROVIDER,
    ) -> None:
        self._client = client
        self._space = EmbeddingSpace(provider, model, dimensions)
        self._send_dimensions = send_dimensions

    @property
    def space(self) -> EmbeddingSpace:
        return self._space

    @property
    def batch_size(self) -> int:
        return MAX_INPUTS

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Unit-length vectors, shape (len(texts), dimensions), in the order of `texts`.

        Texts above the limit of one call are sent in batches, four at a time; the first failure cancels the others.
        Errors: those of `provider_failure`, `Retryable` (PROVIDER_BAD_RESPONSE) for an unreadable or incomplete answer,
        `SpaceMismatch`.
        """
        return (await self.embed_with_usage(texts))[0]

    async def embed_with_usage(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], int | None]:
        """As `embed`, with the number of tokens the provider charges for (None if an answer did not state it)."""
        if not texts:
            return np.zeros((0, self._space.dimensions), np.float32), 0
        slots = asyncio.Semaphore(_CONCURRENT_CALLS)
        calls = [asyncio.create_task(self._embed_batch(batch, slots)) for batch in _batches(texts)]
        try:
            answers = await asyncio.gather(*calls)
        finally:
            for call in calls:
                call.cancel()
            await asyncio.gather(*calls, return_exceptions=True)
        counts = [tokens for _, tokens in answers]
        total = sum(count for count in counts if count is not None) if None not in counts else None
        return np.concatenate([vectors for vectors, _ in answers]), total

    async def aclose(self) -> None:
        await self._client.close()

    async def _embed_batch(
        self, batch: Sequence[str], slots: asyncio.Semaphore
    ) -> tuple[NDArray[np.float32], int | None]:
        import openai

        async with slots:
            try:
                # The raw body is parsed here, because the client's models accept malformed answers silently.
                response = await self._client.embeddings.with_raw_response.create(
                    model=self._space.model,
                    input=list(batch),
                    encoding_format="float",
                    dimensions=self._space.dimensions if self._send_dimensions else openai.omit,
                )
            except openai.OpenAIError as error:
                raise provider_failure(error) from error
        return _unit_rows(self._rows(response.content, len(batch))), _tokens(response.content)

    def _rows(self, body: bytes, expected: int) -> list[NDArray[np.float32]]:
        """The vectors of an answer, in the order of the inputs."""
        try:
            items = cast(Sequence[dict[str, Any]], json.loads(body)["data"])
            rows = {int(item["index"]): _vector(item["embedding"]) for item in items}
        except (ValueError, KeyError, TypeError, binascii.Error) as error:
            raise _bad_response("is not a list of embeddings") from error
        if len(items) != expected or rows.keys() != set(range(expected)):
            raise _bad_response(f"holds {len(rows)} embeddings for {expected} inputs")
        for row in rows.values():
            if row.shape != (self._space.dimensions,):
                raise SpaceMismatch(
                    f"{self._space.model} answered with {row.size} dimensions; the space has {self._space.dimensions}."
                    " Configure the model's dimensions, or re-embed into a new space."
                )
        return [rows[index] for index in range(expected)]


def _tokens(body: bytes) -> int | None:
    """The charged tokens stated by the provider; several compatible servers state none."""
    stated: Any = json.loads(body).get("usage")
    tokens: Any = cast(dict[str, Any], stated).get("prompt_tokens") if isinstance(stated, dict) else None
    return tokens if isinstance(tokens, int) and tokens >= 0 else None


def _batches(texts: Sequence[str]) -> list[Sequence[str]]:
    """Consecutive slices within the limits of a call; a text above the token limit is sent alone."""
    batches: list[Sequence[str]] = []
    start = 0
    tokens = 0.0
    for place, text in enumerate(texts):
        size = estimate_tokens(text) * _ESTIMATE_MARGIN
        if place > start and (place - start == MAX_INPUTS or tokens + size > MAX_TOKENS):
            batches.append(texts[start:place])
            start, tokens = place, 0.0
        tokens += size
    batches.append(texts[start:])
    return batches


def _vector(embedding: object) -> NDArray[np.float32]:
    """Parses numbers, or base64 of little-endian float32, which some servers send whatever format was requested."""
    if isinstance(embedding, str):
        return np.frombuffer(base64.b64decode(embedding, validate=True), "<f4").astype(np.float32)
    return np.array(embedding, np.float32)


def _unit_rows(rows: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    """Rows scaled to unit length in float64: several providers shorten vectors without renormalising."""
    vectors = np.stack(rows).astype(np.float64)
    lengths = np.sqrt((vectors * vectors).sum(axis=1, keepdims=True))
    if not np.isfinite(lengths).all() or not lengths.all():
        raise _bad_response("holds a vector without a direction")
    return (vectors / lengths).astype(np.float32)


def _bad_response(what: str) -> Retryable:
    return Retryable(f"The provider's answer {what}; try again.", code="PROVIDER_BAD_RESPONSE")
