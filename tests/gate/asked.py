"""Questions through the whole of answering, over a small corpus in memory: what the gate may do, and what it takes."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Sequence
from statistics import median

from agentic_rag.answering.gate.decide import GateRules
from agentic_rag.answering.options import AnswerDefaults
from agentic_rag.answering.outside import Outside, OutsideReport, OutsideRequest
from agentic_rag.answering.question import AnswerOptions, CacheMode
from agentic_rag.answering.run import Run
from agentic_rag.tenancy.principals import WorkspaceRef
from agentic_rag.workspaces.web_access import WebAccess
from tests.bench.reports import Row, at_most
from tests.unit.answering.answering_world import World
from tests.unit.answering.corpus import Corpus

OUTSIDE = (
    "What is the boiling point of ethanol?",
    "Search the web for the latest tariff at https://example.org/tariffs",
)
INSIDE = ("Who issues the sailing decision?", "How many days of annual leave do employees receive?")
MODES = ("off", "shadow", "on")
REQUESTS = (False, None, True)
GATE_STAGES = {"gate", "search"}
ROUNDS, FEW_ROUNDS = 50, 5
OPEN = GateRules(mode="on", can_search=True, can_crawl=True, care=1.0)


def corpus() -> Corpus:
    """Two documents, which answer `INSIDE` and nothing of `OUTSIDE`."""
    made = Corpus()
    made.add("marine-access.md", "Marine access", "Wilf Hastane issues a sailing decision by 06:00 each day.")
    made.add("handbook.md", "Handbook", "Employees receive 28 days of annual leave. It is carried over until March.")
    return made


def dials(short: bool) -> Row:
    """Every combination of what lets a run look outside; where all let it, it has to. Counts both what the decision
    allows and what is dialled.
    """
    closed, opened = asyncio.run(_dialling(OUTSIDE[:1] if short else (*OUTSIDE, *INSIDE)))
    count = len(MODES) * len(REQUESTS) * 2**4
    name = f"{count} combinations of policy and flags: runs that dial with one of them off"
    shown = str(closed) if opened else "none dials with all of them on"
    return Row(name, shown, "0", closed == 0 and opened > 0)


async def _dialling(asked: Sequence[str]) -> tuple[int, int]:
    """Runs that may look outside: with a switch off, and with all of them on."""
    closed = opened = 0
    for mode, searches, budget in itertools.product(MODES, (False, True), (0.0, 1.0)):
        rules = GateRules(mode=mode, can_search=searches, can_crawl=True, budget_left=budget, profile=1.0)
        dialled: list[OutsideRequest] = []
        world = World(corpus(), AnswerDefaults(gate=rules), outside=_outside(dialled, budget))
        switches = searches, budget, mode == "on"
        for organisation, workspace, request in itertools.product((False, True), (False, True), REQUESTS):
            world.corpus.organisation_allows_web = organisation
            world.corpus.web = WebAccess(allow=workspace, care=1.0)
            options = AnswerOptions(cache=CacheMode.BYPASS, allow_web=request)
            for question in asked:
                dialled.clear()
                run = await world.ask(question, options=options)
                if all((*switches, organisation, workspace, request is not False)):
                    opened += _dials(run) and bool(dialled)
                else:
                    closed += _dials(run) or bool(dialled)
        await world.recorder.aclose()
    return closed, opened


def _outside(dialled: list[OutsideRequest], budget: float) -> Outside:
    async def look(request: OutsideRequest) -> OutsideReport:
        dialled.append(request)
        return OutsideReport(searches=1)

    async def share_left(workspace: WorkspaceRef) -> float:
        return budget

    return Outside(look, share_left)


def _dials(run: Run) -> bool:
    directives = run.answer.gate.directives
    return directives.use_search or directives.use_crawl or bool(directives.search_seeds or directives.crawl_seeds)


def cost(short: bool) -> Row:
    """What both stages of the gate take; the rest of the run is the probe."""
    return at_most("gate beyond the probe, p50", asyncio.run(_milliseconds(FEW_ROUNDS if short else ROUNDS)), 1, " ms")


async def _milliseconds(rounds: int) -> float:
    world = World(corpus(), AnswerDefaults(gate=OPEN))
    world.corpus.organisation_allows_web, world.corpus.web = True, WebAccess(allow=True)
    taken: list[float] = []
    for question in (*OUTSIDE, *INSIDE) * rounds:
        run = await world.ask(question, options=AnswerOptions(cache=CacheMode.BYPASS))
        taken.append(sum(one.seconds for one in run.stages if one.stage in GATE_STAGES))
    await world.recorder.aclose()
    return 1000 * median(taken)
