"""Answers of runs are stored as the product compressed them."""

from agentic_rag_migrations.script import run_sql

revision = "0057"
down_revision = "0056"


def upgrade() -> None:
    run_sql("0057_stored_answers.sql")
