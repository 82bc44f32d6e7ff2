"""The OpenAI-compatible embedder against a provider that misbehaves."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator

import numpy as np
import pytest
from tests.provider_stub import Fault, ProviderStub, Shape, vector_for

from agentic_rag.adapters.openai.client import open_client, retry_after_seconds
from agentic_rag.adapters.openai.embedder import MAX_INPUTS, OpenAIEmbedder
from agentic_rag.kernel.errors import AgenticRagError, Permanent, Retryable, SpaceMismatch

pytestmark = pytest.mark.network

TEXTS = ["first", "second", "third"]


@pytest.fixture
def stub() -> Iterator[ProviderStub]:
    with ProviderStub() as running:
        yield running


@pytest.fixture
async def embedder(stub: ProviderStub) -> AsyncIterator[OpenAIEmbedder]:
    embedder = OpenAIEmbedder(open_client(stub.base_url, stub.key, 5.0), "stub-model", stub.dimensions)
    yield embedder
    await embedder.aclose()


def unit(text: str, dimensions: int = 8) -> np.ndarray:
    vector = np.array(vector_for(text, dimensions))
    return (vector / np.linalg.norm(vector)).astype(np.float32)


def expected(texts: list[str]) -> np.ndarray:
    return np.stack([unit(text) for text in texts])


async def failure(embedder: OpenAIEmbedder) -> AgenticRagError:
    with pytest.raises(AgenticRagError) as caught:
        await embedder.embed(TEXTS)
    return caught.value


async def test_vectors_come_in_the_order_of_the_texts_and_of_unit_length(embedder: OpenAIEmbedder) -> None:
    vectors = await embedder.embed(TEXTS)

    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, expected(TEXTS), atol=1e-6)


async def test_the_model_decides_the_space_and_the_base_url_does_not(embedder: OpenAIEmbedder) -> None:
    assert embedder.space.name == "openai/stub-model/8/half"


async def test_floats_are_asked_for_and_dimensions_only_on_request(stub: ProviderStub) -> None:
    plain = OpenAIEmbedder(open_client(stub.base_url, stub.key, 5.0), "stub-model", 8)
    shortened = OpenAIEmbedder(open_client(stub.base_url, stub.key, 5.0), "stub-model", 4, send_dimensions=True)

    await plain.embed(["text"])
    vectors = await shortened.embed(["text"])
    await plain.aclose()
    await shortened.aclose()

    assert vectors.shape == (1, 4)
    assert [request.body.get("dimensions") for request in stub.received] == [None, 4]
    assert {request.body["encoding_format"] for request in stub.received} == {"float"}


async def test_no_texts_cost_no_call(stub: ProviderStub, embedder: OpenAIEmbedder) -> None:
    assert (await embedder.embed([])).shape == (0, 8)
    assert stub.received == []


@pytest.mark.parametrize("shape", [Shape.REVERSED, Shape.BASE64])
async def test_the_index_decides_the_order_and_base64_is_understood(
    stub: ProviderStub, embedder: OpenAIEmbedder, shape: Shape
) -> None:
    stub.script.append(Fault(shape=shape))

    np.testing.assert_allclose(await embedder.embed(TEXTS), expected(TEXTS), atol=1e-6)


@pytest.mark.parametrize(
    ("fault", "kind", "code"),
    [
        (Fault(status=401), Permanent, "PROVIDER_KEY_REJECTED"),
        (Fault(status=403), Permanent, "PROVIDER_KEY_REJECTED"),
        (Fault(status=400), Permanent, "PROVIDER_REFUSED"),
        (Fault(status=404), Permanent, "PROVIDER_REFUSED"),
        (Fault(status=429), Retryable, "PROVIDER_RATE_LIMITED"),
        (Fault(status=500), Retryable, "PROVIDER_UNAVAILABLE"),
        (Fault(status=503), Retryable, "PROVIDER_UNAVAILABLE"),
        (Fault(reset=True), Retryable, "PROVIDER_UNAVAILABLE"),
        (Fault(shape=Shape.TRUNCATED_JSON), Retryable, "PROVIDER_BAD_RESPONSE"),
        (Fault(shape=Shape.NO_DATA), Retryable, "PROVIDER_BAD_RESPONSE"),
        (Fault(shape=Shape.MISSING_ITEM), Retryable, "PROVIDER_BAD_RESPONSE"),
        (Fault(shape=Shape.REPEATED_INDEX), Retryable, "PROVIDER_BAD_RESPONSE"),
        (Fault(shape=Shape.ZERO_VECTOR), Retryable, "PROVIDER_BAD_RESPONSE"),
        (Fault(shape=Shape.WRONG_DIMENSIONS), SpaceMismatch, "EMBEDDING_SPACE_MISMATCH"),
    ],
)
async def test_each_failure_is_typed_and_tried_once(
    stub: ProviderStub, embedder: OpenAIEmbedder, fault: Fault, kind: type[AgenticRagError], code: str
) -> None:
    stub.script.append(fault)

    error = await failure(embedder)

    assert type(error) is kind
    assert error.code == code
    assert stub.key not in error.message
    assert len(stub.received) == 1


async def test_after_a_failure_the_same_embedder_works_again(stub: ProviderStub, embedder: OpenAIEmbedder) -> None:
    stub.script.append(Fault(reset=True))
    await failure(embedder)

    assert (await embedder.embed(TEXTS)).shape == (3, 8)


async def test_a_rate_limit_carries_the_wait_it_asks_for(stub: ProviderStub, embedder: OpenAIEmbedder) -> None:
    stub.script.append(Fault(status=429, headers={"Retry-After": "7"}))

    error = await failure(embedder)

    assert isinstance(error, Retryable)
    assert error.retry_after_seconds == 7.0


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:30 GMT", "date": "Wed, 21 Oct 2026 07:28:00 GMT"}, 30.0),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:30 GMT"}, None),
        ({"retry-after": "soon", "date": "Wed, 21 Oct 2026 07:28:00 GMT"}, None),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "nan"}, None),
        ({}, None),
    ],
)
def test_the_wait_is_read_from_milliseconds_seconds_or_a_date(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after_seconds(headers) == seconds


async def test_a_hanging_provider_is_given_up_after_the_time_out(stub: ProviderStub) -> None:
    stub.script.append(Fault(hang=True))
    impatient = OpenAIEmbedder(open_client(stub.base_url, stub.key, 0.2), "stub-model", 8)

    error = await failure(impatient)
    await impatient.aclose()

    assert isinstance(error, Retryable)
    assert error.code == "PROVIDER_UNAVAILABLE"


async def test_a_server_that_is_not_there_is_retryable() -> None:
    with ProviderStub() as stub:
        address = stub.base_url
    lost = OpenAIEmbedder(open_client(address, "test-key", 5.0), "stub-model", 8)

    error = await failure(lost)
    await lost.aclose()

    assert error.code == "PROVIDER_UNAVAILABLE"


async def test_many_texts_go_in_batches_four_at_a_time_in_order(stub: ProviderStub, embedder: OpenAIEmbedder) -> None:
    texts = [f"text {number}" for number in range(MAX_INPUTS * 7 + 1)]
    stub.script.extend(Fault(delay_seconds=0.05) for _ in range(8))

    vectors = await embedder.embed(texts)

    np.testing.assert_allclose(vectors, expected(texts), atol=1e-6)
    assert sorted(len(request.body["input"]) for request in stub.received) == [1] + [MAX_INPUTS] * 7
    assert stub.most_at_once == 4


@pytest.mark.slow
async def test_a_call_stays_within_the_token_bound(stub: ProviderStub, embedder: OpenAIEmbedder) -> None:
    heavy = "word " * 130_000

    await embedder.embed([heavy, heavy, heavy, "light"])

    assert sorted(len(request.body["input"]) for request in stub.received) == [1, 1, 2]


async def test_one_client_reuses_its_connections(stub: ProviderStub, embedder: OpenAIEmbedder) -> None:
    for _ in range(10):
        await embedder.embed(TEXTS)

    assert len(stub.received) == 10
    assert len(stub.connections) == 1


async def test_cancelling_ends_the_calls_under_way(stub: ProviderStub, embedder: OpenAIEmbedder) -> None:
    stub.script.append(Fault(hang=True))

    with pytest.raises(TimeoutError):
        await asyncio.wait_for(embedder.embed(TEXTS), 0.2)

    np.testing.assert_allclose(await embedder.embed(TEXTS), expected(TEXTS), atol=1e-6)


@pytest.mark.slow
def test_importing_the_adapter_does_not_import_the_provider_package() -> None:
    code = "import sys, agentic_rag.adapters.openai.embedder; print('openai' in sys.modules)"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "False"
