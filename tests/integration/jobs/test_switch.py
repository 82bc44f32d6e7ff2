"""Switching the embedding model of a workspace: no pause, no mixture, nothing paid twice."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from tests.integration.jobs.data_plane import QUICK, WIDE, DataPlane, paragraphs, until

from agentic_rag.adapters.postgres.answering.cache_entries import PostgresAnswerCache
from agentic_rag.adapters.postgres.answering.runs import PostgresRunStore
from agentic_rag.answering.answer import Outcome
from agentic_rag.answering.ask import AnswerPorts, AnswerQuestion
from agentic_rag.answering.build import answer_question
from agentic_rag.answering.options import AnswerDefaults
from agentic_rag.answering.question import AnswerOptions, CacheMode, Question
from agentic_rag.answering.run import Run
from agentic_rag.answering.runs.record import RunRecorder
from agentic_rag.documents.document import DocumentStatus
from agentic_rag.jobs.job import JobKind, JobRef, JobState
from agentic_rag.kernel.database import CorpusSnapshot
from agentic_rag.kernel.errors import InvalidInput, NotFound, Retryable
from agentic_rag.models.embedding.recall_gate import RecallGate, RecallQuestion
from agentic_rag.models.embedding.space import SpaceRecord, SpaceState
from agentic_rag.retrieval.query import RetrievalQuery
from agentic_rag.retrieval.retrieve import RetrievalResult, Retrieve
from agentic_rag.tenancy.principals import Principal, Role

pytestmark = [pytest.mark.integration, pytest.mark.network]

TO_WIDE = "openai:wide:16"
QUESTION = "Which pump does the harbour section lift water with?"


async def spaces(plane: DataPlane) -> dict[str, SpaceRecord]:
    return {one.registered.space.provider: one for one in await plane.switch.spaces(plane.workspace)}


async def answers_in(plane: DataPlane) -> str | None:
    head = await plane.database.head(plane.workspace)
    assert head is not None
    return head.space.provider if head.space else None


async def switch(plane: DataPlane, to: str = TO_WIDE, gate: RecallGate | None = None) -> JobRef:
    begun = await plane.switch.begin(plane.workspace, to, gate)
    assert begun.job is not None
    return begun.job


async def job_state(plane: DataPlane, ref: JobRef) -> JobState:
    async with plane.database.transaction(ref.workspace.org_id) as transaction:
        job = await transaction.jobs.get(ref.workspace, ref.job_id)
    assert job is not None
    return job.state


async def ends(plane: DataPlane, ref: JobRef) -> JobState:
    async def ended() -> bool:
        return await job_state(plane, ref) in (JobState.DONE, JobState.DEAD)

    await until(ended, "the switch ends")
    return await job_state(plane, ref)


async def vectors(plane: DataPlane) -> dict[int, set[int]]:
    """Ordinals by space."""
    async with plane.pool.transaction(plane.workspace.org_id) as connection:
        rows = await connection.fetch(
            "SELECT space_id, ordinal FROM rag_embeddings WHERE workspace_id = $1", plane.workspace.workspace_id
        )
    found: dict[int, set[int]] = {}
    for row in rows:
        found.setdefault(row["space_id"], set()).add(row["ordinal"])
    return found


@pytest.fixture
async def corpus(plane: DataPlane, folder: Path) -> DataPlane:
    """Three documents, one of them with an older revision."""
    (folder / "a.md").write_text(paragraphs("harbour", "island"))
    (folder / "b.md").write_text(paragraphs("marsh", "cliff"))
    await plane.ingest_folder(folder)
    (folder / "b.md").write_text(paragraphs("marsh", "beach"))
    await plane.ingest_folder(folder)
    return plane


async def test_a_worker_fills_the_space_with_its_history_and_switches(corpus: DataPlane) -> None:
    before = await corpus.database.corpus_version(corpus.workspace)
    async with corpus.worker():
        assert await ends(corpus, await switch(corpus)) is JobState.DONE

    held = await vectors(corpus)
    known = await spaces(corpus)
    assert held[1] == held[2]
    assert len(corpus.wide.paid) == len(held[2])
    assert known["openai"].state is SpaceState.ACTIVE
    assert known["deterministic"].state is SpaceState.RETIRED
    assert await corpus.database.corpus_version(corpus.workspace) == (before or 0) + 1


async def test_documents_published_while_the_space_is_filled_are_in_it_at_the_switch(
    corpus: DataPlane, folder: Path
) -> None:
    gate = asyncio.Event()
    held_up = asyncio.Event()

    def wait_once(_: Sequence[str]) -> object:
        held_up.set()
        return asyncio.ensure_future(gate.wait())

    corpus.wide.before = wait_once
    (folder / "late.md").write_text(paragraphs("late", "harvest"))
    async with corpus.worker():
        ref = await switch(corpus)
        await held_up.wait()
        await corpus.sync(folder)

        async def is_ready() -> bool:
            document = await corpus.document("late.md")
            return document is not None and document.status is DocumentStatus.READY

        await until(is_ready, "a document is published during the switch")
        assert await answers_in(corpus) == "deterministic"
        gate.set()
        assert await ends(corpus, ref) is JobState.DONE

    held = await vectors(corpus)
    assert held[1] == held[2]


async def test_an_ingestion_that_a_switch_overtakes_is_published_in_the_new_space(
    corpus: DataPlane, folder: Path
) -> None:
    (folder / "overtaken.md").write_text(paragraphs("overtaken"))
    async with corpus.worker():
        hold = corpus.hold_embedder()
        await corpus.sync(folder)
        await hold.reached.wait()
        assert await ends(corpus, await switch(corpus)) is JobState.DONE
        hold.go_on.set()

        async def is_ready() -> bool:
            document = await corpus.document("overtaken.md")
            return document is not None and document.status is DocumentStatus.READY

        await until(is_ready, "the overtaken document is published")

    held = await vectors(corpus)
    [job, *_] = [one for one in await corpus.jobs(JobKind.INGEST) if one.state is JobState.DONE]
    assert held[2] > held[1]
    assert job.attempts == 1


async def test_new_documents_use_the_workspaces_space_and_not_the_process_default(
    corpus: DataPlane, folder: Path
) -> None:
    async with corpus.worker():
        await ends(corpus, await switch(corpus))
    paid = len(corpus.embedder.paid)
    (folder / "new.md").write_text(paragraphs("new"))
    await corpus.ingest_folder(folder)

    assert len(corpus.embedder.paid) == paid
    document = await corpus.document("new.md")
    assert document is not None
    assert document.status is DocumentStatus.READY


async def test_a_failing_provider_costs_one_batch_and_the_rest_is_never_paid_again(corpus: DataPlane) -> None:
    calls = 0

    def fail_third(_: Sequence[str]) -> object:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise Retryable("The provider is busy.")
        return None

    corpus.wide.before = fail_third
    async with corpus.worker():
        assert await ends(corpus, await switch(corpus)) is JobState.DONE

    assert len(corpus.wide.paid) == len((await vectors(corpus))[2])


async def test_a_worker_that_loses_its_lease_writes_nothing_more_and_its_batch_alone_is_paid_again(
    corpus: DataPlane,
) -> None:
    hung = asyncio.Event()
    calls = 0

    def hang_second(_: Sequence[str]) -> object:
        nonlocal calls
        calls += 1
        if calls == 2:
            hung.set()
            return asyncio.ensure_future(asyncio.Event().wait())
        return None

    corpus.wide.before = hang_second
    async with corpus.worker(timings=QUICK, stall_seconds=0.5):
        ref = await switch(corpus)
        await hung.wait()
        assert await ends(corpus, ref) is JobState.DONE

    held = await vectors(corpus)
    assert held[1] == held[2]
    assert len(corpus.wide.paid) == len(held[2])


async def test_a_gate_whose_recall_falls_refuses_and_nothing_changes(corpus: DataPlane) -> None:
    corpus.wide.misled = True
    questions = tuple(
        RecallQuestion(f"{word} pump water", (path,))
        # Two are spelled so that only a vector can tell where they belong.
        for word, path in (("harbour", "a.md"), ("island", "a.md"), ("marshh", "b.md"), ("beachh", "b.md"))
    )
    before = await corpus.database.head(corpus.workspace)
    async with corpus.worker():
        ref = await switch(corpus, gate=RecallGate(questions, k=1, tolerance=0.0))
        ended = await ends(corpus, ref)

    async with corpus.database.transaction(corpus.workspace.org_id) as transaction:
        job = await transaction.jobs.get(corpus.workspace, ref.job_id)
    refused = (await spaces(corpus))["openai"]
    assert job is not None
    assert refused.verdict is not None
    assert (ended, job.error_code, job.attempts) == (JobState.DEAD, "SWITCH_GATE_REFUSED", 1)
    assert f"{refused.verdict.before:.4f} to {refused.verdict.after:.4f}" in (job.error_message or "")
    assert refused.verdict.before == 1.0 > refused.verdict.after
    assert refused.state is SpaceState.ABANDONED
    assert await corpus.database.head(corpus.workspace) == before


@pytest.mark.tells("rag_space_switched", "job_id")
@pytest.mark.tells("rag_switch_judged", "job_id")
async def test_a_gate_that_holds_lets_the_switch_pass(corpus: DataPlane) -> None:
    gate = RecallGate((RecallQuestion("the harbour pump", ("a.md",)),), k=2)
    async with corpus.worker():
        assert await ends(corpus, await switch(corpus, gate=gate)) is JobState.DONE

    switched = (await spaces(corpus))["openai"]
    assert switched.state is SpaceState.ACTIVE
    assert switched.verdict is not None
    assert switched.verdict.passed


async def test_a_switch_that_is_called_off_leaves_the_workspace_as_it_was(corpus: DataPlane) -> None:
    reached = asyncio.Event()
    go_on = asyncio.Event()

    def wait(_: Sequence[str]) -> object:
        reached.set()
        return asyncio.ensure_future(go_on.wait())

    corpus.wide.before = wait
    async with corpus.worker():
        ref = await switch(corpus)
        await reached.wait()
        called_off = await corpus.switch.cancel(corpus.workspace)
        go_on.set()
        assert await ends(corpus, ref) is JobState.DONE

    assert called_off.state is SpaceState.ABANDONED
    assert await answers_in(corpus) == "deterministic"
    with pytest.raises(NotFound):
        await corpus.switch.cancel(corpus.workspace)


async def test_switching_back_inside_the_grace_period_is_instant(corpus: DataPlane) -> None:
    async with corpus.worker():
        await ends(corpus, await switch(corpus))
    paid = len(corpus.embedder.paid)

    begun = await corpus.switch.begin(corpus.workspace, "deterministic", None)

    assert begun.job is None
    assert await answers_in(corpus) == "deterministic"
    assert len(corpus.embedder.paid) == paid


async def test_a_retired_space_is_dropped_after_its_grace_by_upkeep(corpus: DataPlane) -> None:
    corpus.grace = timedelta(0)
    del corpus.switch
    async with corpus.worker(timings=replace(QUICK, upkeep=0.1)):
        await ends(corpus, await switch(corpus))

        async def is_dropped() -> bool:
            return set(await spaces(corpus)) == {"openai"}

        await until(is_dropped, "the old space is dropped")

    assert set(await vectors(corpus)) == {2}


async def test_a_space_that_nobody_can_embed_in_is_refused_before_anything_is_written(outbox: DataPlane) -> None:
    with pytest.raises(InvalidInput):
        await outbox.switch.begin(outbox.workspace, "openai:unheard-of", None)

    assert await outbox.switch.spaces(outbox.workspace) == []


async def test_the_first_space_of_a_workspace_answers_at_once(outbox: DataPlane) -> None:
    begun = await outbox.switch.begin(outbox.workspace, TO_WIDE, None)

    assert (begun.job, begun.record.state) == (None, SpaceState.ACTIVE)


class WatchedRetrieve(Retrieve):
    """Remembers which spaces the question and the snapshot of each search were in."""

    def __init__(self, plane: DataPlane) -> None:
        super().__init__(plane.telemetry)
        self.seen: list[tuple[str, str]] = []

    async def run(self, snapshot: CorpusSnapshot, query: RetrievalQuery) -> RetrievalResult:
        assert query.vector is not None
        assert snapshot.space is not None
        self.seen.append((query.vector.space.name, snapshot.space.space.name))
        return await super().run(snapshot, query)


def asking(plane: DataPlane, retrieve: Retrieve) -> tuple[AnswerQuestion, RunRecorder]:
    cache, runs = PostgresAnswerCache(plane.pool), PostgresRunStore(plane.pool)
    recorder = RunRecorder(plane.database, runs, cache, plane.telemetry)
    ports = AnswerPorts(plane.database, cache, runs, plane.embedders, plane.telemetry, plane.clock, plane.ids)
    return answer_question(ports, recorder, AnswerDefaults(), retrieve=retrieve), recorder


async def test_every_answer_during_the_switch_comes_from_one_space_and_none_fails(corpus: DataPlane) -> None:
    retrieve = WatchedRetrieve(corpus)
    answer, recorder = asking(corpus, retrieve)
    principal = Principal(corpus.workspace.org_id, "ada", Role.MEMBER)
    runs: list[Run] = []
    stop = asyncio.Event()

    async def ask_on() -> None:
        while not stop.is_set():
            question = Question(corpus.workspace, QUESTION, options=AnswerOptions(cache=CacheMode.BYPASS))
            runs.append(await answer.ask(principal, question))

    async with corpus.worker():
        askers = [asyncio.create_task(ask_on()) for _ in range(3)]
        for to in (TO_WIDE, "deterministic", TO_WIDE, "deterministic"):
            begun = await corpus.switch.begin(corpus.workspace, to, None)
            if begun.job is not None:
                await ends(corpus, begun.job)
            asked = len(runs)
            await until(lambda asked=asked: len(runs) > asked + 6, "questions are answered after the switch")
        stop.set()
        await asyncio.gather(*askers)
    await recorder.aclose()

    assert {asked == read for asked, read in retrieve.seen} == {True}
    assert {read for _, read in retrieve.seen} == {WIDE.name, corpus.embedder.space.name}
    assert {run.answer.outcome for run in runs} <= {Outcome.GROUNDED, Outcome.PARTIALLY_GROUNDED}
    assert {run.answer.degraded for run in runs} == {()}


async def test_a_question_embedded_before_the_switch_and_read_after_it_is_embedded_again(corpus: DataPlane) -> None:
    retrieve = WatchedRetrieve(corpus)
    answer, recorder = asking(corpus, retrieve)
    async with corpus.worker():
        await ends(corpus, await switch(corpus))
    await corpus.switch.begin(corpus.workspace, "deterministic", None)
    hold = corpus.hold_embedder()
    principal = Principal(corpus.workspace.org_id, "ada", Role.MEMBER)
    asked = asyncio.create_task(answer.ask(principal, Question(corpus.workspace, QUESTION)))
    await hold.reached.wait()
    await corpus.switch.begin(corpus.workspace, TO_WIDE, None)
    hold.go_on.set()
    run = await asked
    await recorder.aclose()

    assert retrieve.seen == [(WIDE.name, WIDE.name)]
    assert run.versions.space == WIDE.name
    assert run.versions.corpus_version == await corpus.database.corpus_version(corpus.workspace)
