"""Spans, log lines and metrics as values of the OpenTelemetry SDK. Imports the SDK: only for an export."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import cast
from uuid import uuid4

from opentelemetry._logs import LogRecord, SeverityNumber
from opentelemetry.attributes import BoundedAttributes
from opentelemetry.context import Context
from opentelemetry.sdk._logs import ReadableLogRecord
from opentelemetry.sdk.metrics.export import (
    AggregationTemporality,
    Gauge,
    Histogram,
    HistogramDataPoint,
    Metric,
    MetricsData,
    NumberDataPoint,
    ResourceMetrics,
    ScopeMetrics,
    Sum,
)
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.sdk.version import __version__ as sdk_version
from opentelemetry.trace import (
    NonRecordingSpan,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    TraceFlags,
    set_span_in_context,
)
from opentelemetry.util.types import Attributes
from prometheus_client import Metric as Family
from prometheus_client.samples import Sample

from agentic_rag.adapters.telemetry.tracing import RecordedSpan, TraceContext
from agentic_rag.kernel.telemetry import ExportBatches

CALL_OF_A_MODEL = "gen_ai.operation.name"
"""Spans with it are calls of another system."""
_ON_THE_LINE = {"event", "level", "timestamp", "trace_id"}
"""Fields of a line that a record has a place for."""
_SEVERITIES = {
    "debug": SeverityNumber.DEBUG,
    "info": SeverityNumber.INFO,
    "warning": SeverityNumber.WARN,
    "error": SeverityNumber.ERROR,
    "critical": SeverityNumber.FATAL,
}
"""By the names of Python's levels."""
_MOST_ATTRIBUTES = 128
"""Of a log record where the operator sets no limit (OpenTelemetry specification 1.48, "Attribute Limits")."""
_SDK = {
    "telemetry.sdk.language": "python",
    "telemetry.sdk.name": "opentelemetry",
    "telemetry.sdk.version": sdk_version,
}
"""Attributes of every resource (OpenTelemetry specification 1.48, "Resource SDK")."""
_FAILED, _UNSET = Status(StatusCode.ERROR), Status(StatusCode.UNSET)
_SAMPLED, _UNSAMPLED = TraceFlags(TraceFlags.SAMPLED), TraceFlags(TraceFlags.DEFAULT)
SAMPLED = SpanContext(1, 1, is_remote=False, trace_flags=_SAMPLED)
"""The context of a span that is exported, whichever it is."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The process that exports, and who in it makes the spans, metrics and records."""

    resource: Resource
    scope: InstrumentationScope


class _HashedResource(Resource):
    """Its hash is computed once: the exporters of the SDK take it of each span and record, and it hashes the JSON of
    all attributes.
    """

    def __init__(self, attributes: Mapping[str, str]) -> None:
        super().__init__(attributes)
        self._hash = super().__hash__()

    def __hash__(self) -> int:
        return self._hash


def origin_of(attributes: Mapping[str, str], version: str) -> Origin:
    """The origin of this process, with these attributes. It has an id of its own unless they name one: cumulative
    metrics of two processes would else be one series that jumps.
    """
    own = {"service.instance.id": str(uuid4())}
    return Origin(_HashedResource({**own, **attributes, **_SDK}), InstrumentationScope("agentic_rag", version))


def spans_of(ended: Iterable[RecordedSpan], origin: Origin, limits: ExportBatches) -> list[ReadableSpan]:
    """Ended spans."""
    return [_span_of(one, origin, limits) for one in ended]


def _context(trace_id: str, span_id: str) -> SpanContext:
    return SpanContext(int(trace_id, 16), int(span_id, 16), is_remote=False, trace_flags=_SAMPLED)


def _span_of(one: RecordedSpan, origin: Origin, limits: ExportBatches) -> ReadableSpan:
    return ReadableSpan(
        one.name,
        _context(one.trace_id, one.span_id),
        _context(one.trace_id, one.parent_id) if one.parent_id else None,
        origin.resource,
        _cut_attributes(one.attributes, limits),
        kind=SpanKind.CLIENT if CALL_OF_A_MODEL in one.attributes else SpanKind.INTERNAL,
        status=_FAILED if one.has_failed else _UNSET,
        start_time=one.began,
        end_time=one.ended,
        instrumentation_scope=origin.scope,
    )


def _cut_attributes(attributes: Mapping[str, str | int | float | bool], limits: ExportBatches) -> Attributes:
    """Those within the limits. Without any they are a dict, at a tenth of the time."""
    if limits.attribute_count is None and limits.attribute_length is None:
        return attributes
    return BoundedAttributes(limits.attribute_count, attributes, max_value_len=limits.attribute_length)


def _around(one: TraceContext) -> Context:
    flags = _SAMPLED if one.sampled else _UNSAMPLED
    span = SpanContext(int(one.trace_id, 16), int(one.span_id, 16), is_remote=False, trace_flags=flags)
    return set_span_in_context(NonRecordingSpan(span), Context())


def record_of(
    time: int, line: Mapping[str, object], context: TraceContext | None, origin: Origin, limits: ExportBatches
) -> ReadableLogRecord:
    """A redacted line of the log, its time in nanoseconds since 1970, and the span around it."""
    fields = {
        name: value if isinstance(value, str | bool | int | float) else str(value)
        for name, value in line.items()
        if name not in _ON_THE_LINE and value is not None
    }
    level = str(line["level"])
    record = LogRecord(
        timestamp=time,
        observed_timestamp=time,
        context=Context() if context is None else _around(context),
        severity_text=level,
        severity_number=_SEVERITIES.get(level, SeverityNumber.INFO),
        body=str(line["event"]),
        attributes=_cut_fields(fields, limits),
    )
    return ReadableLogRecord(record, origin.resource, origin.scope)


def _cut_fields(fields: Mapping[str, str | bool | int | float], limits: ExportBatches) -> Attributes:
    """Those within the limits; a dict where nothing is cut."""
    most = _MOST_ATTRIBUTES if limits.attribute_count is None else limits.attribute_count
    if limits.attribute_length is None and len(fields) <= most:
        return fields
    return BoundedAttributes(most, fields, immutable=False, max_value_len=limits.attribute_length)


def metrics_of(families: Iterable[Family], since: int, now: int, origin: Origin) -> MetricsData:
    """All metrics under the names of the scrape, cumulative from `since` to `now`, nanoseconds since 1970."""
    scope = ScopeMetrics(origin.scope, list(_metrics(families, since, now)), "")
    return MetricsData([ResourceMetrics(origin.resource, [scope], "")])


def _metrics(families: Iterable[Family], since: int, now: int) -> Iterator[Metric]:
    for family in families:
        name = f"{family.name}_total" if family.type == "counter" else family.name
        data = _data(family, name, since, now)
        if data is not None and data.data_points:
            yield Metric(name, family.documentation, "s" if name.endswith("_seconds") else "", data)


def _data(family: Family, name: str, since: int, now: int) -> Sum | Gauge | Histogram | None:
    """None for a kind of metric that the house has none of."""
    if family.type == "histogram":
        return Histogram(list(_histogram_points(family, since, now)), AggregationTemporality.CUMULATIVE)
    points = [NumberDataPoint(dict(one.labels), since, now, one.value) for one in family.samples if one.name == name]
    if family.type == "counter":
        return Sum(points, AggregationTemporality.CUMULATIVE, is_monotonic=True)
    return Gauge(points) if family.type == "gauge" else None


def _histogram_points(family: Family, since: int, now: int) -> Iterator[HistogramDataPoint]:
    """One for each set of labels: its buckets follow each other, then its count and sum."""
    unknown = cast(float, None)
    for labels, group in groupby(family.samples, _labels_of_series):
        samples = list(group)
        below = [(one.labels["le"], int(one.value)) for one in samples if one.name.endswith("_bucket")]
        counts = [count for _, count in below]
        yield HistogramDataPoint(
            dict(labels),
            since,
            now,
            counts[-1],
            next(one.value for one in samples if one.name.endswith("_sum")),
            [count - before for count, before in zip(counts, [0, *counts], strict=False)],
            [float(bound) for bound, _ in below if bound != "+Inf"],
            min=unknown,
            max=unknown,
        )


def _labels_of_series(sample: Sample) -> tuple[tuple[str, str], ...]:
    return tuple((name, value) for name, value in sample.labels.items() if name != "le")
