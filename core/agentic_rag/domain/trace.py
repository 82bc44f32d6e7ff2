"""What a trace carrier says."""

from __future__ import annotations

import re
from collections.abc import Mapping

_TRACEPARENT = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}")


def trace_id_in(carrier: Mapping[str, str]) -> str | None:
    """The trace id of a W3C `traceparent` (32 hex digits); None when the carrier has none."""
    found = _TRACEPARENT.fullmatch(carrier.get("traceparent", ""))
    return None if found is None else found[1]
