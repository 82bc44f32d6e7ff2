"""Since when each corpus version is the newest one."""

from agentic_rag_migrations.script import run_sql

revision = "0041"
down_revision = "0040"


def upgrade() -> None:
    run_sql("0041_version_times.sql")
