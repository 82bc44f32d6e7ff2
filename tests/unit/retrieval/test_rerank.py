"""A reranker orders what a search found; one that fails leaves it as it was."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest
from tests.unit.answering.answering_world import PRINCIPAL, Clock, Embedder, Ids, Runs, Telemetry
from tests.unit.answering.answering_world import Cache as AnswerCache
from tests.unit.answering.corpus import WORKSPACE, Corpus

from agentic_rag.answering.answer import Answer
from agentic_rag.answering.ask import AnswerPorts
from agentic_rag.answering.build import answer_question
from agentic_rag.answering.options import AnswerDefaults
from agentic_rag.answering.question import AnswerOptions, Question
from agentic_rag.answering.runs.record import RunRecorder
from agentic_rag.kernel.dependency import Dependency
from agentic_rag.kernel.errors import DependencyUnavailable
from agentic_rag.models.providers.embedder_registry import only
from agentic_rag.retrieval.candidates import Passage
from agentic_rag.retrieval.rerank import Rerank
from agentic_rag.retrieval.retrieve import Retrieve
from agentic_rag.workspaces.settings import RagConfig

QUESTION = "Who founded the Norrland Hockey League?"
Judge = Callable[[str, Sequence[Passage]], Awaitable[Sequence[float]]]


class Judging:
    """A reranker made of one function."""

    name = "tests"

    def __init__(self, judge: Judge, depth: int = 10) -> None:
        self.depth = depth
        self._judge = judge

    async def scores(self, question: str, passages: Sequence[Passage]) -> Sequence[float]:
        return await self._judge(question, passages)


def corpus() -> Corpus:
    made = Corpus()
    made.add_short(
        ("league.md", "Norrland Hockey League", "The Norrland Hockey League was founded by Elsa Lind of Umea."),
        ("chess.md", "Norrland Chess League", "The Norrland Chess League was founded by Otto Falk."),
        ("umea.md", "Umea", "Umea is a town on the river in Norrland, known for its birches."),
    )
    return made


async def answered(
    judge: Judge | None,
    *,
    depth: int = 10,
    top_k: int = 8,
    seconds: float = 5.0,
    wished: Judge | None = None,
    config: RagConfig | None = None,
) -> Answer:
    """`wished` judges where the workspace wishes so."""
    telemetry = Telemetry()
    database: Any = corpus()
    database.rag_config = config
    runs, cache = Runs(), AnswerCache()
    recorder = RunRecorder(database, runs, cache, telemetry)
    ports = AnswerPorts(database, cache, runs, only(Embedder()), telemetry, Clock(), Ids())
    rerank = None if judge is None else Rerank(Judging(judge, depth), seconds, telemetry)
    other = None if wished is None else Rerank(Judging(wished), seconds, telemetry)
    defaults = AnswerDefaults(
        reranker=None if judge is None else "tests", wished_reranker=None if wished is None else "tests"
    )
    answer = answer_question(ports, recorder, defaults, retrieve=Retrieve(telemetry, rerank=rerank, wished=other))
    run = await answer.ask(PRINCIPAL, Question(WORKSPACE, QUESTION, options=AnswerOptions(top_k=top_k)))
    await recorder.aclose()
    if run.answer.degraded:
        assert telemetry.events.count("rag_reranker_failed") == 1
        assert cache.values == {}
    return run.answer


def titles(answer: Answer) -> list[str]:
    return [candidate.title for candidate in answer.debug.candidates]


async def in_reverse(question: str, passages: Sequence[Passage]) -> Sequence[float]:
    assert question == QUESTION
    return list(range(len(passages)))


async def test_the_new_order_takes_over_the_scores_of_the_old_places() -> None:
    plain, reranked = await answered(None), await answered(in_reverse)

    assert titles(reranked) == titles(plain)[::-1]
    assert [one.score for one in reranked.debug.candidates] == [one.score for one in plain.debug.candidates]
    assert reranked.degraded == ()


async def test_a_reranker_sees_more_than_is_handed_on() -> None:
    plain, reranked = await answered(None), await answered(in_reverse, depth=3, top_k=1)

    kept = [candidate for candidate in reranked.debug.candidates if candidate.dropped_because is None]
    assert [candidate.title for candidate in kept] == titles(plain)[-1:]


async def test_beyond_its_depth_the_order_stays() -> None:
    plain, reranked = await answered(None), await answered(in_reverse, depth=2)

    assert titles(reranked) == [titles(plain)[1], titles(plain)[0], titles(plain)[2]]


async def test_passages_it_finds_equal_stay_in_order() -> None:
    async def indifferent(question: str, passages: Sequence[Passage]) -> Sequence[float]:
        return [0.5] * len(passages)

    assert titles(await answered(indifferent)) == titles(await answered(None))


async def unreachable(question: str, passages: Sequence[Passage]) -> Sequence[float]:
    raise DependencyUnavailable("It does not answer.", dependency="reranker")


async def broken(question: str, passages: Sequence[Passage]) -> Sequence[float]:
    raise ZeroDivisionError


async def too_short(question: str, passages: Sequence[Passage]) -> Sequence[float]:
    return [1.0]


async def not_a_number(question: str, passages: Sequence[Passage]) -> Sequence[float]:
    return [float("nan")] * len(passages)


async def cancelled(question: str, passages: Sequence[Passage]) -> Sequence[float]:
    raise asyncio.CancelledError


@pytest.mark.parametrize("judge", [unreachable, broken, too_short, not_a_number, cancelled])
async def test_a_reranker_that_fails_leaves_the_order_and_says_so(judge: Judge) -> None:
    plain, degraded = await answered(None), await answered(judge)

    assert degraded.debug.candidates == plain.debug.candidates
    assert degraded.text == plain.text
    assert degraded.degraded == (Dependency.RERANKER,)


@pytest.mark.tells("rag_reranker_failed", "run_id")
async def test_a_reranker_that_is_late_is_not_waited_for() -> None:
    async def late(question: str, passages: Sequence[Passage]) -> Sequence[float]:
        await asyncio.Event().wait()
        return []

    degraded = await answered(late, seconds=0.01)

    assert titles(degraded) == titles(await answered(None))
    assert degraded.degraded == (Dependency.RERANKER,)


async def test_a_late_reranker_that_will_not_stop_is_left_behind() -> None:
    released = asyncio.Event()

    async def stubborn(question: str, passages: Sequence[Passage]) -> Sequence[float]:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await released.wait()
        raise ValueError

    degraded = await answered(stubborn, seconds=0.01)
    released.set()

    assert degraded.degraded == (Dependency.RERANKER,)


async def test_a_workspace_has_the_first_passages_of_its_searches_ordered() -> None:
    plain = await answered(None)
    left = await answered(None, wished=in_reverse, config=RagConfig(8, 0.0))
    ordered = await answered(None, wished=in_reverse, config=RagConfig(8, 0.0, rerank=2))

    found = titles(plain)
    assert titles(left) == found
    assert titles(ordered) == [found[1], found[0], *found[2:]]
    assert left.debug.search is not None
    assert left.debug.search.reranker is None
    assert ordered.debug.search is not None
    assert ordered.debug.search.reranker == "tests:2"


async def test_a_wish_has_no_effect_without_a_reranker_and_beside_that_of_the_process() -> None:
    config = RagConfig(8, 0.0, rerank=2)
    plain, without = await answered(None), await answered(None, config=config)
    both = await answered(in_reverse, wished=broken, config=config)

    assert titles(without) == titles(plain)
    assert without.debug.search is not None
    assert (without.debug.search.reranker, without.debug.search.rerank) == (None, 0)
    assert titles(both) == titles(plain)[::-1]
    assert both.debug.search is not None
    assert both.debug.search.reranker == "tests"


def test_the_name_of_a_wished_reranker_tells_how_many_passages_it_orders() -> None:
    # As runs keep it, and `rag explain` compares.
    silent = Telemetry()
    wished = Retrieve(silent, wished=Rerank(Judging(in_reverse), 1.0, silent))
    own = Retrieve(silent, rerank=Rerank(Judging(in_reverse), 1.0, silent), wished=Rerank(Judging(broken), 1.0, silent))

    assert [wished.reranker(), wished.reranker(2), own.reranker(2)] == [None, "tests:2", "tests"]
