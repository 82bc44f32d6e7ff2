"""Answers with a chat model that misbehaves in every way the stub knows, beside the answer without one."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.provider_stub import Fault, ProviderStub, Shape, form_of
from tests.unit.answering.answering_world import World
from tests.unit.answering.test_answers_by_model import BYPASS, QUESTION, Desk, corpus, outcomes

from agentic_rag.answering.answer import AbstentionReason, Outcome
from agentic_rag.answering.messages import Message
from agentic_rag.answering.options import AnswerDefaults, effective
from agentic_rag.answering.question import AnswerOptions
from agentic_rag.answering.run import Run
from agentic_rag.kernel.dependency import Dependency
from agentic_rag.settings.answering import AnsweringConfig

pytestmark = pytest.mark.network

FAILING = {
    "rate limited": Fault(status=429, headers={"retry-after": "1"}),
    "down": Fault(status=500),
    "key rejected": Fault(status=401),
    "refused": Fault(status=400),
    "connection reset": Fault(reset=True),
    "hangs": Fault(hang=True),
    "truncated": Fault(shape=Shape.TRUNCATED_JSON),
    "no data": Fault(shape=Shape.NO_DATA),
    "declines": Fault(shape=Shape.REFUSAL),
    "filtered": Fault(shape=Shape.FILTERED),
    "cut short": Fault(shape=Shape.CUT_SHORT),
    "empty": Fault(shape=Shape.EMPTY),
    "content in parts": Fault(shape=Shape.PARTS),
}
ANSWERING = {
    "no token counts": Fault(shape=Shape.NO_USAGE),
    "4 s": Fault(delay_seconds=4.0),
}
LINES = {"rules answer": 0.25, "rules abstain": 0.99}


def quotes(run: Run) -> set[str]:
    """What the reader is shown, cited or nearest."""
    nearest = run.answer.abstention.nearest if run.answer.abstention is not None else ()
    return {one.snippet for one in (*run.answer.citations, *nearest)}


async def without_model(line: float) -> Run:
    world = World(corpus(), AnswerDefaults(support_threshold=line))
    run = await world.ask(QUESTION, options=BYPASS)
    await world.recorder.aclose()
    return run


@pytest.fixture
async def stub() -> AsyncIterator[ProviderStub]:
    with ProviderStub() as running:
        yield running


async def asked(stub: ProviderStub, fault: Fault, line: float, **more: Any) -> Run:
    desk = Desk(stub, support_threshold=line, **more)
    stub.otherwise = lambda request: fault if form_of(request) != "verdicts" else Fault()
    run = await desk.ask()
    await desk.aclose()
    return run


@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
@pytest.mark.parametrize(
    "fault", [pytest.param(fault, id=name, marks=[pytest.mark.slow] * fault.hang) for name, fault in FAILING.items()]
)
async def test_a_model_that_fails_leaves_what_there_is_without_it_and_says_so(
    stub: ProviderStub, fault: Fault, line: float
) -> None:
    by_rules = await without_model(line)
    run = await asked(stub, fault, line, model_timeout_ms=1500)

    assert run.answer.text == by_rules.answer.text
    assert quotes(run) == quotes(by_rules)
    assert run.answer.abstention is not None
    assert run.answer.abstention.reason is AbstentionReason.DEPENDENCY
    assert run.answer.abstention.explanation == Message.MODEL_SILENT.value
    assert run.answer.degraded == (Dependency.CHAT_MODEL,)
    answered = by_rules.answer.outcome is Outcome.GROUNDED
    assert run.answer.outcome is (Outcome.PARTIALLY_GROUNDED if answered else Outcome.ABSTAINED)
    assert run.seconds < 3


@pytest.mark.slow
@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
@pytest.mark.parametrize("fault", ANSWERING.values(), ids=ANSWERING)
async def test_what_a_slow_or_terse_server_replies_is_used(stub: ProviderStub, fault: Fault, line: float) -> None:
    run = await asked(stub, fault, line)

    assert run.answer.outcome is Outcome.GROUNDED
    assert outcomes(run)["synthesize"] == "ok: stub-chat"
    assert run.answer.degraded == ()
    assert all(citation.verified for citation in run.answer.citations)


WRAPPED = {
    "in a fence": "```json\n{}\n```",
    "after thoughts": '<think>They ask for {"sentences": 1}, so …</think>\n\n{}',
    "between words": "Here is the answer:\n{}\nI hope that it helps.",
}


@pytest.mark.parametrize("form", WRAPPED.values(), ids=WRAPPED)
async def test_the_first_object_of_a_wordy_reply_is_the_answer(stub: ProviderStub, form: str) -> None:
    desk = Desk(stub)
    bare = stub.scribe
    stub.scribe = lambda request: form.replace("{}", bare(request)) if form_of(request) == "answer" else bare(request)
    run = await desk.ask()
    await desk.aclose()

    assert run.answer.outcome is Outcome.GROUNDED
    assert outcomes(run)["synthesize"] == "ok: stub-chat"


def test_an_answer_has_a_minute_once_a_model_is_named() -> None:
    by_rules, by_model = AnsweringConfig().budget_ms
    defaults = AnswerDefaults(timeout_ms=by_rules, model_timeout_ms=by_model)

    assert effective(AnswerOptions(), defaults).timeout_ms == 10_000
    assert effective(AnswerOptions(), defaults, has_model=True).timeout_ms == 60_000


LIMITS = {
    "files.md": ("File service", "# Uploads\n\nThe limit is 50 MB for each file."),
    "travel.md": ("Travel", "# Hotels\n\nThe limit is 140 euros a night."),
}
HULLS = {
    "yard.md": ("Yard", "The ferry lies in the yard each winter. Its hull is cleaned there with water."),
    "crew.md": ("Crew", "The crew of the ferry cleans the hull in winter."),
    "dock.md": ("Dock", "The dock takes a ferry with a hull of sixty metres."),
}


async def asked_of(documents: dict[str, tuple[str, str]], stub: ProviderStub, question: str, fault: Fault) -> Run:
    desk = Desk(stub, support_threshold=0.01)
    for path, (title, text) in documents.items():
        desk.world.corpus.add(path, title, text)
    stub.otherwise = lambda _: fault
    run = await desk.ask(question)
    await desk.aclose()
    return run


async def test_a_model_that_fails_makes_no_doubtful_text_a_part_of_an_answer(stub: ProviderStub) -> None:
    run = await asked_of(HULLS, stub, "What colour has the hull of the ferry in winter?", Fault(status=500))

    assert run.answer.outcome is Outcome.UNCERTAIN
    assert run.answer.abstention is not None
    assert run.answer.abstention.reason is AbstentionReason.DEPENDENCY
    assert run.answer.abstention.explanation == Message.MODEL_SILENT.value


async def test_a_question_with_several_readings_is_not_sent_to_the_model(stub: ProviderStub) -> None:
    run = await asked_of(LIMITS, stub, "What is the limit?", Fault())

    assert run.answer.outcome is Outcome.UNDERSPECIFIED
    assert run.answer.degraded == ()
    assert stub.asked_for("answer") == []
