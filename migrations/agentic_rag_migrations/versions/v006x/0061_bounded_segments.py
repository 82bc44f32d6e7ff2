"""Segments of postings have a bound, so that full ones are no reason to merge."""

from agentic_rag_migrations.script import run_sql

revision = "0061"
down_revision = "0060"


def upgrade() -> None:
    run_sql("0061_bounded_segments.sql")
