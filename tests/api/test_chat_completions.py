"""OpenAI's client, with nothing changed but its address and key."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import httpx2
import pytest
from openai import AsyncOpenAI, BadRequestError, NotFoundError

from agentic_rag.answering.answer import Abstention, AbstentionReason, Outcome
from agentic_rag.answering.question import Turn
from agentic_rag_server.app import build_app
from tests.api.builders import REF, Container, FakeAnswer, a_run, a_workspace, schema_of

ASKED: Any = [{"role": "user", "content": "When does the valve open?"}]


def _client(container: Container) -> AsyncOpenAI:
    http = httpx2.AsyncClient(transport=httpx2.ASGITransport(app=build_app(container, schema_of())))
    return AsyncOpenAI(base_url="http://test/v1", api_key="viewer-token", http_client=http, max_retries=0)


async def test_the_models_are_the_workspaces() -> None:
    models = await _client(Container()).models.list()

    assert [one.id for one in models.data] == [a_workspace().name]


async def test_a_completion_is_the_answer_with_its_citations_as_annotations() -> None:
    asked = FakeAnswer()

    reply = await _client(Container(answer=asked)).chat.completions.create(model="handbook", messages=ASKED)

    found = a_run().answer
    message = reply.choices[0].message
    assert message.content == found.text
    assert reply.choices[0].finish_reason == "stop"
    spans = [(part.start, part.end) for one in found.citations for part in one.answer_spans]
    assert [(one.url_citation.start_index, one.url_citation.end_index) for one in message.annotations or ()] == spans
    assert (message.annotations or [])[0].url_citation.url.startswith("http://test/v1/documents/")
    assert reply.usage is not None
    assert reply.usage.total_tokens == reply.usage.prompt_tokens + reply.usage.completion_tokens
    assert reply.to_dict()["rag"]["outcome"] == "GROUNDED"  # type: ignore[index]
    assert asked.asked[0][1].workspace == REF


async def test_the_turns_before_the_question_are_the_conversation() -> None:
    asked = FakeAnswer()
    said: Any = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "Who made the valve?"}]},
        {"role": "assistant", "content": "Corrand."},
        *ASKED,
    ]

    await _client(Container(answer=asked)).chat.completions.create(model="handbook", messages=said, temperature=0)

    question = asked.asked[0][1]
    assert question.text == "When does the valve open?"
    assert question.history == (Turn("Who made the valve?", "Corrand."),)


async def test_a_stream_says_the_same_in_parts() -> None:
    client = _client(Container())
    whole = await client.chat.completions.create(model="handbook", messages=ASKED)

    stream = await client.chat.completions.create(model="handbook", messages=ASKED, stream=True)
    chunks = [chunk async for chunk in stream]

    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
    assert text == whole.choices[0].message.content
    assert chunks[-1].choices[0].finish_reason == "stop"
    annotations = chunks[-1].choices[0].delta.to_dict()["annotations"]
    assert annotations == [one.to_dict() for one in whole.choices[0].message.annotations or ()]


@pytest.mark.parametrize("text", ["", "The valve opens at 3 bar. [1]"])
async def test_what_is_not_established_is_said_in_the_content(text: str) -> None:
    run = a_run()
    abstention = Abstention(AbstentionReason.NOT_ESTABLISHED, "That this is the answer is not established.", ())
    unsure = replace(run, answer=replace(run.answer, text=text, outcome=Outcome.UNCERTAIN, abstention=abstention))

    reply = await _client(Container(answer=FakeAnswer(unsure))).chat.completions.create(
        model="handbook", messages=ASKED
    )

    assert (reply.choices[0].message.content or "").endswith("That this is the answer is not established.")


async def test_an_unknown_model_is_a_404() -> None:
    with pytest.raises(NotFoundError) as refused:
        await _client(Container()).chat.completions.create(model="gpt-x", messages=ASKED)

    assert refused.value.code == "WORKSPACE_NOT_FOUND"


@pytest.mark.parametrize(
    "said", [[{"role": "assistant", "content": "Hello."}], [], [{"role": "system", "content": "x"}]]
)
async def test_without_a_users_last_message_it_is_refused(said: Any) -> None:
    with pytest.raises(BadRequestError):
        await _client(Container()).chat.completions.create(model="handbook", messages=said)
