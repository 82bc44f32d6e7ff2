"""Spans. Without an OTLP endpoint, a light tracer only creates ids; with one, the OpenTelemetry SDK is imported.

Only `OtlpTracer` imports the SDK: without a collector its `shutdown` blocked for 6–30 s, and it costs start-up time.
"""

from __future__ import annotations

import os
import re
from collections.abc import Generator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar, Token
from dataclasses import dataclass
from threading import Thread
from types import TracebackType
from typing import TYPE_CHECKING

from agentic_rag.kernel.errors import AgenticRagError
from agentic_rag.kernel.telemetry import Span

if TYPE_CHECKING:
    from opentelemetry.trace import Span as SdkSpan

Attributes = Mapping[str, str | int | float | bool]

TRACEPARENT = "traceparent"
_PATTERN = re.compile(r"(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?")

EXPORT_TIMEOUT_SECONDS = 2.0
"""The longest delay of an export, and thus of `shutdown`, by a missing collector."""


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

    @property
    def trace_id(self) -> str:
        return self._trace_id

    @property
    def sampled(self) -> bool:
        """Whether the origin of the trace records it."""
        return self._sampled

    @property
    def context(self) -> TraceContext:
        """The ids of the span."""
        self._span_id = self._span_id or _random_hex(8)
        return TraceContext(self._trace_id, self._span_id, self._sampled)

    def __enter__(self) -> LightSpan:
        self._token = _current.set(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._token is not None:
            _current.reset(self._token)


_current: ContextVar[LightSpan | None] = ContextVar("agentic_rag_span", default=None)


class LightTracer:
    """Creates W3C ids and passes them on, so that logs, runs and jobs share a trace id without a collector."""

    def span(
        self, name: str, attributes: Attributes | None, carrier: Mapping[str, str] | None
    ) -> AbstractContextManager[LightSpan]:
        """A child of the carrier's span, else of the current one, else the root of a new trace."""
        parent = read_carrier(carrier) or _current.get()
        if parent is None:
            return LightSpan(_random_hex(16))
        return LightSpan(parent.trace_id, sampled=parent.sampled)

    def current(self) -> TraceContext | None:
        """The trace context of the running code."""
        span = _current.get()
        return None if span is None else span.context

    def shutdown(self) -> None:
        """Nothing to flush."""


class SdkSpanAdapter:
    """An OpenTelemetry span behind `kernel.telemetry.Span`."""

    __slots__ = ("_span",)

    def __init__(self, span: SdkSpan) -> None:
        self._span = span

    def set(self, name: str, value: str | int | float | bool) -> None:
        self._span.set_attribute(name, value)

    @property
    def trace_id(self) -> str:
        return f"{self._span.get_span_context().trace_id:032x}"


class OtlpTracer:
    """Exports spans in batches over OTLP/HTTP. `endpoint` is the collector's base URL, without `/v1/traces`."""

    def __init__(self, endpoint: str, service_name: str, service_version: str) -> None:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor

        exporter = OTLPSpanExporter(endpoint=f"{endpoint.rstrip('/')}/v1/traces", timeout=EXPORT_TIMEOUT_SECONDS)
        self._exporter = exporter
        self._processor = BatchSpanProcessor(
            exporter, export_timeout_millis=EXPORT_TIMEOUT_SECONDS * 1000, schedule_delay_millis=1000
        )
        self._provider = TracerProvider(
            # `create` adds the attributes of OTEL_RESOURCE_ATTRIBUTES.
            resource=Resource.create({"service.name": service_name, "service.version": service_version}),
            shutdown_on_exit=False,
        )
        self._provider.add_span_processor(self._processor)
        self._tracer = self._provider.get_tracer("agentic_rag", service_version)

    @contextmanager
    def span(
        self, name: str, attributes: Attributes | None, carrier: Mapping[str, str] | None
    ) -> Generator[Span, None, None]:
        """A child of the carrier's span, else of the current one. An exception sets the error's code or class on the
        span, never its message.
        """
        from opentelemetry.trace import Status, StatusCode
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        parent = TraceContextTextMapPropagator().extract(dict(carrier)) if carrier else None
        with self._tracer.start_as_current_span(
            name, context=parent, attributes=attributes, record_exception=False, set_status_on_exception=False
        ) as span:
            try:
                yield SdkSpanAdapter(span)
            except BaseException as error:
                code = error.code if isinstance(error, AgenticRagError) else type(error).__name__
                span.set_attribute("error.type", code)
                span.set_status(Status(StatusCode.ERROR))
                raise

    @property
    def resource_attributes(self) -> Mapping[str, object]:
        """What every exported span says of this process."""
        return self._provider.resource.attributes

    def current(self) -> TraceContext | None:
        """The trace context of the running code."""
        from opentelemetry.trace import get_current_span

        context = get_current_span().get_span_context()
        if not context.is_valid:
            return None
        return TraceContext(f"{context.trace_id:032x}", f"{context.span_id:016x}", context.trace_flags.sampled)

    def shutdown(self) -> None:
        """Export the remaining spans, for at most `EXPORT_TIMEOUT_SECONDS` and the batch that is under way then."""
        # The SDK gives each batch its whole time, however many wait: 2,000 spans and a collector that does not answer
        # held a process up for 8 s.
        flushing = Thread(target=self._processor.force_flush, name="last spans", daemon=True)
        flushing.start()
        flushing.join(EXPORT_TIMEOUT_SECONDS)
        self._exporter.shutdown()
        self._provider.shutdown()


def carrier_of(context: TraceContext | None) -> dict[str, str]:
    """The context as headers; empty outside any span."""
    return {TRACEPARENT: context.header()} if context else {}


Tracer = LightTracer | OtlpTracer


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
