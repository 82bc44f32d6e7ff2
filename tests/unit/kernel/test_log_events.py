"""The log lines that the product writes, read from its source: their names, their levels, and what the page tells."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

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


def test_the_judges_see_what_a_place_writes() -> None:
    source = 'telemetry.event("rag_x", level="error", code=error.code)\nself.telemetry.event("rag_y", **more, runs=1)'

    assert [*events_of(source, "here")] == [
        LogEvent("rag_x", "error", frozenset({"code"}), "here:1"),
        LogEvent("rag_y", "info", frozenset({"runs"}), "here:2"),
    ]
