"""What a graph outside Postgres needs to follow it."""

from agentic_rag_migrations.script import run_sql

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    run_sql("0004_graph.sql")
