"""Metrics for a Prometheus scrape: of this process, or of all that share the folder PROMETHEUS_MULTIPROC_DIR."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TypeVar

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest, values
from prometheus_client import Metric as PrometheusMetric
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector
from prometheus_client.samples import Sample

from agentic_rag.adapters.telemetry.metrics import METRICS, Metric, MetricKind

_STARTED = "process_start_time_seconds"


class UnknownMetric(KeyError):
    """A metric that the table does not list, or lists with another kind: a bug."""


Meter = TypeVar("Meter", Counter, Gauge, Histogram)


class PrometheusMeters:
    """One collector for each metric of the table. Metrics without labels show 0 from the start. The library decides by
    the variable whether values live in files that processes share; then every process shows the sums of all, and of a
    gauge the greatest value, or the sum, of those that live.
    """

    def __init__(self, metrics: tuple[Metric, ...] = METRICS) -> None:
        self._registry = CollectorRegistry()
        self._is_shared = values.ValueClass is not values.MutexValue
        ProcessCollector(registry=self._registry)
        self._collectors = {metric.name: _collector(metric, self._registry) for metric in metrics}
        self._labelled: dict[tuple[object, ...], Counter | Gauge | Histogram] = {}
        """By type, name and labels: the library validates the labels of each look-up under a lock."""

    def count(self, name: str, amount: float, labels: dict[str, str]) -> None:
        """Add to a counter. Errors: `UnknownMetric`."""
        self._meter(Counter, name, labels).inc(amount)

    def observe(self, name: str, value: float, labels: dict[str, str]) -> None:
        """Record into a histogram. Errors: `UnknownMetric`."""
        self._meter(Histogram, name, labels).observe(value)

    def gauge(self, name: str, value: float, labels: dict[str, str]) -> None:
        """Set a gauge. Errors: `UnknownMetric`."""
        self._meter(Gauge, name, labels).set(value)

    def clear(self, name: str) -> None:
        """Drop all values of a gauge with labels. Errors: `UnknownMetric`."""
        self._meter(Gauge, name, {}).clear()
        self._labelled = {key: meter for key, meter in self._labelled.items() if key[1] != name}

    def _meter(self, kind: type[Meter], name: str, labels: dict[str, str]) -> Meter:
        key = (kind, name, *labels.items())
        known = self._labelled.get(key)
        if isinstance(known, kind):
            return known
        found = self._labelled[key] = self._look_up(kind, name, labels)
        return found

    def _look_up(self, kind: type[Meter], name: str, labels: dict[str, str]) -> Meter:
        collector = self._collectors.get(name)
        if not isinstance(collector, kind):
            raise UnknownMetric(f"{name} is not a {kind.__name__.lower()} of adapters/telemetry/metrics.py")
        return collector.labels(**labels) if labels else collector

    def families(self) -> Iterable[PrometheusMetric]:
        """Every metric with its values."""
        return self._registry.collect()

    def exposition(self) -> tuple[bytes, str]:
        registry = self._registry
        if self._is_shared:
            registry = CollectorRegistry()
            MultiProcessCollector(registry)
            # The library reads the same variable.
            registry.register(_LivingProcesses(Path(os.environ["PROMETHEUS_MULTIPROC_DIR"])))  # noqa: TID251
        return generate_latest(registry), CONTENT_TYPE_LATEST


class _LivingProcesses(Collector):
    """Figures of the processes that share a folder and live: memory, processor time and files of all together, the
    start of the one that started last.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def collect(self) -> Iterable[PrometheusMetric]:
        found: dict[str, PrometheusMetric] = {}
        for file in self._folder.glob("gauge_livemax_*.db"):
            of_one = ProcessCollector(pid=partial(int, file.stem.rpartition("_")[2]), registry=None).collect()
            for family in of_one:
                known = found.setdefault(family.name, family)
                if known is not family:
                    pairs = zip(known.samples, family.samples, strict=True)
                    known.samples = [_joined(one, other) for one, other in pairs]
        return found.values()


def _joined(one: Sample, other: Sample) -> Sample:
    value = max(one.value, other.value) if one.name == _STARTED else one.value + other.value
    return one._replace(value=value)


def _collector(metric: Metric, registry: CollectorRegistry) -> Counter | Gauge | Histogram:
    described = (metric.name, metric.description, metric.labels)
    match metric.kind:
        case MetricKind.COUNTER:
            return Counter(*described, registry=registry)
        case MetricKind.HISTOGRAM:
            return Histogram(*described, registry=registry, buckets=metric.buckets)
        case MetricKind.GAUGE:
            mode = "livesum" if metric.is_summed else "livemax"
            return Gauge(*described, registry=registry, multiprocess_mode=mode)
