"""Sources that workspaces follow."""

from agentic_rag_migrations.script import run_sql

revision = "0025"
down_revision = "0024"


def upgrade() -> None:
    run_sql("0025_sources.sql")
