"""Mixed files through a bad day: their source, a process and two servers fail one after the other, and what an operator
is told each time is judged as text.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import shutil
import signal
import sys
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import httpx2

from agentic_rag.answering.question import Question
from agentic_rag.embedded.stack import EmbeddedStack
from agentic_rag.kernel.public_ids import encode_workspace
from tests import programs
from tests.bench.reports import Row, exactly
from tests.chaos import corpus
from tests.chaos.children import Crew, crew
from tests.chaos.clean import clean_run, end_state
from tests.chaos.ground import ROOT, TOKEN, Ground, Servers, new_ground, until
from tests.chaos.neo4j_graph import empty_neo4j, graph_row
from tests.chaos.rows.files import Expected, expected_files, write_own, write_shared, wrong_end, wrong_own_end
from tests.chaos.rows.overload import ASK, started_server
from tests.chaos.rows.remedies import NOTHING, Remedies, blamed, warnings
from tests.hostile import Hostile
from tests.line import Line
from tests.provider_stub import Fault, Received

LONGEST_SECONDS = 1_800.0
INGESTED = (0, 3)
"""Exit codes of `rag ingest` that went on; 3: a file FAILED, as its table says."""
QUESTIONS = 8
FEW_TEXTS = 4
"""Chunks of the largest of the good files. What is asked for more of is of a large file, whose many requests would take
the provider's delay each: ten minutes of waiting, and no more work under way.
"""
DISTURBANCES = ("stall", "Redis away", "emptied", "unmounted", "halved", "Neo4j slow")
SHRANK = ("[SOURCE_SHRANK]", "mounted", "--delete-missing")
SILENT = ("[SOURCE_UNREADABLE]", "cannot be listed", "mount")
NOT_FOUND = ("[SOURCE_NOT_FOUND]", "does not exist")


@dataclass(frozen=True, slots=True)
class Size:
    """Of one run of the row. Times in seconds; a stall is longer than what `StallWatch` takes for a busy loop."""

    good: int
    """Files beside those of the manifests and our own."""
    lease: float
    stall: float
    redis_away: float
    slow: float
    """How late each statement to Neo4j is."""
    slow_for: float
    embedding: float
    """How long the provider takes for a small file, so that the disturbances meet work."""
    switches: Mapping[str, str] = field(default_factory=dict[str, str])
    """Of workers."""


FULL = Size(good=277, lease=10.0, stall=20.0, redis_away=10.0, slow=25.0, slow_for=60.0, embedding=6.0)
# As in `neo4j-slow` a transaction of the graph ends sooner, and upkeep looks more often: a short slowness is met.
SHORT_FORM = Size(
    good=80, lease=2.0, stall=5.0, redis_away=2.0, slow=8.0, slow_for=6.0, embedding=11.0,
    switches={"CHAOS_GRAPH_WRITE_SECONDS": "2", "CHAOS_UPKEEP_SECONDS": "1"},
)  # fmt: skip
NAMED_SECONDS = 240.0
"""In which a worker comes to name the store that is away: a graph job waits behind the documents, so Neo4j is last."""


@dataclass(frozen=True, slots=True)
class MixedSource:
    """A folder of files of every kind, and how each must end."""

    folder: Path
    expected: list[Expected]
    own: Mapping[str, Hostile]
    good: int

    @property
    def count(self) -> int:
        return len(self.expected) + len(self.own) + self.good

    async def wrong(self, ground: Ground) -> list[str]:
        """Files that did not end as their table says: those that are not registered among them."""
        lines = [await wrong_end(ground, one) for one in self.expected]
        lines += [await wrong_own_end(ground, path, one) for path, one in self.own.items()]
        ready = await ground.value(
            "SELECT count(*) FROM rag_documents WHERE status = 'READY' AND source_path LIKE 'report-%'"
        )
        lost = [f"{self.good - ready} good files are not READY"] * (self.good - ready)
        return [*(line for line in lines if line), *lost]


async def disturbed_files(servers: Servers, short: bool) -> list[Row]:
    """500 mixed files; a process stalled, Redis away, Neo4j slow, the source emptied, unmounted and half removed."""
    size = SHORT_FORM if short else FULL
    source = _mixed_source(servers.home / f"mixed-{short}", size, short=short)
    wanted, _ = await clean_run(servers, source.folder, LONGEST_SECONDS)
    line = Line(await empty_neo4j(servers))
    await line.mend()
    settings = {
        "NEO4J_URI": line.url,
        "AGENTIC_RAG_PORT": "0",
        "AGENTIC_RAG_JOB_LEASE_SECONDS": str(size.lease),
        "AGENTIC_RAG_JOB_BACKOFF_MS": "200",
    }
    told = f"{source.count} mixed files on a bad day"
    try:
        async with new_ground(servers, **settings) as ground, crew(ground) as workers:
            ground.stub.otherwise = lambda one: Fault(delay_seconds=_seconds_for(one, size))
            day = BadDay(ground, workers, source, line, size, Remedies())
            await day.run()
            await ground.until_idle(LONGEST_SECONDS, poll=0.1)
            wrong = await source.wrong(ground)
            alive = len(workers.living)
            graph = await graph_row(told, ground)
            state = await end_state(told, ground, wanted, with_kinds=False)
    finally:
        await line.cut()
    for one in (*wrong, *day.remedies.wrong):
        print(f"    {one}")
    return [
        exactly(f"{told}: documents lost, or not as their table says", len(wrong), 0),
        Row(f"{told}: wrong remedies", f"{len(day.remedies.wrong)} of {day.remedies.looks}", "0",
            bool(day.remedies.looks) and not day.remedies.wrong),
        Row(f"{told}: disturbances in mid-ingest", f"{len(day.met)} of {len(DISTURBANCES)}: {_shown(day.met)}",
            "jobs under way at each", day.met.keys() == {*DISTURBANCES} and all(day.met.values())),
        exactly(f"{told}: workers still alive", alive, 2),
        state,
        graph,
    ]  # fmt: skip


def _mixed_source(folder: Path, size: Size, *, short: bool) -> MixedSource:
    corpus.small(folder, size.good)
    expected = expected_files(short=short)
    write_shared(folder, expected)
    return MixedSource(folder, expected, write_own(folder / "own", short=short), size.good)


def _question(number: int) -> str:
    return f"Which edition of the {corpus.word(number)} gauge was read twice?"


def _seconds_for(asked: Received, size: Size) -> float:
    """How late a request for embeddings is answered: that of a question, that of a small file, and others at once."""
    texts = asked.body["input"]
    if {_question(number) for number in range(QUESTIONS + 1)} & {*texts}:
        return 0.5
    return size.embedding if len(texts) <= FEW_TEXTS else 0.0


def _shown(met: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {jobs}" for name, jobs in met.items())


def _blames_nothing(reply: dict[str, Any]) -> bool:
    """Whether it is an answer that names nothing as missing but the graph, which is behind while documents come in."""
    answer = (reply.get("data") or {}).get("ragAnswer")
    return bool(answer) and not answer["userErrors"] and not {*answer["degraded"]} - {"GRAPH"}


@dataclass
class BadDay:
    """The disturbances, each in mid-ingest after its share of the documents."""

    ground: Ground
    workers: Crew
    source: MixedSource
    line: Line
    size: Size
    remedies: Remedies
    met: dict[str, int] = field(default_factory=dict[str, int])
    """Unfinished ingestions when each disturbance began."""

    async def run(self) -> None:
        assert (await self._ingest())[0] == 0
        self.workers.start((), **self.size.switches)
        self.workers.start((), **self.size.switches)
        disturbances = (self._stall, self._redis_away, self._emptied, self._unmounted, self._halved, self._neo4j_slow)
        for number, (name, disturb) in enumerate(zip(DISTURBANCES, disturbances, strict=True), start=1):
            await self._until_ended(self.source.count * number // (len(disturbances) + 2))
            await disturb(name)
            self.remedies.nothing(f"after: {name}", await self._doctor())

    async def _strike(self, name: str) -> None:
        """Note how many documents are under way when a disturbance begins."""
        self.met[name] = await self.ground.value(
            "SELECT count(*) FROM rag_jobs WHERE kind = 'ingest' AND state IN ('QUEUED', 'RUNNING')"
        )

    async def _stall(self, name: str) -> None:
        """A worker and a server get no processor time: nobody says that something is away."""
        before = await self._messages()
        worker = self.workers.living[0]
        async with started_server(self.ground) as server:
            asked = [asyncio.create_task(self._ask(server.port, number)) for number in range(QUESTIONS)]
            await until(self._is_embedding, "a question is under way")
            await self._strike(name)
            for number in (signal.SIGSTOP, signal.SIGCONT):
                worker.send(number)
                server.process.send_signal(number)
                if number is signal.SIGSTOP:
                    await asyncio.sleep(self.size.stall)  # the stall itself
            for answer in await asyncio.gather(*asked):
                self.remedies.judge("a server stalled", str(answer), right=_blames_nothing(answer))
        await self._until_ended(await self._ended() + 1)
        self.remedies.blames("a worker stalled", await self._told_since(before))

    async def _ask(self, port: int, number: int) -> dict[str, Any]:
        """The reply to a question, which may take as long as the stall."""
        asked = {"workspaceId": encode_workspace(self.ground.workspace.workspace_id), "question": _question(number)}
        async with httpx2.AsyncClient(timeout=self.size.stall + 60, trust_env=False) as http:
            reply = await http.post(
                f"http://127.0.0.1:{port}/graphql",
                json={"query": ASK, "variables": {"input": asked}},
                headers={"Authorization": f"Bearer {TOKEN}"},
            )
        return reply.json()

    async def _is_embedding(self) -> bool:
        return any(_question(number) in self.ground.paid() for number in range(QUESTIONS))

    async def _redis_away(self, name: str) -> None:
        before = await self._messages()
        stack = self.ground.servers.stack
        assert isinstance(stack, EmbeddedStack)
        await self._strike(name)
        stack.redis.stop()
        self.remedies.only("Redis away", await self._doctor(), "redis: [REDIS_UNREACHABLE] Start the server")
        await asyncio.sleep(self.size.redis_away)  # the outage itself
        await self._until_named("Redis", before)
        stack.redis.start()
        await self._until_ended(await self._ended() + 1)
        self.remedies.blames("Redis away", await self._told_since(before), "Redis")

    async def _neo4j_slow(self, name: str) -> None:
        before = await self._messages()
        await self._strike(name)
        self.line.slow(self.size.slow)
        self.remedies.only("Neo4j slow, answers", await self._degraded(), "GRAPH")
        self.remedies.only("Neo4j slow, rag doctor", await self._doctor(), "neo4j: [TIMEOUT] See the load")
        await asyncio.sleep(self.size.slow_for)  # the disturbance itself
        await self._until_named("Neo4j", before)
        await self.line.mend()
        self.remedies.blames("Neo4j slow", await self._told_since(before), "Neo4j")

    async def _emptied(self, name: str) -> None:
        """The place of a mount, without what was mounted there."""
        await self._strike(name)
        async with self._taken_away([*self.source.folder.iterdir()]):
            await self._refused("source emptied", *SHRANK)

    async def _unmounted(self, name: str) -> None:
        """The place is gone too; then it is there and does not answer, as a mount whose server died."""
        await self._strike(name)
        folder = self.source.folder
        away = folder.rename(folder.with_name(f"{folder.name}-away"))
        await self._refused("source unmounted", *NOT_FOUND)
        folder.symlink_to("n" * 300)
        await self._refused("source that does not answer", *SILENT)
        folder.unlink()
        away.rename(folder)

    async def _halved(self, name: str) -> None:
        """Refused; then confirmed, which hides what is gone; then it comes back."""
        await self._strike(name)
        half = sorted(self.source.folder.glob("report-*"))[::2]
        half += sorted(path for path in self.source.folder.glob("*/*") if path.is_file())[::2]
        async with self._taken_away(half):
            await self._refused("source half removed", *SHRANK)
            code, told = await self._ingest("--delete-missing")
            hidden = await self._hidden()
            right = code in INGESTED and hidden > 0
            self.remedies.judge("half removed, confirmed", f"exit code {code}, {hidden} hidden {told}", right=right)
        code, told = await self._ingest()
        left = await self._hidden()
        right = code in INGESTED and not left
        self.remedies.judge("half removed, back", f"exit code {code}, {left} hidden {told}", right=right)

    async def _refused(self, when: str, *words: str) -> None:
        """Nothing changes, and the remedy names the cause."""
        held, hidden = await self._held(), await self._hidden()
        code, told = await self._ingest()
        self.remedies.told(when, told, *words)
        unchanged = (held, hidden) == (await self._held(), await self._hidden())
        self.remedies.judge(when, f"exit code {code}, {await self._hidden()} hidden", right=code != 0 and unchanged)

    @asynccontextmanager
    async def _taken_away(self, entries: list[Path]) -> AsyncIterator[None]:
        """Without these for a while."""
        away = self.source.folder.with_name(f"{self.source.folder.name}-away")
        moved = {entry: away / entry.relative_to(self.source.folder) for entry in entries}
        for entry, place in moved.items():
            place.parent.mkdir(parents=True, exist_ok=True)
            entry.rename(place)
        try:
            yield
        finally:
            for entry, place in moved.items():
                place.rename(entry)
            shutil.rmtree(away)

    async def _ended(self) -> int:
        return await self.ground.value("SELECT count(*) FROM rag_documents WHERE status IN ('READY', 'FAILED')")

    async def _held(self) -> int:
        return await self.ground.value("SELECT count(*) FROM rag_documents")

    async def _hidden(self) -> int:
        """Documents whose erasure waits for the end of the grace."""
        return await self.ground.value(
            "SELECT count(*) FROM rag_jobs WHERE kind = 'delete' AND state IN ('QUEUED', 'RUNNING')"
        )

    async def _until_ended(self, count: int) -> None:
        async def there() -> bool:
            return await self._ended() >= min(count, self.source.count) or not await self.ground.unfinished()

        await until(there, f"{count} documents have ended", LONGEST_SECONDS, poll=0.1)

    async def _until_named(self, store: str, before: Counter[str]) -> None:
        """A worker that holds all that it may asks Redis and Neo4j nothing. What is named in vain is judged later."""

        async def named() -> bool:
            return any(store in blamed(line) for line in await self._told_since(before))

        with contextlib.suppress(AssertionError):
            await until(named, f"{store} is named", NAMED_SECONDS, poll=0.1)

    async def _told_since(self, before: Counter[str]) -> list[str]:
        return [*(await self._messages() - before)]

    async def _messages(self) -> Counter[str]:
        """What workers told so far: the warnings in their logs, the errors of attempts."""
        attempts = await self.ground.rows(
            "SELECT error_code, error_chain FROM rag_job_attempts WHERE error_code IS NOT NULL"
        )
        return warnings([worker.log for worker in self.workers.members], attempts)

    async def _ingest(self, *options: str) -> tuple[int, str]:
        name = str(self.ground.workspace.workspace_id)
        return await self._rag("ingest", str(self.source.folder), "-w", name, "--no-wait", *options)

    async def _doctor(self) -> str:
        """What `rag doctor` says that is wrong, a check a line; "nothing" when all is well."""
        checks: list[dict[str, Any]] = json.loads((await self._run("doctor", "--json")).stdout)
        found = [check for check in checks if check["status"] in ("failed", "degraded")]
        return "\n".join(f"{check['name']}: [{check['code']}] {check['remedy']}" for check in found) or NOTHING

    async def _rag(self, *words: str) -> tuple[int, str]:
        """Exit code of a command, and what it prints on both streams."""
        ran = await self._run(*words)
        return ran.returncode, (ran.stdout + ran.stderr).decode(errors="replace")

    async def _run(self, *words: str) -> CompletedProcess[bytes]:
        command = [sys.executable, "-m", "agentic_rag_cli", *words]
        return await asyncio.to_thread(programs.run, command, env=self.ground.environment(), cwd=ROOT)

    async def _degraded(self) -> str:
        """The dependencies whose absence an answer tells."""
        principal = await self.ground.container.server_identity.authenticate(TOKEN)
        question = Question(self.ground.workspace, _question(QUESTIONS))
        run = await self.ground.container.answer.ask(principal, question)
        return " ".join(one.value for one in run.answer.degraded) or NOTHING
