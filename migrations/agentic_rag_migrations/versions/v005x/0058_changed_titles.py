"""Workspaces name the transaction that changed a title of theirs last."""

from agentic_rag_migrations.script import run_sql

revision = "0058"
down_revision = "0057"


def upgrade() -> None:
    run_sql("0058_changed_titles.sql")
