"""What calls of models used."""

from agentic_rag_migrations.script import run_sql

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    run_sql("0015_usage.sql")
