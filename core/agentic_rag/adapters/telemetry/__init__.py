"""Spans, metrics and log lines: the adapters behind `kernel.telemetry`."""
