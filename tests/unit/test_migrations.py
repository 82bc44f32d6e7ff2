"""What the package of migrations says of itself."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

import agentic_rag_migrations
from agentic_rag.kernel.errors import DependencyUnavailable
from agentic_rag.retrieval.lexical.postings import MOST_CHUNKS
from agentic_rag_migrations import HEAD
from agentic_rag_migrations.partitions import TableLayout, bytes_needed, require_room


def test_the_head_is_the_newest_revision() -> None:
    files = Path(agentic_rag_migrations.__file__).parent.glob("sql/*/*.sql")

    assert max(file.name.partition("_")[0] for file in files) == HEAD


def test_each_revision_has_a_number_of_its_own() -> None:
    files = Path(agentic_rag_migrations.__file__).parent.glob("versions/*/[0-9]*.py")

    twice = [number for number, times in Counter(file.name.partition("_")[0] for file in files).items() if times > 1]

    assert twice == []


FIRST = "0041"
"""The revision that made `rag_serves_since`."""
TAKES_AWAY = re.compile(
    r"""
    \bDROP\s+(TABLE|COLUMN|FUNCTION|VIEW|TYPE|ROLE|POLICY)\b
    | \bRENAME\b
    | \bALTER\s+COLUMN\s+\S+\s+(TYPE|SET\s+NOT\s+NULL|DROP\s+DEFAULT)\b
    | \bADD\s+COLUMN\s+(?!.*\b(DEFAULT|GENERATED)\b)[^;,]*\bNOT\s+NULL\b
    | \bADD\s+CONSTRAINT\b
    | \bCREATE\s+UNIQUE\s+INDEX\b
    | \bREVOKE\b.*\bFROM\s+rag_
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""What programs of before may need, or statements of theirs that it refuses."""


def breaks_the_version_before(sql: str) -> bool:
    """Whether a revision takes something away and does not say so."""
    return TAKES_AWAY.search(sql) is not None and "FUNCTION rag_serves_since" not in sql


@pytest.mark.parametrize(
    ("sql", "breaks"),
    [
        ("ALTER TABLE rag_runs ADD COLUMN deploy text;", False),
        ("ALTER TABLE rag_runs ADD COLUMN deploy text NOT NULL DEFAULT '';", False),
        ("CREATE TABLE rag_notes (id uuid PRIMARY KEY, text text NOT NULL);", False),
        ("DROP INDEX rag_jobs_finished;", False),
        ("ALTER TABLE rag_runs ADD COLUMN deploy text NOT NULL;", True),
        ("ALTER TABLE rag_runs DROP COLUMN deploy;", True),
        ("ALTER TABLE rag_runs RENAME COLUMN deploy TO released;", True),
        ("ALTER TABLE rag_runs ALTER COLUMN deploy TYPE integer;", True),
        ("DROP FUNCTION rag_corpus_head(uuid, uuid, text[]);", True),
        ("DROP FUNCTION old(); CREATE OR REPLACE FUNCTION rag_serves_since() RETURNS text …", False),
    ],
)
def test_what_breaks_the_version_before_is_told_from_what_grows(sql: str, breaks: bool) -> None:
    assert breaks_the_version_before(sql) is breaks


def test_a_revision_that_breaks_the_version_before_says_so() -> None:
    files = Path(agentic_rag_migrations.__file__).parent.glob("sql/*/*.sql")
    later = [file for file in files if file.name.partition("_")[0] > FIRST]

    assert [file.name for file in later if breaks_the_version_before(file.read_text("utf-8"))] == []


def test_a_move_needs_room_for_the_largest_table_twice() -> None:
    found = [TableLayout("rag_chunks", 0, 5 << 20), TableLayout("rag_embeddings", 16, 9 << 20)]

    assert bytes_needed(found, 16) == 10 << 20
    assert bytes_needed(found, 0) == 18 << 20
    assert bytes_needed(found[1:], 16) == 0


def test_a_move_that_has_too_little_room_is_refused_before_it_begins() -> None:
    require_room(10 << 20, 10 << 20)
    with pytest.raises(DependencyUnavailable, match=r"needs 10 MiB .* 9 MiB are free") as refused:
        require_room(10 << 20, 9 << 20)

    assert refused.value.code == "STORAGE_FULL"


def test_upkeep_takes_segments_for_full_and_too_long_as_merges_do() -> None:
    text = (Path(agentic_rag_migrations.__file__).parent / "sql/v006x/0061_bounded_segments.sql").read_text("utf-8")

    assert f"chunk_count < {MOST_CHUNKS // 2})" in text
    assert f"max(g.chunk_count) > {2 * MOST_CHUNKS}" in text
