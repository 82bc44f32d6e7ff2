"""Spans, metrics and log lines: the adapters behind `ports.telemetry`."""
