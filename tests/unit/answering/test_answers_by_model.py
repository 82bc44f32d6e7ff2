"""Answering with a chat model, good and bad: the provider's stub behind the real adapter."""

import json
import re
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from tests.provider_stub import Fault, ProviderStub, Received, Shape, form_of
from tests.unit.answering.answering_world import Clock, Ids, Telemetry, World
from tests.unit.answering.corpus import Corpus
from tests.unit.answering.model_passages import ModelPassages

from agentic_rag.adapters.openai.chat import OpenAIChatModel
from agentic_rag.adapters.openai.client import open_client
from agentic_rag.answering.answer import AbstentionReason, Outcome
from agentic_rag.answering.build import ChatUse
from agentic_rag.answering.messages import Message
from agentic_rag.answering.options import AnswerDefaults
from agentic_rag.answering.question import AnswerOptions, CacheMode, Turn
from agentic_rag.answering.run import CacheOutcome, Run
from agentic_rag.kernel.dependency import Dependency
from agentic_rag.models.billing.prices import TokenPrice
from agentic_rag.models.chat.request import ChatSpend, ChatTask
from agentic_rag.models.providers.llm_client import LlmClient

pytestmark = pytest.mark.network

ALL = frozenset(ChatTask)
QUESTION = "At which wave height is crew transfer suspended?"
IN_PARTS = "At which wave height is crew transfer suspended and who issues the sailing decision?"
"""The rules divide it, so the model plans it too."""
SPAN = "Crew transfer is suspended when the significant wave height exceeds 1.5 metres."
BYPASS = AnswerOptions(cache=CacheMode.BYPASS)

Script = dict[str, Callable[[Received], Any]]


def corpus() -> Corpus:
    corpus = Corpus()
    corpus.add(
        "marine-access.md",
        "Marine access policy",
        f"# Crew transfer\n\n{SPAN}",
        "The marine coordinator Wilf Hastane issues a sailing decision by 06:00 each day. It binds every vessel.",
    )
    corpus.add(
        "overview.md",
        "Company overview",
        "Corrand Tidal was founded by Maren Tollack in 2009. Its head office is in Port Aldery.",
        "The site at Otter Voe was commissioned on 9 May 2024. The site is managed by Tobias Aarle.",
    )
    return corpus


def user_text(request: Received) -> str:
    return request.body["messages"][1]["content"]


def passage_with(request: Received, words: str) -> int:
    """The number of the passage that holds these words, as the model is shown it."""
    shown = re.findall(r"<<PASSAGE (\d+) \w+>>\n(.*?)\n<</PASSAGE", user_text(request), re.DOTALL)
    return next(int(number) for number, text in shown if words in text)


def answering(text: str, quote: str, part: int = 0) -> Callable[[Received], Any]:
    def reply(request: Received) -> Any:
        quotes = [{"passage": passage_with(request, quote), "quote": quote}]
        return {"sentences": [{"part": part, "text": text, "quotes": quotes}], "unanswered": [], "conflicting": False}

    return reply


def planned(*parts: tuple[str, list[int]], kind: str = "fact") -> dict[str, Any]:
    return {"answer_type": kind, "sub_questions": [{"text": text, "depends_on": after} for text, after in parts]}


def all_judged(verdict: str) -> Callable[[Received], Any]:
    def reply(request: Received) -> Any:
        count = len(re.findall(r"<<SENTENCE \d+", user_text(request)))
        return {"verdicts": [{"sentence": place, "verdict": verdict} for place in range(count)]}

    return reply


def good() -> Script:
    """A model that does everything right."""
    return {
        "standalone_question": lambda _: {"question": QUESTION},
        "plan": lambda _: planned((QUESTION, []), kind="figure"),
        "hypothetical_passage": lambda _: {"passage": "Crew transfer stops when waves are higher than two metres."},
        "answer": answering("Crew transfer is suspended above a significant wave height of 1.5 metres.", SPAN),
        "verdicts": all_judged("supported"),
    }


class Desk:
    """A world whose chat model is a stub that follows a script by the form of the reply."""

    def __init__(
        self,
        stub: ProviderStub,
        tasks: frozenset[ChatTask] = ALL,
        seconds: float = 5.0,
        telemetry: Any = None,
        **defaults: Any,
    ) -> None:
        self.stub = stub
        self.script = good()
        stub.scribe = lambda request: json.dumps(self.script[form_of(request) or ""](request))
        client = open_client(stub.base_url, stub.key, seconds)
        model = OpenAIChatModel(client, "stub-chat")
        self.aclose_model = model.aclose

        def use(telemetry: Telemetry) -> ChatUse:
            advisor = LlmClient(model, Clock(), Ids(), telemetry, price=TokenPrice(2.0, 10.0))
            return ChatUse(advisor, tasks, ModelPassages(advisor))

        self.world = World(corpus(), AnswerDefaults(**defaults), chat=use, telemetry=telemetry)

    async def aclose(self) -> None:
        await self.world.recorder.aclose()
        await self.aclose_model()

    async def ask(self, text: str = QUESTION, **more: Any) -> Run:
        return await self.world.ask(text, **({"options": BYPASS} | more))

    def fail(self, form: str, fault: Fault) -> None:
        self.stub.otherwise = lambda request: fault if form_of(request) == form else Fault()


@pytest.fixture
def stub() -> Iterator[ProviderStub]:
    with ProviderStub() as running:
        yield running


@pytest.fixture
async def desk(stub: ProviderStub) -> AsyncIterator[Desk]:
    made = Desk(stub)
    yield made
    await made.aclose()


ANSWERED = (Outcome.GROUNDED, Outcome.PARTIALLY_GROUNDED)


def assert_no_model_wrote_it(run: Run) -> None:
    """The answer is no model's, and says so."""
    abstention = run.answer.abstention
    assert run.answer.outcome is Outcome.PARTIALLY_GROUNDED
    assert abstention is not None
    assert (abstention.reason, abstention.explanation) == (AbstentionReason.DEPENDENCY, Message.MODEL_SILENT.value)


def outcomes(run: Run) -> dict[str, str]:
    return {stage.stage: stage.outcome for stage in run.stages}


async def test_the_models_sentence_is_the_answer_with_a_verified_quote_of_the_source(desk: Desk) -> None:
    run = await desk.ask()
    answer = run.answer

    assert answer.text == "Crew transfer is suspended above a significant wave height of 1.5 metres. [1]"
    assert answer.outcome is Outcome.GROUNDED
    assert answer.degraded == ()
    [citation] = answer.citations
    text = desk.world.corpus.revisions[citation.revision_id][0]
    assert text[citation.source_span.start : citation.source_span.end] == citation.snippet == SPAN
    assert run.versions.models[1:] == ("stub-chat",)
    assert outcomes(run)["synthesize"] == "ok: stub-chat"


async def test_only_a_question_that_the_rules_divide_is_planned_by_the_model(desk: Desk) -> None:
    single, divided = await desk.ask(), await desk.ask(IN_PARTS)

    plans = [run.answer.debug.plan for run in (single, divided)]
    assert [plan and plan.planner for plan in plans] == ["rules", "stub-chat"]
    assert outcomes(single)["plan"] == "ok"
    assert len(desk.stub.asked_for("plan")) == 1


async def test_evidence_reaches_the_model_inside_fences_with_a_nonce_of_this_request(
    stub: ProviderStub, desk: Desk
) -> None:
    await desk.ask()
    await desk.ask()

    first, second = stub.asked_for("answer")
    nonces = [set(re.findall(r"<<PASSAGE \d+ (\w+)>>", user_text(request))) for request in (first, second)]
    assert [len(one) for one in nonces] == [1, 1]
    assert nonces[0].isdisjoint(nonces[1])
    assert nonces[0].pop() in first.body["messages"][0]["content"]


async def test_no_snapshot_stays_open_while_the_model_writes(desk: Desk) -> None:
    opened: dict[str, int] = {}
    written = desk.stub.scribe

    def note(request: Received) -> str:
        opened[form_of(request) or ""] = desk.world.corpus.opened
        return written(request)

    desk.stub.scribe = note
    await desk.ask(IN_PARTS)

    assert opened == {"plan": 0, "answer": 0, "verdicts": 0}


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        (Fault(status=429, headers={"retry-after": "1"}), "PROVIDER_RATE_LIMITED"),
        (Fault(status=500), "PROVIDER_UNAVAILABLE"),
        (Fault(reset=True), "PROVIDER_UNAVAILABLE"),
        (Fault(status=401), "PROVIDER_KEY_REJECTED"),
        (Fault(status=400), "PROVIDER_REFUSED"),
        (Fault(shape=Shape.TRUNCATED_JSON), "PROVIDER_BAD_RESPONSE"),
        (Fault(shape=Shape.REFUSAL), "CHAT_REFUSED"),
        (Fault(shape=Shape.FILTERED), "CHAT_REFUSED"),
        (Fault(shape=Shape.CUT_SHORT), "CHAT_CUT_SHORT"),
        (Fault(shape=Shape.EMPTY), "CHAT_EMPTY"),
    ],
)
@pytest.mark.parametrize(
    ("form", "stage", "task"),
    [("plan", "plan", "plan"), ("answer", "synthesize", "synthesize"), ("verdicts", "self_check", "judge")],
)
async def test_every_fault_ends_in_the_answer_by_rules_and_is_said(
    desk: Desk, fault: Fault, code: str, form: str, stage: str, task: str
) -> None:
    desk.fail(form, fault)

    run = await desk.ask(IN_PARTS)

    assert run.answer.outcome in ANSWERED
    assert "1.5 metres" in run.answer.text
    assert run.answer.degraded == (Dependency.CHAT_MODEL,)
    assert outcomes(run)[stage].startswith(f"degraded: {code}")
    assert desk.world.telemetry.counts[("rag_chat_requests_total", (("outcome", code), ("task", task)))] == 1
    if form == "answer":
        assert_no_model_wrote_it(run)


@pytest.mark.parametrize("form", ["plan", "answer", "verdicts"])
@pytest.mark.parametrize("reply", ["no json", "[]", "{}", '{"sentences": 1}', '{"answer": "yes", "extra": 1}', "null"])
async def test_a_reply_of_another_form_counts_for_nothing(desk: Desk, form: str, reply: str) -> None:
    written = desk.stub.scribe
    desk.stub.scribe = lambda request: reply if form_of(request) == form else written(request)

    run = await desk.ask(IN_PARTS)

    assert run.answer.outcome in ANSWERED
    assert run.answer.degraded == (Dependency.CHAT_MODEL,)
    assert "degraded: CHAT_REPLY_INVALID" in " ".join(outcomes(run).values())
    if form == "answer":
        assert_no_model_wrote_it(run)


@pytest.mark.slow
async def test_a_model_that_hangs_leaves_time_for_the_rules(desk: Desk) -> None:
    desk.stub.otherwise = lambda _: Fault(hang=True)

    run = await desk.ask(IN_PARTS, options=AnswerOptions(cache=CacheMode.BYPASS, timeout_ms=1500))

    assert_no_model_wrote_it(run)
    assert "1.5 metres" in run.answer.text
    assert run.answer.degraded == (Dependency.CHAT_MODEL,)
    assert outcomes(run)["plan"] == "degraded: CHAT_NO_TIME"
    assert run.seconds < 4, "without the budget the first call alone takes the client's 5 s"


@pytest.mark.slow
async def test_a_plan_that_times_out_keeps_no_other_stage_from_the_model(stub: ProviderStub) -> None:
    desk = Desk(stub, model_timeout_ms=10_000)
    desk.fail("plan", Fault(hang=True))

    run = await desk.ask(IN_PARTS)
    await desk.aclose()

    assert outcomes(run)["plan"] == "degraded: CHAT_NO_TIME"
    assert outcomes(run)["synthesize"] == "ok: stub-chat"


@pytest.mark.slow
async def test_a_provider_that_gives_up_slowly_keeps_no_other_stage_from_the_model(stub: ProviderStub) -> None:
    desk = Desk(stub, seconds=2.5)
    desk.fail("plan", Fault(hang=True))

    run = await desk.ask(IN_PARTS)
    await desk.aclose()

    assert outcomes(run)["plan"] == "degraded: PROVIDER_UNAVAILABLE"
    assert outcomes(run)["synthesize"] == "ok: stub-chat"


async def test_after_an_outage_the_other_stages_do_not_wait_for_the_model(desk: Desk) -> None:
    desk.fail("plan", Fault(status=503))

    run = await desk.ask(IN_PARTS)

    assert outcomes(run)["synthesize"] == "degraded: CHAT_RESTING"
    assert [form_of(request) for request in desk.stub.received] == ["plan"]


async def test_a_degraded_answer_is_not_cached_and_a_good_one_is(desk: Desk) -> None:
    desk.script["answer"] = lambda _: {}
    await desk.ask(options=AnswerOptions())
    desk.script = good()
    fresh = await desk.ask(options=AnswerOptions())
    again = await desk.ask(options=AnswerOptions())

    assert [run.cache for run in (fresh, again)] == [CacheOutcome.MISS, CacheOutcome.HIT]


async def test_an_invented_quote_never_passes(desk: Desk) -> None:
    quote = "Crew transfer is suspended when the significant wave height exceeds 2.5 metres."
    desk.script["answer"] = lambda _: {
        "sentences": [{"part": 0, "text": "It is 2.5 metres.", "quotes": [{"passage": 0, "quote": quote}]}],
        "unanswered": [],
        "conflicting": False,
    }

    run = await desk.ask()

    assert "2.5" not in run.answer.text
    assert "1.5 metres" in run.answer.text
    assert run.answer.outcome is Outcome.PARTIALLY_GROUNDED
    assert run.answer.abstention is not None
    assert run.answer.abstention.explanation == Message.MODEL_UNVERIFIED.value
    assert outcomes(run)["synthesize"] == "degraded: CHAT_UNVERIFIED"


@pytest.mark.parametrize("passage", [-1, 99])
async def test_a_quote_of_a_passage_that_there_is_not_never_passes(desk: Desk, passage: int) -> None:
    sentence = {"part": 0, "text": "It is 1.5 metres.", "quotes": [{"passage": passage, "quote": SPAN}]}
    desk.script["answer"] = lambda _: {"sentences": [sentence], "unanswered": [], "conflicting": False}

    assert outcomes(await desk.ask())["synthesize"] == "degraded: CHAT_UNVERIFIED"


async def test_a_sentence_may_rest_on_several_passages_and_cites_each(desk: Desk) -> None:
    founded, height = "Corrand Tidal was founded by Maren Tollack in 2009.", SPAN

    def both(request: Received) -> Any:
        quotes = [{"passage": passage_with(request, one), "quote": one} for one in (founded, height)]
        text = (
            "Corrand Tidal, founded by Maren Tollack, suspends crew transfer when the wave height exceeds 1.5 metres."
        )
        return {"sentences": [{"part": 0, "text": text, "quotes": quotes}], "unanswered": [], "conflicting": False}

    desk.script["answer"] = both
    question = "At which wave height does Corrand Tidal, which Maren Tollack founded, suspend crew transfer?"
    answer = (await desk.ask(question)).answer

    assert answer.text.endswith("1.5 metres. [1][2]")
    assert [one.snippet for one in answer.citations] == [founded, height]
    assert [one.marker for one in answer.citations] == [1, 2]
    assert {one.answer_spans for one in answer.citations} == {answer.citations[0].answer_spans}
    span = answer.citations[0].answer_spans[0]
    assert answer.text[span.start : span.end] == answer.text


async def test_a_figure_that_the_quote_does_not_hold_is_refused_by_the_self_check(desk: Desk) -> None:
    desk.script["answer"] = answering(
        "Crew transfer is suspended when the significant wave height exceeds 15 metres.", SPAN
    )

    answer = (await desk.ask()).answer

    assert "15 metres" not in answer.text
    assert answer.debug.self_check is not None
    assert answer.debug.self_check.guardrails == ("figure_not_in_source",)
    assert answer.debug.self_check.repaired


async def test_what_passes_the_check_stays_when_another_sentence_does_not(desk: Desk) -> None:
    def two(request: Received) -> Any:
        reply = answering("Crew transfer is suspended above a significant wave height of 1.5 metres.", SPAN)(request)
        false = answering("A sailing decision is issued by 07:30 each day.", "issues a sailing decision by 06:00")
        reply["sentences"] += false(request)["sentences"]
        return reply

    desk.script["answer"] = two
    run = await desk.ask()

    assert run.answer.text == "Crew transfer is suspended above a significant wave height of 1.5 metres. [1]"
    assert len(desk.stub.asked_for("answer")) == 1


async def test_a_model_that_finds_no_answer_in_the_passages_abstains_and_shows_them(desk: Desk) -> None:
    desk.script["answer"] = lambda _: {"sentences": [], "unanswered": [0], "conflicting": False}

    answer = (await desk.ask()).answer

    assert answer.outcome is Outcome.ABSTAINED
    assert answer.abstention is not None
    assert answer.abstention.reason is AbstentionReason.LOW_SUPPORT
    assert answer.abstention.nearest
    assert answer.degraded == ()


async def test_the_model_is_asked_where_the_rules_abstain_over_a_passage_that_is_near(stub: ProviderStub) -> None:
    desk = Desk(stub, support_threshold=0.99)
    by_model = await desk.ask()
    desk.script["answer"] = lambda _: {"sentences": [], "unanswered": [0], "conflicting": False}
    by_nobody = await desk.ask()
    desk.fail("answer", Fault(status=500))
    failed = await desk.ask()
    await desk.aclose()

    assert by_model.answer.outcome is Outcome.GROUNDED
    assert by_model.answer.abstention is None
    assert by_model.answer.citations[0].snippet == SPAN
    assert by_nobody.answer.outcome is failed.answer.outcome is Outcome.ABSTAINED
    assert failed.answer.abstention is not None
    assert failed.answer.abstention.reason is AbstentionReason.DEPENDENCY
    assert failed.answer.abstention.explanation == Message.MODEL_SILENT.value
    assert failed.answer.abstention.nearest


async def test_where_the_rules_abstain_the_models_quotes_are_verified_all_the_same(stub: ProviderStub) -> None:
    desk = Desk(stub, support_threshold=0.99)
    desk.script["answer"] = answering(
        "Crew transfer is suspended when the significant wave height exceeds 15 metres.", SPAN
    )
    run = await desk.ask()
    await desk.aclose()

    assert run.answer.outcome is Outcome.ABSTAINED
    assert run.answer.abstention is not None
    assert run.answer.abstention.reason is AbstentionReason.DEPENDENCY


async def test_with_no_passage_near_the_model_is_not_asked(desk: Desk) -> None:
    run = await desk.ask("What is the boiling point of ethanol?")

    assert run.answer.outcome is Outcome.ABSTAINED
    assert desk.stub.asked_for("answer") == []


async def test_parts_that_the_model_leaves_unanswered_are_named(desk: Desk) -> None:
    question = "Who founded Corrand Tidal and who manages the site at Otter Voe?"
    desk.script["plan"] = lambda _: planned(
        ("Who founded Corrand Tidal?", []), ("Who manages the site at Otter Voe?", [])
    )
    desk.script["answer"] = lambda request: {
        **answering("Corrand Tidal was founded by Maren Tollack.", "Corrand Tidal was founded by Maren Tollack")(
            request
        ),
        "unanswered": [1],
    }

    answer = (await desk.ask(question)).answer

    assert answer.outcome is Outcome.PARTIALLY_GROUNDED
    assert answer.debug.self_check is not None
    assert answer.debug.self_check.unsupported_claims == ("Who manages the site at Otter Voe?",)


@pytest.mark.parametrize(
    "plan",
    [
        planned(),
        planned(*[(f"Part {word} of it?", []) for word in ("one", "two", "three", "four", "five")]),
        planned(("Who is it?", [1]), ("Where is it?", [])),
        planned(("Who is it?", [0]), ("Where is it?", [])),
        planned(("Where does {finding} live?", []), ("Who is it?", [])),
        planned(("Who is it?", []), ("who is it?", [])),
        planned(("When did Napoleon die?", []), ("Where is it?", [])),
        planned(("", [])),
        planned((QUESTION, []), kind="calculation"),
    ],
)
async def test_a_plan_that_breaks_the_rules_of_planning_is_replaced(desk: Desk, plan: dict[str, Any]) -> None:
    desk.script["plan"] = lambda _: plan

    run = await desk.ask(IN_PARTS)

    assert outcomes(run)["plan"] == "degraded: CHAT_REPLY_INVALID"
    assert run.answer.debug.plan is not None
    assert run.answer.debug.plan.planner == "rules"


async def test_dependent_parts_of_a_models_plan_are_completed_with_what_was_found(desk: Desk) -> None:
    desk.script["plan"] = lambda _: planned(
        ("Which company was founded by Maren Tollack?", []), ("Where is the head office of {finding}?", [0])
    )
    desk.script["answer"] = answering("Its head office is in Port Aldery.", "Its head office is in Port Aldery.", 1)

    answer = (await desk.ask("Where is the head office of the company that Maren Tollack founded?")).answer

    assert "Corrand Tidal" in (answer.debug.rewritten_query or "")
    assert answer.outcome is Outcome.GROUNDED


async def test_a_follow_up_is_made_to_stand_alone_by_the_model(desk: Desk) -> None:
    history = (Turn("What is the rule for crew transfer?", "It is suspended in high waves."),)
    desk.script["standalone_question"] = lambda _: {"question": "At which height is crew transfer suspended?"}

    answer = (await desk.ask("And at which height?", history=history)).answer

    assert answer.debug.standalone_question == "At which height is crew transfer suspended?"
    assert answer.degraded == ()


async def test_a_follow_up_with_a_name_nobody_said_is_left_to_the_rules(desk: Desk) -> None:
    history = (Turn("What is the rule for crew transfer?", "It is suspended in high waves."),)
    desk.script["standalone_question"] = lambda _: {"question": "At which height does Napoleon suspend it?"}

    run = await desk.ask("And at which height is it suspended?", history=history)

    assert "Napoleon" not in (run.answer.debug.standalone_question or "")
    assert outcomes(run)["plan"] == "degraded: CHAT_REPLY_INVALID"


async def test_arithmetic_and_small_talk_cost_no_call(desk: Desk) -> None:
    await desk.ask("What is 17 * 23?")
    await desk.ask("hello")

    assert desk.stub.received == []


async def test_hyde_embeds_a_hypothetical_passage_beside_the_question(desk: Desk) -> None:
    run = await desk.ask(options=AnswerOptions(cache=CacheMode.BYPASS, use_hyde=True))

    passage = "Crew transfer stops when waves are higher than two metres."
    assert run.answer.debug.hyde_text == passage
    assert desk.world.embedder.calls == [[QUESTION, passage]]
    assert outcomes(run)["hyde"] == "ok"


async def test_hyde_is_off_by_default(desk: Desk) -> None:
    run = await desk.ask()

    assert outcomes(run)["hyde"] == "skipped: off"
    assert desk.stub.asked_for("hypothetical_passage") == []


@pytest.mark.tells("rag_chat_failed", "run_id")
async def test_hyde_that_fails_is_done_without(desk: Desk) -> None:
    desk.script["hypothetical_passage"] = lambda _: {"passage": ""}

    run = await desk.ask(options=AnswerOptions(cache=CacheMode.BYPASS, use_hyde=True))

    assert run.answer.outcome is Outcome.GROUNDED
    assert run.answer.degraded == (Dependency.CHAT_MODEL,)
    assert outcomes(run)["hyde"] == "degraded: CHAT_REPLY_INVALID"


@pytest.mark.parametrize("verdict", ["unsupported", "off_topic"])
async def test_a_sentence_that_the_judge_refuses_is_not_said(desk: Desk, verdict: str) -> None:
    desk.script["verdicts"] = all_judged(verdict)

    answer = (await desk.ask()).answer

    assert answer.outcome is Outcome.ABSTAINED
    assert answer.text == ""
    assert answer.debug.self_check is not None
    assert answer.debug.self_check.guardrails == (f"judge_{verdict}",)


async def test_a_judge_that_skips_a_sentence_has_judged_none(desk: Desk) -> None:
    desk.script["verdicts"] = lambda _: {"verdicts": []}

    run = await desk.ask()

    assert run.answer.outcome is Outcome.GROUNDED
    assert outcomes(run)["self_check"] == "degraded: CHAT_REPLY_INVALID; ok"


async def test_tokens_and_cost_are_counted_and_stand_on_the_run(desk: Desk) -> None:
    run = await desk.ask(IN_PARTS)

    cost = pytest.approx((30 * 2 + 15 * 10) / 1e6)
    spent = run.answer.debug.chat
    assert spent == ChatSpend(3, 30, 15, cost, estimated_usd=spent.estimated_usd if spent else None)
    counts = desk.world.telemetry.counts
    assert counts[("rag_tokens_total", (("kind", "chat_input"),))] == 30
    assert counts[("rag_tokens_total", (("kind", "chat_output"),))] == 15
    assert counts[("rag_provider_cost_usd_total", ())] == cost


async def test_a_reply_that_was_no_use_costs_as_well_and_a_cached_answer_nothing(desk: Desk) -> None:
    desk.script["answer"] = lambda _: {}
    failed = await desk.ask()
    desk.script = good()
    made, again = [await desk.ask(options=AnswerOptions()) for _ in range(2)]

    spent = [run.answer.debug.chat for run in (failed, made, again)]
    assert [one and one.calls for one in spent] == [2, 2, None]
    bill = made.answer.debug
    assert [sum(one.spend.calls for one in run.answer.debug.usage) for run in (failed, made, again)] == [2, 2, 0]
    assert sum(one.spend.input_tokens for one in bill.usage) == (bill.chat.input_tokens if bill.chat else None)
    assert replace(again.answer, debug=replace(again.answer.debug, chat=bill.chat, usage=bill.usage)) == made.answer


async def test_only_the_tasks_given_to_the_model_are_asked_of_it(stub: ProviderStub) -> None:
    desk = Desk(stub, frozenset({ChatTask.SYNTHESIZE}))
    run = await desk.ask()
    await desk.aclose()

    assert [form_of(request) for request in stub.received] == ["answer"]
    assert run.answer.debug.plan is not None
    assert run.answer.debug.plan.planner == "rules"


async def test_hyde_without_a_chat_model_is_skipped_and_says_so() -> None:
    world = World(corpus())
    run = await world.ask(QUESTION, options=AnswerOptions(cache=CacheMode.BYPASS, use_hyde=True))
    await world.recorder.aclose()

    assert outcomes(run)["hyde"] == "skipped: no chat model"
    assert run.answer.degraded == ()
