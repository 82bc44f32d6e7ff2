"""Proof bundles of answers, whole and tampered with, and runs that are asked again after others published."""

from __future__ import annotations

import asyncio
import hashlib
import io
import json
import random
import zipfile
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from agentic_rag.answering.question import Question
from agentic_rag.answering.run import Run
from agentic_rag.answering.runs import difference
from agentic_rag.answering.runs.read import ReadRuns
from agentic_rag.answering.runs.replay import ReplayedConversation, ReplayRun
from agentic_rag.operations.proof import check_bundle
from agentic_rag.operations.proof.prove_run import ProveRun
from agentic_rag.operations.proof.verify_run import VerifyRun
from tests.bench.reports import Row, at_least, exactly
from tests.unit.answering.planted_differences import KINDS, planted
from tests.unit.answering.test_explain import World, filled

_RUNS, _FEW_RUNS = 500, 10
_CHANGES, _FEW_CHANGES = 1_000, 60
_PUBLISHES, _FEW_PUBLISHES = 50, 3
_PLACES = ("Aker", "Birk", "Dahl", "Eng", "Foss", "Gran", "Holm", "Ivar", "Lund", "Moen")
_TRADES = ("smith", "pilot", "baker", "teacher", "weaver", "judge", "miller", "painter", "sailor", "doctor")
_FOLLOW_UPS = 100
_ASKED_OF_EACH = 2
"""Questions about one document."""


def proof(short: bool) -> list[Row]:
    """Bundles of answers over documents in memory."""
    return asyncio.run(_proof(short))


def replay(short: bool) -> list[Row]:
    """Runs asked again at their version, and runs that differ in a planted stage."""
    return asyncio.run(_replay(short))


async def _proof(short: bool) -> list[Row]:
    count, changes = (_FEW_RUNS, _FEW_CHANGES) if short else (_RUNS, _CHANGES)
    draw = random.Random(7)
    async with _answered(count) as (world, runs):
        reads = ReadRuns(world.database, world.runs, world.store.clock, world.recorder)
        prover = ProveRun(world.database, VerifyRun(world.database, reads, world.store.clock), world.telemetry)
        made = [await prover.run(world.asker, world.workspace, run.run_id, whole=draw.random() < 0.5) for run in runs]
    bundles = [one.content for one in made]
    quotes = sum(len(one.found.checks) for one in made if one.found.holds)
    refused = sum(_is_found(one) for one in bundles)
    missed: Counter[str] = Counter()
    for at in range(changes):
        kind = ("byte", "field", "field and seal")[at % 3]
        missed[kind] += not _is_found(_tampered(draw.choice(bundles), kind, draw))
    kinds = ", ".join(f"{kind} {number}" for kind, number in missed.items() if number)
    return [
        exactly(f"bundles of {len(runs)} runs with {quotes} quotes that do not hold", refused, 0),
        at_least("quotes in them", quotes, count, "", timed=False),
        exactly(f"{changes} tamperings that are not found{f' ({kinds})' if kinds else ''}", missed.total(), 0),
    ]


async def _replay(short: bool) -> list[Row]:
    count, publishes = (_FEW_RUNS, _FEW_PUBLISHES) if short else (_RUNS, _PUBLISHES)
    async with _answered(count) as (world, runs):
        for number in range(publishes):
            await world.add(f"Later {number}", _text(random.Random(1_000 + number), 10_000 + number))
        reads = ReadRuns(world.database, world.runs, world.store.clock, world.recorder)
        asked = ReplayRun(world.database, reads, world.answer)
        other = 0
        for run in runs:
            found = await asked.replay(world.asker, world.workspace, run.run_id)
            other += bool(found.differences)
        follow_ups = await _follow_ups_replayed_otherwise(world, asked, runs[:_FOLLOW_UPS])
    wrong: Counter[str] = Counter()
    for at, run in enumerate(runs):
        kinds = KINDS if short else [[*KINDS][at % len(KINDS)]]
        for kind in kinds:
            stage, after = planted(run, kind, random.Random(at))
            found_differences = difference.find_differences(run, after)
            wrong[kind] += not found_differences or found_differences[0].stage is not stage
    return [
        exactly(f"{len(runs)} runs asked again at their version after {publishes} publishes: another", other, 0),
        exactly(f"{len(runs[:_FOLLOW_UPS])} follow-ups asked again after their turns: another", follow_ups, 0),
        exactly(f"first stage named wrongly, {len(KINDS)} planted kinds", wrong.total(), 0),
    ]


async def _follow_ups_replayed_otherwise(world: World, asked: ReplayRun, runs: Sequence[Run]) -> int:
    """How many questions that follow one of the runs are not the same, or lack their turns, when asked again."""
    other = 0
    for run in runs:
        question = Question(world.workspace, "And why?", after=run.run_id)
        follow_up = await world.answer.ask(world.asker, question)
        if follow_up.answer.debug.standalone_question is None:
            raise AssertionError("this question is no follow-up")
        await world.recorder.drain()
        found = await asked.replay(world.asker, world.workspace, follow_up.run_id)
        other += bool(found.differences) or found.conversation is not ReplayedConversation.WHOLE
    return other


@asynccontextmanager
async def _answered(count: int) -> AsyncIterator[tuple[World, Sequence[Run]]]:
    """A workspace with a document for each question, and the runs of these."""
    async with filled(World()) as world:
        draw = random.Random(count)
        for number in range(count // _ASKED_OF_EACH + 1):
            await world.add(f"Report {number}", _text(draw, number))
        runs = [
            await world.ask(
                f"What does the {_TRADES[at % 10]} of {_PLACES[at // 10 % 10]} {at // _ASKED_OF_EACH} earn?"
            )
            for at in range(count)
        ]
        yield world, runs


def _text(draw: random.Random, number: int) -> str:
    lines = [
        f"The {trade} of {place} {number} earns {draw.randint(100, 900)} crowns a month — “{draw.choice('äöü東京')}”."
        for trade in draw.sample(_TRADES, 4)
        for place in draw.sample(_PLACES, 4)
    ]
    return "\n\n".join(lines)


def _is_found(content: bytes) -> bool:
    try:
        check_bundle.check(content)
    except check_bundle.TamperedError:
        return True
    return False


def _tampered(content: bytes, kind: str, draw: random.Random) -> bytes:
    """The bundle with one byte changed, or one field, whose seal may be made anew without the key."""
    if kind == "byte":
        at = draw.randrange(len(content))
        return content[:at] + bytes([content[at] ^ draw.randint(1, 255)]) + content[at + 1 :]
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    held = json.loads(files[check_bundle.PROOF])
    holder, name = draw.choice([place for place in _fields(held) if place[1] not in ("seal", "signature")])
    holder[name] = _other(holder[name], draw)
    if kind == "field and seal":
        held["seal"] = hashlib.sha256(check_bundle.sealed(held)).hexdigest()
    return check_bundle.pack({**files, check_bundle.PROOF: check_bundle.canonical(held)})


def _fields(value: Any) -> list[tuple[Any, Any]]:
    """Every place of a value that is no holder of others, as (holder, name)."""
    names = [*value] if isinstance(value, dict) else [*range(len(value))]
    found: list[tuple[Any, Any]] = []
    for name in names:
        held = value[name]
        found += _fields(held) if isinstance(held, dict | list) else [(value, name)]
    return found


def _other(value: Any, draw: random.Random) -> Any:
    if isinstance(value, bool) or value is None:
        return "other"
    if isinstance(value, int):
        return value + draw.choice((-1, 1))
    return value[:-1] if value and draw.random() < 0.5 else f"{value}x"
