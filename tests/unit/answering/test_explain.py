"""Why a run used what it used, and not what a person expected: over stores in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from types import SimpleNamespace
from typing import Any
from uuid import UUID, uuid4

import pytest
from tests.memory_store.answering.cache import MemoryAnswerCache
from tests.memory_store.answering.runs import MemoryRunStore
from tests.memory_store.compute import InlineCompute
from tests.memory_store.documents.blobs import MemoryBlobStore
from tests.memory_store.session.database import MemoryDatabase
from tests.memory_store.session.store import MemoryStore
from tests.memory_store.telemetry import RecordingTelemetry

from agentic_rag.adapters.deterministic.embedder import DeterministicEmbedder
from agentic_rag.adapters.system.clock import SystemClock
from agentic_rag.adapters.system.ids import RandomIds
from agentic_rag.answering.ask import AnswerPorts
from agentic_rag.answering.build import ChatUse, answer_question
from agentic_rag.answering.options import AnswerDefaults
from agentic_rag.answering.question import AnswerOptions, Question
from agentic_rag.answering.run import Run
from agentic_rag.answering.runs.explain import DEADLINE_SECONDS, ExplainRun
from agentic_rag.answering.runs.explanation import ArmState, CandidateExplanation, CandidateFate, WhyNot, WhyNotVerdict
from agentic_rag.answering.runs.read import ReadRuns
from agentic_rag.answering.runs.record import RunRecorder
from agentic_rag.documents.document import DocumentFilter, document_id_for
from agentic_rag.erasure.delete import DeleteDocument
from agentic_rag.ingestion.analysis.analyse import TextAnalysis
from agentic_rag.ingestion.ingest_chunks import ChunkedDocument, IngestChunks
from agentic_rag.kernel.clock import Deadline
from agentic_rag.kernel.errors import InvalidInput, NotFound
from agentic_rag.language.token_estimate import estimate_tokens
from agentic_rag.models.chat.request import LlmResult
from agentic_rag.models.providers.embedder_registry import only
from agentic_rag.retrieval.candidates import Passage, Retriever
from agentic_rag.retrieval.fusion_options import FusionWeights
from agentic_rag.retrieval.ports import Reranker
from agentic_rag.retrieval.rerank import Rerank
from agentic_rag.retrieval.retrieve import Retrieve
from agentic_rag.tenancy.principals import Principal, Role, WorkspaceRef
from agentic_rag.workspaces.settings import WorkspaceSettings
from agentic_rag.workspaces.workspace import WorkspaceKind

QUESTION = "Who founded the league in which Anton Berg played?"
TEXTS = {
    "Anton Berg": "Anton Berg was a striker who played for the Norrland Hockey League in the nineties.",
    "Norrland Hockey League": "The Norrland Hockey League was founded by Elsa Lind, a teacher from Umea.",
    "Baltic Chess Union": "The Baltic Chess Union was founded by Otto Falk after a long dispute about rules.",
    "Umea": "Umea is a town on the river, known for birches and for its university.",
    "Harbour fees": "Vessels below twelve metres pay thirty crowns a night.",
}


class Somebody:
    """Every workspace has a chat model, which nobody asks."""

    async def client_for(self, workspace: WorkspaceRef) -> Any:
        return SimpleNamespace(model="tests/scribe")


class Written:
    """Everybody is told the same passage."""

    def __init__(self, passage: str) -> None:
        self._passage = passage

    async def write(self, workspace: WorkspaceRef, question: str, deadline: Deadline) -> LlmResult[str]:
        return LlmResult(self._passage)


class Against:
    """A reranker that puts one document last."""

    name, depth = "against", 10

    def __init__(self, title: str) -> None:
        self._title = title

    async def scores(self, question: str, passages: Sequence[Passage]) -> Sequence[float]:
        return [float(one.chunk.document_title != self._title) for one in passages]


class World:
    """A workspace whose questions can be asked and explained."""

    def __init__(
        self, reranker: Reranker | None = None, written: str | None = None, seconds: float = DEADLINE_SECONDS
    ) -> None:
        self.store = MemoryStore(SystemClock())
        self.cache = MemoryAnswerCache(self.store.clock)
        self.database = MemoryDatabase(self.store, self.cache)
        self.runs = MemoryRunStore(self.store)
        self.workspace = WorkspaceRef(uuid4(), uuid4())
        self.asker = Principal(self.workspace.org_id, "ada", Role.MEMBER)
        self.telemetry = RecordingTelemetry()
        self.embedders = only(DeterministicEmbedder())
        rerank = None if reranker is None else Rerank(reranker, 5.0, self.telemetry)
        retrieve = Retrieve(self.telemetry, rerank=rerank)
        chat = None if written is None else ChatUse(Somebody(), frozenset(), Written(written))
        defaults = AnswerDefaults(
            top_k=3, reranker=None if reranker is None else reranker.name, use_hyde=written is not None
        )
        ids, clock = RandomIds(), self.store.clock
        ports = AnswerPorts(self.database, self.cache, self.runs, self.embedders, self.telemetry, clock, ids)
        self.recorder = RunRecorder(self.database, self.runs, self.cache, self.telemetry)
        self.answer = answer_question(ports, self.recorder, defaults, retrieve=retrieve, chat=chat)
        read_runs = ReadRuns(self.database, self.runs, clock, self.recorder)
        self.explain = ExplainRun(self.database, read_runs, self.embedders, retrieve, seconds)

    async def add(self, title: str, text: str) -> None:
        analysis = TextAnalysis(estimate_tokens, InlineCompute())
        document = ChunkedDocument(f"{title}.md", title, (text,))
        await IngestChunks(self.database, self.embedders, analysis).run(self.workspace, [document], "tests")

    async def ask(self, text: str = QUESTION, options: AnswerOptions | None = None) -> Run:
        run = await self.answer.ask(self.asker, Question(self.workspace, text, options=options or AnswerOptions()))
        await self.recorder.drain()
        return run

    async def chunk_id(self, title: str) -> UUID:
        async with self.database.snapshot(self.workspace) as snapshot:
            chunks = await snapshot.documents.chunks(range(50), (0,))
        return next(chunk.chunk_id for chunk in chunks if chunk.document_title == title)

    async def why_not(self, run: Run, title: str) -> WhyNot:
        found = await self.explain.run(self.asker, self.workspace, run.run_id, [await self.chunk_id(title)])
        assert len(found.why_not) == 1
        return found.why_not[0]


@asynccontextmanager
async def filled(made: World) -> AsyncIterator[World]:
    async with made.database.transaction(made.workspace.org_id) as transaction:
        await transaction.workspaces.create(
            made.workspace.workspace_id, "w", WorkspaceKind.GENERAL, None, WorkspaceSettings()
        )
    for title, text in TEXTS.items():
        await made.add(title, text)
    yield made
    await made.recorder.aclose()


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with filled(World()) as made:
        yield made


async def test_each_candidate_has_its_rank_its_arms_its_path_and_its_fate(world: World) -> None:
    run = await world.ask()

    explained = await world.explain.run(world.asker, world.workspace, run.run_id)

    first, second, third, *below = explained.candidates
    assert [story.trace.title for story in explained.candidates[:2]] == ["Anton Berg", "Norrland Hockey League"]
    assert [story.rank for story in explained.candidates] == [1, 2, 3, *range(4, 4 + len(below))]
    assert below
    assert {story.fate for story in below} == {CandidateFate.TOP_K}
    assert (first.fate, first.markers, first.reason) == (CandidateFate.CITED, (1,), "Cited as [1].")
    assert [hop.to_title for hop in second.trace.path] == ["Norrland Hockey League"]
    assert {arm.retriever for arm in second.trace.arms} == set(Retriever)
    assert (third.fate, third.markers) == (CandidateFate.UNUSED, ())
    assert explained.searches == (QUESTION,)
    assert explained.why_not == ()


async def test_a_passage_below_the_cut_has_its_rank_and_score_in_every_arm(world: World) -> None:
    told = await world.why_not(await world.ask(options=AnswerOptions(top_k=2)), "Baltic Chess Union")

    assert told.verdict is WhyNotVerdict.OUTRANKED
    standing = told.searches[0]
    assert standing.rank is not None
    assert standing.rank > standing.cutoff == 2
    assert standing.score is not None
    assert standing.score < standing.cutoff_score
    assert told.explanation.startswith(f"Rank {standing.rank} of {standing.candidates} with a score of ")
    arms = {arm.retriever: arm for arm in standing.arms}
    assert set(arms) == set(Retriever)
    assert all(arms[one].state is ArmState.PROPOSED for one in (Retriever.DENSE, Retriever.LEXICAL))
    assert arms[Retriever.LEXICAL].raw is not None


async def test_what_is_shown_at_ranks_nine_and_ten_is_explained_by_its_rank(world: World) -> None:
    for name in ("Aker", "Birk", "Dahl", "Eng", "Foss", "Gran", "Holm", "Ivar"):
        await world.add(f"{name} League", f"The {name} League was founded by {name} Lind, who played in it.")
    run = await world.ask(options=AnswerOptions(top_k=8))

    explained = await world.explain.run(world.asker, world.workspace, run.run_id)
    told = [await world.why_not(run, story.trace.title) for story in explained.candidates]

    assert [story.fate is CandidateFate.TOP_K for story in explained.candidates] == [False] * 8 + [True] * 2
    assert [one.verdict for one in told] == [WhyNotVerdict.CANDIDATE] * 8 + [WhyNotVerdict.OUTRANKED] * 2
    for one, story in zip(told[8:], explained.candidates[8:], strict=True):
        standing = one.searches[0]
        assert (standing.rank, standing.score, standing.cutoff) == (story.rank, story.trace.score, 8)
        assert standing.cutoff_score == explained.candidates[7].trace.score
        assert one.candidate == story
        assert one.explanation == (
            f"Rank {story.rank} of {standing.candidates} with a score of {story.trace.score:.3f}; "
            f"the last of the 8 that are handed on has {standing.cutoff_score:.3f}."
        )


async def test_a_passage_without_a_term_of_the_question_is_told_so(world: World) -> None:
    lexical_only = AnswerOptions(weights=FusionWeights(1.0, 0.0, 1.0))

    told = await world.why_not(await world.ask(options=lexical_only), "Harbour fees")

    assert told.verdict is WhyNotVerdict.NO_SHARED_TERM
    arms = {arm.retriever: arm.state for arm in told.searches[0].arms}
    assert arms[Retriever.LEXICAL] is ArmState.NOTHING_SHARED
    assert arms[Retriever.GRAPH] is ArmState.NOT_ASKED


async def test_a_passage_that_the_filter_left_out_is_told_so(world: World) -> None:
    narrow = AnswerOptions(filter=DocumentFilter(source_path_prefix="Anton"))

    told = await world.why_not(await world.ask(options=narrow), "Norrland Hockey League")

    assert (told.verdict, told.title, told.searches) == (WhyNotVerdict.FILTERED, "Norrland Hockey League", ())


async def test_a_passage_that_came_later_was_not_visible_to_the_run(world: World) -> None:
    run = await world.ask()
    await world.add("Otto Falk", "Otto Falk founded the league in which Anton Berg played.")

    told = await world.why_not(run, "Otto Falk")

    version = run.versions.corpus_version
    assert told.verdict is WhyNotVerdict.NOT_VISIBLE
    assert f"version {version}, which the run read: it came with version {version + 1}" in told.explanation


async def test_a_passage_that_went_since_is_explained_as_the_run_saw_it(world: World) -> None:
    run = await world.ask(options=AnswerOptions(top_k=2))
    chunk_id = await world.chunk_id("Baltic Chess Union")
    before = await world.why_not(run, "Baltic Chess Union")
    await world.add("Baltic Chess Union", "The union was dissolved.")

    after = await world.explain.run(world.asker, world.workspace, run.run_id, [chunk_id])

    assert after.why_not == (before,)


async def test_a_candidate_asked_about_tells_its_own_story(world: World) -> None:
    told = await world.why_not(await world.ask(), "Anton Berg")

    assert told.verdict is WhyNotVerdict.CANDIDATE
    assert told.candidate is not None
    assert told.explanation == "It is a candidate, at rank 1. Cited as [1]."


async def test_an_unknown_an_erased_and_a_foreign_passage_look_the_same(world: World) -> None:
    run = await world.ask(options=AnswerOptions(top_k=2))
    gone = await world.chunk_id("Harbour fees")
    foreign = WorkspaceRef(world.workspace.org_id, uuid4())
    async with world.database.transaction(foreign.org_id) as transaction:
        await transaction.workspaces.create(foreign.workspace_id, "x", WorkspaceKind.GENERAL, None, WorkspaceSettings())
    ours, world.workspace = world.workspace, foreign
    await world.add("Secret", "Elsa Lind founded the league in which Anton Berg played.")
    secret = await world.chunk_id("Secret")
    world.workspace = ours
    erase = DeleteDocument(world.database, world.cache, MemoryBlobStore(), world.telemetry)
    await erase.run(ours, document_id_for(ours, "Harbour fees.md"))

    asked = [UUID(int=1), gone, secret]
    told = (await world.explain.run(world.asker, ours, run.run_id, asked)).why_not

    assert [one.chunk_id for one in told] == asked
    assert {replace(one, chunk_id=UUID(int=0)) for one in told} == {
        WhyNot(UUID(int=0), "", WhyNotVerdict.NOT_FOUND, "There is no such passage in this workspace.")
    }


async def test_a_run_that_looked_for_nothing_says_so(world: World) -> None:
    told = await world.why_not(await world.ask("What is 2 + 2?"), "Anton Berg")

    assert told.verdict is WhyNotVerdict.NOT_SEARCHED


async def test_each_part_of_a_divided_question_and_the_whole_is_looked_at(world: World) -> None:
    question = "Who founded the Baltic Chess Union and who founded the Norrland Hockey League?"
    run = await world.ask(question, AnswerOptions(top_k=1))

    told = await world.why_not(run, "Harbour fees")

    assert len(told.searches) == 3
    assert told.searches[-1].search == question


async def test_an_unknown_run_is_refused(world: World) -> None:
    with pytest.raises(NotFound) as refused:
        await world.explain.run(world.asker, world.workspace, uuid4())

    assert refused.value.code == "RUN_NOT_FOUND"


async def test_a_version_past_its_retention_is_refused_with_what_to_do(world: World) -> None:
    run = await world.ask(options=AnswerOptions(top_k=2))
    late = replace(run, run_id=uuid4(), versions=replace(run.versions, corpus_version=99))
    await world.runs.record([late])

    with pytest.raises(InvalidInput) as refused:
        await world.why_not(late, "Harbour fees")

    assert refused.value.code == "RUN_VERSION_GONE"
    assert "Ask the question again" in refused.value.message
    assert (await world.explain.run(world.asker, world.workspace, late.run_id)).candidates


async def test_a_space_that_was_dropped_is_refused_with_what_to_do(world: World) -> None:
    run = await world.ask(options=AnswerOptions(top_k=2))
    moved = replace(run, run_id=uuid4(), versions=replace(run.versions, space="openai/gone/8/half"))
    await world.runs.record([moved])

    with pytest.raises(InvalidInput) as refused:
        await world.why_not(moved, "Harbour fees")

    assert refused.value.code == "RUN_SPACE_GONE"


async def test_too_many_passages_at_once_are_refused(world: World) -> None:
    run = await world.ask()

    with pytest.raises(InvalidInput) as refused:
        await world.explain.run(world.asker, world.workspace, run.run_id, [uuid4() for _ in range(11)])

    assert refused.value.code == "TOO_MANY_CHUNKS"


async def test_a_reranker_that_moved_a_passage_below_the_cut_is_named() -> None:
    async with filled(World(reranker=Against("Norrland Hockey League"))) as world:
        run = await world.ask(options=AnswerOptions(top_k=2))

        told = await world.why_not(run, "Norrland Hockey League")
        other = await world.why_not(run, "Baltic Chess Union")

    assert told.verdict is WhyNotVerdict.RERANKED
    [standing] = told.searches
    assert standing.rank is not None
    assert standing.reranked is not None
    assert standing.rank <= standing.cutoff < standing.reranked
    assert "the reranker put others before it" in told.explanation
    assert other.verdict is WhyNotVerdict.CANDIDATE


async def test_a_hypothetical_passage_that_brought_others_before_it_is_named() -> None:
    by_words = AnswerOptions(top_k=2, weights=FusionWeights(1.0, 0.0, 0.0))
    async with filled(World(written=TEXTS["Harbour fees"])) as world:
        run = await world.ask(options=by_words)
        alone = await world.ask(options=replace(by_words, use_hyde=False))
        lost = [one.trace.title for one in await candidates(world, alone, 2)]
        kept = {one.trace.title for one in await candidates(world, run, 2)}
        [moved] = [title for title in lost if title not in kept]

        told = await world.why_not(run, moved)
        without = await world.why_not(alone, moved)

    assert told.verdict is WhyNotVerdict.HYDE
    assert "by the question alone" in told.explanation
    assert without.verdict is WhyNotVerdict.CANDIDATE


async def test_what_cannot_be_judged_in_time_is_late_and_the_rest_is_told() -> None:
    async with filled(World(seconds=0.0)) as world:
        run = await world.ask(options=AnswerOptions(top_k=2, weights=FusionWeights(1.0, 0.0, 1.0)))
        ids = [await world.chunk_id("Harbour fees"), await world.chunk_id("Anton Berg")]

        explained = await world.explain.run(world.asker, world.workspace, run.run_id, ids)

    assert [one.verdict for one in explained.why_not] == [WhyNotVerdict.LATE, WhyNotVerdict.CANDIDATE]
    assert explained.candidates


async def candidates(world: World, run: Run, first: int) -> Sequence[CandidateExplanation]:
    """The candidates that were handed on."""
    return (await world.explain.run(world.asker, world.workspace, run.run_id)).candidates[:first]
