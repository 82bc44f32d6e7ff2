"""The frontiers of crawls."""

from agentic_rag_migrations.script import run_sql

revision = "0037"
down_revision = "0036"


def upgrade() -> None:
    run_sql("0037_crawls.sql")
