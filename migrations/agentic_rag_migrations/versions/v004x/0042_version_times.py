"""Since when each corpus version is the newest one."""

from agentic_rag_migrations.script import run_sql

revision = "0042"
down_revision = "0041"


def upgrade() -> None:
    run_sql("0042_version_times.sql")
