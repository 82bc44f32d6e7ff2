"""Which embedders the settings of a process can make."""

from pathlib import Path

import pytest
from tests.provider_stub import ProviderStub

from agentic_rag.bootstrap import Container, build_container
from agentic_rag.kernel.errors import InvalidInput, SpaceMismatch
from agentic_rag.models.embedding.space import EmbeddingSpace, SpaceChoice, parse_choice
from agentic_rag.settings import Settings
from agentic_rag.settings.stores import StoresConfig

pytestmark = [pytest.mark.integration, pytest.mark.network]

NOWHERE = Settings(stores=StoresConfig(database_url="postgresql://127.0.0.1:1/x", redis_url="redis://127.0.0.1:1"))
STUB = EmbeddingSpace("openai", "stub", 8)


async def test_a_keyless_process_has_the_deterministic_space_alone() -> None:
    async with build_container(NOWHERE) as container:
        assert (
            container.platform_embedders.for_space(container.platform_embedders.default.space)
            is container.platform_embedders.default
        )
        with pytest.raises(SpaceMismatch, match="OPENAI_API_KEY"):
            container.platform_embedders.for_space(STUB)


async def test_a_local_model_that_is_not_installed_is_named_with_the_command_that_gets_it(tmp_path: Path) -> None:
    async with build_container(NOWHERE.change(stores={"home": tmp_path})) as container:
        space = container.platform_embedders.resolve_space(parse_choice("onnx:bge-small"))

        assert space == EmbeddingSpace("onnx", "bge-small-en-v1.5-int8", 384)
        with pytest.raises(SpaceMismatch, match="`rag model get bge-small`"):
            container.platform_embedders.for_space(space)


async def test_a_process_with_a_key_embeds_in_any_model_and_in_the_deterministic_space() -> None:
    with ProviderStub() as stub:
        settings = NOWHERE.change(
            models={
                "embedder": "openai",
                "openai_api_key": stub.key,
                "openai_base_url": stub.base_url,
                "embedding_model": "other:1536",
            }
        )
        async with build_container(settings) as container:
            embedder = container.platform_embedders.for_space(STUB)
            vectors = await embedder.embed(["a text"])
            hashed = container.platform_embedders.resolve_space(SpaceChoice("deterministic"))

            assert vectors.shape == (1, 8)
            assert container.platform_embedders.for_space(STUB) is embedder
            assert (await container.platform_embedders.for_space(hashed).embed(["a text"])).shape == (
                1,
                hashed.dimensions,
            )

    assert [request.body["model"] for request in stub.received] == ["stub"]


@pytest.mark.parametrize(
    ("choice", "dimensions"),
    [
        (SpaceChoice("openai", "configured"), 24),
        (SpaceChoice("openai", "configured", 12), 12),
        (SpaceChoice("openai", "text-embedding-3-large"), 3072),
    ],
)
async def test_dimensions_come_from_the_name_the_settings_or_what_is_known(
    choice: SpaceChoice, dimensions: int
) -> None:
    container = Container(
        NOWHERE.change(models={"embedder": "openai", "openai_api_key": "k", "embedding_model": "configured:24"})
    )
    try:
        assert container.platform_embedders.resolve_space(choice).dimensions == dimensions
        with pytest.raises(InvalidInput, match="DIMENSIONS"):
            container.platform_embedders.resolve_space(SpaceChoice("openai", "unheard-of"))
    finally:
        await container.aclose()
