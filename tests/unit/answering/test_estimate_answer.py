"""What an answer would cost: the calls of its run, of which none is made."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from tests.console.estimates import Paid, paid
from tests.provider_stub import ProviderStub

from agentic_rag.answering.question import AnswerOptions, Question
from agentic_rag.answering.run import CacheOutcome
from agentic_rag.kernel.pagination import PageRequest
from agentic_rag.models.billing.forecast import CallForecasts, measure
from agentic_rag.models.chat.request import ChatRequest, ChatTask, ChatUsage, Prompt, ReplySchema

pytestmark = pytest.mark.network

QUESTION = "Who issues the sailing decision at Corrand Tidal?"


@pytest.fixture
async def asked() -> AsyncIterator[tuple[Paid, ProviderStub]]:
    async with paid(documents=2) as made:
        yield made


async def test_an_estimate_names_the_calls_of_the_run_and_makes_none(asked: tuple[Paid, ProviderStub]) -> None:
    world, stub = asked
    before = len(stub.received)

    found = await world.estimate.run(world.asker, Question(world.workspace, QUESTION))

    assert len(stub.received) == before
    assert [(one.stage, one.spend.calls) for one in found.usage] == [("embed", 1), ("synthesize", 1), ("self_check", 1)]
    assert found.total.cost_usd == pytest.approx(sum(one.spend.cost_usd or 0 for one in found.usage))
    assert (await world.runs.page(world.workspace, PageRequest(10))).items == ()
    run = await world.ask(QUESTION)
    assert {one.stage for one in run.answer.debug.usage} == {"synthesize", "self_check"}


async def test_an_answer_in_the_cache_costs_nothing(asked: tuple[Paid, ProviderStub]) -> None:
    world, _ = asked
    question = Question(world.workspace, QUESTION)
    before = await world.estimate.run(world.asker, question)
    await world.ask(QUESTION)

    found = await world.estimate.run(world.asker, question)

    assert (before.cache, found.cache) == (CacheOutcome.MISS, CacheOutcome.HIT)
    assert (found.usage, found.total.cost_usd) == ((), 0.0)


async def test_an_estimate_fills_no_cache(asked: tuple[Paid, ProviderStub]) -> None:
    world, _ = asked
    question = Question(world.workspace, "What is 2 + 2?", options=AnswerOptions())
    await world.estimate.run(world.asker, question)

    assert (await world.estimate.run(world.asker, question)).cache is not CacheOutcome.HIT


def test_what_a_provider_counts_corrects_the_next_estimate_of_the_same_task() -> None:
    request = ChatRequest("Be brief.", "word " * 200, ReplySchema("none", {}))
    prompt = Prompt(ChatTask.PLAN, request, lambda text: text, reply_tokens=40)
    forecasts, measured = CallForecasts(), measure(prompt)
    assert forecasts.expect(prompt) == measured

    for _ in range(10):
        forecasts.learn(prompt, ChatUsage(2 * measured.input_tokens, 10))

    assert forecasts.expect(prompt) == ChatUsage(2 * measured.input_tokens, 10)
    other = replace(prompt, task=ChatTask.JUDGE)
    assert forecasts.expect(other) == measured
