"""Rows of worker processes, with heartbeats."""

from agentic_rag_migrations.script import run_sql

revision = "0020"
down_revision = "0019"


def upgrade() -> None:
    run_sql("0020_workers.sql")
