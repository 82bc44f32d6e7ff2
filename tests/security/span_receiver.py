"""An OTLP receiver on loopback: keeps every span that a process exports, to be counted and searched."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.loopback_http import serving_http


@dataclass
class SpanReceiver:
    """What came, as text: names, attributes, events and status of each span."""

    endpoint: str = ""
    spans: int = 0
    _texts: list[str] = field(default_factory=list[str])
    _turn: threading.Lock = field(default_factory=threading.Lock)

    def take(self, body: bytes) -> None:
        """Keep one export."""
        export = ExportTraceServiceRequest.FromString(body)
        spans = [span for one in export.resource_spans for scope in one.scope_spans for span in scope.spans]
        with self._turn:
            self.spans += len(spans)
            self._texts.append(str(export))

    def text(self) -> str:
        """Everything that came."""
        with self._turn:
            return "\n".join(self._texts)


@contextlib.contextmanager
def receiving_spans() -> Iterator[SpanReceiver]:
    """A receiver while the block lasts; `endpoint` is what AGENTIC_RAG_OTLP_ENDPOINT takes."""
    receiver = SpanReceiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            receiver.take(self.rfile.read(int(self.headers["content-length"])))
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Nothing: the table is what this run says."""

    with serving_http(Handler) as receiver.endpoint:
        yield receiver
