"""What `rag up` waits for before it says that all runs: an earlier worker's port, and what server and worker need."""

from __future__ import annotations

import asyncio
import socket

import httpx2
import pytest

from agentic_rag.embedded.loopback import HOST, is_free
from agentic_rag.settings import Settings
from agentic_rag_cli.processes.local_programs import can_work, wait_for_earlier_worker


def listening() -> socket.socket:
    held = socket.socket()
    held.bind((HOST, 0))
    held.listen()
    return held


async def test_a_start_waits_for_the_worker_of_an_earlier_one_and_says_so() -> None:
    held = listening()
    port = held.getsockname()[1]
    said: list[str] = []

    def say(name: str, line: str) -> None:
        said.append(f"{name}: {line}")
        asyncio.get_running_loop().call_soon(held.close)

    await wait_for_earlier_worker(Settings().change(jobs={"metrics_port": port, "drain_seconds": 60}), say)

    assert is_free(port)
    assert [str(port) in line for line in said] == [True]


async def test_a_free_port_is_not_waited_for() -> None:
    held = listening()
    port = held.getsockname()[1]
    held.close()
    said: list[str] = []

    await wait_for_earlier_worker(Settings().change(jobs={"metrics_port": port}), lambda _, line: said.append(line))

    assert said == []


@pytest.mark.parametrize(
    ("name", "status", "waits"),
    [("redis", "degraded", True), ("blobs", "degraded", True), ("neo4j", "degraded", False), ("redis", "ok", False)],
)
def test_up_waits_for_what_its_worker_needs_though_the_server_is_ready(name: str, status: str, waits: bool) -> None:
    checks = [{"name": "postgres", "status": "ok"}, {"name": name, "status": status}]

    assert can_work(httpx2.Response(200, json={"status": "ready", "checks": checks})) is not waits


def test_up_waits_for_a_server_that_is_not_ready() -> None:
    assert not can_work(httpx2.Response(503, json={"status": "not_ready", "checks": []}))
