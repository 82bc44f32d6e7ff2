"""Work that explains itself: upkeep, replays, audit, payloads nobody could read."""

from agentic_rag_migrations.script import run_sql

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    run_sql("0002_jobs.sql")
