"""Revisions of the schema are numbered once each, without a gap, and the newest is the head."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

from agentic_rag_migrations import HEAD

FOLDER = Path(__file__).resolve().parents[2] / "migrations" / "agentic_rag_migrations"
SCRIPTS = sorted((FOLDER / "versions").glob("v*/*.py"), key=lambda path: path.name)


def said(path: Path, name: str) -> str:
    found = re.search(rf'^{name} = "(\d+)"', path.read_text("utf-8"), re.M)
    return found[1] if found else ""


def test_every_revision_follows_the_one_before() -> None:
    numbers = [path.name[:4] for path in SCRIPTS]

    assert numbers == [f"{number:04}" for number in range(1, len(SCRIPTS) + 1)]
    assert [said(path, "revision") for path in SCRIPTS] == numbers
    assert all(said(later, "down_revision") == said(earlier, "revision") for earlier, later in pairwise(SCRIPTS))
    assert numbers[-1] == HEAD


def test_every_revision_has_its_statements_under_its_own_number() -> None:
    statements = {path.name[:4] for path in (FOLDER / "sql").glob("v*/*.sql")}

    assert len(list((FOLDER / "sql").glob("v*/*.sql"))) == len(statements)
    assert statements <= {path.name[:4] for path in SCRIPTS}
