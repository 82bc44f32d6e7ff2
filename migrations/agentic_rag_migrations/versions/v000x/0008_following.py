"""Whose watermark a graph version is, and how long keys are kept."""

from agentic_rag_migrations.script import run_sql

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    run_sql("0008_following.sql")
