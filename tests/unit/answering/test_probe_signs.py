"""The signals that a run's own retrieval and answer give the gate."""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast

import pytest
from tests.unit.answering.answering_world import World
from tests.unit.answering.corpus import Corpus
from tests.unit.answering.test_looking_outside import OPEN, Web

from agentic_rag.answering.answer import Outcome
from agentic_rag.answering.gate.signals import measure_coverage, measure_hits, measure_margin, measure_sufficiency
from agentic_rag.answering.outside import Outside, OutsideReport
from agentic_rag.answering.question import AnswerOptions, CacheMode
from agentic_rag.answering.run import Run
from agentic_rag.workspaces.web_access import WebAccess

INSIDE = "How many days of annual leave do employees receive?"


async def ask(question: str, *, left: float = 1.0, read_at: datetime | None = None) -> tuple[Run, dict[str, float]]:
    """A run over two documents, and the signals of its decision. The clock stands at 1 March 2026."""
    corpus = Corpus()
    corpus.add("handbook.md", "Handbook", "Employees receive 28 days of annual leave. It is carried over until March.")
    corpus.add("marine.md", "Marine access", "Wilf Hastane issues a sailing decision by 06:00 each day.")
    corpus.organisation_allows_web, corpus.web = True, WebAccess(allow=True)
    corpus.read_at = read_at or corpus.read_at
    web = Web(lambda: OutsideReport(searches=1), left=left)
    made = World(corpus, OPEN, outside=Outside(web.look, web.share_left))
    run = await made.ask(question, options=AnswerOptions(cache=CacheMode.BYPASS))
    return run, {one.name: one.value for one in run.answer.gate.contributions}


@pytest.mark.parametrize("question", [INSIDE, "Who issues the tidal tariff of Otter Voe?"])
async def test_they_are_those_that_the_run_shows_of_itself(question: str) -> None:
    run, signals = await ask(question)

    answer, debug = run.answer, run.answer.debug
    assert debug.support is not None
    assert signals["support"] == debug.support.score > 0
    assert signals["certainty"] == (0.0 if debug.certainty is None else debug.certainty.score)
    assert signals["coverage"] == measure_coverage(debug.support)
    assert signals["sufficiency"] == measure_sufficiency(answer.outcome, debug.support, debug.certainty, 0)
    found = [one.score for one in debug.candidates if one.dropped_because is None]
    assert signals["hit_rate"] == measure_hits(found)


async def test_what_is_found_and_clear_speaks_for_the_documents() -> None:
    run, found = await ask(INSIDE)
    _, missing = await ask("Which harbour serves the Brannvik pilot boat?")

    assert run.answer.outcome is Outcome.GROUNDED
    for name in ("hit_rate", "margin", "coverage", "sufficiency", "support", "certainty"):
        assert found[name] > missing[name], name


async def test_an_abstention_is_as_old_as_the_nearest_texts() -> None:
    run, signals = await ask(
        "What is the latest annual leave of pilots in Otter Voe?", read_at=datetime(2026, 1, 1, tzinfo=UTC)
    )

    assert run.answer.outcome is Outcome.ABSTAINED
    assert signals["freshness"] == pytest.approx(30 / 59, abs=1e-6)


@pytest.mark.parametrize("left", [0.0, 0.4, 1.0])
async def test_what_is_left_of_the_budget_is_a_signal(left: float) -> None:
    _, signals = await ask(INSIDE, left=left)

    assert signals["budget_left"] == left


def test_a_question_is_as_clear_as_its_least_clear_part() -> None:
    parts = [cast("Any", SimpleNamespace(margin=margin)) for margin in (0.6, 0.2, 0.9)]

    assert measure_margin(parts) == 0.2
    assert measure_margin(parts[:1]) == 0.6
    assert measure_margin([]) == 0.0
