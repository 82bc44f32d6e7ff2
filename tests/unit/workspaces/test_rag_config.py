"""How many passages a workspace's `ragConfig` hands on, and how similar they must be."""

from __future__ import annotations

from collections.abc import AsyncIterator

import numpy as np
import pytest
from tests.unit.answering.answering_world import World
from tests.unit.answering.corpus import SPACE, Corpus

from agentic_rag.adapters.deterministic.hashed_embedding import embed_texts
from agentic_rag.answering.answer import Outcome
from agentic_rag.answering.question import AnswerOptions
from agentic_rag.answering.run import CacheOutcome, Run
from agentic_rag.kernel.errors import InvalidInput
from agentic_rag.models.embedding.space import min_cosine
from agentic_rag.workspaces.rag_config import MAX_RERANKED
from agentic_rag.workspaces.settings import RagConfig

QUESTION = "At which wave height is crew transfer suspended?"


@pytest.fixture
async def world() -> AsyncIterator[World]:
    corpus = Corpus()
    corpus.add("access.md", "Access", "Crew transfer is suspended at a wave height of 1.5 metres.")
    for number in range(12):
        corpus.add(f"{number}.md", f"Note {number}", f"Crew transfer number {number} was made at a low wave height.")
    corpus.add("canteen.md", "Canteen", "The canteen serves soup on Mondays; crew eat for free.")
    made = World(corpus)
    yield made
    await made.recorder.aclose()


def handed_on(run: Run) -> list[str]:
    return [one.title for one in run.answer.debug.candidates if one.dropped_because is None]


@pytest.mark.parametrize("top_k", [1, 3, 5])
async def test_as_many_passages_are_handed_on_as_the_workspace_says(world: World, top_k: int) -> None:
    world.corpus.rag_config = RagConfig(top_k, 0.0)

    assert len(handed_on(await world.ask(QUESTION))) == top_k


@pytest.mark.parametrize("top_k", [2, 8])
async def test_ten_candidates_are_shown_however_few_are_handed_on(world: World, top_k: int) -> None:
    world.corpus.rag_config = RagConfig(top_k, 0.0)

    shown = (await world.ask(QUESTION)).answer.debug.candidates

    assert [one.dropped_because for one in shown] == [None] * top_k + ["top_k"] * (10 - top_k)


async def test_a_caller_may_ask_for_another_number(world: World) -> None:
    world.corpus.rag_config = RagConfig(5, 0.0)

    assert len(handed_on(await world.ask(QUESTION, options=AnswerOptions(top_k=2)))) == 2


@pytest.mark.parametrize("threshold", [0.5, 0.7, 0.75, 0.9, 0.95])
async def test_no_passage_below_the_threshold_is_handed_on_whichever_arm_found_it(
    world: World, threshold: float
) -> None:
    world.corpus.rag_config = RagConfig(50, threshold)
    run = await world.ask(QUESTION)

    texts = {chunk.document_title: chunk.text for chunk in world.corpus.chunks}
    question = embed_texts([QUESTION])[0]
    cosine = {title: float(np.round(embed_texts([text])[0] @ question, 6)) for title, text in texts.items()}
    least = min_cosine(threshold, SPACE)
    kept, left = set(handed_on(run)), [one for one in run.answer.debug.candidates if one.dropped_because]
    assert all(cosine[title] >= least - 1e-6 for title in kept)
    assert {one.dropped_because for one in left} <= {"similarity"}
    assert all(cosine[one.title] < least + 1e-6 for one in left)
    assert kept | {one.title for one in left} <= set(texts)


async def test_at_the_sources_threshold_the_question_is_answered_without_a_model(world: World) -> None:
    world.corpus.rag_config = RagConfig(5, 0.75)

    run = await world.ask(QUESTION)

    assert run.answer.outcome is Outcome.GROUNDED
    assert run.answer.citations[0].title == "Access"
    assert "Canteen" not in handed_on(run)


async def test_where_nothing_is_similar_enough_nothing_is_answered(world: World) -> None:
    world.corpus.rag_config = RagConfig(5, 1.0)

    run = await world.ask(QUESTION)

    assert run.answer.outcome is Outcome.ABSTAINED
    assert {one.dropped_because for one in run.answer.debug.candidates} == {"similarity"}


async def test_a_change_takes_effect_with_the_next_question(world: World) -> None:
    world.corpus.rag_config = RagConfig(5, 0.7)
    first = await world.ask(QUESTION)
    world.corpus.rag_config = RagConfig(5, 1.0)
    second = await world.ask(QUESTION)
    world.corpus.rag_config = RagConfig(5, 0.7)
    third = await world.ask(QUESTION)

    assert [one.cache for one in (first, second, third)] == [CacheOutcome.MISS, CacheOutcome.MISS, CacheOutcome.HIT]
    assert second.answer.outcome is Outcome.ABSTAINED


@pytest.mark.parametrize("passages", [-1, 1, MAX_RERANKED + 1])
def test_a_reranker_orders_none_or_a_few_passages(passages: int) -> None:
    assert [RagConfig(rerank=one).rerank for one in (0, 2, MAX_RERANKED)] == [0, 2, MAX_RERANKED]
    with pytest.raises(InvalidInput) as refused:
        RagConfig(rerank=passages)

    assert refused.value.path == ("ragConfig", "rerank")
