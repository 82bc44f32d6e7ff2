"""Runs name the runs that were their conversation."""

from agentic_rag_migrations.script import run_sql

revision = "0052"
down_revision = "0051"


def upgrade() -> None:
    run_sql("0052_turns_of_runs.sql")
