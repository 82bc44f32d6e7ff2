"""The SDK's exporters over HTTP and gRPC, made from an `OtlpTarget`. Each is imported with the first export by it."""

# What the SDK's exporters of metrics take beside is untyped.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from opentelemetry.sdk._logs import ReadableLogRecord
from opentelemetry.sdk._logs.export import LogRecordExporter, LogRecordExportResult
from opentelemetry.sdk.metrics.export import MetricExporter, MetricExportResult, MetricsData
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from agentic_rag.kernel.errors import Misconfigured
from agentic_rag.kernel.telemetry import OtlpProtocol, OtlpTarget

EXPORT_TIMEOUT_SECONDS = 2.0
"""Of one export with its retries, where the operator names none: the longest delay by a collector that does not answer.
"""
Tell = Callable[[str], None]
"""Hears the name of a signal whose exports begin to fail."""
Result = TypeVar("Result", bound=Enum)


def export_spans_to(target: OtlpTarget, tell: Tell) -> SpanExporter:
    """Errors: `Misconfigured`, a certificate cannot be read."""
    if target.protocol is OtlpProtocol.HTTP:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

        return _Spans(OTLPSpanExporter(**_over_http(target)), _Listener("traces", tell))
    from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcSpanExporter

    return _Spans(GrpcSpanExporter(**_over_grpc(target)), _Listener("traces", tell))


def export_metrics_to(target: OtlpTarget, tell: Tell) -> MetricExporter:
    """Errors: as of `export_spans_to`."""
    if target.protocol is OtlpProtocol.HTTP:
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter

        return _Metrics(OTLPMetricExporter(**_over_http(target)), _Listener("metrics", tell))
    from opentelemetry.exporter.otlp.proto.grpc.metric_exporter import OTLPMetricExporter as GrpcMetricExporter

    return _Metrics(GrpcMetricExporter(**_over_grpc(target)), _Listener("metrics", tell))


def export_logs_to(target: OtlpTarget, tell: Tell) -> LogRecordExporter:
    """Errors: as of `export_spans_to`."""
    if target.protocol is OtlpProtocol.HTTP:
        from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter

        return _Logs(OTLPLogExporter(**_over_http(target)), _Listener("logs", tell))
    from opentelemetry.exporter.otlp.proto.grpc._log_exporter import OTLPLogExporter as GrpcLogExporter

    return _Logs(GrpcLogExporter(**_over_grpc(target)), _Listener("logs", tell))


def _over_http(target: OtlpTarget) -> dict[str, Any]:
    import requests
    from opentelemetry.exporter.otlp.proto.http import Compression

    _read_files(target)
    session = requests.Session()
    # Else the environment's proxies go before those of the settings, and its .netrc adds a login.
    session.trust_env = False
    if target.proxy:
        session.proxies = {"http": target.proxy, "https": target.proxy}
    return {
        "endpoint": target.url,
        "session": session,
        "certificate_file": target.certificate or None,
        "client_key_file": target.client_key or None,
        "client_certificate_file": target.client_certificate or None,
        "headers": dict(target.headers),
        "timeout": target.timeout_seconds or EXPORT_TIMEOUT_SECONDS,
        "compression": Compression.Gzip if target.is_compressed else Compression.NoCompression,
    }


def _over_grpc(target: OtlpTarget) -> dict[str, Any]:
    import grpc

    is_plain = target.url.startswith("http://")
    through = ("grpc.http_proxy", target.proxy) if target.proxy else ("grpc.enable_http_proxy", 0)
    return {
        "endpoint": urlsplit(target.url).netloc,
        "insecure": is_plain,
        "credentials": None if is_plain else grpc.ssl_channel_credentials(*_read_files(target)),
        "headers": dict(target.headers),
        "channel_options": (through,),
        "timeout": target.timeout_seconds or EXPORT_TIMEOUT_SECONDS,
        "compression": grpc.Compression.Gzip if target.is_compressed else grpc.Compression.NoCompression,
    }


def _read_files(target: OtlpTarget) -> list[bytes | None]:
    """Certificate, key and own certificate."""
    try:
        named = (target.certificate, target.client_key, target.client_certificate)
        return [Path(path).read_bytes() if path else None for path in named]
    except OSError as error:
        raise Misconfigured(
            f"A certificate or key for {target.url} cannot be read: {error}. Check the OTEL_EXPORTER_OTLP_… variables "
            "that name files."
        ) from error


class _Listener:
    """Tells of the first of several exports of a signal that fail."""

    def __init__(self, signal: str, tell: Tell) -> None:
        self._signal, self._tell = signal, tell
        self._has_failed = False

    def hear(self, result: Result) -> Result:
        has_failed = result.name != SpanExportResult.SUCCESS.name
        if has_failed and not self._has_failed:
            self._tell(self._signal)
        self._has_failed = has_failed
        return result


class _Spans(SpanExporter):
    def __init__(self, exporter: SpanExporter, listener: _Listener) -> None:
        self._exporter, self._listener = exporter, listener

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        return self._listener.hear(self._exporter.export(spans))

    def shutdown(self) -> None:
        self._exporter.shutdown()


class _Logs(LogRecordExporter):
    def __init__(self, exporter: LogRecordExporter, listener: _Listener) -> None:
        self._exporter, self._listener = exporter, listener

    def export(self, batch: Sequence[ReadableLogRecord]) -> LogRecordExportResult:
        return self._listener.hear(self._exporter.export(batch))

    def force_flush(self, timeout_millis: int = 10_000) -> bool:
        return self._exporter.force_flush(timeout_millis)

    def shutdown(self) -> None:
        self._exporter.shutdown()


class _Metrics(MetricExporter):
    def __init__(self, exporter: MetricExporter, listener: _Listener) -> None:
        super().__init__()
        self._exporter, self._listener = exporter, listener

    def export(self, metrics_data: MetricsData, timeout_millis: float = 10_000, **kwargs: Any) -> MetricExportResult:
        return self._listener.hear(self._exporter.export(metrics_data, timeout_millis, **kwargs))

    def force_flush(self, timeout_millis: float = 10_000) -> bool:
        return self._exporter.force_flush(timeout_millis)

    def shutdown(self, timeout_millis: float = 30_000, **kwargs: Any) -> None:
        self._exporter.shutdown(timeout_millis, **kwargs)
