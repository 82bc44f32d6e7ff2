"""Traces, metrics and logs."""

import asyncio
import io
import json
import logging
import re
import socket
import time
import weakref
from collections.abc import Mapping
from contextvars import ContextVar, copy_context
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.memory_store.telemetry import RecordingTelemetry

import agentic_rag
from agentic_rag.adapters.system.clock import SystemClock
from agentic_rag.adapters.system.ids import RandomIds
from agentic_rag.adapters.telemetry.facade import ProcessTelemetry, TelemetryOptions
from agentic_rag.adapters.telemetry.logging import route_standard_logging
from agentic_rag.adapters.telemetry.metrics import METRICS, MetricKind
from agentic_rag.adapters.telemetry.prometheus import UnknownMetric
from agentic_rag.adapters.telemetry.tracing import LightTracer, RecordedSpan, Sampler, TraceContext, read_carrier
from agentic_rag.kernel.errors import NotFound
from agentic_rag.kernel.stages import run_stage
from agentic_rag.kernel.telemetry import TelemetryExport
from agentic_rag.settings.otel import read_export

TRACE = "0af7651916cd43dd8448eb211c80319c"
CARRIER = {"traceparent": f"00-{TRACE}-b7ad6b7169203331-01"}


def export_to(endpoint: str, **more: str) -> TelemetryExport:
    export, _ = read_export({"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint, **more})
    return export


def telemetry(stream: io.StringIO | None = None) -> ProcessTelemetry:
    return ProcessTelemetry(TelemetryOptions(), stream or io.StringIO())


def lines(stream: io.StringIO) -> list[dict[str, object]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_span_continues_the_trace_of_its_carrier() -> None:
    it = telemetry()

    with it.span("outer", carrier=CARRIER) as outer, it.span("inner") as inner:
        sent_on = read_carrier(it.carrier())

    assert outer.trace_id == inner.trace_id == TRACE
    assert sent_on is not None
    assert sent_on.trace_id == TRACE
    assert sent_on.span_id != "b7ad6b7169203331"


def test_a_span_sends_on_one_id_however_often_it_is_asked() -> None:
    it = telemetry()

    with it.span("outer"):
        first = it.carrier()
        with it.span("inner"):
            inside = it.carrier()
        again = it.carrier()

    assert first == again
    assert inside != first


@pytest.mark.slow
@pytest.mark.network
@pytest.mark.parametrize("spans", [1, 2_000])
def test_a_collector_that_never_answers_delays_the_end_by_less_than_five_seconds(spans: int) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        export = export_to(f"http://127.0.0.1:{silent.getsockname()[1]}")
        it = ProcessTelemetry(TelemetryOptions(export=export), io.StringIO())
        for _ in range(spans):
            with it.span("one"):
                pass
        began = time.monotonic()
        it.shutdown()

    assert time.monotonic() - began < 5


@pytest.mark.parametrize(
    ("name", "share", "chosen"),
    [
        ("always_on", 0.0, {"root", "of a sampled", "of another"}),
        ("always_off", 1.0, set[str]()),
        ("traceidratio", 1.0, {"root", "of a sampled", "of another"}),
        ("traceidratio", 0.0, set[str]()),
        ("parentbased_always_on", 0.0, {"root", "of a sampled"}),
        ("parentbased_always_off", 1.0, {"of a sampled"}),
        ("parentbased_traceidratio", 0.0, {"of a sampled"}),
    ],
)
def test_the_sampler_chooses_the_spans_that_are_recorded(name: str, share: float, chosen: set[str]) -> None:
    recorded: list[RecordedSpan] = []
    tracer = LightTracer(Sampler(name, share), recorded.append)
    unsampled = {"traceparent": CARRIER["traceparent"][:-1] + "0"}

    told: dict[str, str] = {}
    for kind, carrier in {"root": None, "of a sampled": CARRIER, "of another": unsampled}.items():
        with tracer.span(kind, None, carrier):
            told[kind] = (tracer.current() or TraceContext("", "")).header()[-2:]

    assert {span.name for span in recorded} == {kind for kind, flag in told.items() if flag == "01"} == chosen


def test_a_span_that_is_discarded_is_recorded_where_another_one_names_it() -> None:
    recorded: list[RecordedSpan] = []
    tracer = LightTracer(record=recorded.append)

    for name in ("alone", "with a child"):
        with tracer.span(name, None, None) as span:
            if name != "alone":
                with tracer.span("child", None, None):
                    pass
            span.discard()

    assert [one.name for one in recorded] == ["child", "with a child"]
    assert recorded[0].parent_id == recorded[1].span_id


def test_a_span_that_waits_for_its_export_keeps_nothing_of_its_request_alive() -> None:
    recorded: list[RecordedSpan] = []
    tracer, at_hand = LightTracer(record=recorded.append), ContextVar[Thread]("at_hand")

    def answer() -> weakref.ref[Thread]:
        at_hand.set(Thread())
        with tracer.span("http.request", None, None):
            pass
        return weakref.ref(at_hand.get())

    kept = copy_context().run(answer)

    assert (len(recorded), kept()) == (1, None)


@pytest.mark.parametrize(("outcome", "told"), [("skipped: off", []), ("degraded: why", ["degraded: why"])])
def test_a_stage_that_had_nothing_to_do_is_not_exported(outcome: str, told: list[str]) -> None:
    recorded: list[RecordedSpan] = []
    telemetry = ProcessTelemetry(TelemetryOptions(), io.StringIO())
    telemetry._tracer = LightTracer(record=recorded.append)

    with run_stage(telemetry, "hyde", iter([1.0, 3.5]).__next__) as ending:
        ending.outcome = outcome

    assert [one.attributes["rag.stage.outcome"] for one in recorded] == told


def test_a_share_of_the_traces_is_chosen_by_their_ids() -> None:
    half = Sampler("traceidratio", 0.5)
    ids = [RandomIds().trace_id() for _ in range(400)]

    chosen = [one for one in ids if half.samples(one, None)]

    assert 120 < len(chosen) < 280
    assert all(half.samples(one, None) for one in chosen)


def test_spans_without_a_carrier_begin_a_trace_each() -> None:
    it = telemetry()
    with it.span("one") as one:
        pass
    with it.span("two") as two:
        pass

    assert one.trace_id != two.trace_id
    assert re.fullmatch(r"[0-9a-f]{32}", one.trace_id)
    assert it.carrier() == {}


@given(
    st.builds(
        TraceContext,
        st.integers(1, 2**128 - 1).map(lambda it: f"{it:032x}"),
        st.integers(1, 2**64 - 1).map(lambda it: f"{it:016x}"),
        st.booleans(),
    )
)
def test_a_trace_context_survives_the_wire(context: TraceContext) -> None:
    assert read_carrier({"traceparent": context.header()}) == context


@pytest.mark.parametrize(
    "header",
    [
        "",
        "00",
        f"00-{TRACE}-b7ad6b7169203331",
        f"ff-{TRACE}-b7ad6b7169203331-01",
        f"00-{'0' * 32}-b7ad6b7169203331-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"00-{TRACE.upper()}-b7ad6b7169203331-01",
    ],
)
def test_a_broken_trace_context_is_ignored(header: str) -> None:
    assert read_carrier({"traceparent": header}) is None


def test_an_event_is_one_json_line_with_the_trace_id() -> None:
    stream = io.StringIO()
    it = telemetry(stream)

    with it.span("work", carrier=CARRIER):
        it.event("rag_document_ingested", chunks=3, path="a\nb")
    it.event("idle", level="warning")

    first, second = lines(stream)
    assert (first["event"], first["trace_id"], first["chunks"], first["level"]) == (
        "rag_document_ingested",
        TRACE,
        3,
        "info",
    )
    assert "trace_id" not in second
    assert second["level"] == "warning"


def test_an_event_carries_the_ids_of_the_run_and_the_job_around_it() -> None:
    stream = io.StringIO()
    it = telemetry(stream)

    with it.bind(job_id="j"):
        with it.bind(run_id="r"):
            it.event("inside")
        it.event("beside", job_id="own")
    it.event("outside")

    inside, beside, outside = lines(stream)
    assert (inside["job_id"], inside["run_id"]) == ("j", "r")
    assert (beside["job_id"], "run_id" in beside) == ("own", False)
    assert not {"job_id", "run_id"} & outside.keys()


@pytest.mark.parametrize(
    ("raised", "outcome"),
    [
        (None, "ok"),
        (NotFound("gone", code="RUN_NOT_FOUND"), "RUN_NOT_FOUND"),
        (ZeroDivisionError(), "INTERNAL"),
        (asyncio.CancelledError(), "CANCELLED"),
    ],
)
def test_a_stage_tells_how_it_ended_however_it_ends(raised: BaseException | None, outcome: str) -> None:
    it = RecordingTelemetry()

    def run() -> None:
        with run_stage(it, "parse", iter([1.0, 3.5]).__next__):
            if raised is not None:
                raise raised

    if raised is None:
        run()
    else:
        with pytest.raises(type(raised)):
            run()

    assert [(one.name, one.fields) for one in it.events] == [
        (
            "rag_stage_ended",
            {"level": "info" if raised else "debug", "stage": "parse", "outcome": outcome, "seconds": 2.5},
        )
    ]
    assert it.observations == [("rag_stage_seconds", (("stage", "parse"),), 2.5)]


def test_no_stage_is_a_span_without_an_event() -> None:
    inside = {"rag.run", "rag.search", "rag.arm", "rag.chat", "rag.provider.embed"}
    core = Path(agentic_rag.__file__).parent
    opened = {
        name
        for file in core.rglob("*.py")
        for name in re.findall(r"""\.span\(\s*f?["']([^"']+)""", file.read_text("utf-8"))
    }

    assert opened - {"rag.{name}"} == inside


def test_levels_below_the_chosen_one_are_not_written() -> None:
    stream = io.StringIO()
    it = ProcessTelemetry(TelemetryOptions(log_level="warning"), stream)

    it.event("chatter")
    it.event("trouble", level="error")

    assert [line["event"] for line in lines(stream)] == ["trouble"]


@pytest.mark.parametrize(
    "name",
    ["api_key", "apiKey", "openai_api_key", "password", "Authorization", "client_secret", "token", "dev_token", "dsn"],
)
def test_no_value_of_a_secret_name_is_logged(name: str) -> None:
    stream = io.StringIO()

    telemetry(stream).event("start", **{name: "hunter2"})

    assert "hunter2" not in stream.getvalue()


@pytest.mark.parametrize(
    "text",
    [
        "sent Authorization: Bearer hunter2-abc to the server",
        "cannot reach postgresql://rag:hunter2@db:5432/rag",
        "redis://:hunter2@cache/0 is down",
        "key sk-hunter2hunter2 was refused",
    ],
)
def test_no_secret_inside_a_text_is_logged(text: str) -> None:
    stream = io.StringIO()

    telemetry(stream).event("failed", message=text)

    assert "hunter2" not in stream.getvalue()
    assert "[redacted]" in stream.getvalue()


def test_token_counts_are_no_secrets() -> None:
    stream = io.StringIO()

    telemetry(stream).event("embedded", tokens=512, prompt_tokens=7)

    assert (lines(stream)[0]["tokens"], lines(stream)[0]["prompt_tokens"]) == (512, 7)


def test_libraries_log_in_the_same_form() -> None:
    stream = io.StringIO()
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    try:
        route_standard_logging("info", stream)
        logging.getLogger("a.library").warning("postgres://u:%s@h", "hunter2")
    finally:
        root.handlers[:], root.level = handlers, level

    (line,) = lines(stream)
    assert (line["logger"], line["level"]) == ("a.library", "warning")
    assert "hunter2" not in stream.getvalue()


@pytest.mark.parametrize(("level", "told"), [("info", ["warning"]), ("debug", ["info", "warning"])])
def test_what_the_queue_library_says_of_each_delivery_is_for_debugging(level: str, told: list[str]) -> None:
    stream = io.StringIO()
    root, library = logging.getLogger(), logging.getLogger("arq.worker")
    before = root.handlers[:], root.level, library.level
    try:
        route_standard_logging(level, stream)
        library.info("0.30s → 86cbab3a:0:run_job")
        library.warning("a fault")
    finally:
        root.handlers[:] = before[0]
        root.setLevel(before[1])
        library.setLevel(before[2])

    assert [line["level"] for line in lines(stream)] == told


def test_metric_names_follow_the_conventions() -> None:
    for metric in METRICS:
        assert re.fullmatch(r"rag_[a-z_]+", metric.name)
        assert metric.name.endswith("_total") == (metric.kind is MetricKind.COUNTER)
        assert metric.kind is not MetricKind.HISTOGRAM or metric.name.endswith("_seconds")
        assert bool(metric.buckets) == (metric.kind is MetricKind.HISTOGRAM)
        assert not {"org", "org_id", "tenant", "workspace", "workspace_id", "subject"} & set(metric.labels)


def test_the_exposition_holds_what_was_recorded() -> None:
    it = telemetry()
    it.count("rag_runs_total", outcome="GROUNDED")
    it.count("rag_tenant_leaks_total", 2)
    it.observe("rag_stage_seconds", 0.02, stage="retrieve")
    it.gauge("rag_jobs", 9, state="DEAD", kind="ingest")
    it.clear("rag_jobs")
    it.gauge("rag_jobs", 4, state="QUEUED", kind="ingest")

    body, content_type = it.exposition()

    text = body.decode()
    assert content_type.startswith("text/plain")
    assert 'rag_runs_total{outcome="GROUNDED"} 1.0' in text
    assert "rag_tenant_leaks_total 2.0" in text
    assert 'rag_stage_seconds_bucket{le="0.025",stage="retrieve"} 1.0' in text
    assert 'rag_jobs{kind="ingest",state="QUEUED"} 4.0' in text
    for metric in METRICS:
        assert f"# TYPE {metric.name} {metric.kind.value}" in text


@pytest.mark.parametrize("make", [telemetry, RecordingTelemetry])
def test_a_metric_that_is_not_in_the_table_is_a_fault_of_the_program(make) -> None:
    it = make()
    with pytest.raises(UnknownMetric):
        it.count("rag_typo_total")
    with pytest.raises(UnknownMetric):
        it.observe("rag_runs_total", 1.0, outcome="GROUNDED")
    with pytest.raises(UnknownMetric):
        it.gauge("rag_stage_seconds", 1.0, stage="gate")


def test_two_processes_in_one_do_not_share_metrics() -> None:
    one, two = telemetry(), telemetry()
    one.count("rag_tenant_leaks_total")

    assert b"rag_tenant_leaks_total 0.0" in two.exposition()[0]


class Collector(BaseHTTPRequestHandler):
    """Counts the exports it is sent."""

    received: list[tuple[str, bytes]]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.received.append((self.path, body))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Quiet."""


@pytest.mark.slow
@pytest.mark.network
def test_spans_go_to_the_collector_without_the_message_of_an_error() -> None:
    Collector.received = []
    with HTTPServer(("127.0.0.1", 0), Collector) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        it = ProcessTelemetry(
            TelemetryOptions(export=export_to(f"http://127.0.0.1:{server.server_port}")), io.StringIO()
        )

        def work() -> None:
            with it.span("rag.run", {"rag.stage": "gate"}, CARRIER) as span:
                seen.append((span.trace_id, it.carrier()))
                raise ValueError("hunter2")

        seen: list[tuple[str, Mapping[str, str]]] = []
        with pytest.raises(ValueError, match="hunter2"):
            work()
        it.shutdown()
        server.shutdown()

    (body,) = [body for path, body in Collector.received if path == "/v1/traces"]
    ((trace_id, sent_on),) = seen
    assert trace_id == TRACE
    assert TRACE in sent_on["traceparent"]
    assert bytes.fromhex(TRACE) in body
    assert b"rag.run" in body
    assert b"ValueError" in body
    assert b"hunter2" not in body


@pytest.mark.slow
@pytest.mark.network
@pytest.mark.tells("rag_export_failed")
def test_a_missing_collector_holds_shutdown_up_two_seconds_at_most() -> None:
    with HTTPServer(("127.0.0.1", 0), Collector) as closed:
        port = closed.server_port
    it = ProcessTelemetry(TelemetryOptions(export=export_to(f"http://127.0.0.1:{port}")), io.StringIO())
    with it.span("work"):
        pass
    began = time.monotonic()

    it.shutdown()

    assert time.monotonic() - began < 3.0


def test_fresh_ids_are_version_7_and_grow() -> None:
    made = [RandomIds().new() for _ in range(3)] + [ids.new() for ids in [RandomIds()] for _ in range(5000)]

    assert {(it.version, it.variant) for it in made} == {(7, "specified in RFC 4122")}
    assert made[3:] == sorted(set(made[3:]))
    assert abs((made[-1].int >> 80) / 1000 - SystemClock().now().timestamp()) < 60


def test_trace_ids_and_jitter_have_their_form() -> None:
    ids = RandomIds()

    assert re.fullmatch(r"[0-9a-f]{32}", ids.trace_id())
    assert all(0.0 <= ids.jitter() < 1.0 for _ in range(100))
    assert SystemClock().now().tzinfo is not None
    assert SystemClock().monotonic() <= SystemClock().monotonic()


def test_every_metric_is_explained_to_operators() -> None:
    page = (Path(__file__).parents[2] / "docs" / "observability.md").read_text(encoding="utf-8")
    table = page.partition("\n## Metrics\n")[2].partition("\n## ")[0]
    rows = {row[1]: row for row in (re.split(r"\s*\|\s*", line) for line in table.splitlines()) if len(row) == 6}

    for metric in METRICS:
        row = rows.pop(f"`{metric.name}`")
        assert row[2] == metric.kind.value
        assert tuple(re.findall(r"`(\w+)`", row[3])) == metric.labels
    assert [name for name in rows if name.startswith("`")] == []
