"""The frontiers of crawls."""

from agentic_rag_migrations.script import run_sql

revision = "0038"
down_revision = "0037"


def upgrade() -> None:
    run_sql("0038_crawls.sql")
