"""Revisions of the schema are numbered once each, without a gap, and the newest is the head."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

from agentic_rag_migrations import HEAD
from agentic_rag_migrations.script import CONCURRENT_INDEX

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


AN_INDEX = re.compile(r"^CREATE (?:UNIQUE )?INDEX (\w+) ON (\w+)", re.M)
SMALL = {
    "rag_embedding_spaces_active",  # One row an embedding space.
    "rag_uploads_oldest",  # Of a week; the column comes with it.
    "rag_organizations_reference",  # One row an organisation.
    "rag_documents_date",  # One row a document; the column comes with it, without a value.
}
"""Indexes of tables that had few rows."""


def indexes_that_stop_writers(sql: str) -> set[str]:
    """Those of tables that the revision did not make, built while nobody may write."""
    made = set(re.findall(r"^CREATE TABLE (\w+)", sql, re.M))
    return {index for index, table in AN_INDEX.findall(sql) if table not in made}


def test_an_index_that_stops_writers_is_found() -> None:
    sql = "CREATE TABLE rag_a (x int);\nCREATE INDEX a ON rag_a (x);\nCREATE INDEX b ON rag_b (x);\n"

    assert indexes_that_stop_writers(sql) == {"b"}
    assert indexes_that_stop_writers("CREATE INDEX CONCURRENTLY c ON rag_b (x);\n") == set()


def test_indexes_of_tables_with_rows_are_built_while_they_are_written() -> None:
    files = (FOLDER / "sql").glob("v*/*.sql")

    assert set().union(*(indexes_that_stop_writers(file.read_text("utf-8")) for file in files)) == SMALL


def test_a_concurrent_index_is_one_statement_that_is_found() -> None:
    for file in (FOLDER / "sql").glob("v*/*.sql"):
        sql = file.read_text("utf-8")
        assert sql.count("CONCURRENTLY") == len(CONCURRENT_INDEX.findall(sql)), file.name
