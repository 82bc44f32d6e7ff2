"""Chunks are found by their revision."""

from agentic_rag_migrations.script import run_sql

revision = "0062"
down_revision = "0061"


def upgrade() -> None:
    run_sql("0062_chunks_of_revisions.sql")
