"""What is told of the responses that a page of the web gave before its last one. Their bytes are originals too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from agentic_rag.ingestion.submit import CONTENT_PROVENANCE
from agentic_rag.web.page_paths import FETCHED_AT, RESPONSE_HEADERS

EARLIER_RESPONSES = "earlier_responses"
"""The provenance entry with a JSON object: by the SHA-256 of a response when it was last asked for, and its headers."""
MAX_EARLIER = 50
"""Responses that are told of; the bytes of all stay."""
MAX_HEADER = 1_000
"""Characters that are kept of a header's value."""


def short_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Headers as they are kept."""
    return {name: value[:MAX_HEADER] for name, value in headers.items()}


def tell_earlier(before: Mapping[str, str], content_hash: bytes) -> dict[str, str]:
    """The entry for a page with this provenance that now gave a response with this SHA-256; empty without an earlier
    one.
    """
    told = msgspec.json.decode(before.get(EARLIER_RESPONSES, "{}"), type=dict[str, dict[str, Any]])
    last = before.get(CONTENT_PROVENANCE)
    if last is not None and last != content_hash.hex():
        headers = msgspec.json.decode(before.get(RESPONSE_HEADERS, "{}"), type=dict[str, str])
        told.pop(last, None)
        told[last] = {FETCHED_AT: before.get(FETCHED_AT, ""), "headers": short_headers(headers)}
    kept = dict([*told.items()][-MAX_EARLIER:])
    return {EARLIER_RESPONSES: msgspec.json.encode(kept).decode()} if kept else {}
