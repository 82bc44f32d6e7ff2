"""Answers kept as files: what clients of the REST façades were promised, byte for byte but for trace ids."""

import json
from pathlib import Path
from typing import Any

import httpx2

ROOT = Path(__file__).parent / "golden"
HEADERS = ("cache-control", "content-type", "idempotency-replayed", "link", "retry-after", "www-authenticate")


def seen(response: httpx2.Response) -> dict[str, Any]:
    """Status, the headers that clients may rely on, and the body."""
    body = response.json()
    if "error" in body:
        assert len(body["error"]["traceId"]) == 32
        body["error"]["traceId"] = "(trace id)"
    headers = {name: response.headers[name] for name in HEADERS if name in response.headers}
    return {"status": response.status_code, "headers": headers, "body": body}


def golden(name: str) -> dict[str, Any]:
    """The kept answer of that name, for instance `guidelines/upload`."""
    kept: dict[str, Any] = json.loads((ROOT / f"{name}.json").read_text())
    return kept
