"""A run searches with the names of its workspace too."""

from __future__ import annotations

import pytest
from tests.unit.answering.answering_world import World
from tests.unit.answering.corpus import Corpus

from agentic_rag.answering.gate.decide import GateRules
from agentic_rag.answering.options import AnswerDefaults
from agentic_rag.answering.outside import Outside, OutsideReport, OutsideRequest
from agentic_rag.answering.question import AnswerOptions, CacheMode
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.workspaces.web_access import WebAccess

OPEN = GateRules(mode="on", can_search=True, can_crawl=True, care=1.0)
QUESTION = "Which campaign began on the web this week?"


@pytest.mark.parametrize(
    ("question", "added"), [(QUESTION, ("Acme", "Oslo")), (f"{QUESTION[:-1]} in Oslo?", ()), ("Hello!", None)]
)
async def test_a_question_that_names_none_of_them_is_searched_for_with_each(
    question: str, added: tuple[str, ...] | None
) -> None:
    wanted: list[OutsideRequest] = []

    async def look(request: OutsideRequest) -> OutsideReport:
        wanted.append(request)
        return OutsideReport(searches=1)

    async def share_left(workspace: WorkspaceRef) -> float:
        return 1.0

    corpus = Corpus()
    corpus.add("handbook.md", "Handbook", "Employees receive 28 days of annual leave.")
    world = World(corpus, AnswerDefaults(gate=OPEN), outside=Outside(look, share_left))
    corpus.organisation_allows_web, corpus.web = True, WebAccess(allow=True, care=1.0, seeds=("Acme", "Oslo"))

    run = await world.ask(question, options=AnswerOptions(cache=CacheMode.BYPASS))
    await world.recorder.aclose()

    searched = [] if added is None else [(question, *(f"{question} {one}" for one in added))]
    assert [one.searches for one in wanted] == searched
    assert run.answer.gate.directives.search_seeds == (searched[0] if searched else ())
