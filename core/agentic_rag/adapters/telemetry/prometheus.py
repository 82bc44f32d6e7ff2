"""Metrics for a Prometheus scrape, in a registry of their own (one process per container)."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from agentic_rag.adapters.telemetry.metrics import METRICS, Metric, MetricKind


class UnknownMetric(KeyError):
    """A metric that the table does not list, or lists with another kind: a bug."""


class PrometheusMeters:
    """One collector for each metric of the table. Metrics without labels show 0 from the start."""

    def __init__(self, metrics: tuple[Metric, ...] = METRICS) -> None:
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        self._counters: dict[str, Counter] = {}
        self._histograms: dict[str, Histogram] = {}
        self._gauges: dict[str, Gauge] = {}
        for metric in metrics:
            self._register(metric)

    def _register(self, metric: Metric) -> None:
        if metric.kind is MetricKind.COUNTER:
            self._counters[metric.name] = Counter(
                metric.name, metric.description, metric.labels, registry=self._registry
            )
        elif metric.kind is MetricKind.HISTOGRAM:
            self._histograms[metric.name] = Histogram(
                metric.name, metric.description, metric.labels, buckets=metric.buckets, registry=self._registry
            )
        else:
            self._gauges[metric.name] = Gauge(metric.name, metric.description, metric.labels, registry=self._registry)

    def count(self, name: str, amount: float, labels: dict[str, str]) -> None:
        """Add to a counter. Errors: `UnknownMetric`."""
        counter = self._counters.get(name)
        if counter is None:
            raise UnknownMetric(f"{name} is not a counter of adapters/telemetry/metrics.py")
        (counter.labels(**labels) if labels else counter).inc(amount)

    def observe(self, name: str, value: float, labels: dict[str, str]) -> None:
        """Record into a histogram. Errors: `UnknownMetric`."""
        histogram = self._histograms.get(name)
        if histogram is None:
            raise UnknownMetric(f"{name} is not a histogram of adapters/telemetry/metrics.py")
        (histogram.labels(**labels) if labels else histogram).observe(value)

    def gauge(self, name: str, value: float, labels: dict[str, str]) -> None:
        """Set a gauge. Errors: `UnknownMetric`."""
        gauge = self._gauges.get(name)
        if gauge is None:
            raise UnknownMetric(f"{name} is not a gauge of adapters/telemetry/metrics.py")
        (gauge.labels(**labels) if labels else gauge).set(value)

    def exposition(self) -> tuple[bytes, str]:
        return generate_latest(self._registry), CONTENT_TYPE_LATEST
