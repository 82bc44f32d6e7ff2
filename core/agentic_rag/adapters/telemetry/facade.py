"""Combines tracer, metrics and log into the one `Telemetry` of a process."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from types import MappingProxyType
from typing import TextIO

from agentic_rag.adapters.telemetry.logging import JsonLog
from agentic_rag.adapters.telemetry.prometheus import PrometheusMeters
from agentic_rag.adapters.telemetry.tracing import Attributes, LightTracer, carrier_of
from agentic_rag.kernel.telemetry import Span, TelemetryExport

_NONE: Mapping[str, str] = MappingProxyType({})
_ids: ContextVar[Mapping[str, str]] = ContextVar("agentic_rag_ids", default=_NONE)
_attributes: ContextVar[Mapping[str, str]] = ContextVar("agentic_rag_id_attributes", default=_NONE)
"""The same as attributes of spans."""


@dataclass(frozen=True, slots=True)
class TelemetryOptions:
    """Settings of the operator."""

    service_name: str = "agentic-rag"
    service_version: str = ""
    log_level: str = "info"
    export: TelemetryExport = TelemetryExport()


class ProcessTelemetry:
    """Implements `kernel.telemetry.Telemetry`; log lines go to `stream` (stderr)."""

    def __init__(self, options: TelemetryOptions, stream: TextIO | None = None) -> None:
        self._meters = PrometheusMeters()
        self._log = JsonLog(self._ids_around, options.log_level, stream)
        self._tracer = LightTracer()
        self._end_exports: Callable[[], None] | None = None
        export = options.export
        if export.traces or export.metrics or export.logs:
            self._start_exports(options)

    def _start_exports(self, options: TelemetryOptions) -> None:
        """The SDK is imported only here: it costs start-up time."""
        from agentic_rag.adapters.telemetry.otlp import OtlpExport
        from agentic_rag.adapters.telemetry.otlp_values import origin_of

        named = {"service.name": options.service_name, "service.version": options.service_version}
        origin = origin_of({**options.export.resource, **named}, options.service_version)
        exports = OtlpExport(options.export, origin, self._meters, self._tell_of_failure)
        self._tracer, self._log.also, self._end_exports = exports.tracer, exports.write, exports.shutdown

    def _tell_of_failure(self, signal: str) -> None:
        """Once until an export of the signal succeeds: the line itself is exported too."""
        self.event("rag_export_failed", level="warning", signal=signal)

    def span(
        self, name: str, attributes: Attributes | None = None, carrier: Mapping[str, str] | None = None
    ) -> AbstractContextManager[Span]:
        return self._tracer.span(name, attributes, carrier, _attributes.get())

    def carrier(self) -> Mapping[str, str]:
        return carrier_of(self._tracer.current())

    def count(self, metric: str, amount: float = 1.0, **labels: str) -> None:
        """Add to a counter. Errors: `UnknownMetric`."""
        self._meters.count(metric, amount, labels)

    def observe(self, metric: str, value: float, **labels: str) -> None:
        """Record into a histogram. Errors: `UnknownMetric`."""
        self._meters.observe(metric, value, labels)

    def gauge(self, metric: str, value: float, **labels: str) -> None:
        """Set a gauge. Errors: `UnknownMetric`."""
        self._meters.gauge(metric, value, labels)

    def clear(self, metric: str) -> None:
        """Export a gauge with labels no more until it is set again. Errors: `UnknownMetric`."""
        self._meters.clear(metric)

    def event(self, name: str, **fields: str | int | float | bool | None) -> None:
        """Write a log line; a field `level` names another level than "info"."""
        self._log.write(str(fields.pop("level", "info")), name, **fields)

    @contextmanager
    def bind(self, **ids: str) -> Generator[None]:
        named = {f"rag.{key.removesuffix('_id')}.id": value for key, value in ids.items()}
        before, before_of_spans = _ids.set({**_ids.get(), **ids}), _attributes.set({**_attributes.get(), **named})
        try:
            yield
        finally:
            _attributes.reset(before_of_spans)
            _ids.reset(before)

    def exposition(self) -> tuple[bytes, str]:
        return self._meters.exposition()

    def shutdown(self) -> None:
        self._log.also = None
        if self._end_exports is not None:
            self._end_exports()

    def _ids_around(self) -> Mapping[str, str]:
        current = self._tracer.current()
        return {"trace_id": current.trace_id, **_ids.get()} if current else _ids.get()
