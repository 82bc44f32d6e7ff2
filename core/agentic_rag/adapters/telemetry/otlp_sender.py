"""Sends encoded exports to a collector, over HTTP or gRPC, as the OTLP specification 1.8 says."""

from __future__ import annotations

import gzip
import ssl
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Event
from types import MappingProxyType
from typing import cast
from urllib.parse import urlsplit

from agentic_rag.kernel.errors import Misconfigured
from agentic_rag.kernel.telemetry import OtlpProtocol, OtlpTarget

EXPORT_TIMEOUT_SECONDS = 2.0
"""Of one export with its retries, where the operator names none: the longest delay by a collector that does not answer.
"""
FIRST_PAUSE_SECONDS = 0.25
"""Before an export is tried again; each further pause is twice as long."""
RETRYABLE_STATUSES = frozenset({429, 502, 503, 504})
"""OTLP/HTTP, "Retryable Response Codes"."""
RETRYABLE_CODES = frozenset(
    {"CANCELLED", "DEADLINE_EXCEEDED", "RESOURCE_EXHAUSTED", "ABORTED", "OUT_OF_RANGE", "UNAVAILABLE", "DATA_LOSS"}
)
"""OTLP/gRPC, "Failures"."""
Tell = Callable[[str, str, int], None]
"""Hears of a signal whose exports begin to fail: its name, why, and how many items were dropped before."""

METHODS: Mapping[str, str] = MappingProxyType(
    {
        "traces": "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
        "metrics": "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export",
        "logs": "/opentelemetry.proto.collector.logs.v1.LogsService/Export",
    }
)


class HttpSender:
    """Posts exports. The client is imported with the first sender."""

    def __init__(self, target: OtlpTarget) -> None:
        import httpx2

        trust: ssl.SSLContext | bool = True
        if target.certificate or target.client_certificate:
            trust = ssl.create_default_context(cafile=target.certificate or None)
        if isinstance(trust, ssl.SSLContext) and target.client_certificate:
            trust.load_cert_chain(target.client_certificate, target.client_key or None)
        packed = {"content-encoding": "gzip"} if target.is_compressed else {}
        self._url = target.url
        self._is_compressed = target.is_compressed
        self._client = httpx2.Client(
            headers={**target.headers, "content-type": "application/x-protobuf", **packed}, verify=trust
        )

    def send(self, body: bytes, seconds: float) -> tuple[str, bool]:
        """What went wrong (empty: nothing), and whether another try may help."""
        import httpx2

        content = gzip.compress(body, 6) if self._is_compressed else body
        try:
            reply = self._client.post(self._url, content=content, timeout=seconds)
        except httpx2.HTTPError as error:
            return type(error).__name__, True
        return ("", False) if reply.is_success else (str(reply.status_code), reply.status_code in RETRYABLE_STATUSES)

    def close(self) -> None:
        """Close the connection."""
        self._client.close()


class GrpcSender:
    """Calls the collector's service of one signal. The library is imported with the first sender."""

    def __init__(self, target: OtlpTarget, signal: str) -> None:
        import grpc

        packing = grpc.Compression.Gzip if target.is_compressed else grpc.Compression.NoCompression
        address = urlsplit(target.url).netloc
        if target.url.startswith("http://"):
            self._channel = grpc.insecure_channel(address, compression=packing)
        else:
            read = (target.certificate, target.client_key, target.client_certificate)
            root, key, chain = [Path(path).read_bytes() if path else None for path in read]
            credentials = grpc.ssl_channel_credentials(root, key, chain)
            self._channel = grpc.secure_channel(address, credentials, compression=packing)
        self._call = cast("Callable[..., bytes]", self._channel.unary_unary(METHODS[signal]))
        self._metadata = tuple(target.headers.items())

    def send(self, body: bytes, seconds: float) -> tuple[str, bool]:
        """As `HttpSender.send`."""
        import grpc

        try:
            self._call(body, timeout=seconds, metadata=self._metadata)
        except grpc.RpcError as error:
            code = error.code().name if isinstance(error, grpc.Call) else type(error).__name__
            return code, code in RETRYABLE_CODES
        return "", False

    def close(self) -> None:
        """Close the connection."""
        self._channel.close()


class OtlpSender:
    """Delivers the exports of one signal, with retries. Errors: `Misconfigured`, a certificate cannot be read."""

    def __init__(self, target: OtlpTarget, signal: str, tell: Tell) -> None:
        self.signal = signal
        self._tell = tell
        self._seconds = target.timeout_seconds or EXPORT_TIMEOUT_SECONDS
        try:
            self._sender = HttpSender(target) if target.protocol is OtlpProtocol.HTTP else GrpcSender(target, signal)
        except OSError as error:
            raise Misconfigured(
                f"A certificate or key for the export of {signal} cannot be read: {error}. Check the "
                "OTEL_EXPORTER_OTLP_… variables that name files."
            ) from error
        self._is_over = Event()
        self._has_failed = False

    def deliver(self, body: bytes, dropped: int) -> bool:
        """Whether the collector took it. The first of several failures is told, with what was `dropped` before it."""
        code = self._deliver(body)
        if code and not self._has_failed:
            self._tell(self.signal, code, dropped)
        self._has_failed = bool(code)
        return not code

    def _deliver(self, body: bytes) -> str:
        until, pause = time.monotonic() + self._seconds, FIRST_PAUSE_SECONDS
        while True:
            code, is_worth_a_try = self._sender.send(body, max(0.01, until - time.monotonic()))
            if not is_worth_a_try or time.monotonic() + pause >= until or self._is_over.wait(pause):
                return code
            pause *= 2

    def close(self) -> None:
        """Try nothing again any more."""
        self._is_over.set()
        self._sender.close()
