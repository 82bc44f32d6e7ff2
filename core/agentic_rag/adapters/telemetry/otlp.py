"""Everything that leaves a process over OTLP, by the OpenTelemetry SDK: which signals, to where, and how they end."""

# What the SDK's exporters of metrics take beside is untyped.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from threading import Event, Thread
from typing import cast

from opentelemetry._logs import LogRecord
from opentelemetry.sdk._logs import ReadableLogRecord, ReadWriteLogRecord
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor, LogRecordExporter, LogRecordExportResult
from opentelemetry.sdk.metrics.export import MetricExporter
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult

from agentic_rag.adapters.telemetry.logging import library_fields
from agentic_rag.adapters.telemetry.otlp_exporters import Tell, export_logs_to, export_metrics_to, export_spans_to
from agentic_rag.adapters.telemetry.otlp_values import (
    SAMPLED,
    Origin,
    metrics_of,
    record_of,
    spans_of,
)
from agentic_rag.adapters.telemetry.prometheus import PrometheusMeters
from agentic_rag.adapters.telemetry.tracing import LightTracer, RecordedSpan, Sampler, TraceContext
from agentic_rag.kernel.telemetry import ExportBatches, OtlpTarget, TelemetryExport

END_SECONDS = 2.0
"""The longest that the last exports of all signals, and then stopping them, delay the end of the process."""
_EXPORTING = ("opentelemetry", "grpc", "requests", "urllib3")
"""Libraries that send exports: a log line of theirs would make another export."""


class OtlpExport:
    """The exports of a process. `tell` hears when one begins to fail."""

    def __init__(self, export: TelemetryExport, origin: Origin, meters: PrometheusMeters, tell: Tell) -> None:
        # The SDK logs each batch and each item that it drops; `tell` hears of the first.
        logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)
        self._origin = origin
        self._tell = tell
        self._endings: list[Callable[[], None]] = []
        self._stops: list[Callable[[], None]] = []
        """Of exporters that still try when the time is up."""
        self.tracer = LightTracer()
        self.write: Callable[[Mapping[str, object]], None] | None = None
        """Takes redacted lines of the log."""
        if export.traces:
            self._export_spans(export.traces, export)
        if export.metrics:
            exporter = export_metrics_to(export.metrics, tell)
            self._stops.append(partial(exporter.shutdown, 0))
            self._endings.append(_PeriodicMetrics(exporter, export.metric_interval_seconds, meters, origin).end)
        if export.logs:
            self._export_logs(export.logs, export.log_records)

    def _export_spans(self, target: OtlpTarget, export: TelemetryExport) -> None:
        batches, origin, exporter = export.spans, self._origin, export_spans_to(target, self._tell)
        self._stops.append(exporter.shutdown)
        processor = BatchSpanProcessor(
            _LateSpans(exporter, origin, batches),
            max_queue_size=batches.most_waiting,
            schedule_delay_millis=1000 * batches.delay_seconds,
            max_export_batch_size=batches.size,
        )

        def record(span: RecordedSpan) -> None:
            processor.on_end(_EndedSpan(span))

        self.tracer = LightTracer(Sampler(export.sampler, export.sampled_share), record)
        self._endings.append(processor.shutdown)

    def _export_logs(self, target: OtlpTarget, batches: ExportBatches) -> None:
        exporter = export_logs_to(target, self._tell)
        self._stops.append(exporter.shutdown)
        origin = self._origin
        processor = BatchLogRecordProcessor(
            _LateRecords(exporter, origin, batches),
            schedule_delay_millis=1000 * batches.delay_seconds,
            max_export_batch_size=batches.size,
            max_queue_size=batches.most_waiting,
        )

        def write(line: Mapping[str, object]) -> None:
            written = _WrittenLine(time.time_ns(), line, self.tracer.current())
            # What the processor reads of a record is what both kinds have; the other one copies its attributes.
            processor.on_emit(cast(ReadWriteLogRecord, ReadableLogRecord(written, origin.resource, origin.scope)))

        self.write = write
        libraries = _LibraryHandler(write)
        logging.getLogger().addHandler(libraries)

        def end() -> None:
            logging.getLogger().removeHandler(libraries)
            processor.shutdown()

        self._endings.append(end)

    def shutdown(self) -> None:
        """Export what waits, within `END_SECONDS`: each signal may wait for a collector that does not answer."""
        _end_together(self._endings)
        _end_together(self._stops)


class _EndedSpan(ReadableSpan):
    """A span that waits for its export. It is made a value of the SDK by the thread that exports, many at a time: made
    one by one between other work, it takes the answer several times as long.
    """

    context = SAMPLED  # type: ignore[assignment]

    def __init__(self, recorded: RecordedSpan) -> None:
        self.recorded = recorded


class _LateSpans(SpanExporter):
    """Makes ended spans values of the SDK, and exports them."""

    def __init__(self, exporter: SpanExporter, origin: Origin, limits: ExportBatches) -> None:
        self._exporter, self._origin, self._limits = exporter, origin, limits

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        ended = [one.recorded for one in spans if isinstance(one, _EndedSpan)]
        return self._exporter.export(spans_of(ended, self._origin, self._limits))

    def shutdown(self) -> None:
        self._exporter.shutdown()


class _WrittenLine(LogRecord):
    """A line of the log that waits for its export, as `_EndedSpan` does."""

    def __init__(self, time: int, line: Mapping[str, object], around: TraceContext | None) -> None:
        self.time, self.line, self.around = time, line, around
        self.attributes = None

    def __copy__(self) -> _WrittenLine:
        """Nobody else has it: the processor copies what it keeps."""
        return self


class _LateRecords(LogRecordExporter):
    """Makes written lines values of the SDK, and exports them."""

    def __init__(self, exporter: LogRecordExporter, origin: Origin, limits: ExportBatches) -> None:
        self._exporter, self._origin, self._limits = exporter, origin, limits

    def export(self, batch: Sequence[ReadableLogRecord]) -> LogRecordExportResult:
        lines = [one.log_record for one in batch if isinstance(one.log_record, _WrittenLine)]
        return self._exporter.export(
            [record_of(one.time, one.line, one.around, self._origin, self._limits) for one in lines]
        )

    def force_flush(self, timeout_millis: int = 10_000) -> bool:
        return self._exporter.force_flush(timeout_millis)

    def shutdown(self) -> None:
        self._exporter.shutdown()


def _end_together(endings: Sequence[Callable[[], None]]) -> None:
    threads = [Thread(target=one, name="last exports", daemon=True) for one in endings]
    for thread in threads:
        thread.start()
    until = time.monotonic() + END_SECONDS
    for thread in threads:
        thread.join(max(0.0, until - time.monotonic()))


class _PeriodicMetrics:
    """Exports what a scrape would show every interval, and once more at the end. The SDK's own reader collects from
    instruments of its own only.
    """

    def __init__(self, exporter: MetricExporter, seconds: float, meters: PrometheusMeters, origin: Origin) -> None:
        self._exporter, self._seconds, self._meters, self._origin = exporter, seconds, meters, origin
        self._since = time.time_ns()
        self._is_over = Event()
        self._thread = Thread(target=self._run, name="metrics over OTLP", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Export once more, and stop."""
        self._is_over.set()
        self._thread.join()
        self._exporter.shutdown()

    def _run(self) -> None:
        while not self._is_over.wait(self._seconds):
            self._export()
        self._export()

    def _export(self) -> None:
        self._exporter.export(metrics_of(self._meters.families(), self._since, time.time_ns(), self._origin))


class _LibraryHandler(logging.Handler):
    """Hands the records of libraries on."""

    def __init__(self, write: Callable[[Mapping[str, object]], None]) -> None:
        super().__init__()
        self._write = write

    def emit(self, record: logging.LogRecord) -> None:
        """Nothing of those that export."""
        if not record.name.startswith(_EXPORTING):
            self._write(library_fields(record))
