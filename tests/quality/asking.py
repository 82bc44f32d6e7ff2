"""Asks every question: as users do, and of single arms, which are settings of the same retrieval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agentic_rag.bootstrap import Container
from agentic_rag.documents.document import Chunk
from agentic_rag.retrieval.fusion_options import FusionWeights
from agentic_rag_cli.commands.evaluation.eval_asking import ask_here
from agentic_rag_eval.ablation import Arm, without
from agentic_rag_eval.metrics import Score, ndcg_at, recall_at, score
from agentic_rag_eval.records import EvalQuestion
from tests.quality.sets import QuestionSet
from tests.retrieving import retrieved

DEPTH = 20
ALONE = {"dense": FusionWeights(1.0, 0.0, 0.0), "lexical": FusionWeights(1.0, 0.0, 1.0)}
DEFAULT = "default"


def arms_of(container: Container) -> dict[str, FusionWeights]:
    """The text arms alone, the shares in force, and these without each arm."""
    shares = container.fusion_weights
    return {**ALONE, **{off(arm): without(arm, shares) for arm in Arm}, DEFAULT: shares}


def off(arm: Arm) -> str:
    """What a ranking without an arm is called."""
    return f"{arm.value} off"


@dataclass(frozen=True, slots=True)
class Ranked:
    """What a retrieval found for one question, best first."""

    question: EvalQuestion
    chunks: tuple[Chunk, ...]

    def first(self, passages: int) -> Ranked:
        """The ranking cut short."""
        return Ranked(self.question, self.chunks[:passages])

    def figure(self, name: str) -> float:
        """`recall@5`, `recall@10` or `ndcg@10` of the documents."""
        documents = list(dict.fromkeys(chunk.source_path for chunk in self.chunks))
        gold = self.question.gold_ids
        return (
            ndcg_at(documents, gold, 10) if name == "ndcg@10" else recall_at(documents, gold, int(name.split("@")[1]))
        )


async def answered(container: Container, given: QuestionSet) -> list[Score]:
    """Every question through the whole pipeline."""
    ask = await ask_here(container, given.workspace)
    return [score(one, await ask(one), 5) for one in given.questions]


async def ranked(
    container: Container, given: QuestionSet, arms: Mapping[str, FusionWeights]
) -> dict[str, list[Ranked]]:
    """Every question with gold documents through retrieval alone, with each arms' weights."""
    questions = given.with_gold
    vectors = await _vectors(container, [one.question for one in questions])
    found: dict[str, list[Ranked]] = {name: [] for name in arms}
    for one, vector in zip(questions, vectors, strict=True):
        for name, weights in arms.items():
            one_way = await retrieved(container, given.workspace, one.question, vector, weights, DEPTH)
            found[name].append(Ranked(one, tuple(chunk for chunk, _ in one_way.chunks)))
    return found


async def _vectors(container: Container, texts: Sequence[str]) -> list[NDArray[np.float32]]:
    embedder = container.embedder
    # One by one: a model's sums differ in their last bits with what else is in the batch.
    return [(await embedder.embed([embedder.space.as_question(text)]))[0] for text in texts]
