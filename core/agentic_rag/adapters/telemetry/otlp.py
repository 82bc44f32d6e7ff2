"""Everything that leaves a process over OTLP: which signals, to where, and how they end."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from functools import partial

from agentic_rag.adapters.telemetry.logging import library_fields
from agentic_rag.adapters.telemetry.otlp_batches import Exports, MetricExports, end_together
from agentic_rag.adapters.telemetry.otlp_encoding import LogLine, Origin, encode_logs, encode_metrics, encode_spans
from agentic_rag.adapters.telemetry.otlp_sender import OtlpSender, Tell
from agentic_rag.adapters.telemetry.prometheus import PrometheusMeters
from agentic_rag.adapters.telemetry.tracing import LightTracer, RecordedSpan, Sampler
from agentic_rag.kernel.telemetry import TelemetryExport

_EXPORTING = ("grpc", "httpcore", "httpx", "hpack")
"""Libraries that send exports: a log line of theirs would make another export."""


class OtlpExport:
    """The exports of a process. `tell` hears when one begins to fail."""

    def __init__(self, export: TelemetryExport, origin: Origin, meters: PrometheusMeters, tell: Tell) -> None:
        self._endings: list[Callable[[], None]] = []
        self.tracer = LightTracer()
        self.write: Callable[[Mapping[str, object]], None] | None = None
        """Takes redacted lines of the log."""
        if export.traces:
            sender = OtlpSender(export.traces, "traces", tell)
            encode = partial(encode_spans, origin=origin, limits=export.spans)
            spans = Exports[RecordedSpan](sender, export.spans, encode)
            self.tracer = LightTracer(Sampler(export.sampler, export.sampled_share), spans.offer)
            self._endings.append(spans.end)
        if export.metrics:
            self._export_metrics(OtlpSender(export.metrics, "metrics", tell), export, origin, meters)
        if export.logs:
            self._export_logs(OtlpSender(export.logs, "logs", tell), export, origin)

    def _export_metrics(
        self, sender: OtlpSender, export: TelemetryExport, origin: Origin, meters: PrometheusMeters
    ) -> None:
        since = time.time_ns()

        def encode() -> bytes:
            return encode_metrics(meters.families(), since, time.time_ns(), origin)

        self._endings.append(MetricExports(sender, export.metric_interval_seconds, encode).end)

    def _export_logs(self, sender: OtlpSender, export: TelemetryExport, origin: Origin) -> None:
        encode = partial(encode_logs, origin=origin, limits=export.log_records)
        lines = Exports[LogLine](sender, export.log_records, encode)

        def write(line: Mapping[str, object]) -> None:
            lines.offer(LogLine(time.time_ns(), line, self.tracer.current()))

        self.write = write
        libraries = _LibraryHandler(write)
        logging.getLogger().addHandler(libraries)

        def end() -> None:
            logging.getLogger().removeHandler(libraries)
            lines.end()

        self._endings.append(end)

    def shutdown(self) -> None:
        """Export what waits, within `otlp_batches.END_SECONDS`."""
        end_together(self._endings)


class _LibraryHandler(logging.Handler):
    """Hands the records of libraries on."""

    def __init__(self, write: Callable[[Mapping[str, object]], None]) -> None:
        super().__init__()
        self._write = write

    def emit(self, record: logging.LogRecord) -> None:
        """Nothing of those that export."""
        if not record.name.startswith(_EXPORTING):
            self._write(library_fields(record))
