"""`rag up` after a crash: its earlier worker may still hold the metrics port."""

from __future__ import annotations

import asyncio
import socket

from agentic_rag.embedded.loopback import HOST, is_free
from agentic_rag.settings import Settings
from agentic_rag_cli.processes.local_programs import wait_for_earlier_worker


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
