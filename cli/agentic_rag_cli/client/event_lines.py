"""Reads server-sent events as graphql-sse writes them: `event` and `data`, one line each."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any


async def read_events(lines: AsyncIterator[str]) -> AsyncGenerator[dict[str, Any]]:
    """The results of an operation, until its `complete`. A stream that breaks off before ends in silence: whoever
    waits for a last event notices.
    """
    kind = ""
    async for line in lines:
        name, _, value = line.partition(":")
        if name == "event":
            kind = value.strip()
            if kind == "complete":
                return
        elif name == "data" and kind == "next":
            yield json.loads(value)
