"""Answering, from a question to a run, over a corpus in memory."""

import asyncio
from dataclasses import replace
from uuid import UUID

import pytest
from tests.unit.answering.answering_world import PRINCIPAL, World
from tests.unit.answering.corpus import WORKSPACE, Corpus

from agentic_rag.answering.answer import AbstentionReason, Outcome
from agentic_rag.answering.gate.decide import GateRules
from agentic_rag.answering.gate.stored_decision import decision_to_store
from agentic_rag.answering.gate_decision import DowngradeCause
from agentic_rag.answering.options import AnswerDefaults
from agentic_rag.answering.query.standalone import turn_of
from agentic_rag.answering.question import AnswerOptions, CacheMode, Question, Turn
from agentic_rag.answering.run import CacheOutcome
from agentic_rag.answering.runs import record
from agentic_rag.answering.shapes.kind_threshold import kind_name
from agentic_rag.answering.state_machine import Stage
from agentic_rag.documents.document import CitedPassage, DocumentFilter
from agentic_rag.kernel.dependency import Dependency
from agentic_rag.kernel.errors import (
    AgenticRagError,
    DependencyUnavailable,
    IdempotencyConflict,
    InvalidInput,
    NotFound,
    Retryable,
    SpaceMismatch,
)
from agentic_rag.models.embedding.space import EmbeddingSpace
from agentic_rag.retrieval.arms.table import ARMS
from agentic_rag.retrieval.candidates import HopKind
from agentic_rag.retrieval.fusion_options import FusionMethod, FusionWeights
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.workspaces.web_access import WebAccess

ETHANOL = "What is the boiling point of ethanol?"
BYPASS = AnswerOptions(cache=CacheMode.BYPASS)


def _handbook() -> Corpus:
    corpus = Corpus()
    corpus.add(
        "marine-access.md",
        "Marine access policy",
        "# Crew transfer\n\nCrew transfer is suspended when the significant wave height exceeds 1.5 metres.",
        "The marine coordinator Wilf Hastane issues a sailing decision by 06:00 each day. It binds every vessel.",
    )
    corpus.add(
        "handbook.md",
        "Staff handbook",
        "Employees receive 28 days of annual leave. Unused leave may be carried over until 31 March.",
        "Sea-survival certificates are renewed every 4 years at the training centre in Port Aldery.",
    )
    corpus.add(
        "overview.md",
        "Company overview",
        "Corrand Tidal was founded by Maren Tollack in 2009. Its head office is in Port Aldery.",
        "The site at Otter Voe was commissioned on 9 May 2024. The site is managed by Tobias Aarle.",
    )
    return corpus


@pytest.fixture
async def world():
    made = World(_handbook())
    yield made
    await made.recorder.aclose()


async def test_a_comparison_is_answered_by_what_is_said_of_each_side() -> None:
    corpus = Corpus()
    corpus.add("old-mill.md", "Old Mill", "The Old Mill was founded by two bakers in 1871. It grinds rye.")
    corpus.add("quay-works.md", "Quay Works", "Quay Works was founded in March 1902. It builds boats.")
    world = World(corpus)

    answer = (await world.ask("Was Old Mill founded before Quay Works?", options=BYPASS)).answer

    assert {one.snippet for one in answer.citations} >= {
        "The Old Mill was founded by two bakers in 1871.",
        "Quay Works was founded in March 1902.",
    }
    assert len({(one.document_id, one.source_span) for one in answer.citations}) == len(answer.citations)
    await world.recorder.aclose()


async def test_an_answer_quotes_its_source_exactly_and_says_where(world: World) -> None:
    run = await world.ask("At which wave height is crew transfer suspended?")
    answer = run.answer
    assert answer.outcome is Outcome.GROUNDED
    assert "1.5 metres" in answer.text
    first = answer.citations[0]
    text = world.corpus.revisions[first.revision_id][0]
    assert text[first.source_span.start : first.source_span.end] == first.snippet
    assert (first.source_path, first.page, first.verified) == ("marine-access.md", 1, True)
    assert run.versions.corpus_version == world.corpus.version
    assert [record.stage for record in run.stages] == [
        "gate", "plan", "rewrite", "hyde", "embed", "retrieve", "tools", "synthesize", "self_check", "search",
    ]  # fmt: skip


async def test_every_answer_span_is_a_sentence_with_its_marker(world: World) -> None:
    answer = (await world.ask("Who issues the sailing decision?")).answer
    assert answer.citations
    for citation in answer.citations:
        for span in citation.answer_spans:
            assert answer.text[span.start : span.end].endswith(f"[{citation.marker}]")


@pytest.mark.parametrize(
    "question", ["What is the boiling point of ethanol?", "Who won the 2018 football World Cup?", "zzqx vlorp?"]
)
async def test_what_the_documents_do_not_hold_is_not_answered(world: World, question: str) -> None:
    answer = (await world.ask(question)).answer
    assert answer.outcome is Outcome.ABSTAINED
    assert answer.text == ""
    assert answer.citations == ()
    assert answer.abstention is not None
    assert answer.abstention.reason in (AbstentionReason.LOW_SUPPORT, AbstentionReason.NO_EVIDENCE)
    assert all(near.verified and near.answer_spans == () for near in answer.abstention.nearest)


async def test_how_far_the_passages_support_the_answer_is_said_with_every_sign(world: World) -> None:
    answered = (await world.ask("At which wave height is crew transfer suspended?")).answer.debug.support
    abstained = (await world.ask("What is the boiling point of ethanol?")).answer.debug.support
    assert answered is not None
    assert abstained is not None
    assert abstained.score < abstained.threshold <= answered.score
    assert {one.name for one in answered.contributions} >= {"best", "ahead", "covered", "unnamed"}


async def test_the_gate_judges_by_the_answer_that_the_documents_gave(world: World) -> None:
    world.corpus.web, world.corpus.organisation_allows_web = WebAccess(allow=True), True
    answer = (await world.ask("At which wave height is crew transfer suspended?")).answer
    answered, debug = answer.gate, answer.debug
    abstained = (await world.ask("What is the boiling point of ethanol?")).answer.gate
    found = {one.name: one.value for one in answered.contributions}
    missed = {one.name: one.value for one in abstained.contributions}

    assert found["sufficiency"] > 0.5 > missed["sufficiency"] == 0.0
    assert found["coverage"] > missed["coverage"]
    assert debug.support is not None
    assert debug.certainty is not None
    assert (found["support"], found["certainty"]) == (debug.support.score, debug.certainty.score)
    assert 0 < missed["support"] < found["support"]
    assert (answered.plan_type, answered.downgrades) == ("retrieve", ())
    assert {one.cause for one in abstained.downgrades} == {DowngradeCause.NO_SEARCH, DowngradeCause.NO_CRAWLER}


@pytest.mark.parametrize(
    ("organisation", "workspace", "request_", "cause"),
    [
        (False, True, True, DowngradeCause.ORGANISATION),
        (True, False, True, DowngradeCause.WORKSPACE),
        (True, True, False, DowngradeCause.REQUEST),
        (True, True, None, DowngradeCause.NO_SEARCH),
    ],
)
async def test_each_level_may_keep_a_run_from_the_web(
    world: World, organisation: bool, workspace: bool, request_: bool | None, cause: DowngradeCause
) -> None:
    world.corpus.web, world.corpus.organisation_allows_web = WebAccess(allow=workspace), organisation
    decision = (await world.ask(ETHANOL, options=AnswerOptions(allow_web=request_))).answer.gate
    assert decision.downgrades[0].cause is cause
    assert decision.plan_type == "retrieve"


@pytest.mark.parametrize(
    ("mode", "outcome", "is_judged", "planned"),
    [
        ("off", "skipped: the gate is off", False, "retrieve"),
        ("shadow", "skipped: the gate only watches (mode shadow)", True, "full_loop"),
        ("on", "ok", True, "full_loop"),
    ],
)
async def test_the_mode_of_the_gate_says_whether_a_run_is_judged_and_the_plan_followed(
    mode: str, outcome: str, is_judged: bool, planned: str
) -> None:
    world = World(_handbook(), AnswerDefaults(gate=GateRules(mode=mode, can_search=True, can_crawl=True)))
    world.corpus.web, world.corpus.organisation_allows_web = WebAccess(allow=True), True
    run = await world.ask(ETHANOL)
    gate = run.answer.gate
    assert (run.stages[-1].stage, run.stages[-1].outcome) == ("search", outcome)
    assert (gate.mode, gate.is_judged, gate.planned) == (mode, is_judged, planned)
    assert gate.directives.use_search is (mode == "on")
    assert (decision_to_store(run) is not None) is is_judged
    await world.recorder.aclose()


async def test_an_answer_is_the_same_whoever_allows_the_web_but_for_the_gate(world: World) -> None:
    closed = (await world.ask(ETHANOL)).answer
    world.corpus.web, world.corpus.organisation_allows_web = WebAccess(allow=True), True
    opened = await world.ask(ETHANOL)
    assert opened.cache is CacheOutcome.MISS
    assert replace(opened.answer, gate=closed.gate) == closed


async def test_a_skipped_run_searches_nothing_and_says_why(world: World) -> None:
    gate = (await world.ask("Hello!")).answer.gate
    assert (gate.plan_type, [one.cause for one in gate.downgrades]) == ("skip", [DowngradeCause.CHIT_CHAT])
    assert "snapshot" not in world.corpus.calls.names


async def test_documents_can_be_left_out(world: World) -> None:
    question = "At which wave height is crew transfer suspended?"
    [first, *_] = (await world.ask(question)).answer.citations
    without = AnswerOptions(filter=DocumentFilter(without_ids=(first.document_id,)))
    assert first.document_id not in {
        candidate.document_id for candidate in (await world.ask(question, options=without)).answer.debug.candidates
    }


async def test_a_workspace_abstains_below_its_own_threshold(world: World) -> None:
    question = "At which wave height is crew transfer suspended?"
    assert (await world.ask(question)).answer.outcome is Outcome.GROUNDED
    world.corpus.support_threshold = 1.0
    after = (await world.ask(question)).answer
    assert after.outcome is Outcome.ABSTAINED
    assert after.debug.support is not None
    assert after.debug.support.threshold == 1.0


async def test_a_question_of_a_calibrated_kind_has_the_threshold_of_its_kind(world: World) -> None:
    question = "At which wave height is crew transfer suspended?"
    world.corpus.support_threshold = 0.0
    for kinds, wanted in (((("list", 0.9),), 0.0), (((kind_name(question), 1.0),), 1.0)):
        world.corpus.kind_thresholds = kinds
        answer = (await world.ask(question)).answer
        assert answer.debug.support is not None
        assert answer.debug.support.threshold == wanted
        assert (answer.outcome is Outcome.ABSTAINED) is (wanted == 1.0)


async def test_a_part_without_support_is_named(world: World) -> None:
    answer = (await world.ask("Who founded Corrand Tidal and what is the boiling point of ethanol?")).answer
    assert answer.outcome is Outcome.PARTIALLY_GROUNDED
    assert "Maren Tollack" in answer.text
    assert answer.abstention is not None
    assert "boiling point of ethanol" in answer.abstention.explanation
    assert answer.debug.self_check is not None
    assert answer.debug.self_check.unsupported_claims == ("what is the boiling point of ethanol?",)


async def test_sources_that_disagree_are_both_cited() -> None:
    corpus = _handbook()
    corpus.add(
        "old.md", "Safety leaflet", "Crew transfer is suspended when the significant wave height exceeds 2.0 metres."
    )
    world = World(corpus)
    answer = (await world.ask("At which wave height is crew transfer suspended?", options=BYPASS)).answer
    assert answer.outcome is Outcome.CONFLICTING
    assert {"1.5 metres", "2.0 metres"} <= {word for word in ("1.5 metres", "2.0 metres") if word in answer.text}
    assert len({citation.document_id for citation in answer.citations}) == 2
    await world.recorder.aclose()


async def test_a_calculation_needs_no_documents_and_opens_no_snapshot(world: World) -> None:
    answer = (await world.ask("What is 12.5 % of 48,000?")).answer
    assert answer.text == "12.5 % of 48,000 = 6,000"
    assert (answer.outcome, answer.citations, answer.debug.self_check) == (Outcome.GROUNDED, (), None)
    assert answer.debug.tool_calls[0].tool == "calc"
    assert "snapshot" not in world.corpus.calls.names


async def test_a_calculation_that_cannot_be_done_abstains_with_the_reason(world: World) -> None:
    answer = (await world.ask("What is 5 / 0?")).answer
    assert answer.abstention is not None
    assert answer.abstention.reason is AbstentionReason.POLICY
    assert "zero" in answer.abstention.explanation
    assert answer.debug.tool_calls[0].error_code == "CALC_DIVISION_BY_ZERO"


async def test_without_tools_a_calculation_abstains_by_policy(world: World) -> None:
    answer = (await world.ask("What is 2 + 2?", options=AnswerOptions(use_tools=False))).answer
    assert answer.abstention is not None
    assert answer.abstention.reason is AbstentionReason.POLICY


async def test_chit_chat_abstains_by_policy_and_an_empty_workspace_for_lack_of_evidence(world: World) -> None:
    greeting = (await world.ask("Hello!")).answer
    assert greeting.abstention is not None
    assert greeting.abstention.reason is AbstentionReason.POLICY
    empty = World(Corpus())
    answer = (await empty.ask("What is the wave limit?")).answer
    assert answer.abstention is not None
    assert answer.abstention.reason is AbstentionReason.NO_EVIDENCE
    await empty.recorder.aclose()


async def test_a_document_named_outright_is_looked_up(world: World) -> None:
    answer = (await world.ask("Show document Staff handbook")).answer
    assert answer.citations[0].origin == "lookup"
    assert answer.citations[0].source_path == "handbook.md"
    assert "28 days" in answer.text


async def test_a_follow_up_is_answered_as_the_question_it_stands_for(world: World) -> None:
    founded = await world.ask("Who founded Corrand Tidal?")
    follow_up = await world.ask("And when?", history=(turn_of(founded),))
    standalone = "When (about: who founded Corrand Tidal)?"
    assert follow_up.answer.debug.standalone_question == standalone
    assert follow_up.question == "And when?"
    assert "2009" in follow_up.answer.text
    assert world.embedder.calls[-1] == [standalone]


async def test_a_question_may_follow_a_run(world: World) -> None:
    founded = await world.ask("Who founded Corrand Tidal?")
    before_it_is_stored = await world.ask("And when?", after=founded.run_id)
    await world.recorder.drain()
    after = await world.ask("Where is its head office?", after=before_it_is_stored.run_id)
    assert before_it_is_stored.answer.debug.standalone_question == "When (about: who founded Corrand Tidal)?"
    earlier = "when; who founded Corrand Tidal"
    assert after.answer.debug.standalone_question == f"Where is its head office (about: {earlier})?"
    assert "Port Aldery" in after.answer.text


async def test_a_run_that_is_not_there_cannot_be_followed(world: World) -> None:
    with pytest.raises(NotFound) as caught:
        await world.ask("And when?", after=UUID(int=404))
    assert caught.value.code == "RUN_NOT_FOUND"


async def test_conversations_that_come_to_the_same_question_share_an_answer(world: World) -> None:
    question = Turn("Who founded Corrand Tidal?", "Maren Tollack.")
    first = await world.ask("And when?", history=(question,))
    again = await world.ask("And when?", history=(Turn("Hello!", "Hello."), question))
    other = await world.ask("And when?", history=(Turn("Who founded Otter Voe?", "Nobody knows."),))
    assert (first.cache, again.cache, other.cache) == (CacheOutcome.MISS, CacheOutcome.HIT, CacheOutcome.MISS)


async def test_what_was_cited_before_is_kept_and_not_searched_for_again(world: World) -> None:
    kept = next(chunk for chunk in world.corpus.chunks if "Sea-survival" in chunk.text)
    cited = CitedPassage(kept.document_id, kept.chunk_id)
    turn = Turn("Which certificates are renewed?", "Sea-survival ones.", (cited,))
    question = "How often are sea-survival certificates renewed?"
    nearer = "How often are sea-survival certificates renewed? How often sea-survival certificates are renewed."
    world.corpus.add("renewals.md", "Sea-survival certificates", nearer, whole=True)
    world.corpus.calls.names.clear()
    run = await world.ask(question, options=AnswerOptions(top_k=1), history=(turn,))
    first, second = (one for one in run.answer.debug.candidates if one.dropped_because is None)
    assert (first.title, second.chunk_id) == ("Sea-survival certificates", kept.chunk_id)
    assert (world.corpus.calls.names.count("search"), world.corpus.calls.names.count("cited")) == (1, 1)
    assert "4 years" in run.answer.text


async def test_what_was_cited_before_stays_hidden_behind_a_filter(world: World) -> None:
    kept = next(chunk for chunk in world.corpus.chunks if "Sea-survival" in chunk.text)
    turn = Turn("Which certificates?", "Sea-survival ones.", (CitedPassage(kept.document_id, kept.chunk_id),))
    elsewhere = AnswerOptions(filter=DocumentFilter(source_path_prefix="overview"))
    run = await world.ask("How often are sea-survival certificates renewed?", options=elsewhere, history=(turn,))
    assert {one.title for one in run.answer.debug.candidates} <= {"Company overview"}


async def test_what_was_cited_before_on_another_matter_is_left_out(world: World) -> None:
    kept = world.corpus.chunks[0]
    turn = Turn("When is crew transfer suspended?", "Above 1.5 m.", (CitedPassage(kept.document_id, kept.chunk_id),))
    narrow = AnswerOptions(top_k=1, cache=CacheMode.BYPASS)
    run = await world.ask("Who founded Corrand Tidal?", options=narrow, history=(turn,))
    assert kept.chunk_id not in {one.chunk_id for one in run.answer.debug.candidates if one.dropped_because is None}


async def test_a_filter_holds_in_every_arm(world: World) -> None:
    only = AnswerOptions(filter=DocumentFilter(source_path_prefix="handbook"))
    answer = (await world.ask("At which wave height is crew transfer suspended?", options=only)).answer
    traced = {candidate.title for candidate in answer.debug.candidates}
    assert traced <= {"Staff handbook"}


async def test_a_retrieval_costs_a_fixed_number_of_round_trips(world: World) -> None:
    await world.ask("At which wave height is crew transfer suspended?")
    assert sorted(world.corpus.calls.names) == sorted(
        ["corpus_version", "snapshot", "nearest", "search", "chunks", "placed", "revision_spans"]
        # Around the first passages, and around those that follow.
        + 2 * ["vicinity", "titles"]
    )


# Requests that cannot be answered


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "QUESTION_EMPTY"),
        (" \n\t ", "QUESTION_EMPTY"),
        ("\x00", "QUESTION_EMPTY"),
        ("x" * 4001, "QUESTION_TOO_LONG"),
    ],
)
async def test_a_question_that_is_none_is_refused(world: World, text: str, code: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        await world.ask(text)
    assert (caught.value.code, caught.value.path) == (code, ("question",))
    assert world.corpus.calls.names == []


@pytest.mark.parametrize(
    ("options", "path"),
    [
        (AnswerOptions(top_k=0), ("options", "topK")),
        (AnswerOptions(top_k=51), ("options", "topK")),
        (AnswerOptions(min_score=float("nan")), ("options", "minScore")),
        (AnswerOptions(timeout_ms=0), ("options", "timeoutMs")),
        (AnswerOptions(max_context_tokens=1), ("options", "maxContextTokens")),
        (AnswerOptions(weights=FusionWeights(vector=-1)), ("options", "weights", "vector")),
        (AnswerOptions(weights=FusionWeights(0, 0)), ("options", "weights")),
    ],
)
async def test_an_option_out_of_range_is_named(world: World, options: AnswerOptions, path: tuple[str, ...]) -> None:
    with pytest.raises(InvalidInput) as caught:
        await world.ask("What is the wave limit?", options=options)
    assert (caught.value.code, caught.value.path) == ("OPTION_OUT_OF_RANGE", path)


async def test_a_history_has_its_limits(world: World) -> None:
    with pytest.raises(InvalidInput) as caught:
        await world.ask("Why?", history=(Turn("a", "b"),) * 11)
    assert caught.value.code == "HISTORY_TOO_LONG"


async def test_a_foreign_workspace_looks_like_a_missing_one(world: World) -> None:
    foreign = WorkspaceRef(UUID(int=9), WORKSPACE.workspace_id)
    for workspace in (foreign, replace(WORKSPACE, workspace_id=UUID(int=99))):
        with pytest.raises(NotFound) as caught:
            await world.ask("What is the wave limit?", workspace=workspace)
        assert caught.value.code == "WORKSPACE_NOT_FOUND"


async def test_a_version_that_is_not_there_is_refused(world: World) -> None:
    with pytest.raises(InvalidInput) as caught:
        await world.ask("What is the wave limit?", as_of=99)
    assert caught.value.code == "AS_OF_UNAVAILABLE"


# Cache, sharing, idempotency


async def test_an_equal_question_is_answered_from_the_cache_with_one_version_call(world: World) -> None:
    first = await world.ask("At which wave height is crew transfer suspended?")
    await world.recorder.drain()
    world.corpus.calls.names.clear()
    again = await world.ask("At  which wave height is crew transfer suspended?")
    await world.recorder.drain()
    assert (first.cache, again.cache) == (CacheOutcome.MISS, CacheOutcome.HIT)
    assert again.answer == first.answer
    assert world.corpus.calls.names == ["corpus_version"]
    assert [run.run_id for run in world.runs.stored] == [first.run_id, again.run_id]


async def test_a_publish_makes_cached_answers_unreachable(world: World) -> None:
    await world.ask("At which wave height is crew transfer suspended?")
    await world.recorder.drain()
    world.corpus.add("new.md", "Notice", "Nothing to do with it.")
    again = await world.ask("At which wave height is crew transfer suspended?")
    assert again.cache is CacheOutcome.MISS


async def test_an_answer_made_before_an_erasure_is_not_cached_after_it(world: World) -> None:
    await world.ask("At which wave height is crew transfer suspended?")
    world.corpus.version += 1
    await world.recorder.drain()
    assert world.cache.values == {}


async def test_an_erasure_while_an_answer_is_being_cached_leaves_no_entry(world: World) -> None:
    def erase() -> None:
        world.corpus.version += 1

    world.cache.after_put = erase
    await world.ask("At which wave height is crew transfer suspended?")
    await world.recorder.drain()
    assert world.corpus.version > 0
    assert world.cache.values == {}


async def test_refresh_only_writes_and_bypass_does_neither(world: World) -> None:
    question = "At which wave height is crew transfer suspended?"
    await world.ask(question, options=BYPASS)
    await world.recorder.drain()
    assert (world.cache.gets, world.cache.values) == (0, {})
    await world.ask(question, options=AnswerOptions(cache=CacheMode.REFRESH))
    await world.recorder.drain()
    assert world.cache.gets == 0
    assert len(world.cache.values) == 1
    assert (await world.ask(question)).cache is CacheOutcome.HIT


@pytest.mark.tells("rag_cache_entry_unreadable", "run_id")
async def test_bytes_that_are_no_answer_count_as_a_miss(world: World) -> None:
    question = "At which wave height is crew transfer suspended?"
    await world.ask(question)
    await world.recorder.drain()
    world.cache.values = dict.fromkeys(world.cache.values, b"[0]")
    assert (await world.ask(question)).cache is CacheOutcome.MISS


async def test_concurrent_equal_questions_share_one_run(world: World) -> None:
    runs = await asyncio.gather(*(world.ask("At which wave height is crew transfer suspended?") for _ in range(5)))
    assert sorted(run.cache.value for run in runs) == ["joined"] * 4 + ["miss"]
    assert world.corpus.calls.names.count("snapshot") == 1
    assert len({run.run_id for run in runs}) == 5


async def test_equal_requests_under_one_key_at_once_all_return_the_run_that_is_stored(world: World) -> None:
    runs = await asyncio.gather(*(world.ask("Who founded Corrand Tidal?", key="k") for _ in range(10)))

    stored = await world.runs.by_idempotency_key(WORKSPACE, PRINCIPAL.own_key("k"))
    assert stored is not None
    assert {run.run_id for run in runs} == {stored.run_id}


async def test_a_follow_up_sent_again_under_its_key_is_the_stored_run_whatever_became_of_the_run_before(
    world: World,
) -> None:
    founded = await world.ask("Who founded Corrand Tidal?")
    await world.recorder.drain()
    first = await world.ask("And when?", after=founded.run_id, key="k")
    world.runs.stored = [run for run in world.runs.stored if run.run_id != founded.run_id]
    assert (await world.ask("And when?", after=founded.run_id, key="k")).run_id == first.run_id


async def test_an_idempotency_key_returns_the_stored_run_and_refuses_another_input(world: World) -> None:
    first = await world.ask("Who founded Corrand Tidal?", key="k1")
    assert world.runs.durable == 1
    again = await world.ask("Who founded Corrand Tidal?", key="k1")
    assert again == first
    with pytest.raises(IdempotencyConflict):
        await world.ask("Who manages Otter Voe?", key="k1")


async def test_an_idempotency_key_of_another_subject_tells_nothing(world: World) -> None:
    ours = await world.ask("Who founded Corrand Tidal?", key="k1")

    stranger = replace(PRINCIPAL, subject="bert")
    theirs = await world.answer.ask(stranger, Question(WORKSPACE, "Who manages Otter Voe?", idempotency_key="k1"))

    assert theirs.run_id != ours.run_id
    assert (await world.ask("Who founded Corrand Tidal?", key="k1")).run_id == ours.run_id


# Missing dependencies and time


@pytest.mark.parametrize("error", [Retryable("busy"), DependencyUnavailable("gone", dependency="embedder")])
async def test_without_the_embedder_the_other_arms_answer(world: World, error: AgenticRagError) -> None:
    world.embedder.fails = error
    answer = (await world.ask("At which wave height is crew transfer suspended?")).answer
    assert "1.5 metres" in answer.text
    assert answer.degraded == (Dependency.EMBEDDER,)
    assert "nearest" not in world.corpus.calls.names
    await world.recorder.drain()
    assert world.cache.values == {}


async def test_without_the_graph_the_text_arms_answer(world: World) -> None:
    world.corpus.graph_down = True
    answer = (await world.ask("At which wave height is crew transfer suspended?")).answer
    assert "1.5 metres" in answer.text
    assert answer.degraded == (Dependency.GRAPH,)
    await world.recorder.drain()
    assert world.cache.values == {}


async def test_a_cache_that_is_down_is_said(world: World) -> None:
    world.cache.available = False
    answer = (await world.ask("At which wave height is crew transfer suspended?")).answer
    assert answer.degraded == (Dependency.CACHE,)


async def test_without_the_database_there_is_a_typed_error(world: World) -> None:
    world.corpus.database_down = True
    with pytest.raises(DependencyUnavailable):
        await world.ask("At which wave height is crew transfer suspended?")


@pytest.mark.tells("rag_runs_delayed")
@pytest.mark.tells("rag_runs_unrecorded")
async def test_runs_that_cannot_be_stored_do_not_fail_the_answer(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record, "FIRST_REST_SECONDS", 0.05)
    world.runs.fails = DependencyUnavailable("gone", dependency="postgres")
    assert (await world.ask("Who founded Corrand Tidal?")).answer.text
    await world.recorder.drain()
    assert any(name == "rag_runs_unrecorded_total" for name, _ in world.telemetry.counts)


async def test_vectors_of_two_spaces_never_meet() -> None:
    world = World(_handbook(), space=EmbeddingSpace("other", "model", 384))
    with pytest.raises(SpaceMismatch):
        await world.ask("At which wave height is crew transfer suspended?")
    await world.recorder.aclose()


async def test_an_answer_that_time_cut_something_off_is_given_but_not_kept_for_others(world: World) -> None:
    question = "At which wave height is crew transfer suspended?"
    # What a process does once, at its first answer, takes longer than the time there is on a busy machine.
    await world.ask(question, options=BYPASS)
    world.corpus.hang_beside = True
    hurried = await world.ask(question, options=AnswerOptions(timeout_ms=1_000))
    assert "1.5 metres" in hurried.answer.text
    assert world.corpus.opened == 0
    await world.recorder.drain()
    assert world.cache.values == {}


async def test_a_search_that_hangs_ends_in_an_abstention_at_the_deadline(world: World) -> None:
    world.corpus.hang = 1.0
    answer = (
        await world.ask("At which wave height is crew transfer suspended?", options=AnswerOptions(timeout_ms=60))
    ).answer
    assert answer.abstention is not None
    assert answer.abstention.reason is AbstentionReason.BUDGET
    assert world.corpus.opened == 0
    await world.recorder.drain()
    assert world.cache.values == {}


# Self-check


async def test_a_citation_that_is_not_stored_as_quoted_is_repaired_by_another_sentence() -> None:
    corpus = _handbook()
    corpus.add(
        "copy.md",
        "Copy of the policy",
        "Crew transfer is suspended when the significant wave height exceeds 1.5 metres.",
    )
    corpus.corrupt_ordinals = frozenset({1})
    world = World(corpus)
    answer = (await world.ask("At which wave height is crew transfer suspended?")).answer
    assert answer.debug.self_check is not None
    assert answer.debug.self_check.repaired
    assert answer.debug.self_check.guardrails == ("citation_not_stored",)
    assert [citation.source_path for citation in answer.citations] == ["copy.md"]
    await world.recorder.aclose()


async def test_nothing_unverified_ever_leaves(world: World) -> None:
    world.corpus.corrupt = True
    answer = (await world.ask("At which wave height is crew transfer suspended?")).answer
    assert answer.outcome is Outcome.ABSTAINED
    assert (answer.text, answer.citations) == ("", ())
    assert answer.abstention is not None
    assert answer.abstention.nearest == ()


@pytest.mark.tells("rag_run_ended", "run_id")
@pytest.mark.tells("rag_stage_ended", "run_id")
async def test_each_stage_has_a_span_a_metric_and_an_event_with_the_id_of_the_run(world: World) -> None:
    run = await world.ask("Who founded Corrand Tidal?")
    aged = [name for name, _ in world.telemetry.observed if name == "rag_document_age_seconds"]
    assert len(aged) == sum(one.read_at is not None for one in run.answer.citations) > 0
    assert [name for name, _ in world.telemetry.observed].count("rag_retrieval_fusion_seconds") == 1
    timed = [labels["stage"] for name, labels in world.telemetry.observed if name == "rag_stage_seconds"]
    inside = [name for name in world.telemetry.spans[1:] if name == "rag.arm"]
    assert timed == [name.removeprefix("rag.") for name in world.telemetry.spans[1:] if name != "rag.arm"]
    assert len(inside) == len(ARMS)
    told = [fields for name, fields in world.telemetry.told if name == "rag_stage_ended"]
    assert [one["stage"] for one in told] == timed == [stage.value for stage in Stage if stage is not Stage.DONE]
    assert {one["run_id"] for one in told} == {str(run.run_id)}
    assert [one["outcome"] for one in told] == [one.outcome for one in run.stages]
    (line,) = [fields for name, fields in world.telemetry.told if name == "rag_run_ended"]
    assert {name: line[name] for name in ("run_id", "outcome", "cache", "reason", "degraded")} == {
        "run_id": str(run.run_id), "outcome": "GROUNDED", "cache": "miss", "reason": None, "degraded": None,
    }  # fmt: skip
    assert {name.removesuffix("_seconds") for name in line if name.endswith("_seconds")} == {
        one.stage for one in run.stages if not one.outcome.startswith("skipped")
    }
    assert world.telemetry.counts["rag_runs_total", (("outcome", "GROUNDED"),)] == 1


async def test_defaults_can_cap_the_passages_of_a_document() -> None:
    world = World(_handbook(), AnswerDefaults(per_document=1))
    answer = (await world.ask("Who manages the site at Otter Voe and who founded Corrand Tidal?")).answer
    kept = [candidate.title for candidate in answer.debug.candidates if candidate.dropped_because is None]
    assert kept.count("Company overview") <= 2
    assert any(candidate.dropped_because == "per_document" for candidate in answer.debug.candidates)
    await world.recorder.aclose()


async def test_the_cells_of_a_pdf_table_are_quoted_as_label_and_value() -> None:
    corpus = _handbook()
    data = "Principal data\nRated power\n1,200 kW\nRotor diameter\n20.0 m\nBlades\n2, variable pitch"
    corpus.add("selkie.pdf", "Selkie 1200 specification", data)
    world = World(corpus)
    answer = (await world.ask("What is the rotor diameter of the Selkie 1200?")).answer
    assert answer.text.startswith("Selkie 1200 specification — Rotor diameter: 20.0 m. [1]")
    assert answer.citations[0].snippet == "Rotor diameter\n20.0 m"
    await world.recorder.aclose()


def _league() -> Corpus:
    corpus = Corpus()
    corpus.add_short(
        (
            "berg.md",
            "Anton Berg",
            "Anton Berg was a striker who played for the Norrland Hockey League in the nineties.",
        ),
        ("league.md", "Norrland Hockey League", "The Norrland Hockey League was founded by Elsa Lind of Umea."),
        ("union.md", "Baltic Chess Union", "The Baltic Chess Union was founded by Otto Falk after a long dispute."),
    )
    return corpus


async def test_an_answer_over_several_hops_shows_how_it_came_to_each_passage() -> None:
    world = World(_league())
    answer = (await world.ask("Who founded the league in which Anton Berg played?")).answer
    first, second = answer.citations
    assert (first.title, first.path) == ("Anton Berg", ())
    assert [(hop.kind, hop.via, hop.from_title, hop.to_title) for hop in second.path] == [
        (HopKind.NAMES, "Norrland Hockey League", "Anton Berg", "Norrland Hockey League")
    ]
    assert (second.path[0].from_chunk_id, second.path[-1].to_chunk_id) == (first.chunk_id, second.chunk_id)
    assert next(one for one in answer.debug.candidates if one.title == second.title).path == second.path
    await world.recorder.aclose()


async def test_a_run_keeps_what_it_searched_with(world: World) -> None:
    options = AnswerOptions(top_k=3, fusion=FusionMethod.RRF, diversity=0.25, per_document=2)
    search = (await world.ask("Who founded Corrand Tidal?", options=options)).answer.debug.search
    assert search is not None
    assert (search.top_k, search.fusion, search.diversity, search.per_document) == (3, FusionMethod.RRF, 0.25, 2)


async def test_a_caller_may_lift_the_cap_of_the_process_and_fuse_by_rank() -> None:
    question = "Who manages the site at Otter Voe and who founded Corrand Tidal?"
    world = World(_handbook(), AnswerDefaults(per_document=1))
    lifted = (await world.ask(question, options=AnswerOptions(per_document=0))).answer
    by_rank = (await world.ask(question, options=AnswerOptions(per_document=0, fusion=FusionMethod.RRF))).answer
    assert not any(candidate.dropped_because == "per_document" for candidate in lifted.debug.candidates)
    first, again = lifted.debug.candidates[0], by_rank.debug.candidates[0]
    assert again.score == pytest.approx(sum(arm.weight * 61 / (60 + arm.rank) for arm in again.arms), abs=1e-6)
    assert first.score == pytest.approx(sum(arm.weight * arm.normalised for arm in first.arms), abs=1e-6)
    await world.recorder.aclose()


@pytest.mark.parametrize("options", [AnswerOptions(diversity=1.5), AnswerOptions(per_document=-1)])
async def test_rules_of_choice_out_of_range_are_refused(world: World, options: AnswerOptions) -> None:
    with pytest.raises(InvalidInput) as refused:
        await world.ask("Who founded Corrand Tidal?", options=options)
    assert refused.value.code == "OPTION_OUT_OF_RANGE"
