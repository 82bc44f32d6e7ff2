"""Spans, metrics and events of a process."""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Protocol

_TRACEPARENT = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}")


def parse_trace_id(carrier: Mapping[str, str]) -> str | None:
    """The trace id of a W3C `traceparent` (32 hex digits); None when the carrier has none."""
    found = _TRACEPARENT.fullmatch(carrier.get("traceparent", ""))
    return None if found is None else found[1]


class OtlpProtocol(enum.Enum):
    """How an export travels: the values of OTEL_EXPORTER_OTLP_PROTOCOL."""

    HTTP = "http/protobuf"
    GRPC = "grpc"


@dataclass(frozen=True, slots=True, kw_only=True)
class OtlpTarget:
    """The collector of one signal. Files are paths of PEM files; empty for none."""

    url: str
    """HTTP: the URL of the signal. gRPC: the URL of the collector; `https` asks for TLS."""
    protocol: OtlpProtocol = OtlpProtocol.HTTP
    proxy: str = field(default="", repr=False)
    """Empty where it is asked directly."""
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    timeout_seconds: float | None = None
    """Of one export with its retries; None for the exporter's own."""
    is_compressed: bool = False
    """Bodies are compressed by gzip."""
    certificate: str = ""
    client_certificate: str = ""
    client_key: str = ""


@dataclass(frozen=True, slots=True)
class ExportBatches:
    """How spans or log records wait for their export."""

    delay_seconds: float = 5.0
    most_waiting: int = 2048
    """What comes while so many wait is dropped."""
    size: int = 512
    attribute_count: int | None = None
    """The most attributes of one; None for the SDK's own limit."""
    attribute_length: int | None = None
    """The longest text of an attribute, in characters; None for any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TelemetryExport:
    """What leaves the process over OTLP; a signal without a target stays."""

    traces: OtlpTarget | None = None
    metrics: OtlpTarget | None = None
    logs: OtlpTarget | None = None
    resource: Mapping[str, str] = field(default_factory=dict[str, str])
    """Attributes of the process."""
    sampler: str = "parentbased_always_on"
    """A value of OTEL_TRACES_SAMPLER."""
    sampled_share: float = 1.0
    """Of the traces, from 0 to 1, for samplers by ratio."""
    spans: ExportBatches = ExportBatches()
    log_records: ExportBatches = ExportBatches()
    metric_interval_seconds: float = 60.0


class Span(Protocol):
    """A timed piece of work."""

    def set(self, name: str, value: str | int | float | bool) -> None:
        """Attach an attribute (never question text, document text or secrets)."""
        ...

    def discard(self) -> None:
        """Export nothing of it, unless something else names it as its parent: there was no work to time."""
        ...

    @property
    def trace_id(self) -> str:
        """32 hex digits."""
        ...


class Telemetry(Protocol):
    """The one place where spans and metrics are made. Metric names are listed in docs/observability.md."""

    def span(
        self,
        name: str,
        attributes: Mapping[str, str | int | float | bool] | None = None,
        carrier: Mapping[str, str] | None = None,
    ) -> AbstractContextManager[Span]:
        """Open a span; `carrier` continues a trace that came through the queue or over HTTP."""
        ...

    def carrier(self) -> Mapping[str, str]:
        """The current trace context, to travel with a job (W3C traceparent)."""
        ...

    def count(self, metric: str, amount: float = 1.0, **labels: str) -> None:
        """Add to a counter."""
        ...

    def observe(self, metric: str, value: float, **labels: str) -> None:
        """Record into a histogram."""
        ...

    def gauge(self, metric: str, value: float, **labels: str) -> None:
        """Set a gauge."""
        ...

    def clear(self, metric: str) -> None:
        """Export a gauge no more until it is set again."""
        ...

    def event(self, name: str, **fields: str | int | float | bool | None) -> None:
        """Write a structured log line carrying the current trace id and the ids of `bind`."""
        ...

    def bind(self, **ids: str) -> AbstractContextManager[None]:
        """Every event meanwhile carries these ids (`run_id`, `job_id`)."""
        ...

    def exposition(self) -> tuple[bytes, str]:
        """The metrics in Prometheus text format and their content type."""
        ...

    def shutdown(self) -> None:
        """Flush exporters, at most two seconds."""
        ...


class _SilentSpan:
    trace_id = "0" * 32

    def set(self, name: str, value: str | int | float | bool) -> None:
        """Nothing is noted."""

    def discard(self) -> None:
        """Nothing was noted."""


class SilentTelemetry:
    """Implements `Telemetry` for work that is no answer and no job: nothing of it is counted or logged."""

    def span(
        self,
        name: str,
        attributes: Mapping[str, str | int | float | bool] | None = None,
        carrier: Mapping[str, str] | None = None,
    ) -> AbstractContextManager[Span]:
        return nullcontext(_SilentSpan())

    def carrier(self) -> Mapping[str, str]:
        return {}

    def count(self, metric: str, amount: float = 1.0, **labels: str) -> None: ...

    def observe(self, metric: str, value: float, **labels: str) -> None: ...

    def gauge(self, metric: str, value: float, **labels: str) -> None: ...

    def clear(self, metric: str) -> None: ...

    def event(self, name: str, **fields: str | int | float | bool | None) -> None: ...

    def bind(self, **ids: str) -> AbstractContextManager[None]:
        return nullcontext()

    def exposition(self) -> tuple[bytes, str]:
        return b"", "text/plain"

    def shutdown(self) -> None: ...
