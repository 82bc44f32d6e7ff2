"""A read replica that lags at random: replay is paused, delayed or cut off while documents change under the questions.
Each answer is judged by what was acknowledged before it was asked.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from random import Random

import asyncpg

from agentic_rag.answering.answer import Answer
from agentic_rag.answering.question import AnswerOptions, CacheMode, Question
from agentic_rag.bootstrap import Container, build_container
from agentic_rag.ingestion.ingest_chunks import ChunkedDocument
from agentic_rag.kernel.errors import AgenticRagError
from agentic_rag.settings import load_settings
from agentic_rag.tenancy.principals import DEFAULT_ORG_ID, Principal, Role, WorkspaceRef
from agentic_rag_migrations.upgrade import upgrade
from tests.bench.product import Servers, create_workspace, variables
from tests.operate.drill import document_at
from tests.streaming_replica import Primary, Replica, caught_up

ADMIN = Principal(DEFAULT_ORG_ID, "writer", Role.ADMIN)
ASKER = Principal(DEFAULT_ORG_ID, "reader", Role.MEMBER)
ASKERS = 8
WORKSPACES = 6
UNITS = 8
"""Documents of a workspace."""
BETWEEN_WRITES = 12
"""Answers from one change of a document to the next."""
LATELY = 6
"""Half of the questions are about one of the documents that changed last."""
SEED = 58
LAGS = (20, 150)
"""Answers that one lag lasts, and that the replica has to itself after it, at least and at most."""


class Lag(Enum):
    """What keeps the replica behind."""

    PAUSE = "it replays nothing"
    DELAY = "it replays late"
    CUT = "it gets nothing from the primary"


NUMBER = re.compile(r"\b([1-9]\d)(\d{6})\b")
SNAPSHOTS = re.compile(r'^rag_replica_snapshots_total\{outcome="(\w+)"\} ([\d.]+)', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Lagging:
    """What came of it."""

    answers: int
    told: int
    """Answers that state the number of the unit asked about."""
    used: int
    """Snapshots that the replica served."""
    snapshots: int
    """Snapshots that it was asked for."""
    stale: int
    """Answers with a text that was replaced, erased or hidden from the caller before the question."""
    failed: int
    """Questions that ended with an error, or with a degraded answer."""

    @property
    def share(self) -> float:
        """Of the snapshots, those that the replica served."""
        return self.used / max(1, self.snapshots)


@dataclass
class Unit:
    """A document that states the number of its unit; each change gives it the next."""

    workspace: WorkspaceRef
    place: int
    """Among all units; the first two digits of its numbers tell it."""
    change: int = 0
    least: int = 0
    """The lowest change that an answer may state, as far as the writer has been told."""

    @property
    def path(self) -> str:
        return f"unit-{self.place}.md"

    @property
    def name(self) -> str:
        return f"Amber Falcon {self.place}"

    @property
    def number(self) -> str:
        return f"{10 + self.place}{self.change:06}"

    @property
    def question(self) -> str:
        return f"What is the serial number of the {self.name}?"

    @property
    def document(self) -> ChunkedDocument:
        text = f"The serial number of the {self.name} is {self.number}.\n\nIts housing is painted grey."
        return ChunkedDocument(self.path, self.name, (text,))


@dataclass
class Questions:
    """So many questions, asked by several callers at once; who waits for their number is told."""

    total: int
    answered: int = 0
    _more: asyncio.Condition = field(default_factory=asyncio.Condition)

    @property
    def is_over(self) -> bool:
        return self.answered >= self.total

    async def add(self) -> None:
        async with self._more:
            self.answered += 1
            self._more.notify_all()

    async def until(self, more: int) -> None:
        """Return after so many more answers, or when all are there."""
        wanted = min(self.total, self.answered + more)
        async with self._more:
            await self._more.wait_for(lambda: self.answered >= wanted)


async def ask_a_lagging_replica(
    folder: Path, answers: int, kinds: Sequence[Lag] = tuple(Lag), lasts: tuple[int, int] = LAGS
) -> Lagging:
    """`folder` may be entered by the servers' own user. `lasts` is as `LAGS`."""
    with Primary(folder / "primary") as primary:
        await upgrade(primary.url)
        with Replica(folder / "replica", primary.url) as replica:
            return await _ask(primary.url, replica.url, folder, answers, _Lags(kinds, lasts))


@dataclass(frozen=True, slots=True)
class _Lags:
    """From which lags are drawn."""

    kinds: Sequence[Lag]
    lasts: tuple[int, int]


async def _ask(primary: str, replica: str, folder: Path, answers: int, lags: _Lags) -> Lagging:
    draw = Random(SEED)
    async with _process(folder, "writer", primary) as writer, _process(folder, "asker", primary, replica) as asker:
        await writer.first_access.ensure_organisation()
        units = [
            Unit(workspace, UNITS * number + place)
            for number in range(WORKSPACES)
            for workspace in [await create_workspace(writer, f"lagging-{number}")]
            for place in range(UNITS)
        ]
        for unit in units:
            await _publish(writer, unit)
        await caught_up(primary, replica)
        judge = _Judge(asker, units, [*units], Questions(answers), draw)
        others = [
            asyncio.create_task(_write(writer, judge)),
            asyncio.create_task(_lag(replica, judge.questions, draw, lags)),
        ]
        await asyncio.gather(*(judge.ask() for _ in range(ASKERS)), *others)
        counted = SNAPSHOTS.findall(asker.telemetry.exposition()[0].decode())
        snapshots = {outcome: int(float(count)) for outcome, count in counted}
        return Lagging(
            answers=answers,
            told=judge.told,
            used=snapshots.get("used", 0),
            snapshots=sum(snapshots.values()),
            stale=judge.stale,
            failed=judge.failed,
        )


@asynccontextmanager
async def _process(folder: Path, name: str, primary: str, replica: str = "") -> AsyncIterator[Container]:
    """The parts of a process with memory of its own; Redis is away, so that nothing is told by the cache."""
    home = folder / name
    home.mkdir()
    servers = Servers(primary, "redis://127.0.0.1:1/0", str(home))
    own = variables(servers, RAG_EMBEDDER="deterministic", AGENTIC_RAG_LOG_LEVEL="error", DATABASE_READ_URL=replica)
    async with build_container(load_settings(own, dotenv=home / "none")) as container:
        yield container


@dataclass
class _Judge:
    """Asks and judges."""

    container: Container
    units: list[Unit]
    changed: list[Unit]
    """In the order of their changes."""
    questions: Questions
    draw: Random
    begun: int = 0
    told: int = 0
    stale: int = 0
    failed: int = 0

    async def ask(self) -> None:
        """One caller, until all questions are asked."""
        while self.begun < self.questions.total:
            self.begun += 1
            unit = self.draw.choice(self.changed[-LATELY:] if self.draw.random() < 0.5 else self.units)
            least = [one.least for one in self.units]
            question = Question(unit.workspace, unit.question, options=AnswerOptions(cache=CacheMode.BYPASS))
            try:
                answer = (await self.container.unrecorded_answer.ask(ASKER, question)).answer
            except AgenticRagError as error:
                print(f"  failed: {error.code} {error.message}")
                self.failed += 1
            else:
                self._judge(unit, least, answer)
            await self.questions.add()

    def _judge(self, unit: Unit, least: list[int], answer: Answer) -> None:
        """`least` is what every unit's number had to be at least when the question was asked."""
        said = " ".join([answer.text, *(one.snippet for one in answer.citations)])
        numbers = [(int(place) - 10, int(change)) for place, change in NUMBER.findall(said)]
        self.told += unit.place in {place for place, _ in numbers}
        self.failed += bool(answer.degraded)
        if any(change < least[place] for place, change in numbers):
            self.stale += 1


async def _publish(writer: Container, unit: Unit) -> None:
    unit.change += 1
    await writer.ingest_chunks.run(unit.workspace, [unit.document], "lagging")
    unit.least = unit.change


async def _write(writer: Container, judge: _Judge) -> None:
    """Replace, erase or hide a document after every few answers, until the last."""
    hidden: set[int] = set()
    while not judge.questions.is_over:
        unit = judge.draw.choice(judge.units)
        kind = judge.draw.choice(("replace", "replace", "erase", "hide"))
        if unit.place in hidden:
            await _publish(writer, unit)
            document = await document_at(writer, unit.workspace, unit.path)
            await writer.document_access.change(ADMIN, unit.workspace, document, ())
            hidden.discard(unit.place)
        elif kind == "replace" or unit.least > unit.change:
            await _publish(writer, unit)
        else:
            document = await document_at(writer, unit.workspace, unit.path)
            if kind == "erase":
                await writer.delete.run(unit.workspace, document)
            else:
                await writer.document_access.change(ADMIN, unit.workspace, document, ("user:another",))
                hidden.add(unit.place)
            unit.least = unit.change + 1
        judge.changed.append(unit)
        await judge.questions.until(BETWEEN_WRITES)


async def _lag(replica: str, questions: Questions, draw: Random, drawn: _Lags) -> None:
    """Pause or delay what the replica replays, or cut it off, again and again until the last answer."""
    server = await asyncpg.connect(replica)
    try:
        followed = await server.fetchval("SHOW primary_conninfo")
        cut, joined = (f"ALTER SYSTEM SET primary_conninfo = {_quoted(one)}" for one in ("", followed))
        lags = {
            Lag.PAUSE: (("SELECT pg_wal_replay_pause()",), ("SELECT pg_wal_replay_resume()",)),
            Lag.DELAY: (
                ("ALTER SYSTEM SET recovery_min_apply_delay = '300ms'", RELOAD),
                ("ALTER SYSTEM RESET recovery_min_apply_delay", RELOAD),
            ),
            Lag.CUT: ((cut, RELOAD), (joined, RELOAD)),
        }
        while not questions.is_over:
            begin, end = lags[draw.choice(drawn.kinds)]
            for statements in (begin, end):
                for one in statements:
                    await _tell(server, one)
                await questions.until(draw.randint(*drawn.lasts))
    finally:
        await server.close()


async def _tell(server: asyncpg.Connection, statement: str) -> None:
    """A replica ends statements, this one too, that are in the way of what it replays: then it is told again."""
    while True:
        try:
            await server.execute(statement)
        except asyncpg.SerializationError:
            continue
        return


RELOAD = "SELECT pg_reload_conf()"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
