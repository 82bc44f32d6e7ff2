"""What `make operate` makes of the answers of an earlier program and the current one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.bench.reports import Row
from tests.operate.earlier import Meeting, Meetings, Program, Told
from tests.operate.table import EARLIER

from agentic_rag_migrations import HEAD

SERVED, UNSERVED = Program("0041", "c"), Program("0018", "c")
TOO_OLD = Told(4, "", f"error [SCHEMA_TOO_OLD]: … this version needs {HEAD}")
TOO_NEW = Told(4, "", "error [SCHEMA_TOO_NEW]: …")


def answer(text: str = "3 bar", outcome: str = "GROUNDED", **more: Any) -> Told:
    cited = [{"documentId": "d", "snippet": text, "score": 0.5}]
    return Told(0, json.dumps({"outcome": outcome, "answer": text, "citations": cited, "degraded": [], **more}))


def rows(program: Program = SERVED, **other: Any) -> dict[str, Row]:
    again = [answer(runId="2")] if program.is_served else [TOO_NEW]
    later = answer("forty litres") if program.is_served else None
    told: dict[str, Any] = {"before": [answer(runId="1")], "refused": TOO_OLD, "after": [answer()]}
    told |= {"again": again, "later": later}
    found = Meetings([Meeting(program, **told | other)])
    return {name: row(found) for name, row in EARLIER.items()}


@pytest.mark.parametrize("program", [SERVED, UNSERVED], ids=["served", "not served"])
def test_programs_that_agree_hold_every_row(program: Program) -> None:
    assert all(row.ok for row in rows(program).values())


@pytest.mark.parametrize(
    ("name", "other"),
    [
        pytest.param("old answers", {"again": [answer("4 bar")]}, id="another answer after the migration"),
        pytest.param("old answers", {"again": [answer(degraded=["CACHE"])]}, id="a degraded one"),
        pytest.param("old answers", {"again": [TOO_NEW]}, id="a program that is served is refused"),
        pytest.param("new answers", {"after": [answer("4 bar")]}, id="another quote"),
        pytest.param("new answers", {"after": [answer(outcome="ABSTAINED")]}, id="no answer"),
        pytest.param("new answers", {"later": answer(outcome="ABSTAINED")}, id="what was written later is not found"),
        pytest.param("silent", {"refused": answer()}, id="a question migrated"),
        pytest.param("silent", {"refused": Told(4, "", "error [DEPENDENCY_UNAVAILABLE]")}, id="refused without code"),
    ],
)
def test_what_differs_misses_its_row(name: str, other: dict[str, Any]) -> None:
    assert [found for found, row in rows(**other).items() if not row.ok] == [name]


def test_a_program_that_is_not_served_has_to_say_so() -> None:
    assert [name for name, row in rows(UNSERVED, again=[answer()]).items() if not row.ok] == ["old answers"]
