"""Reads subscriptions of a server: the event that decides."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import httpx2


async def deciding_event(
    http: httpx2.AsyncClient, operation: Mapping[str, Any], headers: Mapping[str, str]
) -> tuple[int, dict[str, Any]]:
    """The status, and the body of a refusal, of the last event of an answer that is streamed, or of the first event of
    what has no end.
    """
    accepting = {**headers, "accept": "text/event-stream"}
    body: dict[str, Any] = {}
    async with http.stream("POST", "/graphql", json=operation, headers=accepting) as response:
        async for line in response.aiter_lines():
            if line.startswith(("data: {", "{")):
                body = json.loads(line.removeprefix("data: "))
                values = list((body.get("data") or {}).values())
                if body.get("errors") or (values and values[0].get("answer", values[0]) is not None):
                    break
    return response.status_code, body
