"""Certificates outlive the return of their documents."""

from agentic_rag_migrations.script import run_sql

revision = "0024"
down_revision = "0023"


def upgrade() -> None:
    run_sql("0024_past_erasures.sql")
