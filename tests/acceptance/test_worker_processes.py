"""`rag worker --processes`: a killed child comes back, one signal drains all."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import httpx2
import pytest
from tests.programs import PYTHONPATH, Program
from tests.stack import open_home

from agentic_rag.embedded.loopback import free_port
from agentic_rag.settings import Settings
from agentic_rag_cli.processes.children import ChildDied
from agentic_rag_cli.processes.supervisor import RestartPolicy, supervise

pytestmark = [pytest.mark.integration, pytest.mark.network]


def eventually(condition: Callable[[], bool], what: str, seconds: float = 40.0) -> None:
    ends = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < ends, f"not within {seconds:g} s: {what}"
        time.sleep(0.05)


def alive(port: int) -> bool:
    try:
        return httpx2.get(f"http://127.0.0.1:{port}/healthz", timeout=1).status_code == 200
    except httpx2.HTTPError:
        return False


def children_of(pid: int) -> set[int]:
    listed = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return {int(child) for child in listed}


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="component: needs /proc to find the children")
def test_a_killed_process_is_started_again_and_one_signal_stops_all(migrated_url: str, redis_url: str) -> None:
    port = free_port()
    while not _is_free(port + 1):
        port = free_port()
    supervisor = Program(
        [sys.executable, "-m", "agentic_rag_cli", "worker", "--processes", "2"],
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": PYTHONPATH,
            "DATABASE_URL": migrated_url,
            "REDIS_URL": redis_url,
            "AGENTIC_RAG_HOME": str(open_home("workers-")),
            "AGENTIC_RAG_WORKER_METRICS_PORT": str(port),
            "AGENTIC_RAG_DRAIN_SECONDS": "2",
        },
        stderr=subprocess.PIPE,
    )
    try:
        eventually(lambda: alive(port) and alive(port + 1), "both answer")
        before = children_of(supervisor.pid)
        assert len(before) == 2
        victim = min(before)
        os.kill(victim, signal.SIGKILL)
        eventually(lambda: len(children_of(supervisor.pid) - before) == 1, "another took its place")
        eventually(lambda: alive(port) and alive(port + 1), "both answer again")
        everyone = children_of(supervisor.pid)
    finally:
        supervisor.send_signal(signal.SIGTERM)
        began = time.monotonic()
        _, told = supervisor.communicate(timeout=30)

    assert supervisor.returncode == 0
    assert time.monotonic() - began <= 2 + 2 + 3, "the grace, what an idle worker needs, and a busy machine"
    assert b"starting it again" in told
    assert not any(Path(f"/proc/{pid}").exists() for pid in everyone)


async def test_a_child_that_cannot_live_ends_the_supervision_with_its_last_words() -> None:
    settings = Settings().change(stores={"database_url": "postgresql://x", "redis_url": "redis://x"})
    policy = RestartPolicy(first_pause=0.01, early_deaths=2)

    with pytest.raises(ChildDied) as died:
        await asyncio.wait_for(
            supervise(settings, 1, lambda _, __: None, arguments=("config", "shew"), policy=policy), 60
        )

    assert "shew" in died.value.message


async def test_a_child_that_cannot_be_started_ends_the_supervision_with_the_reason() -> None:
    settings = Settings().change(stores={"database_url": "postgresql://x", "redis_url": "redis://x"})

    with pytest.raises(ValueError, match="null byte"):
        await asyncio.wait_for(supervise(settings, 1, lambda _, __: None, arguments=("worker\0",)), 60)


def _is_free(port: int) -> bool:
    return not alive(port)
