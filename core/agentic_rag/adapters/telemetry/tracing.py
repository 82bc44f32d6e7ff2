"""Spans: ids for logs, runs and jobs; with a collector, the spans themselves."""

from __future__ import annotations

import os
import random
import re
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from contextvars import ContextVar, Token
from dataclasses import dataclass
from types import MappingProxyType, TracebackType

from agentic_rag.kernel.errors import AgenticRagError

Attributes = Mapping[str, str | int | float | bool]

NO_IDS: Mapping[str, str] = MappingProxyType({})
TRACEPARENT = "traceparent"
_PATTERN = re.compile(r"(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?")


def _random_hex(size: int) -> str:
    return f"{max(1, int.from_bytes(os.urandom(size), 'big')):0{2 * size}x}"


class LightSpan:
    """A span that exists only as ids in the current context; its attributes are discarded. Its own id is created when
    it is first passed on: most spans' ids never are.
    """

    __slots__ = ("_sampled", "_span_id", "_token", "_trace_id")

    def __init__(self, trace_id: str, *, sampled: bool = True) -> None:
        self._trace_id = trace_id
        self._sampled = sampled
        self._span_id = ""
        self._token: Token[LightSpan | None] | None = None

    def set(self, name: str, value: str | int | float | bool) -> None:
        """Discards the attribute: no collector receives it."""

    def discard(self) -> None:
        """No collector receives it anyway."""

    @property
    def trace_id(self) -> str:
        return self._trace_id

    @property
    def sampled(self) -> bool:
        """Whether the origin of the trace records it."""
        return self._sampled

    @property
    def span_id(self) -> str:
        """16 hex digits."""
        # Unlike the id of a trace it leads to nothing: it need not be hard to guess.
        self._span_id = self._span_id or f"{random.getrandbits(64) or 1:016x}"
        return self._span_id

    @property
    def context(self) -> TraceContext:
        """The ids of the span."""
        return TraceContext(self._trace_id, self.span_id, self._sampled)

    def __enter__(self) -> LightSpan:
        self._token = _current.set(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._token is not None:
            _current.reset(self._token)
            # It refers to the context, and so to all that the request had at hand, until the span is exported.
            self._token = None


_current: ContextVar[LightSpan | None] = ContextVar("agentic_rag_span", default=None)


class RecordedSpan(LightSpan):
    """A span that is exported when it ends. An exception sets the error's code or class on it, never its message."""

    __slots__ = ("_is_discarded", "_record", "attributes", "began", "ended", "has_failed", "name", "parent_id")

    def __init__(
        self,
        trace_id: str,
        name: str,
        attributes: dict[str, str | int | float | bool],
        parent_id: str,
        record: Record,
    ) -> None:
        """`attributes` become the span's own."""
        super().__init__(trace_id)
        self.name = name
        self.attributes = attributes
        self.parent_id = parent_id
        """Empty for the root of a trace."""
        self.began = self.ended = 0
        """Nanoseconds since 1970."""
        self.has_failed = False
        self._is_discarded = False
        self._record = record

    def set(self, name: str, value: str | int | float | bool) -> None:
        self.attributes[name] = value

    def discard(self) -> None:
        # Only what was passed on has an id: no other span, record or job refers to one without.
        self._is_discarded = not self._span_id

    def __enter__(self) -> RecordedSpan:
        super().__enter__()
        self.began = time.time_ns()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        super().__exit__(kind, error, trace)
        self.ended = time.time_ns()
        if error is not None:
            self.has_failed = True
            self.attributes["error.type"] = error.code if isinstance(error, AgenticRagError) else type(error).__name__
        if not self._is_discarded:
            self._record(self)


Record = Callable[[RecordedSpan], None]


@dataclass(frozen=True, slots=True)
class Sampler:
    """Chooses traces, as OTEL_TRACES_SAMPLER and its argument name it."""

    name: str = "parentbased_always_on"
    share: float = 1.0

    def samples(self, trace_id: str, parent: LightSpan | TraceContext | None) -> bool:
        """Whether a span is recorded."""
        if parent is not None and self.name.startswith("parentbased_"):
            return parent.sampled
        match self.name.removeprefix("parentbased_"):
            case "always_on":
                return True
            case "always_off":
                return False
            case _:
                # By the random half of the id, so that every process chooses the same traces.
                return int(trace_id[16:], 16) < self.share * 2**64


class LightTracer:
    """Creates W3C ids and passes them on, so that logs, runs and jobs share a trace id without a collector. With
    `record`, the spans that the sampler chooses are handed to it when they end.
    """

    def __init__(self, sampler: Sampler | None = None, record: Record | None = None) -> None:
        self._sampler = sampler or Sampler()
        self._record = record

    def span(
        self,
        name: str,
        attributes: Attributes | None,
        carrier: Mapping[str, str] | None,
        ids: Mapping[str, str] = NO_IDS,
    ) -> AbstractContextManager[LightSpan]:
        """A child of the carrier's span, else of the current one, else the root of a new trace. `ids` are attributes
        too.
        """
        parent = read_carrier(carrier) or _current.get()
        trace_id = _random_hex(16) if parent is None else parent.trace_id
        if self._record is None:
            return LightSpan(trace_id, sampled=parent is None or parent.sampled)
        if not self._sampler.samples(trace_id, parent):
            return LightSpan(trace_id, sampled=False)
        told: dict[str, str | int | float | bool] = {**ids, **(attributes or {})}
        return RecordedSpan(trace_id, name, told, "" if parent is None else parent.span_id, self._record)

    def current(self) -> TraceContext | None:
        """The trace context of the running code."""
        span = _current.get()
        return None if span is None else span.context


def carrier_of(context: TraceContext | None) -> dict[str, str]:
    """The context as headers; empty outside any span."""
    return {TRACEPARENT: context.header()} if context else {}


@dataclass(frozen=True, slots=True)
class TraceContext:
    """Ids as lower-case hex: 32 digits for the trace, 16 for the span (W3C Trace Context, level 1, §3.2)."""

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
