"""The log lines that the product writes, read from its source: their names, their levels, and what the page tells."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.memory_store.telemetry import RecordingTelemetry
from tests.telling import Line, listening, untold

from agentic_rag.adapters.telemetry.facade import ProcessTelemetry, TelemetryOptions
from agentic_rag.kernel.telemetry import Telemetry

ROOT = Path(__file__).resolve().parents[3]
PACKAGES = ("core", "server", "worker", "cli")
FAULT = {"code", "fault", "error"}
"""Fields by which a line tells what went wrong."""
FAULTY = re.compile(r"_(?:failed|lost|unreadable|refused|not_\w+)$")
"""Names by which one does."""

NEWS = {
    "rag_budget_refused": "a ceiling did what it is for; the budget's gauge and alert tell that it is spent",
    "rag_job_rejected": "the document says why it cannot be read",
    "rag_read_repeated": "the second reading answered",
    "rag_replay_conflict": "the newer job of the same key does the work",
    "rag_web_refused": "a policy did what it is for",
}
"""Lines with such a field that are no warnings, and why."""


@dataclass(frozen=True, slots=True)
class LogEvent:
    """One place that writes a line."""

    name: str
    level: str
    fields: frozenset[str]
    place: str


def events_of(source: str, place: str) -> Iterator[LogEvent]:
    """The calls of `event` in one file."""
    for node in ast.walk(ast.parse(source)):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "event"):
            continue
        fields = {one.arg: ast.unparse(one.value) for one in node.keywords if one.arg}
        for name in node.args:
            told = ast.literal_eval(name) if isinstance(name, ast.Constant) else ast.unparse(name)
            level = fields.pop("level", "'info'").strip("'")
            yield LogEvent(told, level, frozenset(fields), f"{place}:{node.lineno}")


def written() -> list[LogEvent]:
    found: list[LogEvent] = []
    for path in (one for package in PACKAGES for one in (ROOT / package).rglob("*.py")):
        source = path.read_text("utf-8")
        if "telemetry.event(" in source or "self.event(" in source:
            found += events_of(source, str(path.relative_to(ROOT)))
    return found


def test_a_line_that_tells_of_a_fault_is_a_warning() -> None:
    """An operator who sets `AGENTIC_RAG_LOG_LEVEL=warning` sees outages and what was lost."""
    told = [one for one in written() if one.fields & FAULT or FAULTY.search(one.name)]
    quiet = [one for one in told if one.level not in ("warning", "error")]

    assert sorted({one.name for one in quiet} - NEWS.keys()) == [], quiet
    assert NEWS.keys() <= {one.name for one in quiet}, "an exception that none needs"


def test_every_line_that_the_page_names_is_written_with_the_fields_it_names() -> None:
    page = (ROOT / "docs" / "observability.md").read_text("utf-8")
    section = page.partition("## Logs")[2].partition("\n## ")[0]
    fields = {one.name: one.fields for one in written()}

    named = re.findall(r"`(rag_\w+)`", section)
    told = dict(re.findall(r"`(rag_\w+)`: ((?:`\w+`(?: and|,)?[\w\s]*)+)", section))
    assert len(named) >= 3
    assert set(named) <= fields.keys()
    assert len(told) >= 2
    for name, of in told.items():
        assert set(re.findall(r"`(\w+)`", of)) <= fields[name], name


def outage_lines(source: str) -> Iterator[str]:
    """The names that an `OutageLog` tells the begin and the end of an outage by."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "OutageLog":
            yield from (ast.literal_eval(name) for name in node.args[1:3])


def named_lines() -> dict[str, set[str]]:
    """Every name by which the product writes a line, with its levels."""
    levels: dict[str, set[str]] = {}
    for one in written():
        names = [one.name]
        if one.place.startswith("worker/agentic_rag_worker/outage_log.py"):
            files = (ROOT / "worker").rglob("*.py")
            names = [name for file in files for name in outage_lines(file.read_text("utf-8"))]
        for name in names:
            # A stage says by its level how it ended.
            levels.setdefault(name, set()).add("info" if one.level == "level" else one.level)
    return levels


def events_of_the_page() -> dict[str, tuple[set[str], set[str]]]:
    """Levels and ids by name."""
    page = (ROOT / "docs" / "observability.md").read_text("utf-8")
    section = page.partition("## Events")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \| ?(.*?) ?\| .+ \|$", section, re.M)
    return {name: (set(re.findall(r"`(\w+)`", levels)), set(re.findall(r"`(\w+)`", ids))) for name, levels, ids in rows}


def provoked(source: str) -> Iterator[tuple[str, frozenset[str]]]:
    """The marks `tells` of a file of tests: lines, with the ids that they must have."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "tells":
            name, *ids = (ast.literal_eval(one) for one in node.args)
            yield name, frozenset(ids)


@pytest.mark.slow
def test_the_page_names_every_line_with_its_levels() -> None:
    assert {name: levels for name, (levels, _) in events_of_the_page().items()} == named_lines()


def test_the_page_names_every_id_that_a_place_writes() -> None:
    page = events_of_the_page()
    left_out = {
        one.place: sorted(ids)
        for one in written()
        if one.name in page and (ids := {field for field in one.fields if field.endswith("_id")} - page[one.name][1])
    }

    assert left_out == {}


@pytest.mark.slow
def test_every_line_of_the_page_is_provoked_by_a_test_with_each_of_its_ids_and_no_other() -> None:
    """Those of the work around it are seen by such tests alone."""
    marks: dict[str, set[str]] = {}
    for file in (ROOT / "tests").rglob("test_*.py"):
        source = file.read_text("utf-8")
        for name, ids in provoked(source) if "mark.tells(" in source else ():
            marks.setdefault(name, set()).update(ids - {"trace_id"})
    page = events_of_the_page()

    assert sorted(page.keys() - marks.keys()) == [], "no test provokes them"
    assert sorted(marks.keys() - page.keys()) == [], "no such lines"
    assert {name: sorted(ids ^ marks[name]) for name, (_, ids) in page.items() if ids != marks[name]} == {}


def test_a_line_that_was_not_told_or_lacks_an_id_is_a_fault() -> None:
    told = [Line("rag_run_ended", frozenset({"run_id", "outcome"}))]

    assert untold(told, "rag_run_ended", "run_id") is None
    assert untold(told, "rag_run_ended", "job_id") == "rag_run_ended was told without job_id"
    assert (untold(told, "rag_run_lost") or "").startswith("rag_run_lost was not told")


@pytest.mark.parametrize("speaker", [ProcessTelemetry(TelemetryOptions(log_level="error")), RecordingTelemetry()])
def test_what_is_told_is_heard_with_the_ids_around_it(speaker: Telemetry) -> None:
    with listening() as told, speaker.bind(run_id="r"):
        speaker.event("rag_x", code="c")
    speaker.event("rag_y")

    assert told == [Line("rag_x", frozenset({"run_id", "code"}))]


def test_the_judges_see_what_a_place_writes() -> None:
    source = 'telemetry.event("rag_x", level="error", code=error.code)\nself.telemetry.event("rag_y", **more, runs=1)'

    assert [*events_of(source, "here")] == [
        LogEvent("rag_x", "error", frozenset({"code"}), "here:1"),
        LogEvent("rag_y", "info", frozenset({"runs"}), "here:2"),
    ]
