"""Telemetry that keeps everything it was told, for reading back."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import MappingProxyType

from agentic_rag.adapters.telemetry.metrics import METRICS, MetricKind
from agentic_rag.adapters.telemetry.prometheus import UnknownMetric
from agentic_rag.adapters.telemetry.tracing import Attributes, LightTracer, carrier_of
from agentic_rag.kernel.telemetry import Span

_ids: ContextVar[Mapping[str, str]] = ContextVar("recorded_ids", default=MappingProxyType({}))
Labels = tuple[tuple[str, str], ...]
_KINDS = {metric.name: (metric.kind, frozenset(metric.labels)) for metric in METRICS}


@dataclass(frozen=True, slots=True)
class RecordedEvent:
    """A log line as it was asked for."""

    name: str
    fields: Mapping[str, str | int | float | bool | None]
    trace_id: str | None


@dataclass(slots=True)
class RecordingTelemetry:
    """Implements `kernel.telemetry.Telemetry` over plain lists, as strict about metric names as the real one."""

    spans: list[tuple[str, dict[str, str | int | float | bool]]] = field(
        default_factory=list[tuple[str, dict[str, str | int | float | bool]]]
    )
    counters: dict[tuple[str, Labels], float] = field(default_factory=dict[tuple[str, Labels], float])
    observations: list[tuple[str, Labels, float]] = field(default_factory=list[tuple[str, Labels, float]])
    gauges: dict[tuple[str, Labels], float] = field(default_factory=dict[tuple[str, Labels], float])
    events: list[RecordedEvent] = field(default_factory=list[RecordedEvent])
    stopped: bool = False
    _tracer: LightTracer = field(default_factory=LightTracer)

    def span(
        self, name: str, attributes: Attributes | None = None, carrier: Mapping[str, str] | None = None
    ) -> AbstractContextManager[Span]:
        """Open a span and remember its name and attributes."""
        self.spans.append((name, dict(attributes or {})))
        return self._tracer.span(name, attributes, carrier)

    def carrier(self) -> Mapping[str, str]:
        """The current trace context as headers."""
        return carrier_of(self._tracer.current())

    def count(self, metric: str, amount: float = 1.0, **labels: str) -> None:
        """Add to a counter. Errors: `UnknownMetric`."""
        key = metric, _check(metric, MetricKind.COUNTER, labels)
        self.counters[key] = self.counters.get(key, 0.0) + amount

    def observe(self, metric: str, value: float, **labels: str) -> None:
        """Record into a histogram. Errors: `UnknownMetric`."""
        self.observations.append((metric, _check(metric, MetricKind.HISTOGRAM, labels), value))

    def gauge(self, metric: str, value: float, **labels: str) -> None:
        """Set a gauge. Errors: `UnknownMetric`."""
        self.gauges[metric, _check(metric, MetricKind.GAUGE, labels)] = value

    def clear(self, metric: str) -> None:
        """Forget all values of a gauge."""
        self.gauges = {key: value for key, value in self.gauges.items() if key[0] != metric}

    def event(self, name: str, **fields: str | int | float | bool | None) -> None:
        """Remember a log line."""
        current = self._tracer.current()
        self.events.append(RecordedEvent(name, {**_ids.get(), **fields}, current.trace_id if current else None))

    @contextmanager
    def bind(self, **ids: str) -> Generator[None]:
        """Add ids to the log lines meanwhile."""
        before = _ids.set({**_ids.get(), **ids})
        try:
            yield
        finally:
            _ids.reset(before)

    def exposition(self) -> tuple[bytes, str]:
        """The counters, as Prometheus text."""
        lines = [f"{name} {amount}\n" for (name, _), amount in sorted(self.counters.items())]
        return "".join(lines).encode(), "text/plain; version=0.0.4; charset=utf-8"

    def shutdown(self) -> None:
        """Remember that the process let go of it."""
        self.stopped = True


def _check(metric: str, kind: MetricKind, labels: Mapping[str, str]) -> Labels:
    if _KINDS.get(metric) != (kind, frozenset(labels)):
        raise UnknownMetric(f"{metric}{sorted(labels)} is not a {kind.value} of adapters/telemetry/metrics.py")
    return tuple(sorted(labels.items()))
