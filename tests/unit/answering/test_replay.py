"""Runs asked again: the first stage that differs is named, and the options are those of the run."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from dataclasses import replace
from types import SimpleNamespace
from uuid import uuid4

import pytest
from tests.unit.answering.planted_differences import KINDS, planted
from tests.unit.answering.test_explain import World, filled
from tests.unit.cli.product import answered

from agentic_rag.answering.answer import Outcome
from agentic_rag.answering.question import AnswerOptions, CacheMode
from agentic_rag.answering.run import CacheOutcome
from agentic_rag.answering.runs.difference import compare_answers, find_differences, sentences_of
from agentic_rag.answering.runs.read import ReadRuns
from agentic_rag.answering.runs.redaction import redact_document
from agentic_rag.answering.runs.replay import ReplayRun, RunRef, options_of
from agentic_rag.documents.document import DocumentFilter
from agentic_rag.kernel.errors import InvalidInput, NotFound
from agentic_rag.tenancy.principals import Principal, Role, WorkspaceRef


@pytest.mark.parametrize("kind", KINDS)
def test_the_first_stage_that_differs_is_named(kind: str) -> None:
    for seed in range(25):
        before = answered()
        stage, after = planted(before, kind, random.Random(seed))

        found = find_differences(before, after)

        assert found[0].stage is stage, (kind, seed, found)
        assert found[0].before != found[0].after


def test_equal_runs_differ_nowhere_however_long_they_took_and_wherever_they_came_from() -> None:
    before = answered()
    after = replace(before, seconds=99.0, cache=CacheOutcome.HIT, stages=(), trace_id="x")

    assert find_differences(before, after) == ()


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with filled(World()) as made:
        yield made


def replayer(world: World) -> ReplayRun:
    runs = ReadRuns(world.database, world.runs, world.store.clock, world.recorder)
    return ReplayRun(world.database, runs, world.answer)


async def test_a_run_that_is_asked_again_at_its_version_is_the_same_after_others_published(world: World) -> None:
    run = await world.ask(options=AnswerOptions(top_k=2))
    await world.add("Otto Falk", "Otto Falk founded the league in which Anton Berg played.")

    same = await replayer(world).replay(world.asker, world.workspace, run.run_id)
    newest = await replayer(world).replay(world.asker, world.workspace, run.run_id, newest=True)

    assert same.differences == ()
    assert same.after.run_id != run.run_id
    assert same.after.cache is CacheOutcome.BYPASS
    assert newest.differences[0].stage.value == "retrieve"
    assert any("Otto Falk" in sentence for sentence in newest.answer.added)


async def test_a_run_is_asked_again_with_its_own_options(world: World) -> None:
    options = AnswerOptions(top_k=2, per_document=1, diversity=0.4, filter=DocumentFilter(source_path_prefix="A"))
    run = await world.ask(options=options)

    again = options_of(run)

    assert (again.top_k, again.per_document, again.diversity, again.filter) == (2, 1, 0.4, options.filter)
    assert (again.use_hyde, again.cache) == (False, CacheMode.BYPASS)
    assert (await replayer(world).replay(world.asker, world.workspace, run.run_id)).differences == ()


async def test_runs_of_others_and_runs_without_their_words_are_refused(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agentic_rag.answering.runs.read._FRESH_SECONDS", 0.1)
    run = await world.ask()
    eve = Principal(world.workspace.org_id, "eve", Role.MEMBER)
    with pytest.raises(NotFound):
        await replayer(world).replay(eve, world.workspace, run.run_id)
    mine, elsewhere = (
        RunRef(world.workspace, run.run_id),
        RunRef(WorkspaceRef(world.workspace.org_id, uuid4()), uuid4()),
    )
    for pair in ((mine, mine), (mine, elsewhere), (elsewhere, mine)):
        with pytest.raises(NotFound):
            await replayer(world).diff(eve, *pair)
    with pytest.raises(NotFound):
        await replayer(world).diff(world.asker, mine, elsewhere)

    redacted = replace(run, answer=redact_document(run.answer, run.answer.citations[0].document_id))

    async def get(*_: object) -> object:
        return redacted

    gone = ReplayRun(world.database, SimpleNamespace(get=get), world.answer)  # pyright: ignore[reportArgumentType]
    with pytest.raises(InvalidInput, match="erased") as refused:
        await gone.replay(world.asker, world.workspace, run.run_id)
    assert refused.value.code == "RUN_NOT_COMPARABLE"


async def test_sentences_and_citations_that_came_and_went_are_told(world: World) -> None:
    run = await world.ask()
    other = replace(run.answer, text="No idea.", citations=(), outcome=Outcome.ABSTAINED)

    found = compare_answers(run.answer, other)

    assert found.kept == ()
    assert found.removed == sentences_of(run.answer)
    assert found.added == ("No idea.",)
    assert found.citations_removed == run.answer.citations
