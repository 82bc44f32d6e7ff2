"""Workspaces and organisations can be erased, with a certificate."""

from agentic_rag_migrations.script import run_sql

revision = "0027"
down_revision = "0026"


def upgrade() -> None:
    run_sql("0027_erasures.sql")
