"""Resolves an organisation's models from its settings and the keys it brought."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from agentic_rag.kernel.errors import InvalidInput, MissingProviderKey, Permanent
from agentic_rag.models.embedding.space import MAX_DIMENSIONS
from agentic_rag.models.providers.provider_keys import Provider

RETIRED_MODELS: Mapping[str, str] = MappingProxyType(
    {
        "text-embedding-004": "gemini-embedding-001",
        "embedding-001": "gemini-embedding-001",
        "gemini-embedding-exp": "gemini-embedding-001",
        "gemini-embedding-exp-03-07": "gemini-embedding-001",
    }
)
"""Retired models and their successors: https://ai.google.dev/gemini-api/docs/deprecations, read on 2026-11-21
(embedding-001 and the experimental ones ended on 2025-10-30, text-embedding-004 in January 2026).
"""

SET_KEY_REMEDY = "store it with `setProviderKey` or `rag provider-key set`"


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """A chat model and its provider."""

    provider: Provider
    model: str


@dataclass(frozen=True, slots=True)
class EmbeddingChoice:
    """An embedding model, its provider, and the dimensions of its vectors."""

    provider: Provider
    model: str
    dimensions: int


DEFAULT_EMBEDDINGS: Mapping[Provider, EmbeddingChoice] = MappingProxyType(
    {
        Provider.OPENAI: EmbeddingChoice(Provider.OPENAI, "text-embedding-3-small", 1536),
        Provider.GEMINI: EmbeddingChoice(Provider.GEMINI, "gemini-embedding-001", 3072),
    }
)
"""Default embedding models, with their native dimensions."""

_PREFERENCE = (Provider.OPENAI, Provider.GEMINI, Provider.COMPATIBLE, Provider.ANTHROPIC)
"""The order in which providers are chosen when an organisation has several keys and no default model."""


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """An organisation's own model settings; the rest follows from the keys it brought."""

    default_model: ModelChoice | None = None
    embedding: EmbeddingChoice | None = None
    must_bring_key: bool | None = None
    """Whether the organisation never uses the platform's own models and key; None: as the process's settings say."""

    def decide(self, *, by_default: bool) -> ModelSettings:
        """The same with `must_bring_key` decided."""
        return replace(self, must_bring_key=by_default if self.must_bring_key is None else self.must_bring_key)


@dataclass(frozen=True, slots=True)
class ResolvedModels:
    """The models to use. None: the platform's model, or no chat model where the platform has none."""

    chat: ModelChoice | None = None
    embedding: EmbeddingChoice | None = None


def resolve_models(settings: ModelSettings, held: Collection[Provider]) -> ResolvedModels:
    """The models of an organisation that brought keys for the providers in `held`.

    Errors: `MissingProviderKey`, naming the key; `InvalidInput` code EMBEDDING_MODEL_UNKNOWN.
    """
    default = settings.default_model
    provider = default.provider if default else next((one for one in _PREFERENCE if one in held), None)
    if provider is None:
        if settings.must_bring_key:
            raise MissingProviderKey(
                f"Your organisation works with its own key for a provider of models, and none is stored: "
                f"{SET_KEY_REMEDY}."
            )
        return ResolvedModels()
    if provider not in held:
        if settings.must_bring_key:
            raise missing_key(provider)
        return ResolvedModels()
    return ResolvedModels(default, _embedding(settings, provider, held))


def missing_key(provider: Provider) -> MissingProviderKey:
    """The error for a provider whose models the organisation uses without a stored key."""
    return MissingProviderKey(f"Your organisation has no key for {provider.value}: {SET_KEY_REMEDY}.")


def _embedding(settings: ModelSettings, provider: Provider, held: Collection[Provider]) -> EmbeddingChoice | None:
    chosen = settings.embedding
    if chosen is not None:
        if chosen.provider not in held:
            raise missing_key(chosen.provider)
        return chosen
    if provider is Provider.ANTHROPIC:
        second = next((one for one in DEFAULT_EMBEDDINGS if one in held), None)
        if second is None:
            raise MissingProviderKey(
                f"Anthropic has no embeddings: a second key, for openai or gemini, is needed to embed with; "
                f"{SET_KEY_REMEDY}."
            )
        return DEFAULT_EMBEDDINGS[second]
    known = DEFAULT_EMBEDDINGS.get(provider)
    if known is None and settings.must_bring_key:
        raise InvalidInput(
            f"Which embedding model your {provider.value} server has is not known: name it, with its dimensions, by "
            "`updateModelSettings` or `rag provider-key models --embedding PROVIDER:MODEL:DIMENSIONS`.",
            code="EMBEDDING_MODEL_UNKNOWN",
        )
    return known


def require_current(model: str) -> str:
    """The model, unless it is retired. Errors: `Permanent` code MODEL_RETIRED, naming its successor."""
    successor = RETIRED_MODELS.get(model.removeprefix("models/"))
    if successor is not None:
        raise Permanent(
            f"The provider has retired {model}: use {successor} instead (`rag embeddings switch` moves a workspace).",
            code="MODEL_RETIRED",
        )
    return model


def parse_model(text: str, path: tuple[str, ...] = ("input", "defaultModel")) -> ModelChoice:
    """Parse `PROVIDER:MODEL`. Errors: `InvalidInput` (codes include MODEL_RETIRED)."""
    provider, model = _provider_of(text, path)
    return ModelChoice(provider, _validate_model(model, path))


def parse_embedding(
    text: str, known_dimensions: Mapping[str, int], path: tuple[str, ...] = ("input", "embedding")
) -> EmbeddingChoice:
    """Parse `PROVIDER:MODEL[:DIMENSIONS]`; a known model needs no dimensions. Errors: `InvalidInput`."""
    provider, rest = _provider_of(text, path)
    if provider is Provider.ANTHROPIC:
        raise InvalidInput("Anthropic has no embeddings: name a model of openai, gemini or compatible.", path=path)
    model, _, last = rest.rpartition(":")
    if not (model and last.isascii() and last.isdecimal()):
        model, last = rest, str(known_dimensions.get(rest, 0))
    model = _validate_model(model, path)
    if not 1 <= int(last[:6]) <= MAX_DIMENSIONS:
        raise InvalidInput(
            f"Say how many dimensions {model[:100]!r} has, 1 to {MAX_DIMENSIONS:,}: `PROVIDER:MODEL:DIMENSIONS`.",
            path=path,
        )
    return EmbeddingChoice(provider, model, int(last))


def _provider_of(text: str, path: tuple[str, ...]) -> tuple[Provider, str]:
    name, _, rest = text.strip().partition(":")
    known = {one.value: one for one in Provider}
    if name not in known or not rest or len(text) > 200 or not text.isprintable():
        raise InvalidInput(f"Write `PROVIDER:MODEL`; providers are {', '.join(known)}.", path=path)
    return known[name], rest


def _validate_model(model: str, path: tuple[str, ...]) -> str:
    try:
        return require_current(model)
    except Permanent as error:
        raise InvalidInput(error.message, code=error.code, path=path) from error
