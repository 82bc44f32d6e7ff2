"""Spans, log lines and metrics as messages of OTLP (opentelemetry-proto 1.8). Imports protobuf: only for an export."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, InstrumentationScope, KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import (
    SEVERITY_NUMBER_DEBUG,
    SEVERITY_NUMBER_ERROR,
    SEVERITY_NUMBER_FATAL,
    SEVERITY_NUMBER_INFO,
    SEVERITY_NUMBER_WARN,
    LogRecord,
    ResourceLogs,
    ScopeLogs,
)
from opentelemetry.proto.metrics.v1.metrics_pb2 import (
    AGGREGATION_TEMPORALITY_CUMULATIVE,
    Gauge,
    Histogram,
    HistogramDataPoint,
    Metric,
    NumberDataPoint,
    ResourceMetrics,
    ScopeMetrics,
    Sum,
)
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Status
from opentelemetry.proto.trace.v1.trace_pb2 import Span as SpanMessage
from prometheus_client import Metric as Family
from prometheus_client.samples import Sample

from agentic_rag.adapters.telemetry.tracing import RecordedSpan, TraceContext
from agentic_rag.kernel.telemetry import ExportBatches

Value = str | int | float | bool

CALL_OF_A_MODEL = "gen_ai.operation.name"
"""Spans with it are calls of another system."""
_ON_THE_LINE = {"event", "level", "timestamp", "trace_id"}
"""Fields of a line that a record has a place for."""


@dataclass(frozen=True, slots=True)
class LogLine:
    """A redacted line of the log, its time in nanoseconds since 1970, and the span around it."""

    time: int
    line: Mapping[str, object]
    context: TraceContext | None


@dataclass(frozen=True, slots=True)
class Origin:
    """The process that exports."""

    resource: Mapping[str, str]
    version: str

    @property
    def message(self) -> Resource:
        """Its attributes."""
        return Resource(attributes=[_pair(name, value) for name, value in self.resource.items()])

    @property
    def scope(self) -> InstrumentationScope:
        """Who makes the spans, metrics and records."""
        return InstrumentationScope(name="agentic_rag", version=self.version)


def encode_spans(spans: Sequence[RecordedSpan], origin: Origin, limits: ExportBatches) -> bytes:
    """An export of ended spans."""
    scope = ScopeSpans(scope=origin.scope, spans=[_span(one, limits) for one in spans])
    whole = ResourceSpans(resource=origin.message, scope_spans=[scope])
    return ExportTraceServiceRequest(resource_spans=[whole]).SerializeToString()


def encode_logs(lines: Sequence[LogLine], origin: Origin, limits: ExportBatches) -> bytes:
    """An export of lines of the log."""
    scope = ScopeLogs(scope=origin.scope, log_records=[_record(one, limits) for one in lines])
    whole = ResourceLogs(resource=origin.message, scope_logs=[scope])
    return ExportLogsServiceRequest(resource_logs=[whole]).SerializeToString()


def encode_metrics(families: Iterable[Family], since: int, now: int, origin: Origin) -> bytes:
    """An export of all metrics, cumulative from `since` to `now`, nanoseconds since 1970."""
    scope = ScopeMetrics(scope=origin.scope, metrics=_metrics(families, since, now))
    whole = ResourceMetrics(resource=origin.message, scope_metrics=[scope])
    return ExportMetricsServiceRequest(resource_metrics=[whole]).SerializeToString()


def _span(one: RecordedSpan, limits: ExportBatches) -> SpanMessage:
    context = one.context
    return SpanMessage(
        trace_id=bytes.fromhex(context.trace_id),
        span_id=bytes.fromhex(context.span_id),
        parent_span_id=bytes.fromhex(one.parent_id),
        name=one.name,
        kind=SpanMessage.SPAN_KIND_CLIENT if CALL_OF_A_MODEL in one.attributes else SpanMessage.SPAN_KIND_INTERNAL,
        start_time_unix_nano=one.began,
        end_time_unix_nano=one.ended,
        attributes=_pairs(one.attributes, limits),
        dropped_attributes_count=_dropped(one.attributes, limits),
        status=_FAILED if one.has_failed else None,
        flags=_SAMPLED,
    )


_FAILED = Status(code=Status.STATUS_CODE_ERROR)
_SAMPLED = 1
"""Flag of W3C Trace Context: what is exported was sampled."""


_SEVERITIES = {
    "debug": SEVERITY_NUMBER_DEBUG,
    "info": SEVERITY_NUMBER_INFO,
    "warning": SEVERITY_NUMBER_WARN,
    "error": SEVERITY_NUMBER_ERROR,
    "critical": SEVERITY_NUMBER_FATAL,
}
"""By the names of Python's levels."""


def _record(one: LogLine, limits: ExportBatches) -> LogRecord:
    fields = {
        name: value if isinstance(value, str | bool | int | float) else str(value)
        for name, value in one.line.items()
        if name not in _ON_THE_LINE and value is not None
    }
    level, context = str(one.line["level"]), one.context
    return LogRecord(
        time_unix_nano=one.time,
        observed_time_unix_nano=one.time,
        severity_number=_SEVERITIES.get(level, SEVERITY_NUMBER_INFO),
        severity_text=level,
        body=AnyValue(string_value=str(one.line["event"])),
        attributes=_pairs(fields, limits),
        dropped_attributes_count=_dropped(fields, limits),
        trace_id=bytes.fromhex(context.trace_id) if context else b"",
        span_id=bytes.fromhex(context.span_id) if context else b"",
        flags=int(context.sampled) if context else 0,
    )


def _pairs(attributes: Mapping[str, Value], limits: ExportBatches) -> list[KeyValue]:
    items = list(attributes.items())[: limits.attribute_count]
    if limits.attribute_length is None:
        return [_pair(name, value) for name, value in items]
    longest = limits.attribute_length
    return [_pair(name, value[:longest] if isinstance(value, str) else value) for name, value in items]


def _dropped(attributes: Mapping[str, Value], limits: ExportBatches) -> int:
    return 0 if limits.attribute_count is None else max(0, len(attributes) - limits.attribute_count)


@lru_cache(4096, typed=True)
def _pair(name: str, value: Value) -> KeyValue:
    """Most pairs come again: names of stages, ids of a run. Making one takes longer than copying it into a span."""
    match value:
        case bool():
            told = AnyValue(bool_value=value)
        case int():
            told = AnyValue(int_value=value)
        case float():
            told = AnyValue(double_value=value)
        case str():
            told = AnyValue(string_value=value)
    return KeyValue(key=name, value=told)


def _metrics(families: Iterable[Family], since: int, now: int) -> Iterator[Metric]:
    """Under the names of the scrape."""
    for family in families:
        name = f"{family.name}_total" if family.type == "counter" else family.name
        found = Metric(name=name, description=family.documentation, unit="s" if name.endswith("_seconds") else "")
        if family.type == "histogram":
            points = list(_histogram_points(family, since, now))
            found.histogram.CopyFrom(
                Histogram(data_points=points, aggregation_temporality=AGGREGATION_TEMPORALITY_CUMULATIVE)
            )
        elif family.type in ("counter", "gauge"):
            points = [
                NumberDataPoint(
                    attributes=[_pair(*pair) for pair in one.labels.items()],
                    start_time_unix_nano=since,
                    time_unix_nano=now,
                    as_double=one.value,
                )
                for one in family.samples
                if one.name == name
            ]
            if family.type == "gauge":
                found.gauge.CopyFrom(Gauge(data_points=points))
            else:
                found.sum.CopyFrom(
                    Sum(
                        data_points=points,
                        aggregation_temporality=AGGREGATION_TEMPORALITY_CUMULATIVE,
                        is_monotonic=True,
                    )
                )
        else:
            continue
        if points:
            yield found


def _histogram_points(family: Family, since: int, now: int) -> Iterator[HistogramDataPoint]:
    """One for each set of labels: its buckets follow each other, then its count and sum."""
    for labels, group in groupby(family.samples, _labels_of_series):
        samples = list(group)
        below = [(one.labels["le"], int(one.value)) for one in samples if one.name.endswith("_bucket")]
        counts = [count for _, count in below]
        yield HistogramDataPoint(
            attributes=[_pair(*pair) for pair in labels],
            start_time_unix_nano=since,
            time_unix_nano=now,
            count=counts[-1],
            sum=next(one.value for one in samples if one.name.endswith("_sum")),
            bucket_counts=[count - before for count, before in zip(counts, [0, *counts], strict=False)],
            explicit_bounds=[float(bound) for bound, _ in below if bound != "+Inf"],
        )


def _labels_of_series(sample: Sample) -> tuple[tuple[str, str], ...]:
    return tuple((name, value) for name, value in sample.labels.items() if name != "le")
