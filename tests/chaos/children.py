"""Worker processes that are killed, stopped and told to end, by pid."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tests.chaos.ground import PATIENCE_SECONDS, ROOT, Ground, until
from tests.programs import Program


@dataclass(frozen=True, slots=True)
class Plan:
    """What a stepped worker does at a named step (see `worker_main`)."""

    step: str
    action: str = "hang"
    """hang: until told to go on; block: the whole event loop, for ever; die: SIGKILL itself; pause: `seconds`."""
    visits: tuple[int, int] = (1, 1_000_000)
    """The first and the last visit of the step that count, per process."""
    match: str = ""
    """Only for the document with this id; empty means any."""
    seconds: float = 0.0


@dataclass
class WorkerProcess:
    """A `rag worker`, or a stepped one."""

    process: subprocess.Popen[bytes]
    log: Path
    folder: Path
    started: float = field(default_factory=time.monotonic)

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def reached(self) -> int:
        """How many jobs this worker holds at its step."""
        return len(list(self.folder.glob("reached-*")))

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    def send(self, number: int) -> None:
        os.kill(self.pid, number)

    def kill(self) -> None:
        """kill -9, and wait until the process is gone."""
        self.process.kill()
        self.process.wait()

    def go_on(self) -> None:
        """Let everything that hangs at a step go on."""
        (self.folder / "go").touch()

    def hold_again(self) -> None:
        """Forget who reached its step, and let what reaches it from now on hang there."""
        (self.folder / "go").unlink()
        for reached in self.folder.glob("reached-*"):
            reached.unlink()

    async def until_reached(self, count: int = 1, seconds: float = PATIENCE_SECONDS) -> None:
        async def there() -> bool:
            if not self.alive and self.reached < count:
                raise AssertionError(f"worker {self.pid} ended with {self.process.returncode}: {self.tail()}")
            return self.reached >= count

        try:
            await until(there, f"worker {self.pid} reached its step", seconds, poll=0.005)
        except AssertionError as error:
            raise AssertionError(f"{error}: {self.tail()}") from None

    async def ended(self, seconds: float) -> float:
        """Seconds until the process was gone."""
        began = time.monotonic()
        await asyncio.to_thread(self.process.wait, seconds)
        return time.monotonic() - began

    def journal(self) -> list[dict[str, Any]]:
        """What a stepped worker wrote down: refused publishes and lost leases."""
        file = self.folder / "journal"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    def told(self, event: str) -> list[dict[str, Any]]:
        """The lines of its log that tell an event."""
        lines = (line for line in self.log.read_text("utf-8", "replace").splitlines() if line.startswith("{"))
        return [told for line in lines if (told := json.loads(line)).get("event") == event]

    def tail(self) -> str:
        return self.log.read_text("utf-8", "replace")[-1500:] if self.log.exists() else ""


@dataclass
class Crew:
    """The workers of one row; none outlives it."""

    ground: Ground
    members: list[WorkerProcess] = field(default_factory=list[WorkerProcess])

    def start(self, plans: Sequence[Plan] = (), **variables: str) -> WorkerProcess:
        """Start a worker; with plans, or a switch that users do not have, a stepped one."""
        number = len(self.members)
        folder = self.ground.home / f"worker-{number}"
        folder.mkdir()
        log = folder / "log"
        environment = self.ground.environment(**variables)
        command = [sys.executable, "-m", "agentic_rag_cli", "worker"]
        if plans or any(name.startswith("CHAOS_") and name != "CHAOS_MARK" for name in environment):
            command = [sys.executable, "-m", "tests.chaos.worker_main"]
            environment |= {"CHAOS_PLANS": json.dumps([asdict(plan) for plan in plans]), "CHAOS_FOLDER": str(folder)}
        with log.open("wb") as file:
            process = Program(command, env=environment, cwd=ROOT, stdout=file, stderr=file)
        worker = WorkerProcess(process, log, folder)
        self.members.append(worker)
        return worker

    @property
    def living(self) -> list[WorkerProcess]:
        return [worker for worker in self.members if worker.alive]

    async def stop(self, seconds: float = 30.0) -> None:
        """SIGTERM to all; the slow are killed."""
        living = self.living
        for worker in living:
            worker.send(signal.SIGCONT)
            worker.send(signal.SIGTERM)
        for worker in living:
            try:
                await worker.ended(seconds)
            except subprocess.TimeoutExpired:
                worker.kill()

    async def orphans(self, seconds: float = 10.0) -> int:
        """Processes of ended workers that are still there after they had time to notice."""

        async def none_left() -> bool:
            return not self.descendants()

        try:
            await until(none_left, "no process is left", seconds, poll=0.1)
        except AssertionError:
            return len(self.descendants())
        return 0

    def descendants(self) -> list[int]:
        """Processes that carry this row's mark (parsing children and the like); ours is not one of them."""
        found: list[int] = []
        wanted = f"CHAOS_MARK={self.ground.mark}".encode()
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                if wanted in (entry / "environ").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue
        return found


@asynccontextmanager
async def crew(ground: Ground) -> AsyncIterator[Crew]:
    """Workers that are ended with the block."""
    members = Crew(ground)
    try:
        yield members
    finally:
        for worker in members.living:
            worker.kill()
        for pid in members.descendants():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue


def worker_at_port(worker: WorkerProcess, port: int) -> bool:
    """Whether a worker process holds the TCP connection with this local port."""
    wanted = f":{port:04X}"
    inodes = {
        line.split()[9]
        for line in Path(f"/proc/{worker.pid}/net/tcp").read_text().splitlines()[1:]
        if line.split()[1].endswith(wanted)
    }
    for link in Path(f"/proc/{worker.pid}/fd").iterdir():
        try:
            if link.readlink().name.strip("socket:[]") in inodes:
                return True
        except OSError:
            continue
    return False
