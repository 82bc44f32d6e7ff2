"""Embedding spaces that are being filled or retired."""

from agentic_rag_migrations.script import run_sql

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    run_sql("0005_spaces.sql")
