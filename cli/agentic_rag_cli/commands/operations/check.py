"""A finding of `rag doctor`."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from agentic_rag.kernel.formatting import format_count
from agentic_rag_cli.commands.operations.daemon_threads import DaemonThreads
from agentic_rag_cli.exits import PRODUCT_ERRORS

ANSWER_SECONDS = 5
"""For one answer of a server."""
CHECK_SECONDS = 4.0 * ANSWER_SECONDS
"""For a check, whatever it waits for."""
SILENT = "TIMEOUT"
"""Code of a check that did not end."""
DISKS = "See whether the disks of AGENTIC_RAG_HOME and of the originals answer (a network disk whose server is away)."
_SERVERS = "See the logs of the servers."
_ENDING_SECONDS = 1.0
"""For what a check that is given up still has to close."""
_BUSY = 2
"""Processes that run or wait to, by core, from which on a check that does not end says nothing of the servers."""

OK, DEGRADED, FAILED, SKIPPED = "ok", "degraded", "failed", "skipped"


@dataclass(frozen=True, slots=True)
class Check:
    """One finding. `remedy` says how to fix a failure."""

    name: str
    status: str
    detail: str
    code: str | None = None
    remedy: str | None = None


def ok(name: str, detail: str) -> Check:
    """A passed check."""
    return Check(name, OK, detail)


def failure(name: str, code: str, detail: str, remedy: str) -> Check:
    """A failure that a person must fix."""
    return Check(name, FAILED, detail, code, remedy)


async def attempt(
    name: str, check: Callable[[], Awaitable[Check]], remedy: str = _SERVERS, *, is_excused: bool = True
) -> Check:
    """A check that may raise errors of the product, or not end: `remedy` is what is to be done then. A machine with too
    much to do is its excuse, but for one that waits for a disk: waits for a disk that hangs are counted as load.
    """

    async def one() -> list[Check]:
        return [await check()]

    (found,) = await attempt_all(name, one, remedy, is_excused=is_excused)
    return found


async def attempt_all(
    name: str, check: Callable[[], Awaitable[list[Check]]], remedy: str = _SERVERS, *, is_excused: bool = True
) -> list[Check]:
    """As `attempt`, of what finds several things. One such attempt holds no other: their limits are the same."""
    running = asyncio.ensure_future(check())
    try:
        ended, _ = await asyncio.wait({running}, timeout=CHECK_SECONDS)
    finally:
        running.cancel()
    if not ended:
        # What it has to close may hang on the same server.
        await asyncio.wait({running}, timeout=_ENDING_SECONDS)
        return [judge_silence(name, os.getloadavg()[0] if is_excused else 0.0, os.cpu_count() or 1, remedy)]
    try:
        return running.result()
    except PRODUCT_ERRORS as error:
        return [failure(name, error.code, getattr(error, "reason", "") or "refused", error.message)]
    except TimeoutError as error:
        return [failure(name, SILENT, str(error) or "an answer that it waits for does not come", remedy)]


async def attempt_aside(
    name: str, look: Callable[[], Check], remedy: str = DISKS, *, is_excused: bool = False
) -> Check:
    """As `attempt`, of a look that blocks its thread, mostly at a disk: nobody waits for the thread of one that
    hangs.
    """

    async def told() -> Check:
        return await asyncio.get_running_loop().run_in_executor(DaemonThreads(), look)

    return await attempt(name, told, remedy, is_excused=is_excused)


def judge_silence(name: str, load: float, cores: int, remedy: str = _SERVERS) -> Check:
    """What a check means that did not end: of servers that answered before, on a machine with more to do than cores, it
    says nothing.
    """
    silence = f"no answer within {CHECK_SECONDS:g} s"
    if load <= _BUSY * cores:
        return failure(name, SILENT, silence, remedy)
    told = f"{silence} from a machine with a load of {load:.0f} on {format_count(cores, 'core')}"
    return Check(name, DEGRADED, told, "MACHINE_BUSY", "Run `rag doctor` again when the machine has less to do.")
