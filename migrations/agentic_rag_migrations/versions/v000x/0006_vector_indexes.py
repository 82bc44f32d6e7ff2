"""Approximate indexes of large workspaces."""

from agentic_rag_migrations.script import run_sql

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    run_sql("0006_vector_indexes.sql")
