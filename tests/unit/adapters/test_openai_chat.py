"""The OpenAI-compatible chat model against a provider that misbehaves."""

import json
from collections.abc import AsyncIterator, Callable, Iterator

import pytest
from tests.provider_stub import Fault, ProviderStub, Received, Shape, form_of, format_of

from agentic_rag.adapters.openai.chat import FORMAT_KNOWN_SECONDS, OpenAIChatModel
from agentic_rag.adapters.openai.client import open_client
from agentic_rag.answering.prompts.fence import TEXT, strict_object
from agentic_rag.kernel.errors import AgenticRagError, Permanent, Retryable
from agentic_rag.models.chat.request import ChatRequest, ChatUsage, FinishReason, ReplySchema

pytestmark = pytest.mark.network

REQUEST = ChatRequest("Be brief.", "What is a fulmar?", ReplySchema("bird", strict_object({"bird": TEXT})))
REPLY = json.dumps({"bird": "a seabird"})


@pytest.fixture
def stub() -> Iterator[ProviderStub]:
    with ProviderStub() as running:
        running.scribe = lambda _: REPLY
        yield running


@pytest.fixture
async def model(stub: ProviderStub) -> AsyncIterator[OpenAIChatModel]:
    model = OpenAIChatModel(open_client(stub.base_url, stub.key, 5.0), "stub-chat", temperature=0.0)
    yield model
    await model.aclose()


async def failure(model: OpenAIChatModel) -> AgenticRagError:
    with pytest.raises(AgenticRagError) as caught:
        await model.complete(REQUEST)
    return caught.value


async def test_a_reply_comes_with_its_text_and_what_it_cost(model: OpenAIChatModel) -> None:
    reply = await model.complete(REQUEST)

    assert (reply.text, reply.finish_reason, reply.usage) == (REPLY, FinishReason.COMPLETE, ChatUsage(10, 5))


async def test_structured_output_is_asked_for_strictly(stub: ProviderStub, model: OpenAIChatModel) -> None:
    await model.complete(REQUEST)

    [request] = stub.received
    assert request.path == "/v1/chat/completions"
    assert form_of(request) == "bird"
    assert request.body["response_format"]["json_schema"]["schema"] == dict(REQUEST.reply_schema.schema)
    assert [one["role"] for one in request.body["messages"]] == ["system", "user"]
    assert request.body["temperature"] == 0.0


async def test_a_temperature_is_sent_only_when_one_is_set(stub: ProviderStub) -> None:
    model = OpenAIChatModel(open_client(stub.base_url, stub.key, 5.0), "stub-chat")
    await model.complete(REQUEST)
    await model.aclose()

    assert "temperature" not in stub.received[0].body


@pytest.mark.parametrize(
    ("shape", "end"),
    [
        (Shape.REFUSAL, FinishReason.REFUSED),
        (Shape.FILTERED, FinishReason.REFUSED),
        (Shape.CUT_SHORT, FinishReason.TRUNCATED),
        (Shape.EMPTY, FinishReason.EMPTY),
    ],
)
async def test_a_reply_that_is_none_says_why_and_still_what_it_cost(
    stub: ProviderStub, model: OpenAIChatModel, shape: Shape, end: FinishReason
) -> None:
    stub.script.append(Fault(shape=shape))

    reply = await model.complete(REQUEST)

    assert (reply.finish_reason, reply.usage) == (end, ChatUsage(10, 5))


async def test_a_provider_that_counts_no_tokens_is_taken(stub: ProviderStub, model: OpenAIChatModel) -> None:
    stub.script.append(Fault(shape=Shape.NO_USAGE))

    assert (await model.complete(REQUEST)).usage is None


@pytest.mark.parametrize("shape", [Shape.TRUNCATED_JSON, Shape.NO_DATA, Shape.PARTS])
async def test_an_answer_that_is_no_completion_is_worth_another_try(
    stub: ProviderStub, model: OpenAIChatModel, shape: Shape
) -> None:
    stub.script.append(Fault(shape=shape))

    error = await failure(model)

    assert isinstance(error, Retryable)
    assert error.code == "PROVIDER_BAD_RESPONSE"


@pytest.mark.parametrize(
    ("fault", "code", "kind"),
    [
        (Fault(status=429, headers={"retry-after": "7"}), "PROVIDER_RATE_LIMITED", Retryable),
        (Fault(status=500), "PROVIDER_UNAVAILABLE", Retryable),
        (Fault(status=503), "PROVIDER_UNAVAILABLE", Retryable),
        (Fault(reset=True), "PROVIDER_UNAVAILABLE", Retryable),
        (Fault(status=401), "PROVIDER_KEY_REJECTED", Permanent),
        (Fault(status=404), "PROVIDER_REFUSED", Permanent),
    ],
)
async def test_a_failed_call_says_what_the_caller_can_do(
    stub: ProviderStub, model: OpenAIChatModel, fault: Fault, code: str, kind: type[AgenticRagError]
) -> None:
    stub.script.append(fault)

    error = await failure(model)

    assert isinstance(error, kind)
    assert error.code == code
    assert error.__cause__ is not None


async def test_a_refusal_that_repeats_the_key_is_told_without_it(stub: ProviderStub, model: OpenAIChatModel) -> None:
    stub.script.append(Fault(status=404, message=f"the key {stub.key} may not use this model"))

    error = await failure(model)

    assert "may not use this model" in error.message
    assert stub.key not in error.message + str(error.__cause__) + repr(error.__cause__)


def refusing(*kinds: str | None) -> Callable[[Received], Fault]:
    """A server that knows all kinds of replies but these."""
    return lambda request: Fault(status=400) if format_of(request) in kinds else Fault()


@pytest.mark.parametrize(
    ("refused", "asked"),
    [
        ((), ["json_schema"]),
        (("json_schema",), ["json_schema", "json_object"]),
        (("json_schema", "json_object"), ["json_schema", "json_object", None]),
    ],
)
async def test_a_server_without_structured_output_is_asked_in_words_and_that_is_remembered(
    stub: ProviderStub, model: OpenAIChatModel, refused: tuple[str, ...], asked: list[str | None]
) -> None:
    stub.otherwise = refusing(*refused)

    replies = [await model.complete(REQUEST) for _ in range(2)]

    assert [reply.text for reply in replies] == [REPLY, REPLY]
    assert [format_of(one) for one in stub.received] == [*asked, asked[-1]]
    assert {form_of(one) for one in stub.received} == {"bird"}


async def test_a_server_is_asked_for_structured_output_again_after_a_while(stub: ProviderStub) -> None:
    now = 0.0
    model = OpenAIChatModel(open_client(stub.base_url, stub.key, 5.0), "stub-chat", monotonic=lambda: now)
    stub.otherwise = refusing("json_schema")
    await model.complete(REQUEST)
    stub.otherwise = refusing()
    now = FORMAT_KNOWN_SECONDS + 1.0
    await model.complete(REQUEST)
    await model.aclose()

    assert [format_of(one) for one in stub.received] == ["json_schema", "json_object", "json_schema"]


async def test_a_request_that_is_refused_in_every_form_is_refused_and_not_tried_three_times_again(
    stub: ProviderStub, model: OpenAIChatModel
) -> None:
    stub.otherwise = refusing("json_schema", "json_object", None)

    errors = [await failure(model) for _ in range(2)]

    assert [error.code for error in errors] == ["PROVIDER_REFUSED"] * 2
    assert [format_of(one) for one in stub.received] == ["json_schema", "json_object", None, "json_schema"]


async def test_a_provider_that_does_not_answer_in_time_is_unavailable(stub: ProviderStub) -> None:
    stub.script.append(Fault(hang=True))
    model = OpenAIChatModel(open_client(stub.base_url, stub.key, 0.2), "stub-chat")

    error = await failure(model)
    await model.aclose()

    assert (error.code, isinstance(error, Retryable)) == ("PROVIDER_UNAVAILABLE", True)
