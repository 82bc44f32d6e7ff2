"""Export over OTLP, as a collector sees it, and the `OTEL_*` variables that switch it."""

from __future__ import annotations

import io
import logging
import re
import socket
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from tests.otlp_receiver import OtlpReceiver, receiving_grpc, receiving_otlp

from agentic_rag.adapters.telemetry.facade import ProcessTelemetry, TelemetryOptions
from agentic_rag.kernel.telemetry import OtlpProtocol, TelemetryExport
from agentic_rag.settings import load_settings
from agentic_rag.settings.otel import ENDPOINT, READ, SIGNALS, read_export

COLLECTOR = {ENDPOINT: "http://127.0.0.1:4318"}
NO_FILE = Path("/nonexistent")


def telemetry(receiver: OtlpReceiver, **more: str) -> ProcessTelemetry:
    settings = load_settings({ENDPOINT: receiver.endpoint, **more}, dotenv=NO_FILE)
    return ProcessTelemetry(TelemetryOptions("rag", "7", export=settings.telemetry_export), io.StringIO())


def attributes(one: Any) -> dict[str, str]:
    return {pair.key: pair.value.string_value for pair in one.attributes}


@pytest.mark.network
@pytest.mark.parametrize(
    ("receiving", "protocol"), [(receiving_otlp, "http/protobuf"), (receiving_grpc, "grpc")], ids=["http", "grpc"]
)
def test_a_collector_gets_spans_metrics_and_logs_of_one_trace(
    receiving: Callable[[], AbstractContextManager[OtlpReceiver]], protocol: str
) -> None:
    with receiving() as collector:
        it = telemetry(
            collector,
            OTEL_EXPORTER_OTLP_PROTOCOL=protocol,
            OTEL_EXPORTER_OTLP_HEADERS="x-key=a%20b",
            OTEL_EXPORTER_OTLP_COMPRESSION="gzip",
            OTEL_RESOURCE_ATTRIBUTES="deployment.environment=staging",
        )
        with it.span("rag.run", {"rag.stage": "gate"}) as span, it.bind(run_id="r"):
            it.count("rag_runs_total", 2, outcome="GROUNDED")
            it.observe("rag_stage_seconds", 0.02, stage="gate")
            it.event("rag_stage_ended", level="warning", api_key="hunter2", detail="Bearer hunter2")
            logging.getLogger("a.library").warning("postgres://u:%s@h", "hunter2")
        it.shutdown()

    (sent,), (own, library) = collector.spans, collector.records
    assert (sent.name, sent.trace_id.hex(), attributes(sent)["rag.stage"]) == ("rag.run", span.trace_id, "gate")
    assert (own.body.string_value, own.severity_text, own.severity_number) == ("rag_stage_ended", "warning", 13)
    assert own.trace_id == library.trace_id == sent.trace_id
    assert own.span_id == sent.span_id
    assert attributes(own) == {"run_id": "r", "api_key": "[redacted]", "detail": "Bearer [redacted]"}
    assert "hunter2" not in collector.text()
    counted = {one.name: one for one in collector.metrics}
    (runs,) = counted["rag_runs_total"].sum.data_points
    (stage,) = counted["rag_stage_seconds"].histogram.data_points
    assert (runs.as_double, attributes(runs), counted["rag_runs_total"].sum.is_monotonic) == (
        2.0,
        {"outcome": "GROUNDED"},
        True,
    )
    assert (stage.count, stage.sum, counted["rag_stage_seconds"].unit) == (1, 0.02, "s")
    assert len(stage.bucket_counts) == len(stage.explicit_bounds) + 1
    assert stage.bucket_counts[list(stage.explicit_bounds).index(0.025)] == 1
    assert not stage.HasField("min")
    for export in collector.exports:
        (resource,) = next(value for name, value in export.message.ListFields() if name.name.startswith("resource"))
        assert export.headers["x-key"] == "a b"
        assert attributes(resource.resource).items() >= {
            "service.name": "rag", "service.version": "7", "deployment.environment": "staging"
        }.items()  # fmt: skip


def resources_of(collector: OtlpReceiver) -> list[dict[str, str]]:
    """The attributes of the resource of each export."""
    fields = [dict((name.name, value) for name, value in one.message.ListFields()) for one in collector.exports]
    return [attributes(given[0].resource) for one in fields for name, given in one.items() if name.startswith("resour")]


@pytest.mark.network
def test_each_process_has_an_id_of_its_own_that_all_its_signals_carry() -> None:
    """Two workers with one name are two series: counters that only grow would else jump back and forth."""
    found: list[set[str]] = []
    for _ in range(2):
        with receiving_otlp() as collector:
            it = telemetry(collector)
            with it.span("one"):
                it.event("told")
            it.shutdown()
        assert {one.path for one in collector.exports} == {f"/v1/{signal}" for signal in SIGNALS}
        found.append({one["service.instance.id"] for one in resources_of(collector)})
        assert {one["telemetry.sdk.language"] for one in resources_of(collector)} == {"python"}

    assert [len(one) for one in found] == [1, 1]
    assert found[0] != found[1]


@pytest.mark.network
def test_the_id_that_an_operator_gives_a_process_is_kept() -> None:
    with receiving_otlp() as collector:
        telemetry(collector, OTEL_RESOURCE_ATTRIBUTES="service.instance.id=pod-7").shutdown()

    assert {one["service.instance.id"] for one in resources_of(collector)} == {"pod-7"}


@pytest.mark.network
@pytest.mark.parametrize("kept", SIGNALS)
def test_each_signal_is_switched_by_its_exporter(kept: str) -> None:
    off = {f"OTEL_{one.upper()}_EXPORTER": "none" for one in SIGNALS if one != kept}
    with receiving_otlp() as collector:
        it = telemetry(collector, **off)
        with it.span("one"):
            it.event("told")
        it.shutdown()

    assert {one.path for one in collector.exports} == {f"/v1/{kept}"}
    trace_of_log = [one.trace_id for one in collector.records]
    assert all(len(one) == 16 and any(one) for one in trace_of_log)


@pytest.mark.network
def test_limits_cut_what_is_exported_of_a_span_and_of_a_log_line() -> None:
    with receiving_otlp() as collector:
        it = telemetry(collector, OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT="3", OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT="1")
        with it.span("one", {"first": "abcdef", "second": "abcdef"}):
            it.event("told", first="abcdef", second="abcdef")
        it.shutdown()

    assert [list(attributes(one).values()) for one in collector.spans] == [["abc"]]
    assert [list(attributes(one).values()) for one in collector.records] == [["abc", "abc"]]


@pytest.mark.network
def test_metrics_are_sent_every_interval() -> None:
    with receiving_otlp() as collector:
        it = telemetry(collector, OTEL_METRIC_EXPORT_INTERVAL="10", OTEL_LOGS_EXPORTER="none")
        deadline = time.monotonic() + 30
        while len(collector.of("/v1/metrics")) < 3 and time.monotonic() < deadline:
            if collector.turn.acquire(timeout=0.01):
                collector.turn.release()
        it.shutdown()

    assert len(collector.of("/v1/metrics")) >= 3


@pytest.mark.network
@pytest.mark.parametrize("name", [one for one in READ if one.endswith("_LIMIT")])
def test_a_limit_that_cannot_be_used_loses_no_line_and_no_span(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # The SDK reads the environment itself for each limit that it is not given.
    monkeypatch.setenv(name, "many")
    with receiving_otlp() as collector:
        it = telemetry(collector, **{name: "many"})
        with it.span("one", {"first": "abcdef"}):
            it.event("told", first="abcdef")
        it.shutdown()

    assert [attributes(one) for one in (*collector.spans, *collector.records)] == [{"first": "abcdef"}] * 2


@pytest.mark.slow
@pytest.mark.network
@pytest.mark.parametrize("protocol", [one.value for one in OtlpProtocol])
def test_a_silent_collector_of_all_signals_delays_the_end_by_less_than_five_seconds(protocol: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.listen(16)
        collector = OtlpReceiver(f"http://127.0.0.1:{silent.getsockname()[1]}")
        it = telemetry(
            collector, OTEL_EXPORTER_OTLP_PROTOCOL=protocol, OTEL_EXPORTER_OTLP_TIMEOUT="60000",
            OTEL_BSP_SCHEDULE_DELAY="60000", OTEL_BLRP_SCHEDULE_DELAY="60000",
        )  # fmt: skip
        with it.span("one"):
            it.event("told")
        began = time.monotonic()
        it.shutdown()

    assert time.monotonic() - began < 5
    deadline = time.monotonic() + 10
    while exporting := [one.name for one in threading.enumerate() if one.name.startswith(("Otel", "metrics over"))]:
        assert time.monotonic() < deadline, exporting
        threading.Event().wait(0.01)


def effect(**variables: str) -> TelemetryExport:
    export, warnings = read_export({**COLLECTOR, **variables})
    assert warnings == ()
    return export


VALUES = {
    "OTEL_SDK_DISABLED": "true",
    "OTEL_RESOURCE_ATTRIBUTES": "a=b",
    "OTEL_SERVICE_NAME": "api",
    "OTEL_TRACES_SAMPLER": "always_off",
    "OTEL_TRACES_SAMPLER_ARG": "0.5",
    "OTEL_METRIC_EXPORT_INTERVAL": "5000",
    "ENDPOINT": "http://elsewhere:4318",
    "PROTOCOL": "grpc",
    "HEADERS": "a=b",
    "TIMEOUT": "500",
    "COMPRESSION": "gzip",
    "CERTIFICATE": "/ca.pem",
    "CLIENT_CERTIFICATE": "/own.pem",
    "CLIENT_KEY": "/own.key",
    "INSECURE": "true",
    "EXPORTER": "none",
    "SCHEDULE_DELAY": "250",
    "MAX_QUEUE_SIZE": "100",
    "MAX_EXPORT_BATCH_SIZE": "10",
    "ATTRIBUTE_COUNT_LIMIT": "5",
    "ATTRIBUTE_VALUE_LENGTH_LIMIT": "5",
}
"""A value that is no default, by the name of a variable or how it ends."""
BESIDE = {
    "OTEL_TRACES_SAMPLER_ARG": {"OTEL_TRACES_SAMPLER": "traceidratio"},
    "INSECURE": {"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc", ENDPOINT: "collector:4317"},
}
"""What a variable takes to have an effect."""


@pytest.mark.parametrize("name", READ)
def test_every_listed_variable_changes_what_is_exported(name: str) -> None:
    ending = max((one for one in VALUES if name.endswith(one)), key=len)
    beside = BESIDE.get(ending, {})

    assert effect(**beside, **{name: VALUES[ending]}) != effect(**beside)


def test_a_variable_of_one_signal_goes_before_that_of_all() -> None:
    found = effect(
        OTEL_EXPORTER_OTLP_LOGS_ENDPOINT="https://logs:4317",
        OTEL_EXPORTER_OTLP_LOGS_PROTOCOL="grpc",
        OTEL_EXPORTER_OTLP_HEADERS="name=of-all",
        OTEL_EXPORTER_OTLP_LOGS_HEADERS="name=of-logs",
    )

    assert found.traces is not None
    assert found.logs is not None
    assert (found.traces.url, found.traces.headers) == ("http://127.0.0.1:4318/v1/traces", {"name": "of-all"})
    assert (found.logs.url, found.logs.headers) == ("https://logs:4317", {"name": "of-logs"})
    assert "of-all" not in repr(found)


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("OTEL_PROPAGATORS", "b3", "no effect"),
        ("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true", "no effect"),
        ("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", "delta", "no effect"),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json", "http/protobuf, grpc"),
        ("OTEL_TRACES_EXPORTER", "zipkin", "otlp, none"),
        ("OTEL_TRACES_SAMPLER", "jaeger_remote", "always_on"),
        ("OTEL_METRIC_EXPORT_INTERVAL", "soon", "number"),
        ("OTEL_BSP_MAX_QUEUE_SIZE", "0", "at least 1"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "hunter2", "name=value"),
    ],
)
def test_a_variable_without_effect_is_told_and_stops_nothing(name: str, value: str, told: str) -> None:
    settings = load_settings({**COLLECTOR, name: value}, dotenv=NO_FILE)

    assert settings.telemetry_export == effect()
    (warning,) = settings.warnings
    assert name in warning
    assert told in warning
    assert "hunter2" not in warning


def test_without_an_endpoint_nothing_is_exported_and_nothing_told() -> None:
    assert read_export({"OTEL_TRACES_EXPORTER": "otlp", "OTEL_PROPAGATORS": "b3"}) == (TelemetryExport(), ())


def test_the_page_of_observability_lists_the_variables_that_are_read() -> None:
    page = (Path(__file__).parents[2] / "docs" / "observability.md").read_text(encoding="utf-8")
    (section,) = re.findall(r"\n## OpenTelemetry variables\n(.*?)\n## ", page, re.DOTALL)
    listed = set[str]()
    for name in re.findall(r"`(OTEL_[A-Z_]+(?:<SIGNAL>[A-Z_]+)?)`", section):
        listed |= {name.replace("<SIGNAL>_", one) for one in ("", *(f"{signal.upper()}_" for signal in SIGNALS))}

    assert listed == {*READ}
