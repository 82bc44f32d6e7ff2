"""Corpus versions that changed only documents for named readers."""

from agentic_rag_migrations.script import run_sql

revision = "0033"
down_revision = "0032"


def upgrade() -> None:
    run_sql("0033_restricted_versions.sql")
