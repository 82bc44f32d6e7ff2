"""`rag serve --processes`: one port, one view of the figures; a killed process comes back, and no request is lost."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx2
import pytest
from tests.programs import PYTHONPATH, Program
from tests.stack import open_home
from tests.waiting import wait_until

from agentic_rag.bootstrap.stores import SMALL_READ_CONNECTIONS
from agentic_rag.embedded.loopback import free_port

pytestmark = [
    pytest.mark.integration,
    pytest.mark.network,
    pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="component: needs /proc to find the children"),
]

PROCESSES = 2


class Servers:
    """The supervisor and its address."""

    def __init__(self, database: str, redis: str) -> None:
        self.url = f"http://127.0.0.1:{free_port()}"
        self.program = Program(
            [sys.executable, "-m", "agentic_rag_cli", "serve", "--processes", str(PROCESSES)],
            env={
                "PATH": os.environ["PATH"],
                "PYTHONPATH": PYTHONPATH,
                "DATABASE_URL": database,
                "REDIS_URL": redis,
                "AGENTIC_RAG_HOME": str(open_home("servers-")),
                "AGENTIC_RAG_ENABLED": "true",
                "AGENTIC_RAG_PORT": self.url.rpartition(":")[2],
                "AGENTIC_RAG_DRAIN_SECONDS": "5",
                "RAG_EMBEDDER": "deterministic",
            },
            stderr=subprocess.PIPE,
        )

    def children(self) -> set[int]:
        listed = Path(f"/proc/{self.program.pid}/task/{self.program.pid}/children").read_text().split()
        return {int(child) for child in listed}

    def get(self, path: str) -> httpx2.Response:
        """The answer on a connection of its own."""
        return httpx2.get(self.url + path, timeout=10, headers={"connection": "close"})

    def figure(self, pattern: str) -> float:
        """A figure of /metrics."""
        [found] = re.findall(rf"^{pattern} (\S+)$", self.get("/metrics").text, re.MULTILINE)
        return float(found)

    def serving(self) -> set[int]:
        """The children that have the port open and finished their start: each shares its figures."""
        return {child for child in self.children() if _metric_files(child)}

    def stop(self) -> bytes:
        """End all, and what they told."""
        self.program.send_signal(signal.SIGTERM)
        _, told = self.program.communicate(timeout=60)
        return told or b""


def _metric_files(pid: int) -> list[str]:
    """The files of figures that a process has open; none of one that ends while it is looked at."""
    opened: list[str] = []
    try:
        for one in Path(f"/proc/{pid}/fd").iterdir():
            # A file may be closed between the two looks.
            with suppress(FileNotFoundError):
                opened.append(os.readlink(one))
    except (FileNotFoundError, ProcessLookupError):
        return []
    return [one for one in opened if "agentic-rag-metrics" in one]


@pytest.fixture(scope="module")
def servers(migrated_url: str, redis_url: str) -> Iterator[Servers]:
    """For all tests that leave as many processes as they found."""
    with started(migrated_url, redis_url) as servers:
        yield servers


@contextmanager
def started(database: str, redis: str) -> Iterator[Servers]:
    servers = Servers(database, redis)
    try:
        wait_until(lambda: _is_up(servers), "it answers", seconds=60)
        yield servers
    finally:
        if servers.program.poll() is None:
            servers.stop()


def _is_up(servers: Servers) -> bool:
    try:
        return servers.get("/readyz").status_code == 200 and len(servers.serving()) == PROCESSES
    except (httpx2.HTTPError, OSError):
        return False


def replace_one(servers: Servers) -> None:
    """Kill a process; another has taken its place."""
    killed = min(servers.serving())
    os.kill(killed, signal.SIGKILL)
    wait_until(lambda: killed not in servers.children() and _is_up(servers), "another takes its place", seconds=60)


HEALTH = r'rag_http_request_seconds_count\{route="/healthz",status="200"\}'


def test_each_process_tells_the_figures_of_all(servers: Servers) -> None:
    for _ in range(20):
        assert servers.get("/healthz").status_code == 200

    # A request is counted when its reply is on its way. No other test of these servers asks for it.
    wait_until(lambda: {servers.figure(HEALTH) for _ in range(10)} == {20}, "each process tells all of them")


def test_connections_to_the_database_are_those_of_all_processes(servers: Servers) -> None:
    most = re.escape('rag_database_connections_max{pool="small_reads"}')

    wait_until(lambda: servers.figure(most) == SMALL_READ_CONNECTIONS * PROCESSES, "each tells its own")
    replace_one(servers)
    wait_until(lambda: servers.figure(most) == SMALL_READ_CONNECTIONS * PROCESSES, "the dead one has none")


def memory_of(pid: int) -> int:
    """Bytes of it that are in memory."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_memory_is_that_of_all_processes_and_the_start_that_of_the_last(servers: Servers) -> None:
    alive = servers.serving()
    told, started = (servers.figure(f"process_{name}") for name in ("resident_memory_bytes", "start_time_seconds"))

    assert told == pytest.approx(sum(map(memory_of, alive)), rel=0.2)
    assert len(alive) == PROCESSES
    replace_one(servers)
    wait_until(lambda: servers.figure("process_start_time_seconds") > started, "its figures are those of the new one")


def test_a_killed_process_comes_back_and_a_stop_loses_no_request(migrated_url: str, redis_url: str) -> None:
    with started(migrated_url, redis_url) as servers:
        stop_while_they_are_asked(servers)


def stop_while_they_are_asked(servers: Servers) -> None:
    before = servers.children()
    os.kill(min(before), signal.SIGKILL)
    wait_until(lambda: len(servers.serving() - before) == 1, "another takes its place", seconds=60)
    everyone = servers.children()
    told: Counter[str] = Counter()
    stopping = threading.Event()

    def ask() -> None:
        with httpx2.Client(base_url=servers.url, timeout=20) as client:
            while True:
                was_told = stopping.is_set()
                try:
                    told[str(client.get("/healthz").status_code)] += 1
                except httpx2.ConnectError:
                    # Refused: a balancer tries another server.
                    return
                except httpx2.HTTPError as error:
                    told[f"{type(error).__name__} {was_told}"] += 1
                    return

    askers = [threading.Thread(target=ask) for _ in range(8)]
    for asker in askers:
        asker.start()
    wait_until(lambda: told["200"] > 100, "they are busy")
    stopping.set()
    said = servers.stop()
    for asker in askers:
        asker.join()

    assert set(told) == {"200"}
    assert servers.program.returncode == 0
    assert b"starting it again" in said
    assert not any(Path(f"/proc/{pid}").exists() for pid in everyone)
