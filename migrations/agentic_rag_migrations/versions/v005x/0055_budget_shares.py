"""Which share of each ceiling is used, for the metrics."""

from agentic_rag_migrations.script import run_sql

revision = "0055"
down_revision = "0054"


def upgrade() -> None:
    run_sql("0055_budget_shares.sql")
