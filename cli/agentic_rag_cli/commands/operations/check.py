"""A finding of `rag doctor`."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from agentic_rag.kernel.formatting import format_count
from agentic_rag_cli.exits import PRODUCT_ERRORS

ANSWER_SECONDS = 5
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


async def attempt(name: str, check: Callable[[], Awaitable[Check]]) -> Check:
    """A check that may raise errors of the product, or not end."""
    try:
        return await asyncio.wait_for(check(), 4 * ANSWER_SECONDS)
    except PRODUCT_ERRORS as error:
        return failure(name, error.code, getattr(error, "reason", "") or "refused", error.message)
    except TimeoutError:
        return judge_silence(name, os.getloadavg()[0], os.cpu_count() or 1)


def judge_silence(name: str, load: float, cores: int) -> Check:
    """What a check means that did not end: of servers that answered before, on a machine with more to do than cores, it
    says nothing.
    """
    seconds = 4 * ANSWER_SECONDS
    if load <= _BUSY * cores:
        return failure(name, "TIMEOUT", f"no answer within {seconds} s", "See the logs of the servers.")
    told = f"no answer within {seconds} s from a machine with a load of {load:.0f} on {format_count(cores, 'core')}"
    return Check(name, DEGRADED, told, "MACHINE_BUSY", "Run `rag doctor` again when the machine has less to do.")
