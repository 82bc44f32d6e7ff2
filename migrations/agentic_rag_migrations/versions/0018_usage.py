"""What calls of models used."""

from agentic_rag_migrations.script import run_sql

revision = "0018"
down_revision = "0013"


def upgrade() -> None:
    run_sql("0018_usage.sql")
