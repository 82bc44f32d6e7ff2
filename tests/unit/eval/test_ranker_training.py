"""Fitting the weights that lead from passage to passage."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from eval.training import fit_ranker
from eval.training.fit_ranker import TrainingSet, arms, figures_of, fit, gradient_of, loss_of, multi_hop_score
from eval.training.ranker_pool import TrainingCorpus, as_vector
from eval.training.ranker_report import as_json, as_table, train

from agentic_rag.adapters.deterministic.embedder import DeterministicEmbedder
from agentic_rag.retrieval.graph.multi_hop import StepWeights
from agentic_rag_eval.records import EvalDocument, EvalQuestion

pytestmark = pytest.mark.slow

CLUBS = ["Norrland", "Baltic", "Arctic", "Gotland", "Skane", "Dalarna"]
FOUNDERS = ["Elsa Lind", "Otto Falk", "Mika Salo", "Ruth Berg", "Jan Holm", "Ida Krog"]
PLAYERS = ["Anton Vik", "Bo Dahl", "Carl Ek", "David Fors", "Erik Gran", "Frans Hag"]


def documents() -> list[EvalDocument]:
    found: list[EvalDocument] = []
    for club, founder, player in zip(CLUBS, FOUNDERS, PLAYERS, strict=True):
        found.append(EvalDocument(f"p-{club}", player, f"{player} was a striker who played for the {club} League."))
        found.append(EvalDocument(f"c-{club}", f"{club} League", f"The {club} League was founded by {founder}."))
        found.append(EvalDocument(f"f-{club}", founder, f"{founder} taught mathematics and liked to ski."))
    return found


def questions() -> list[EvalQuestion]:
    return [
        EvalQuestion(
            club, f"Who founded the league in which {player} played?", (founder,), (f"p-{club}", f"c-{club}"), "2hop"
        )
        for club, founder, player in zip(CLUBS, FOUNDERS, PLAYERS, strict=True)
    ]


@pytest.fixture
async def clubs(monkeypatch: pytest.MonkeyPatch) -> TrainingSet:
    monkeypatch.setattr(fit_ranker, "STEPS", 30)
    embedder = DeterministicEmbedder()
    corpus = await TrainingCorpus.of(documents(), embedder, 0.9, "default")
    asked = questions()
    vectors = await embedder.embed([one.question for one in asked])
    return TrainingSet(
        "clubs", [corpus.question(one, vector, StepWeights()) for one, vector in zip(asked, vectors, strict=True)]
    )


async def test_the_gradient_is_the_slope_of_the_loss(clubs: TrainingSet) -> None:
    weights = as_vector(StepWeights()) / 4
    step = 1e-5
    numeric = [
        (loss_of([clubs], weights + step * axis) - loss_of([clubs], weights - step * axis)) / (2 * step)
        for axis in np.eye(len(weights))
    ]

    assert gradient_of([clubs], weights) == pytest.approx(np.array(numeric), abs=1e-4)


async def test_fitting_lowers_the_loss_and_finds_the_second_passage(clubs: TrainingSet) -> None:
    nothing = as_vector(StepWeights()) * 0

    weights = fit([clubs])

    assert loss_of([clubs], weights) < loss_of([clubs], nothing)
    assert figures_of(clubs.questions, multi_hop_score(weights)).recall5 == 1.0


async def test_fitting_twice_gives_the_same_weights(clubs: TrainingSet) -> None:
    assert fit([clubs]).tolist() == fit([clubs]).tolist()


async def test_a_report_names_every_ranking_of_every_set(clubs: TrainingSet) -> None:
    other = TrainingSet("half", clubs.questions[:3], 2.0)

    found = train([[clubs], [other]], "deterministic", True, lambda *_: None)

    assert as_json(found)["sets"] == {"clubs": {"questions": 6, "weight": 1.0}, "half": {"questions": 3, "weight": 2.0}}
    assert found.figures["clubs"].keys() == {*arms(), "fitted", "left_out"}
    assert "left_out" in as_table(found)


def test_the_weights_in_force_are_those_whose_origin_is_kept() -> None:
    kept = json.loads((Path(__file__).parents[3] / "eval" / "ranker.json").read_text(encoding="utf-8"))

    assert kept["weights"] == asdict(StepWeights())
