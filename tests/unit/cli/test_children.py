"""Child processes: named output, the tail of a dead one, nothing left behind."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys

import pytest

from agentic_rag_cli.processes.children import ChildDied, Children, silent

OBEDIENT = (
    "from agentic_rag_cli.processes.children import stop_with_parent; stop_with_parent(); import signal; signal.pause()"
)


@pytest.mark.slow
async def test_a_child_that_dies_ends_the_work_with_the_tail_of_its_log() -> None:
    lines: list[tuple[str, str]] = []

    async with Children(lambda name, line: lines.append((name, line)), 5) as children:
        await children.start("worker", ("config", "shew"), {})
        with pytest.raises(ChildDied) as died:
            await children.guard(asyncio.Event().wait())

    assert "The worker ended with exit code 2" in died.value.message
    assert "shew" in died.value.message
    assert ("worker", lines[-1][1]) == lines[-1]


async def test_work_that_ends_first_wins() -> None:
    async def work() -> int:
        return 7

    async with Children(silent, 5) as children:
        assert await children.guard(work()) == 7


async def test_errors_of_the_work_come_through_unchanged() -> None:
    async def work() -> None:
        raise KeyError("mine")

    async with Children(silent, 5) as children:
        with pytest.raises(KeyError, match="mine"):
            await children.guard(work())


@pytest.mark.slow
def test_a_child_ends_when_its_parent_is_gone() -> None:
    read_end, write_end = os.pipe()
    child = subprocess.Popen([sys.executable, "-c", OBEDIENT], stdin=read_end)
    os.close(read_end)

    os.close(write_end)

    assert child.wait(20) == -signal.SIGTERM
