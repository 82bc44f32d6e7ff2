"""Which versions of the product a schema serves: a newer one says it by its function `rag_serves_since`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

_SAYS_WHOM_IT_SERVES = "SELECT to_regproc('public.rag_serves_since') IS NOT NULL"
_SERVES_SINCE = "SELECT rag_serves_since()"


async def is_served(fetch_value: Callable[[str], Awaitable[Any]], head: str) -> bool:
    """Whether a newer schema serves the version whose newest revision is `head`. `fetch_value` runs a statement and
    returns its one value.
    """
    if not await fetch_value(_SAYS_WHOM_IT_SERVES):
        return False
    since: str | None = await fetch_value(_SERVES_SINCE)
    return since is not None and since <= head
