"""Rows of processes that hold what they read of documents."""

from agentic_rag_migrations.script import run_sql

revision = "0051"
down_revision = "0050"


def upgrade() -> None:
    run_sql("0051_processes.sql")
