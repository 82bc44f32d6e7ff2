"""Evaluations that jobs run."""

from agentic_rag_migrations.script import run_sql

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    run_sql("0016_eval_runs.sql")
