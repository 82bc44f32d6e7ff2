"""Which models an organisation works with, from its settings and the keys it brought."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.kernel.errors import InvalidInput, MissingProviderKey, Permanent
from agentic_rag.models.providers.model_choice import (
    DEFAULT_EMBEDDINGS,
    EmbeddingChoice,
    ModelChoice,
    ModelSettings,
    ResolvedModels,
    parse_embedding,
    parse_model,
    require_current,
    resolve_models,
)
from agentic_rag.models.providers.provider_keys import Provider
from agentic_rag.models.providers.tenant_models import pad_vectors

CLAUDE = ModelChoice(Provider.ANTHROPIC, "claude")
OWN_SERVER = EmbeddingChoice(Provider.COMPATIBLE, "nomic-embed-text", 768)


@pytest.mark.parametrize(
    ("decided", "by_default", "must"),
    [(None, True, True), (None, False, False), (False, True, False), (True, False, True)],
)
def test_a_decision_about_an_organisation_counts_before_the_default(
    decided: bool | None, by_default: bool, must: bool
) -> None:
    assert ModelSettings(must_bring_key=decided).decide(by_default=by_default).must_bring_key is must


@pytest.mark.parametrize("provider", [Provider.OPENAI, Provider.GEMINI])
def test_the_default_models_provider_embeds_too(provider: Provider) -> None:
    chat = ModelChoice(provider, "chat")

    assert resolve_models(ModelSettings(chat), {provider}) == ResolvedModels(chat, DEFAULT_EMBEDDINGS[provider])


def test_a_key_alone_decides_the_embeddings() -> None:
    assert resolve_models(ModelSettings(), {Provider.GEMINI}) == ResolvedModels(
        None, DEFAULT_EMBEDDINGS[Provider.GEMINI]
    )


def test_without_a_key_the_platform_serves_unless_the_organisation_must_bring_one() -> None:
    assert resolve_models(ModelSettings(), ()) == ResolvedModels()
    assert resolve_models(ModelSettings(ModelChoice(Provider.OPENAI, "gpt")), ()) == ResolvedModels()
    with pytest.raises(MissingProviderKey, match="setProviderKey"):
        resolve_models(ModelSettings(must_bring_key=True), ())
    with pytest.raises(MissingProviderKey, match="gemini"):
        resolve_models(ModelSettings(ModelChoice(Provider.GEMINI, "g"), must_bring_key=True), {Provider.OPENAI})


def test_anthropic_needs_a_second_key_and_says_so() -> None:
    with pytest.raises(MissingProviderKey, match=r"no embeddings.*second key"):
        resolve_models(ModelSettings(CLAUDE), {Provider.ANTHROPIC})

    assert resolve_models(ModelSettings(CLAUDE), {Provider.ANTHROPIC, Provider.GEMINI}) == ResolvedModels(
        CLAUDE, DEFAULT_EMBEDDINGS[Provider.GEMINI]
    )


def test_an_own_server_says_which_embedding_model_it_has() -> None:
    chat = ModelChoice(Provider.COMPATIBLE, "llama")

    assert resolve_models(
        ModelSettings(chat, OWN_SERVER, must_bring_key=True), {Provider.COMPATIBLE}
    ) == ResolvedModels(chat, OWN_SERVER)
    with pytest.raises(InvalidInput) as refusal:
        resolve_models(ModelSettings(chat, must_bring_key=True), {Provider.COMPATIBLE})
    assert refusal.value.code == "EMBEDDING_MODEL_UNKNOWN"


def test_a_chosen_embedding_model_needs_its_own_key() -> None:
    with pytest.raises(MissingProviderKey, match="compatible"):
        resolve_models(ModelSettings(CLAUDE, OWN_SERVER), {Provider.ANTHROPIC})


@given(
    st.sets(st.sampled_from(list(Provider))),
    st.none() | st.sampled_from(list(Provider)).map(lambda provider: ModelChoice(provider, "m")),
)
def test_who_must_bring_a_key_never_gets_the_platforms_embeddings(
    held: set[Provider], chat: ModelChoice | None
) -> None:
    try:
        resolution = resolve_models(ModelSettings(chat, must_bring_key=True), held)
    except (MissingProviderKey, InvalidInput):
        return

    assert resolution.embedding is not None
    assert resolution.embedding.provider in held
    assert resolution.chat is None or resolution.chat.provider in held


def test_a_retired_model_names_its_successor() -> None:
    with pytest.raises(Permanent, match="gemini-embedding-001") as refusal:
        require_current("models/text-embedding-004")
    with pytest.raises(InvalidInput, match="gemini-embedding-001") as refused:
        parse_embedding("gemini:text-embedding-004:768", {})

    assert {refusal.value.code, refused.value.code} == {"MODEL_RETIRED"}
    assert require_current("gemini-embedding-001") == "gemini-embedding-001"


def test_models_are_read_as_people_write_them() -> None:
    assert parse_model("openai:gpt-4o-mini") == ModelChoice(Provider.OPENAI, "gpt-4o-mini")
    assert parse_embedding("compatible:nomic-embed-text:latest:768", {}) == EmbeddingChoice(
        Provider.COMPATIBLE, "nomic-embed-text:latest", 768
    )
    assert parse_embedding("openai:known", {"known": 5}) == EmbeddingChoice(Provider.OPENAI, "known", 5)


@pytest.mark.parametrize("text", ["", "gpt-4o", "nobody:m", "openai:", "openai:m:0", "openai:m:4001", "anthropic:m:8"])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        parse_embedding(text, {})


@given(st.integers(1, 20), st.integers(0, 20), st.integers(2, 5))
def test_zeros_behind_vectors_change_no_cosine(dimensions: int, more: int, rows: int) -> None:
    vectors = np.random.default_rng(dimensions).standard_normal((rows, dimensions)).astype(np.float32)

    wide = pad_vectors(vectors, dimensions + more)

    assert wide.shape == (rows, dimensions + more)
    np.testing.assert_allclose(wide @ wide.T, vectors @ vectors.T, rtol=1e-5, atol=1e-5)
