"""Tells whoever waits that the program waits too."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from time import monotonic

from agentic_rag_cli.output import terminal

LINE_SECONDS = 10.0
"""Between two lines, on a terminal and in a log."""


@asynccontextmanager
async def told_to_wait(what: str) -> AsyncIterator[None]:
    """Print `what` with the seconds so far every ten seconds until the block ends; nothing of a short one."""
    began = monotonic()

    async def tell() -> None:
        while True:
            await asyncio.sleep(LINE_SECONDS)
            terminal.clear_line()
            terminal.note(f"{what} ({monotonic() - began:.0f} s)")

    telling = asyncio.create_task(tell())
    try:
        yield
    finally:
        telling.cancel()
