"""Conversations of one subject, which keep the runs that were asked in them."""

from agentic_rag_migrations.script import run_sql

revision = "0046"
down_revision = "0045"


def upgrade() -> None:
    run_sql("0046_threads.sql")
