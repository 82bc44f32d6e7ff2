"""What users of a workspace that may look outside get: what is said without support, and what the gate costs those
whose documents answer.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from statistics import quantiles
from time import process_time

from agentic_rag.answering.answer import Outcome
from agentic_rag.answering.options import AnswerDefaults
from agentic_rag.answering.question import AnswerOptions, CacheMode
from agentic_rag.workspaces.web_access import WebAccess
from tests.bench.reports import Row, at_most
from tests.gate.asked import FEW_ROUNDS, INSIDE, OPEN, ROUNDS, corpus
from tests.gate.from_the_web import FEW, Asked, fill_workspace
from tests.gate.simulated_web import FACTS, KINDS, fact
from tests.unit.answering.answering_world import World

MOST_UNSUPPORTED = 2
"""Percent of the questions."""
MOST_SLOWER = 1.2
UNKNOWN = (
    "Skarvik",
    "Tunsberg",
    "Aldervaag",
    "Mosterhamn",
    "Dyrvik",
    "Hovden",
    "Kvalsund",
    "Nesna",
    "Rorvik",
    "Vaagsoy",
)
"""Places of which no page says anything."""
BYPASS = AnswerOptions(cache=CacheMode.BYPASS)


def unsupported(short: bool) -> Row:
    """Questions that one page answers, and questions that none does."""
    return asyncio.run(_unsupported(FEW if short else FACTS))


async def _unsupported(count: int) -> Row:
    asked = Asked(await fill_workspace())
    wrong = 0
    for number in range(count):
        question, harbour, _ = fact(number)
        unknown = f"Which harbour serves the {UNKNOWN[number % len(UNKNOWN)]} {KINDS[number // len(UNKNOWN)]}?"
        for text, right in ((question, harbour), (unknown, None)):
            answer = (await asked.ask(text, BYPASS)).answer
            wrong += answer.outcome is not Outcome.ABSTAINED and (right is None or right not in answer.text)
    await asked.recorder.aclose()
    share = 100 * wrong / (2 * count)
    name = f"{2 * count} questions, half of which no page answers: answers that nothing supports"
    return Row(name, f"{share:.1f} %", f"≤ {MOST_UNSUPPORTED} %", share <= MOST_UNSUPPORTED)


def slower(short: bool) -> Row:
    """Processor time of questions that the documents answer, with the gate on and without it, in turn."""
    ratio = asyncio.run(_ratio(FEW_ROUNDS if short else ROUNDS))
    name = "questions that the documents answer: p95 of a run with the gate on, over retrieval only"
    return at_most(name, ratio, MOST_SLOWER)


async def _ratio(rounds: int) -> float:
    worlds = [World(corpus(), AnswerDefaults(gate=rules)) for rules in (OPEN, replace(OPEN, mode="off"))]
    for world in worlds:
        world.corpus.organisation_allows_web, world.corpus.web = True, WebAccess(allow=True)
        for question in INSIDE:  # What the first run of a process loads counts for neither.
            await world.ask(question, options=BYPASS)
    taken: list[list[float]] = [[], []]
    for question in INSIDE * rounds:
        for world, seconds in zip(worlds, taken, strict=True):
            began = process_time()
            await world.ask(question, options=BYPASS)
            seconds.append(process_time() - began)
    for world in worlds:
        await world.recorder.aclose()
    on, off = (quantiles(one, n=20)[-1] for one in taken)
    return on / off
