"""The `OTEL_*` variables: what of the OpenTelemetry specification works here, and what is told to have no effect.

Sources: OpenTelemetry specification 1.48, "Environment Variable Specification" and "OTLP Exporter". As that asks, a
value that cannot be used is warned of and ignored: it never keeps a process from starting.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

from agentic_rag.kernel.telemetry import ExportBatches, OtlpProtocol, OtlpTarget, TelemetryExport
from agentic_rag.web.proxies import DIRECT, Proxies

ENDPOINT, RESOURCE, SERVICE_NAME = "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_RESOURCE_ATTRIBUTES", "OTEL_SERVICE_NAME"
SIGNALS = ("traces", "metrics", "logs")
SAMPLERS = (
    "always_on", "always_off", "traceidratio",
    "parentbased_always_on", "parentbased_always_off", "parentbased_traceidratio",
)  # fmt: skip
_OF_A_TARGET = (
    "ENDPOINT", "PROTOCOL", "HEADERS", "TIMEOUT", "COMPRESSION", "CERTIFICATE", "CLIENT_CERTIFICATE", "CLIENT_KEY",
    "INSECURE",
)  # fmt: skip
"""After `OTEL_EXPORTER_OTLP_`, for all signals, and after the name of a signal, for that one."""
_OF_BATCHES = ("SCHEDULE_DELAY", "MAX_QUEUE_SIZE", "MAX_EXPORT_BATCH_SIZE")
_OF_ATTRIBUTES = ("ATTRIBUTE_COUNT_LIMIT", "ATTRIBUTE_VALUE_LENGTH_LIMIT")

READ = (
    "OTEL_SDK_DISABLED", RESOURCE, SERVICE_NAME,
    *(f"OTEL_{signal.upper()}_EXPORTER" for signal in SIGNALS),
    *(f"OTEL_EXPORTER_OTLP_{name}" for name in _OF_A_TARGET),
    *(f"OTEL_EXPORTER_OTLP_{signal.upper()}_{name}" for signal in SIGNALS for name in _OF_A_TARGET),
    "OTEL_TRACES_SAMPLER", "OTEL_TRACES_SAMPLER_ARG", "OTEL_METRIC_EXPORT_INTERVAL",
    *(f"OTEL_{kind}_{name}" for kind in ("BSP", "BLRP") for name in _OF_BATCHES),
    *(f"OTEL_{kind}{name}" for kind in ("", "SPAN_", "LOGRECORD_") for name in _OF_ATTRIBUTES),
)  # fmt: skip
"""Every variable of OpenTelemetry that has an effect."""
SECRETS = tuple(name for name in READ if name.endswith("_HEADERS"))
"""Those that hold credentials for a collector."""


def is_otel(name: str) -> bool:
    """True for a variable of OpenTelemetry."""
    return name.startswith("OTEL_")


def parse_resource(text: str) -> dict[str, str]:
    """Attributes by name, percent-decoded as the specification has it. Errors: ValueError."""
    found: dict[str, str] = {}
    for pair in filter(None, (one.strip() for one in text.split(","))):
        name, has_value, value = pair.partition("=")
        if not has_value or not name.strip():
            raise ValueError("expected pairs such as service.version=2026-11-27.1, separated by commas")
        found[name.strip()] = unquote(value.strip())
    return {name: value for name, value in found.items() if value}


def read_export(given: Mapping[str, str], proxies: Proxies = DIRECT) -> tuple[TelemetryExport, tuple[str, ...]]:
    """What the variables ask for, and a line for each that has no effect. Without an endpoint nothing is exported."""
    reader = _Reader({name: value.strip() for name, value in given.items() if is_otel(name) and value.strip()}, proxies)
    targets = {signal: reader.target(signal) for signal in SIGNALS}
    if not any(targets.values()):
        return TelemetryExport(), ()
    sampler = reader.choice("OTEL_TRACES_SAMPLER", SAMPLERS) or "parentbased_always_on"
    export = TelemetryExport(
        **targets,
        resource=reader.resource(),
        sampler=sampler,
        sampled_share=reader.number("OTEL_TRACES_SAMPLER_ARG", 0.0, 1.0) if sampler.endswith("ratio") else 1.0,
        spans=reader.batches("BSP", "SPAN"),
        log_records=reader.batches("BLRP", "LOGRECORD"),
        metric_interval_seconds=reader.number("OTEL_METRIC_EXPORT_INTERVAL", 1.0, standard=60_000.0) / 1000.0,
    )
    return export, tuple(reader.warnings)


@dataclass
class _Reader:
    """Reads variables, and notes a warning for each whose value is not used."""

    given: Mapping[str, str]
    proxies: Proxies
    warnings: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        self.warnings += [
            f"{name} has no effect here; docs/observability.md lists the OTEL_ variables that have"
            for name in sorted(self.given.keys() - {*READ})
        ]

    def choice(self, name: str, choices: Iterable[str]) -> str:
        """One of `choices`; empty where it is not given."""
        value = self.given.get(name, "").lower()
        if value and value not in choices:
            self._ignore(name, f"one of {', '.join(choices)} is expected")
            return ""
        return value

    def number(self, name: str, least: float, most: float = math.inf, *, standard: float = 1.0) -> float:
        """A number within bounds; `standard` where it is not given."""
        return self._bounded(name, float, least, most, standard)

    def count(self, name: str, least: int, standard: int) -> int:
        """A whole number of at least `least`."""
        return int(self._bounded(name, int, least, math.inf, standard))

    def _bounded(self, name: str, kind: Callable[[str], float], least: float, most: float, standard: float) -> float:
        try:
            value = kind(self.given.get(name, str(standard)))
        except ValueError:
            value = math.nan
        if least <= value <= most and math.isfinite(value):
            return value
        self._ignore(
            name, f"a number of at least {least:g}{f' and at most {most:g}' if most < math.inf else ''} is expected"
        )
        return standard

    def resource(self) -> Mapping[str, str]:
        """The attributes of the process."""
        try:
            found = parse_resource(self.given.get(RESOURCE, ""))
        except ValueError as error:
            self._ignore(RESOURCE, str(error))
            found = {}
        name = self.given.get(SERVICE_NAME)
        return {**found, "service.name": name} if name else found

    def batches(self, kind: str, of: str) -> ExportBatches:
        """The batches of spans (`BSP`, `SPAN`) or log records (`BLRP`, `LOGRECORD`)."""
        standard = ExportBatches()
        waiting = self.count(f"OTEL_{kind}_MAX_QUEUE_SIZE", 1, standard.most_waiting)
        return ExportBatches(
            self.number(f"OTEL_{kind}_SCHEDULE_DELAY", 1.0, standard=1000.0 * standard.delay_seconds) / 1000.0,
            waiting,
            min(waiting, self.count(f"OTEL_{kind}_MAX_EXPORT_BATCH_SIZE", 1, standard.size)),
            self._limit(of, "ATTRIBUTE_COUNT_LIMIT"),
            self._limit(of, "ATTRIBUTE_VALUE_LENGTH_LIMIT"),
        )

    def _limit(self, of: str, name: str) -> int | None:
        own = next((one for one in (f"OTEL_{of}_{name}", f"OTEL_{name}") if one in self.given), None)
        return None if own is None else self.count(own, 0, 128)

    def target(self, signal: str) -> OtlpTarget | None:
        """The collector of a signal; None where it stays in the process."""
        if self.given.get("OTEL_SDK_DISABLED", "").lower() == "true":
            return None
        if self.choice(f"OTEL_{signal.upper()}_EXPORTER", ("otlp", "none")) == "none":
            return None
        named = self._name(signal, "ENDPOINT")
        if named is None:
            return None
        protocol = self._protocol(signal)
        url = self._url(signal, named, protocol)
        return OtlpTarget(
            url=url,
            proxy=self.proxies.of(url) or "",
            protocol=protocol,
            headers=self._headers(signal),
            timeout_seconds=self._timeout(signal),
            is_compressed=self.choice(self._name(signal, "COMPRESSION") or "", ("gzip", "none")) == "gzip",
            certificate=self._value(signal, "CERTIFICATE"),
            client_certificate=self._value(signal, "CLIENT_CERTIFICATE"),
            client_key=self._value(signal, "CLIENT_KEY"),
        )

    def _name(self, signal: str, name: str) -> str | None:
        """The variable of the signal, else the one of all signals; None where neither is given."""
        both = f"OTEL_EXPORTER_OTLP_{signal.upper()}_{name}", f"OTEL_EXPORTER_OTLP_{name}"
        return next((one for one in both if one in self.given), None)

    def _value(self, signal: str, name: str) -> str:
        return self.given.get(self._name(signal, name) or "", "")

    def _protocol(self, signal: str) -> OtlpProtocol:
        value = self.choice(self._name(signal, "PROTOCOL") or "", [one.value for one in OtlpProtocol])
        return OtlpProtocol(value) if value else OtlpProtocol.HTTP

    def _url(self, signal: str, named: str, protocol: OtlpProtocol) -> str:
        url = self.given[named]
        if protocol is OtlpProtocol.GRPC:
            is_plain = self._value(signal, "INSECURE").lower() == "true"
            return url if "://" in url else f"{'http' if is_plain else 'https'}://{url}"
        if named == ENDPOINT:
            return f"{url.rstrip('/')}/v1/{signal}"
        return url if urlsplit(url).path else f"{url}/"

    def _timeout(self, signal: str) -> float | None:
        name = self._name(signal, "TIMEOUT")
        return None if name is None else self.number(name, 1.0, standard=2000.0) / 1000.0

    def _headers(self, signal: str) -> Mapping[str, str]:
        """Pairs as W3C Baggage writes them, without metadata. The warning shows no value: they are secrets."""
        found: dict[str, str] = {}
        for pair in filter(None, (one.strip() for one in self._value(signal, "HEADERS").split(","))):
            name, has_value, value = pair.partition("=")
            if not has_value or not name.strip():
                self._ignore(self._name(signal, "HEADERS") or "", "name=value pairs, separated by commas, are expected")
                return {}
            found[unquote(name.strip()).lower()] = unquote(value.strip())
        return found

    def _ignore(self, name: str, why: str) -> None:
        told = f"{name} is ignored: {why}"
        if told not in self.warnings:
            self.warnings.append(told)
