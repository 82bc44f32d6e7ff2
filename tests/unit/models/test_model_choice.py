"""Which models an organisation works with, from its settings and the keys it brought."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.kernel.errors import InvalidInput, MissingProviderKey, Permanent
from agentic_rag.models.embedding.padded_embedder import padded
from agentic_rag.models.providers.model_choice import (
    DEFAULT_EMBEDDINGS,
    EmbeddingChoice,
    ModelChoice,
    ModelSettings,
    Resolution,
    in_use,
    read_embedding,
    read_model,
    resolve,
)
from agentic_rag.models.providers.provider_keys import Provider

CLAUDE = ModelChoice(Provider.ANTHROPIC, "claude")
OWN_SERVER = EmbeddingChoice(Provider.COMPATIBLE, "nomic-embed-text", 768)


@pytest.mark.parametrize("provider", [Provider.OPENAI, Provider.GEMINI])
def test_the_default_models_provider_embeds_too(provider: Provider) -> None:
    chat = ModelChoice(provider, "chat")

    assert resolve(ModelSettings(chat), {provider}) == Resolution(chat, DEFAULT_EMBEDDINGS[provider])


def test_a_key_alone_decides_the_embeddings() -> None:
    assert resolve(ModelSettings(), {Provider.GEMINI}) == Resolution(None, DEFAULT_EMBEDDINGS[Provider.GEMINI])


def test_without_a_key_the_platform_serves_unless_the_organisation_must_bring_one() -> None:
    assert resolve(ModelSettings(), ()) == Resolution()
    assert resolve(ModelSettings(ModelChoice(Provider.OPENAI, "gpt")), ()) == Resolution()
    with pytest.raises(MissingProviderKey, match="setProviderKey"):
        resolve(ModelSettings(must_bring_key=True), ())
    with pytest.raises(MissingProviderKey, match="gemini"):
        resolve(ModelSettings(ModelChoice(Provider.GEMINI, "g"), must_bring_key=True), {Provider.OPENAI})


def test_anthropic_needs_a_second_key_and_says_so() -> None:
    with pytest.raises(MissingProviderKey, match=r"no embeddings.*second key"):
        resolve(ModelSettings(CLAUDE), {Provider.ANTHROPIC})

    assert resolve(ModelSettings(CLAUDE), {Provider.ANTHROPIC, Provider.GEMINI}) == Resolution(
        CLAUDE, DEFAULT_EMBEDDINGS[Provider.GEMINI]
    )


def test_an_own_server_says_which_embedding_model_it_has() -> None:
    chat = ModelChoice(Provider.COMPATIBLE, "llama")

    assert resolve(ModelSettings(chat, OWN_SERVER, must_bring_key=True), {Provider.COMPATIBLE}) == Resolution(
        chat, OWN_SERVER
    )
    with pytest.raises(InvalidInput) as refusal:
        resolve(ModelSettings(chat, must_bring_key=True), {Provider.COMPATIBLE})
    assert refusal.value.code == "EMBEDDING_MODEL_UNKNOWN"


def test_a_chosen_embedding_model_needs_its_own_key() -> None:
    with pytest.raises(MissingProviderKey, match="compatible"):
        resolve(ModelSettings(CLAUDE, OWN_SERVER), {Provider.ANTHROPIC})


@given(
    st.sets(st.sampled_from(list(Provider))),
    st.none() | st.sampled_from(list(Provider)).map(lambda provider: ModelChoice(provider, "m")),
)
def test_who_must_bring_a_key_never_gets_the_platforms_embeddings(
    held: set[Provider], chat: ModelChoice | None
) -> None:
    try:
        resolution = resolve(ModelSettings(chat, must_bring_key=True), held)
    except (MissingProviderKey, InvalidInput):
        return

    assert resolution.embedding is not None
    assert resolution.embedding.provider in held
    assert resolution.chat is None or resolution.chat.provider in held


def test_a_retired_model_names_its_successor() -> None:
    with pytest.raises(Permanent, match="gemini-embedding-001") as refusal:
        in_use("models/text-embedding-004")
    with pytest.raises(InvalidInput, match="gemini-embedding-001") as refused:
        read_embedding("gemini:text-embedding-004:768", {})

    assert {refusal.value.code, refused.value.code} == {"MODEL_RETIRED"}
    assert in_use("gemini-embedding-001") == "gemini-embedding-001"


def test_models_are_read_as_people_write_them() -> None:
    assert read_model("openai:gpt-4o-mini") == ModelChoice(Provider.OPENAI, "gpt-4o-mini")
    assert read_embedding("compatible:nomic-embed-text:latest:768", {}) == EmbeddingChoice(
        Provider.COMPATIBLE, "nomic-embed-text:latest", 768
    )
    assert read_embedding("openai:known", {"known": 5}) == EmbeddingChoice(Provider.OPENAI, "known", 5)


@pytest.mark.parametrize("text", ["", "gpt-4o", "nobody:m", "openai:", "openai:m:0", "openai:m:4001", "anthropic:m:8"])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        read_embedding(text, {})


@given(st.integers(1, 20), st.integers(0, 20), st.integers(2, 5))
def test_zeros_behind_vectors_change_no_cosine(dimensions: int, more: int, rows: int) -> None:
    vectors = np.random.default_rng(dimensions).standard_normal((rows, dimensions)).astype(np.float32)

    wide = padded(vectors, dimensions + more)

    assert wide.shape == (rows, dimensions + more)
    np.testing.assert_allclose(wide @ wide.T, vectors @ vectors.T, rtol=1e-5, atol=1e-5)
