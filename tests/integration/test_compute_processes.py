"""The pool of computing processes: small work stays, large work goes, and a killed parent leaves nobody behind."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.waiting import wait_until

from agentic_rag.adapters.system.compute import WORTH_A_PROCESS, ProcessCompute
from agentic_rag.kernel.errors import Retryable

PARENT = """
import asyncio, os
from agentic_rag.adapters.system.compute import ProcessCompute

async def main():
    compute = ProcessCompute(1)
    print(await compute.run(pid_of, 0, 1000), flush=True)
    await asyncio.sleep(3600)

def pid_of(_):
    return os.getpid()

if __name__ == "__main__":
    asyncio.run(main())
"""


def pid_of(_: int) -> int:
    return os.getpid()


def die(_: int) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def has_ended(pid: int) -> bool:
    try:
        return "State:\tZ" in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return True


@pytest.fixture(autouse=True)
def _importable_in_children(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path for path in sys.path if path))


async def test_small_work_stays_in_this_process_and_large_work_goes_to_another() -> None:
    compute = ProcessCompute(1)
    try:
        assert await compute.run(pid_of, 0, WORTH_A_PROCESS - 1) == os.getpid()
        assert await compute.run(pid_of, 0, WORTH_A_PROCESS) != os.getpid()
    finally:
        await compute.aclose()


async def test_without_processes_all_work_stays() -> None:
    compute = ProcessCompute(0)

    assert await compute.run(pid_of, 0, 10 * WORTH_A_PROCESS) == os.getpid()


async def test_a_killed_process_is_a_transient_fault_and_the_next_work_gets_a_new_one() -> None:
    compute = ProcessCompute(1)
    try:
        with pytest.raises(Retryable) as caught:
            await compute.run(die, 0, WORTH_A_PROCESS)
        assert caught.value.code == "COMPUTE_LOST"
        assert await compute.run(pid_of, 0, WORTH_A_PROCESS) != os.getpid()
    finally:
        await compute.aclose()


async def test_a_broken_pool_is_replaced_once_whatever_else_was_running_in_it() -> None:
    compute = ProcessCompute(1)

    async def again_at_once() -> int:
        with pytest.raises(Retryable):
            await compute.run(die, 0, WORTH_A_PROCESS)
        return await compute.run(pid_of, 0, WORTH_A_PROCESS)

    async def lost_too() -> None:
        with pytest.raises(Retryable):
            await compute.run(pid_of, 0, WORTH_A_PROCESS)

    try:
        successor, _ = await asyncio.gather(again_at_once(), lost_too())
        assert await compute.run(pid_of, 0, WORTH_A_PROCESS) == successor
    finally:
        await compute.aclose()


def test_processes_end_when_their_parent_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "parent.py"
    script.write_text(PARENT)
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())

        parent.kill()

        wait_until(lambda: has_ended(child), "the computing process ends")


async def test_what_computes_in_this_process_does_so_one_after_the_other() -> None:
    compute = ProcessCompute(0)
    beside_each_other: list[int] = []
    running = 0

    def count(_: int) -> None:
        nonlocal running
        running += 1
        beside_each_other.append(running)
        sum(range(200_000))  # longer than the interpreter leaves a thread alone
        running -= 1

    try:
        await asyncio.gather(*(compute.run(count, 0, 1) for _ in range(4)), compute.run_here(lambda: count(0)))
    finally:
        await compute.aclose()

    assert beside_each_other == [1] * 5
