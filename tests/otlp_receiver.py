"""A collector on loopback: takes spans, metrics and logs over OTLP, by HTTP or gRPC, and decodes what comes."""

from __future__ import annotations

import contextlib
import gzip
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

import grpc
from opentelemetry.proto.collector.logs.v1 import logs_service_pb2 as logs
from opentelemetry.proto.collector.logs.v1 import logs_service_pb2_grpc as logs_grpc
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2 as metrics
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2_grpc as metrics_grpc
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as traces
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2_grpc as traces_grpc

from tests.loopback_http import serving_http

REQUESTS: Mapping[str, Any] = {
    "/v1/traces": traces.ExportTraceServiceRequest,
    "/v1/metrics": metrics.ExportMetricsServiceRequest,
    "/v1/logs": logs.ExportLogsServiceRequest,
}


@dataclass(frozen=True, slots=True)
class Export:
    """One request, decoded, with the names of its headers in lower case."""

    path: str
    message: Any
    headers: Mapping[str, str]


@dataclass
class OtlpReceiver:
    """What came."""

    endpoint: str = ""
    exports: list[Export] = field(default_factory=list[Export])
    turn: threading.Lock = field(default_factory=threading.Lock)

    def take(self, path: str, body: bytes, headers: Mapping[str, str]) -> None:
        """Keep one export. Errors: `DecodeError`, it is no message of its signal."""
        self.keep(Export(path, REQUESTS[path].FromString(body), {key.lower(): headers[key] for key in headers}))

    def keep(self, export: Export) -> None:
        with self.turn:
            self.exports.append(export)

    def of(self, path: str) -> list[Export]:
        with self.turn:
            return [one for one in self.exports if one.path == path]

    @property
    def spans(self) -> list[Any]:
        found = [one for export in self.of("/v1/traces") for one in export.message.resource_spans]
        return [span for one in found for scope in one.scope_spans for span in scope.spans]

    @property
    def metrics(self) -> list[Any]:
        found = [one for export in self.of("/v1/metrics") for one in export.message.resource_metrics]
        return [metric for one in found for scope in one.scope_metrics for metric in scope.metrics]

    @property
    def records(self) -> list[Any]:
        found = [one for export in self.of("/v1/logs") for one in export.message.resource_logs]
        return [record for one in found for scope in one.scope_logs for record in scope.log_records]

    def text(self) -> str:
        """Everything that came: names, attributes, bodies, events and statuses."""
        with self.turn:
            return "\n".join(str(one.message) for one in self.exports)


@contextlib.contextmanager
def receiving_otlp() -> Iterator[OtlpReceiver]:
    """A collector over HTTP while the block lasts; `endpoint` is what OTEL_EXPORTER_OTLP_ENDPOINT takes."""
    receiver = OtlpReceiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            is_packed = self.headers.get("content-encoding") == "gzip"
            receiver.take(self.path, gzip.decompress(body) if is_packed else body, dict(self.headers))
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Nothing."""

    with serving_http(Handler) as receiver.endpoint:
        yield receiver


@contextlib.contextmanager
def receiving_grpc() -> Iterator[OtlpReceiver]:
    """A collector over gRPC."""
    receiver = OtlpReceiver()
    replies = {
        "/v1/traces": traces.ExportTraceServiceResponse,
        "/v1/metrics": metrics.ExportMetricsServiceResponse,
        "/v1/logs": logs.ExportLogsServiceResponse,
    }

    class Service:
        def __init__(self, path: str) -> None:
            self._path = path

        def Export(self, request: Any, context: grpc.ServicerContext) -> Any:
            sent = {key: str(value) for key, value in context.invocation_metadata()}
            receiver.keep(Export(self._path, request, sent))
            return replies[self._path]()

    server = grpc.server(ThreadPoolExecutor(4))
    traces_grpc.add_TraceServiceServicer_to_server(Service("/v1/traces"), server)
    metrics_grpc.add_MetricsServiceServicer_to_server(Service("/v1/metrics"), server)
    logs_grpc.add_LogsServiceServicer_to_server(Service("/v1/logs"), server)
    receiver.endpoint = f"http://127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    server.start()
    try:
        yield receiver
    finally:
        server.stop(0).wait()
