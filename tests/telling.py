"""Log lines that a test provokes: `@pytest.mark.tells("rag_run_ended", "run_id")` fails the test unless the product
told the line meanwhile, with these ids. tests/unit/kernel/test_log_events.py holds the page's table against the marks.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any
from unittest import mock

import pytest

MARK = "tells"

Read = Callable[[Any, Mapping[str, object]], Mapping[str, object]]
"""The fields of the line that was told last, with its ids: of the telemetry, and of the fields that it was given."""

SPEAKERS: Mapping[tuple[str, str], Read] = {
    ("agentic_rag.adapters.telemetry.facade", "ProcessTelemetry"): lambda it, given: {**it._ids_around(), **given},
    ("tests.memory_store.telemetry", "RecordingTelemetry"): lambda it, _: it.events[-1].fields,
    ("tests.unit.answering.answering_world", "Telemetry"): lambda it, _: it.told[-1][1],
}
"""The product's telemetry and those of tests, by module and class."""


@dataclass(frozen=True, slots=True)
class Line:
    """A log line, and the names of its fields."""

    name: str
    fields: frozenset[str]


@contextmanager
def listening() -> Generator[list[Line]]:
    """What is told meanwhile in this process, whatever its level."""
    told: list[Line] = []
    with ExitStack() as exits:
        for (module, name), read in SPEAKERS.items():
            if module in sys.modules:
                speaker = getattr(sys.modules[module], name)
                exits.enter_context(mock.patch.object(speaker, "event", _noting(speaker.event, read, told)))
        yield told


def _noting(event: Callable[..., None], read: Read, told: list[Line]) -> Callable[..., None]:
    @functools.wraps(event)
    def noted(it: Any, name: str, **fields: Any) -> None:
        event(it, name, **fields)
        told.append(Line(name, frozenset(read(it, fields))))

    return noted


def untold(told: Sequence[Line], name: str, *ids: str) -> str | None:
    """What is wrong: the line was not told, or never with all the ids; None where it was."""
    lines = [line for line in told if line.name == name]
    if not lines:
        return f"{name} was not told, only {sorted({line.name for line in told})}"
    if not any(line.fields >= set(ids) for line in lines):
        return f"{name} was told without {', '.join(ids)}"
    return None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Hold a test to its marks."""
    marks = list(item.iter_markers(MARK))
    if not marks:
        return (yield)
    with listening() as told:
        result = yield
    faults = [fault for mark in marks if (fault := untold(told, *mark.args)) is not None]
    assert not faults, "; ".join(faults)
    return result
