"""A read whose session ended is repeated once; a server that is away is not waited for twice."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.unit.answering.answering_world import Clock, World
from tests.unit.answering.corpus import Corpus

from agentic_rag.answering.answer import Outcome
from agentic_rag.answering.stages import stall_watch
from agentic_rag.kernel.dependency import Dependency
from agentic_rag.kernel.errors import DependencyUnavailable, SnapshotOutdated


class SessionEnded(Exception):
    """What a driver says of a connection that the server closed."""


class Interrupted(Corpus):
    """Its first reads fail."""

    failures = 1
    cause: BaseException = SessionEnded("connection is closed")
    tried = 0

    @asynccontextmanager
    async def snapshot(self, *arguments: Any, **named: Any) -> AsyncGenerator[Any]:
        self.tried += 1
        if self.tried <= self.failures:
            raise DependencyUnavailable("Postgres does not answer.", dependency="postgres") from self.cause
        async with super().snapshot(*arguments, **named) as snapshot:
            yield snapshot


class Remembering(Corpus):
    """What a process remembers of it is stale, which the first read of a deferred snapshot finds out."""

    @asynccontextmanager
    async def snapshot(self, *arguments: Any, may_defer: bool = False, **named: Any) -> AsyncGenerator[Any]:
        self.calls.note("deferred" if may_defer else "begun")
        async with super().snapshot(*arguments, **named) as snapshot:
            if may_defer:
                snapshot.documents.chunks = self._refuse
            yield snapshot

    async def _refuse(self, *_: Any, **__: Any) -> Any:
        raise SnapshotOutdated("The corpus changed.")


class SlowClock(Clock):
    """What a process sees that was stopped for `late` seconds."""

    late = 0.0

    def monotonic(self) -> float:
        return super().monotonic() + self.late


class Stalling(Corpus):
    """The process is stopped during each of its first reads."""

    stalls = 1
    stalls_at_head = 0.0
    """Seconds, before a run begins."""
    tried = 0

    def __init__(self, clock: SlowClock) -> None:
        super().__init__()
        self.clock = clock

    async def head(self, *arguments: Any, **named: Any) -> Any:
        self.clock.late, self.stalls_at_head = self.clock.late + self.stalls_at_head, 0.0
        return await super().head(*arguments, **named)

    @asynccontextmanager
    async def snapshot(self, *arguments: Any, **named: Any) -> AsyncGenerator[Any]:
        self.tried += 1
        async with super().snapshot(*arguments, **named) as snapshot:
            if self.tried <= self.stalls:
                self.clock.late += 20.0
            yield snapshot


class SlowHead(Corpus):
    """Its head takes 8 s, in which the process goes on."""

    tried = 0

    def __init__(self, clock: SlowClock) -> None:
        super().__init__()
        self.clock = clock

    async def head(self, *arguments: Any, **named: Any) -> Any:
        for _ in range(8):
            self.clock.late += 1.0
            # The watch looks at each turn of the loop.
            await asyncio.sleep(0)
            await asyncio.sleep(0)
        return await super().head(*arguments, **named)

    @asynccontextmanager
    async def snapshot(self, *arguments: Any, **named: Any) -> AsyncGenerator[Any]:
        self.tried += 1
        async with super().snapshot(*arguments, **named) as snapshot:
            yield snapshot


def interrupted(failures: int, cause: BaseException) -> Interrupted:
    corpus = Interrupted()
    corpus.failures, corpus.cause = failures, cause
    corpus.add("handbook.md", "Staff handbook", "Employees receive 28 days of annual leave.")
    return corpus


@pytest.mark.tells("rag_read_repeated", "run_id")
async def test_a_read_whose_session_ended_is_repeated_once_on_a_new_snapshot() -> None:
    world = World(interrupted(1, SessionEnded("connection is closed")))

    run = await world.ask("How many days of annual leave do employees receive?")

    assert "28 days" in run.answer.text
    await world.recorder.aclose()


@pytest.mark.parametrize(
    ("failures", "cause", "tried"), [(5, SessionEnded("connection is closed"), 2), (5, ConnectionRefusedError(), 1)]
)
async def test_a_server_that_is_away_is_told_without_more_tries(
    failures: int, cause: BaseException, tried: int
) -> None:
    corpus = interrupted(failures, cause)
    world = World(corpus)

    with pytest.raises(DependencyUnavailable):
        await world.ask("How many days of annual leave do employees receive?")

    assert corpus.tried == tried
    await world.recorder.aclose()


async def test_a_session_that_ends_while_an_organisations_models_are_looked_up_is_no_fault_of_the_embedder() -> None:
    corpus = interrupted(0, SessionEnded("connection is closed"))
    world = World(corpus)
    embed, away = world.embedder.embed, DependencyUnavailable("Postgres does not answer.", dependency="postgres")

    async def embed_later(texts: Sequence[str]) -> NDArray[np.float32]:
        world.embedder.embed = embed
        raise away from corpus.cause

    world.embedder.embed = embed_later

    run = await world.ask("How many days of annual leave do employees receive?")

    assert ("28 days" in run.answer.text, run.answer.degraded) == (True, ())
    await world.recorder.aclose()


@pytest.mark.parametrize(("stalls", "outcome"), [(1, Outcome.GROUNDED), (2, Outcome.ABSTAINED)])
async def test_a_run_in_which_the_process_was_stopped_walks_once_more_in_a_time_of_its_own(
    stalls: int, outcome: Outcome
) -> None:
    corpus = Stalling(clock := SlowClock())
    corpus.stalls = stalls
    corpus.add("handbook.md", "Staff handbook", "Employees receive 28 days of annual leave.")
    world = World(corpus, clock=clock)

    run = await world.ask("How many days of annual leave do employees receive?")

    assert (run.answer.outcome, run.answer.degraded, corpus.tried) == (outcome, (), 2)
    assert ("28 days" in run.answer.text, bool(run.answer.text)) == (stalls == 1, stalls == 1)
    await world.recorder.aclose()


async def test_a_question_whose_process_was_stopped_before_its_run_has_time_all_the_same() -> None:
    corpus = Stalling(clock := SlowClock())
    corpus.stalls, corpus.stalls_at_head = 0, 20.0
    corpus.add("handbook.md", "Staff handbook", "Employees receive 28 days of annual leave.")
    world = World(corpus, clock=clock)

    run = await world.ask("How many days of annual leave do employees receive?")

    assert ("28 days" in run.answer.text, run.answer.degraded) == (True, ())
    await world.recorder.aclose()


async def test_a_slow_database_before_a_run_is_no_stopped_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that is away is not asked twice for it."""
    monkeypatch.setattr(stall_watch, "TICK_SECONDS", 0.0)
    corpus = SlowHead(clock := SlowClock())
    corpus.add("handbook.md", "Staff handbook", "Employees receive 28 days of annual leave.")
    world = World(corpus, clock=clock)
    asked = 0

    async def embed(texts: Sequence[str]) -> NDArray[np.float32]:
        nonlocal asked
        asked += 1
        raise DependencyUnavailable("The provider is away.", dependency="embedder")

    world.embedder.embed = embed

    run = await world.ask("How many days of annual leave do employees receive?")

    assert (asked, corpus.tried, run.answer.degraded) == (1, 1, (Dependency.EMBEDDER,))
    await world.recorder.aclose()


async def test_a_question_whose_deferred_snapshot_is_outdated_is_searched_for_again_in_one_that_is_not() -> None:
    corpus = Remembering()
    corpus.add("handbook.md", "Staff handbook", "Employees receive 28 days of annual leave.")
    world = World(corpus)

    run = await world.ask("How many days of annual leave do employees receive?")

    assert "28 days" in run.answer.text
    assert (corpus.calls.names.count("deferred"), corpus.calls.names.count("begun"), corpus.opened) == (1, 1, 0)
    await world.recorder.aclose()
