"""The wire form of a trace context (W3C Trace Context, level 1, §3.2)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

TRACEPARENT = "traceparent"
_PATTERN = re.compile(r"(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?")


@dataclass(frozen=True, slots=True)
class TraceContext:
    """Ids as lower-case hex: 32 digits for the trace, 16 for the span."""

    trace_id: str
    span_id: str
    sampled: bool = True

    def header(self) -> str:
        """The value of `traceparent`."""
        return f"00-{self.trace_id}-{self.span_id}-{'01' if self.sampled else '00'}"


def read_carrier(carrier: Mapping[str, str] | None) -> TraceContext | None:
    """The context in a carrier; None if it has none or an invalid one."""
    found = _PATTERN.fullmatch(carrier.get(TRACEPARENT, "")) if carrier else None
    if found is None:
        return None
    trace_id, span_id, flags = found.group(1), found.group(2), int(found.group(3), 16)
    if not trace_id.strip("0") or not span_id.strip("0"):
        return None
    return TraceContext(trace_id, span_id, bool(flags & 1))
